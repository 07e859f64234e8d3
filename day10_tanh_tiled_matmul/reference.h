// SPDX-License-Identifier: MIT
// Day 10 on the CPU: the truth, its parallel version, and how far from it a result may be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/compare.h"
#include "common/problems/matmul.h"
#include "day10_tanh_tiled_matmul/matmul.h"

namespace day10 {

inline void tanh_reference(const TanhOf<float>& p) {
  for (int64_t i = 0; i < p.n; ++i) p.y[i] = static_cast<float>(std::tanh(static_cast<double>(p.x[i])));
}

// What each problem makes of the product's element, in double.
inline double finished(const TanhMatmul<float>&, double sum, int, int) {
  return std::tanh(sum);
}
inline double finished(const Layer<float>& p, double sum, int row, int col) {
  return std::tanh(sum + p.bias[col]) + p.residual[int64_t{row} * p.n + col];
}

template <class Problem>
void reference(const Problem& p) {
  for (int row = 0; row < p.m; ++row) {
    for (int col = 0; col < p.n; ++col)
      p.c[int64_t{row} * p.n + col] =
          static_cast<float>(finished(p, days::matmul_element(p, row, col), row, col));
  }
}

template <class Problem>
void parallel(const Problem& p) {
  days::matmul_parallel(p);
  const auto some_rows = [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const int row = static_cast<int>(i / static_cast<size_t>(p.n)),
                col = static_cast<int>(i % static_cast<size_t>(p.n));
      p.c[i] = static_cast<float>(finished(p, static_cast<double>(p.c[i]), row, col));
    }
  };
  days::parallel_ranges(static_cast<size_t>(p.m) * static_cast<size_t>(p.n), some_rows);
}

// An error of the sum is one of tanh(sum) of at most that size, because tanh is nowhere steeper than 1; and far less
// where the sum is large, so that huge sums allow no error but the last digits. The sum's own is that of days::dot_product.
struct AfterTanh {
  template <class Problem, class Inputs>
  days::Bound operator()(days::Type<float>, const Problem& p, Inputs& in) const {
    constexpr double kHalf = days::TypeInfo<float>::kEpsilon / 2;
    const double n = p.k, sum_error = 4 * kHalf * std::sqrt(n);
    double absolute =
        sum_error * std::sqrt(n) * in.rms("a") * in.rms("b") + n * days::TypeInfo<float>::kDenormMin;
    if constexpr (requires { p.residual; })
      absolute += 4 * kHalf * (1 + in.rms("bias") + 4 * in.rms("residual"));
    return {std::min(absolute, 1e-4), sum_error + 4 * kHalf};
  }
};

}  // namespace day10
