// SPDX-License-Identifier: MIT
//
// Matrix multiplication, c = a * b, row-major, which all matmul days share. Kernel files see the struct; host
// files also its reference, its parallel version and its check for sizes that the reference is too slow for
// (matmul_cpu.h).
#pragma once

namespace days {

template <class T>
struct Matmul {
  const T* a;  // (m, k)
  const T* b;  // (k, n)
  T* c;        // (m, n), written only
  int m, n, k;
};

}  // namespace days

#ifndef __CUDACC__
#include "common/problems/matmul_cpu.h"
#endif
