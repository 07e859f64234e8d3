// SPDX-License-Identifier: MIT
//
// Matrix multiplication on the CPU: the truth, and gemm_cpu.h's parallel baseline and check for large products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/compare.h"
#include "common/inputs.h"
#include "common/ladder.h"
#include "common/problems/gemm.h"
#include "common/problems/matmul.h"
#include "common/types.h"

namespace days {

// The same product as a Gemm whose results are of the inputs' type.
template <class T>
auto as_gemm(const Matmul<T>& p) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  return BasicGemm<T, T, Sum>{p.a, p.b, p.c, p.m, p.n, p.k, p.k, p.n, p.n, Sum{1}, Sum{0}, Op::kN, Op::kN};
}

// One element, summed in double. c = 0 for k = 0.
template <class T>
double matmul_element(const Matmul<T>& p, int row, int col) {
  double sum = 0;
  for (int i = 0; i < p.k; ++i) {
    sum += to_double(p.a[int64_t{row} * p.k + i]) * to_double(p.b[int64_t{i} * p.n + col]);
  }
  return sum;
}

// The truth.
template <class T>
void matmul_reference(const Matmul<T>& p) {
  for (int row = 0; row < p.m; ++row) {
    for (int col = 0; col < p.n; ++col)
      p.c[int64_t{row} * p.n + col] = from_double<T>(matmul_element(p, row, col));
  }
}

// For .by_rows(): c's rows, and the product of a few of them.
inline constexpr auto kRowsOfC = [](const auto& p) { return static_cast<size_t>(p.m); };
inline constexpr auto kSomeRowsOfC = [](auto p, size_t begin, size_t end) {
  p.m = static_cast<int>(end - begin);
  p.a += begin * static_cast<size_t>(p.k);
  p.c += begin * static_cast<size_t>(p.n);
  return p;
};

// What a CPU does well with a page of code (gemm_cpu.h).
template <class T>
void matmul_parallel(const Matmul<T>& p) {
  gemm_parallel(as_gemm(p));
}

// Inputs of a shape {m, n, k}: N(0, 1), so many elements past an aligned address.
template <class T>
void matmul_inputs(Matmul<T>& p, const Shape& s, Inputs& in, size_t past_a = 0, size_t past_b = 0) {
  p.m = s[0];
  p.n = s[1];
  p.k = s[2];
  p.a = in.normal("a", s[0] * s[2]) + past_a;
  p.b = in.normal("b", s[2] * s[1]) + past_b;
  p.c = in.output("c", s[0], s[1]);
}

template <class T>
Traffic matmul_traffic(const Matmul<T>& p) {
  return reads(p.a, 1.0 * p.m * p.k) + reads(p.b, 1.0 * p.k * p.n) + writes(p.c, 1.0 * p.m * p.n);
}

template <class T>
double matmul_flops(const Matmul<T>& p) {
  return 2.0 * p.m * p.n * p.k;
}

// Freivalds' check and a sample of elements (gemm_cpu.h).
template <class T>
Report matmul_check_large(const Matmul<T>& p) {
  return gemm_check_large(as_gemm(p));
}

}  // namespace days
