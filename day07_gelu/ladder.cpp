// SPDX-License-Identifier: MIT
// The day's three ladders: GELU itself, the formula with tanh to all of its digits, and the same by an instruction that
// has a few. Each is compared with its own formula in double. Host code only.

#include "common/ladder.h"
#include "common/elementwise.h"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

// 1 + erf and 1 + tanh are sums of about 1 and -1 far left of 0. What they are off by, erff's and tanhf's two units of
// 2^-24, is multiplied by x / 2, and x = -6 is the last whose result is not smaller than that: 6 / 2 * 2 * 2^-24 are three
// epsilons, and one is for u. That is absolute; right of 0 it is four epsilons of the result. Then the result is rounded.
struct AllDigits {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem&, days::Inputs&) const {
    using Fp32 = days::TypeInfo<float>;
    constexpr bool kRounded = days::TypeInfo<T>::kEpsilon > Fp32::kEpsilon;
    return {4 * Fp32::kEpsilon + (kRounded ? days::TypeInfo<T>::kDenormMin : 0),
            4 * Fp32::kEpsilon + (kRounded ? days::TypeInfo<T>::kEpsilon : 0)};
  }
};

// What PTX says of tanh.approx: 2^-11, relative, in fp32, 2^-10.987 and 2^-8, absolute, in fp16 and bf16. It is
// multiplied by x / 2, at most 3 where the result is not yet 0; the fourth is for what 16 bits round in u.
struct FewDigits {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem&, days::Inputs&) const {
    const double tanh = std::is_same_v<T, float>        ? 0x1p-11
                        : std::is_same_v<T, days::half> ? 1.009 * 0x1p-11
                                                        : 0x1p-8;
    return {4 * tanh, tanh + 2 * days::TypeInfo<T>::kEpsilon};
  }
};

const auto gelu =
    days::elementwise(days::ladder<Gelu>("gelu").types<float, days::half, days::bf16>())
        .variant("erf", LAUNCHER(gelu_erf))
        .variant("vectors", LAUNCHER(gelu_vectors))
        .needs(kAligned)
        .variant("erfc", LAUNCHER(gelu_erfc))
        .needs(kAligned)
        .exercise(LAUNCHER(exercise), "GELU with 16-byte loads and stores in three types", "erf", "vectors",
                  {.bytes_per_request = 400, .speed = 0.95})
        .needs(kAligned)
        .reference(LAUNCHER(gelu_reference))
        .parallel(LAUNCHER(gelu_parallel))
        .tolerance(AllDigits{})
        .lesson("in fp32 erf costs nothing, because memory is slower; in 16 bits count instructions.");

const auto gelu_tanh_ladder =
    days::elementwise(days::ladder<Gelu>("gelu_tanh").types<float, days::half, days::bf16>())
        .variant("tanh", LAUNCHER(gelu_tanh))
        .needs(kAligned)
        .variant("sigmoid", LAUNCHER(gelu_sigmoid))
        .needs(kAligned)
        .reference(LAUNCHER(gelu_tanh_reference))
        .parallel(LAUNCHER(gelu_tanh_parallel))
        .tolerance(AllDigits{})
        .lesson("another form of the same formula: a fraction of the instructions, and more digits.");

const auto gelu_fast_ladder =
    days::elementwise(days::ladder<Gelu>("gelu_fast").types<float, days::half, days::bf16>())
        .variant("fast", LAUNCHER(gelu_fast))
        .needs(kAligned)
        .variant("pairs", LAUNCHER(gelu_pairs))
        .needs(kAligned)
        .reference(LAUNCHER(gelu_tanh_reference))
        .parallel(LAUNCHER(gelu_tanh_parallel))
        .tolerance(FewDigits{})
        .lesson(
            "one instruction for tanh has 11 binary digits: fine for bf16, which has 8, and short for fp32.");

REGISTER_LADDER(gelu);
REGISTER_LADDER(gelu_tanh_ladder);
REGISTER_LADDER(gelu_fast_ladder);

}  // namespace
}  // namespace day07
