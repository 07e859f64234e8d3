// SPDX-License-Identifier: MIT
//
// Inputs that a general matrix multiplication gets wrong more easily than random ones.
#pragma once

#include "common/inputs.h"
#include "common/problems/gemm.h"
#include "common/problems/matmul_values.h"

namespace days {

inline auto gemm_maker(const GemmInputs& how = {}) {
  return [how](auto& p, const Shape& s, Inputs& in) { gemm_inputs(p, s, in, how); };
}

// The ladder, which has its .inputs, with what can be hostile in every type: how the matrices lie, and alpha and beta.
template <class Ladder>
Ladder with_hostile_gemms(const Ladder& ladder) {
  return ladder.hostile("alpha and beta", gemm_maker({.alpha = -0.5, .beta = 2}))
      .hostile("NaN in c, beta 0", gemm_maker({.nan_in_c = true}))  // which must not spread
      .hostile("pitches of 4", gemm_maker({.alpha = 2, .beta = 1, .gap = 4}))
      .hostile("odd pitches", gemm_maker({.gap = 3, .nan_in_c = true}))
      .hostile("misaligned a", gemm_maker({.past_a = 1}))
      .hostile("misaligned b", gemm_maker({.past_b = 1}))
      .hostile("misaligned c", gemm_maker({.beta = 1, .past_c = 1}))
      .hostile("integers", gemm_maker({.a = kWholeNumbers.a, .b = kWholeNumbers.b}));
}

// And what floating-point types have besides, of fp32's range.
template <class Ladder>
Ladder with_hostile_fp32_gemms(const Ladder& ladder) {
  return with_hostile_gemms(ladder)
      .hostile("huge",
               gemm_maker({.scale_a = 1e17, .scale_b = 1e17}))  // sums near 1e36, the largest float is 3.4e38
      .hostile("tiny", gemm_maker({.scale_a = 1e-20, .scale_b = 1e-20}))  // every product is denormal
      .hostile("NaN and infinity",  // in one row or column of a and of b: no other element may change
               gemm_maker({.a = kNotFinite.a, .b = kNotFinite.b}));
}

}  // namespace days
