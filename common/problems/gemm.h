// SPDX-License-Identifier: MIT
//
// General matrix multiplication as BLAS has it, c = alpha * op(a) * op(b) + beta * c, but row-major. Kernel files
// see the struct; host files also its reference, parallel version, inputs and checks (gemm_cpu.h). Hostile inputs
// are in gemm_hostile.h, cuBLAS in gemm_cublas.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/needs.h"
#include "common/util.h"

namespace days {

// Whether a matrix is stored as it is used, or transposed.
enum class Op : int { kN, kT };

// In: elements of a and b. Out: of c. Sum: what products are added up in, and the type of alpha and beta.
template <class In, class Out, class Sum>
struct BasicGemm {
  const In* a;  // kN: (m, k), kT: (k, m); its rows start lda elements apart
  const In* b;  // kN: (k, n), kT: (n, k); ldb
  Out* c;       // (m, n); ldc. Read only where beta is not 0: a NaN in it must not spread otherwise
  int m, n, k;
  int64_t lda, ldb, ldc;  // at least a row's length. What lies between rows belongs to nobody
  Sum alpha, beta;
  Op op_a, op_b;

  // Where element (i, j) of op(a), of op(b) and of c lies.
  DAYS_HOST_DEVICE int64_t at_a(int64_t i, int64_t j) const {
    return op_a == Op::kN ? i * lda + j : j * lda + i;
  }
  DAYS_HOST_DEVICE int64_t at_b(int64_t i, int64_t j) const {
    return op_b == Op::kN ? i * ldb + j : j * ldb + i;
  }
  DAYS_HOST_DEVICE int64_t at_c(int64_t i, int64_t j) const { return i * ldc + j; }
};

// A ladder has one element type: its results have the same, and are summed in fp32. Integers are summed exactly, in
// 32 bits, and stay so.
template <class T>
struct GemmTypes {
  using Out = T;
  using Sum = float;
};
template <>
struct GemmTypes<double> {
  using Out = double;
  using Sum = double;
};
template <>
struct GemmTypes<int8_t> {
  using Out = int32_t;
  using Sum = int32_t;
};
template <class T>
using Gemm = BasicGemm<T, typename GemmTypes<T>::Out, typename GemmTypes<T>::Sum>;

// What every launcher asks of its problem. (A size of 0 is taken for a mistake, as everywhere in the course.)
template <class In, class Out, class Sum>
void require_gemm(const BasicGemm<In, Out, Sum>& p, const char* variant) {
  require(p.m > 0 && p.n > 0 && p.k > 0, variant, ": m, n and k must be positive; the least is",
          std::min({p.m, p.n, p.k}));
  const auto row = [&](const char* name, int64_t pitch, int64_t length) {
    require(pitch >= length, variant, ": ", name, " is at least a row's", length, ", not", pitch);
  };
  row("lda", p.lda, p.op_a == Op::kN ? p.k : p.m);
  row("ldb", p.ldb, p.op_b == Op::kN ? p.n : p.k);
  row("ldc", p.ldc, p.n);
}

}  // namespace days

#ifndef __CUDACC__
#include "common/problems/gemm_cpu.h"
#endif
