// SPDX-License-Identifier: MIT
// The day's ladders: the function to all digits, by fast mathematics, by the instruction for tanh; the gradient from x,
// and from y. Host code only.

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/elementwise.h"
#include "common/ladder.h"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

template <class T>
inline constexpr double kLeastNormal = days::TypeInfo<T>::kDenormMin / days::TypeInfo<T>::kEpsilon;
// What fp32's arithmetic may turn into 0, in the type that results are rounded to: denormals of fp32 and bf16. Those of fp16
// are none in fp32, and are only rounded.
template <class T>
inline constexpr double kLost = std::max(kLeastNormal<T> == kLeastNormal<float> ? kLeastNormal<T> : 0,
                                         days::TypeInfo<T>::kDenormMin);
// `epsilons` of fp32, and half a unit of a narrower type for the last rounding.
template <class T>
double digits(double epsilons) {
  using Fp32 = days::TypeInfo<float>;
  constexpr double kRounded = days::TypeInfo<T>::kEpsilon > Fp32::kEpsilon ? days::TypeInfo<T>::kEpsilon : 0;
  return epsilons * Fp32::kEpsilon + kRounded;
}
template <class T>
double largest(const T* values, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double size = std::abs(days::to_double(values[i]));
    if (std::isfinite(size)) most = std::max(most, size);
  }
  return most;
}

// Relative in both tails: a unit or two of e^-x, a half of the sum, one of the quotient; and twice that for a library whose
// power of e rounds its exponent, on inputs of N(0, 1).
struct AllDigits {
  template <class T>
  days::Bound operator()(days::Type<T>, const Sigmoid<T>&, days::Inputs&) const {
    return {kLost<T>, digits<T>(8)};
  }
};

// x log2 e is rounded by half a unit and its constant by a tenth of one, and what that power of two is off by is as large a
// part of it as x log2 e is off by, times ln 2: less than an epsilon for each unit of |x|. Beyond 88 nothing is left.
struct FastDigits {
  template <class T>
  days::Bound operator()(days::Type<T>, const Sigmoid<T>& p, days::Inputs&) const {
    return {kLost<T>, digits<T>(4 + std::min(88.0, largest(p.x, p.n)))};
  }
};

// What PTX says of tanh.approx: 2^-11, relative, in fp32, 2^-10.987 and 2^-8, absolute, in fp16 and bf16. Half of it; and
// what 16 bits round, near 1 half an epsilon.
struct TanhDigits {
  template <class T>
  days::Bound operator()(days::Type<T>, const Sigmoid<T>&, days::Inputs&) const {
    const double tanh = std::is_same_v<T, float>        ? 0x1p-11
                        : std::is_same_v<T, days::half> ? 1.009 * 0x1p-11
                                                        : 0x1p-8;
    return {0.5 * tanh + digits<T>(2), 0};
  }
};

// Relative in both tails, but where a factor of dy is a denormal.
struct GradientDigits {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem& p, days::Inputs&) const {
    return {days::TypeInfo<T>::kDenormMin + largest(p.dy, p.n) * kLeastNormal<float>, digits<T>(12)};
  }
};

const auto sigmoid =
    days::elementwise(days::ladder<Sigmoid>("sigmoid").types<float, days::half, days::bf16>())
        .hostile("x up to 104 either way",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.x = in.uniform("x", s[0], -104, 104);
                   p.y = in.output("y", s[0]);
                 })
        .variant("naive", LAUNCHER(sigmoid_naive))
        .variant("vectors", LAUNCHER(sigmoid_vectors))
        .needs(kAligned)
        .variant("tails", LAUNCHER(sigmoid_tails))
        .needs(kAligned)
        .reference(LAUNCHER(sigmoid_reference))
        .parallel(LAUNCHER(sigmoid_parallel))
        .tolerance(AllDigits{})
        .lesson("the form that cannot overflow is also the one whose quotient is quick.");

const auto sigmoid_fast_ladder =
    days::elementwise(days::ladder<Sigmoid>("sigmoid_fast").types<float, days::half, days::bf16>())
        .variant("fast", LAUNCHER(sigmoid_fast))
        .needs(kAligned)
        .reference(LAUNCHER(sigmoid_reference))
        .parallel(LAUNCHER(sigmoid_parallel))
        .tolerance(FastDigits{})
        .lesson("fast math rounds the exponent: what is off is as large a part of the result as x is large.");

