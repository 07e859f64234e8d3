// SPDX-License-Identifier: MIT
//
// Inputs that a matrix multiplication gets wrong more easily than random ones, for every matmul day's ladder.
#pragma once

#include <cstddef>

#include "common/inputs.h"
#include "common/problems/matmul.h"
#include "common/problems/matmul_values.h"

namespace days {

// Input makers for a shape {m, n, k}: each element from a function of its index, or N(0, scale^2).
template <class MakeA, class MakeB>
auto matmul_elements(MakeA make_a, MakeB make_b) {
  return [=](auto& p, Shape s, Inputs& in) {
    p.m = s[0];
    p.n = s[1];
    p.k = s[2];
    p.a = in.fill("a", s[0] * s[2], make_a);
    p.b = in.fill("b", s[2] * s[1], make_b);
    p.c = in.output("c", s[0], s[1]);
  };
}

inline auto matmul_elements(const MatmulValues& values) {
  return matmul_elements(values.a, values.b);
}

inline auto matmul_scaled(double scale_a, double scale_b) {
  return [=](auto& p, Shape s, Inputs& in) {
    p.m = s[0];
    p.n = s[1];
    p.k = s[2];
    p.a = in.normal("a", s[0] * s[2], scale_a);
    p.b = in.normal("b", s[2] * s[1], scale_b);
    p.c = in.output("c", s[0], s[1]);
  };
}

// The ladder, which has its .inputs, with the hostile inputs of fp32.
template <class Ladder>
Ladder with_hostile_matmuls(const Ladder& ladder) {
  return ladder
      .hostile("huge", matmul_scaled(1e17, 1e17))    // sums near 1e36, the largest float is 3.4e38
      .hostile("tiny", matmul_scaled(1e-20, 1e-20))  // every product is denormal
      .hostile("integers", matmul_elements(kWholeNumbers))
      .hostile("all equal", matmul_elements(kAllEqual))
      .hostile("one outlier", matmul_elements([](size_t i) { return i == 0 ? 1e6 : 1.0 + i % 3; },
                                              [](size_t i) { return 0.25 * (i % 7) - 0.5; }))
      .hostile("NaN and infinity",  // in one row of a and in one column of b: no other element may change
               matmul_elements(kNotFinite));
}

}  // namespace days
