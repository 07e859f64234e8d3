// SPDX-License-Identifier: MIT
//
// Matrix multiplication, c = a * b, row-major, which all matmul days share. Kernel files see the struct; host
// files also its reference, its parallel version and its check for sizes that the reference is too slow for
// (matmul_cpu.h).
#pragma once

#include <algorithm>

#include "common/check.h"
#include "common/needs.h"
#include "common/util.h"

namespace days {

template <class T>
struct Matmul {
  const T* a;  // (m, k)
  const T* b;  // (k, n)
  T* c;        // (m, n), written only
  int m, n, k;
};

// What every launcher asks of its problem. (A product with k = 0 is a matrix of zeros on paper; here a size of 0
// is taken for a mistake, as everywhere in the course.)
template <class T>
void require_matmul(const Matmul<T>& p, const char* variant) {
  require(p.m > 0 && p.n > 0 && p.k > 0, variant, ": m, n and k must be positive; the least is",
          std::min({p.m, p.n, p.k}));
}

}  // namespace days

#ifndef __CUDACC__
#include "common/problems/matmul_cpu.h"
#endif