const auto sigmoid_tanh_ladder =
    days::elementwise(days::ladder<Sigmoid>("sigmoid_tanh").types<float, days::half, days::bf16>())
        .variant("tanh", LAUNCHER(sigmoid_tanh))
        .needs(kAligned)
        .variant("pairs", LAUNCHER(sigmoid_pairs))
        .needs(kAligned)
        .reference(LAUNCHER(sigmoid_reference))
        .parallel(LAUNCHER(sigmoid_parallel))
        .tolerance(TanhDigits{})
        .lesson("an error that is absolute leaves the tail at 1 alone, and nothing of the tail at 0.");

const auto sigmoid_backward =
    days::elementwise_backward(
        days::ladder<SigmoidBackward>("sigmoid_backward").types<float, days::half, days::bf16>())
        .variant("grad_naive", LAUNCHER(sigmoid_grad_naive))
        .variant("grad_even", LAUNCHER(sigmoid_grad_even))
        .needs(kAlignedBackward)
        .exercise(LAUNCHER(exercise), "the gradient, right in both tails, with 16-byte loads and stores",
                  "grad_naive", "grad_even", {.bytes_per_request = 400, .speed = 0.95})
        .needs(kAlignedBackward)
        .reference(LAUNCHER(sigmoid_backward_reference))
        .parallel(LAUNCHER(sigmoid_backward_parallel))
        .tolerance(GradientDigits{})
        .lesson("s(-x) has the digits that 1 - s(x) has lost, and e^-|x| gives both.");

// y holds values(p, n, inputs), all from 0 to 1. Each array begins as many elements past an aligned address.
template <class Values>
auto outputs(Values values, int y = 0, int dy = 0, int dx = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.y = values(p, s[0], in) + static_cast<size_t>(y);
    p.dy = in.normal("dy", s[0]) + static_cast<size_t>(dy);
    p.dx = in.output("dx", s[0]) + static_cast<size_t>(dx);
  };
}
auto random_outputs() {
  return [](const auto&, days::Extent n, days::Inputs& in) { return in.uniform("y", n, 0, 1); };
}

const auto sigmoid_backward_y =
    days::each_alone(
        days::elementwise_sizes(
            days::ladder<SigmoidBackwardY>("sigmoid_backward_y").types<float, days::half, days::bf16>()))
        .inputs(outputs(random_outputs()))
        .hostile("the ends of 0 to 1", outputs([](const auto& p, days::Extent n, days::Inputs& in) {
                   using Info = days::TypeInfo<std::remove_cvref_t<decltype(*p.y)>>;
                   return in.fill("y", n, [](size_t i) {
                     const double values[] = {std::numeric_limits<double>::quiet_NaN(),
                                              0,
                                              1,
                                              1 - Info::kEpsilon / 2,
                                              Info::kDenormMin,
                                              Info::kDenormMin / Info::kEpsilon,
                                              0.5,
                                              1 - Info::kEpsilon};
                     return values[i % 8];
                   });
                 }))
        .hostile("misaligned y", outputs(random_outputs(), 1, 0, 0))
        .hostile("misaligned dy", outputs(random_outputs(), 0, 1, 0))
        .hostile("misaligned dx", outputs(random_outputs(), 0, 0, 3))
        .hostile("dx in y's place",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.dx = in.uniform("dx", s[0], 0, 1);
                   p.dy = in.normal("dy", s[0]);
                   p.y = p.dx;
                 })
        .traffic([](const auto& p) {
          return days::reads(p.y, p.n) + days::reads(p.dy, p.n) + days::writes(p.dx, p.n);
        })
        .variant("grad_from_y", LAUNCHER(sigmoid_grad_from_y))
        .needs(kAlignedBackwardY)
        .reference(LAUNCHER(sigmoid_backward_y_reference))
        .parallel(LAUNCHER(sigmoid_backward_y_parallel))
        .tolerance(GradientDigits{})
        .lesson(
            "the same bytes as from x and hardly any arithmetic, but what y has rounded away stays away.");

REGISTER_LADDER(sigmoid);
REGISTER_LADDER(sigmoid_fast_ladder);
REGISTER_LADDER(sigmoid_tanh_ladder);
REGISTER_LADDER(sigmoid_backward);
REGISTER_LADDER(sigmoid_backward_y);

}  // namespace
}  // namespace day09
