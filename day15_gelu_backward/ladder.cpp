// SPDX-License-Identifier: MIT
// The day's three ladders: a step, which is forward and backward of the same elements; the same where the slope is kept
// in a byte, with the tolerance that this needs; and backward alone. Host code only.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "common/elementwise.h"
#include "common/ladder.h"
#include "day15_gelu_backward/gelu_backward.h"

namespace day15 {
namespace {

// The largest number of dy, to which the errors of all dx are relative: a slope near 0 is the difference of P(x) and of
// x * density, so that its error is one of theirs. (At least 4, for dx may have been written where dy was.)
template <class Problem>
double size_of_dy(const Problem& p) {
  double most = 4;
  for (int64_t i = 0; i < p.n; ++i) {
    const double size = std::abs(days::to_double(p.dy[i]));
    if (size > most && std::isfinite(size)) most = size;
  }
  return most;
}

// The slope's error is four epsilons of fp32: erff's two units of 2^-24 are halved, and P(x), x * density and their sum
// are each rounded. Where it was rounded to T in between, or what it is made of was, half an epsilon of T more of at most
// 1.13; where it was kept in a byte, half of a step. dx then is rounded as T.
struct OfSlope {
  bool in_type = false;
  double more = 0;

  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem& p, days::Inputs&) const {
    using Fp32 = days::TypeInfo<float>;
    constexpr bool kRounded = days::TypeInfo<T>::kEpsilon > Fp32::kEpsilon;
    double slope = 4 * Fp32::kEpsilon + more;
    if (kRounded && in_type) slope += 1.13 / 2 * days::TypeInfo<T>::kEpsilon + days::TypeInfo<T>::kDenormMin;
    return {size_of_dy(p) * slope + (kRounded ? days::TypeInfo<T>::kDenormMin : 0),
            2 * Fp32::kEpsilon + (kRounded ? days::TypeInfo<T>::kEpsilon : 0)};
  }
};

// y as in day 07: the error of 1 + erf times x / 2, where x = -6 is the last that leaves anything.
struct OfGelu {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem&, days::Inputs&) const {
    using Fp32 = days::TypeInfo<float>;
    constexpr bool kRounded = days::TypeInfo<T>::kEpsilon > Fp32::kEpsilon;
    return {4 * Fp32::kEpsilon + (kRounded ? days::TypeInfo<T>::kDenormMin : 0),
            4 * Fp32::kEpsilon + (kRounded ? days::TypeInfo<T>::kEpsilon : 0)};
  }
};

// Where each of the arrays begins, in elements past an aligned address.
struct Offsets {
  int x = 0, dy = 0, y = 0, dx = 0;
};
template <class P>
using ElementOf = std::remove_cvref_t<decltype(*std::declval<P>().x)>;

// x and dy hold what the two functions of (problem, n, inputs) make.
template <class MakeX, class MakeDy>
auto arrays(MakeX make_x, MakeDy make_dy, Offsets past = {}) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.x = make_x(p, s[0], in) + static_cast<size_t>(past.x);
    p.dy = make_dy(p, s[0], in) + static_cast<size_t>(past.dy);
    p.y = in.output("y", s[0]) + static_cast<size_t>(past.y);
    p.dx = in.output("dx", s[0]) + static_cast<size_t>(past.dx);
  };
}
auto normal(const char* name) {
  return [name](const auto&, days::Extent n, days::Inputs& in) { return in.normal(name, n); };
}
auto uniform(const char* name, double low, double high) {
  return [=](const auto&, days::Extent n, days::Inputs& in) { return in.uniform(name, n, low, high); };
}
auto special(const char* name) {
  return [name](const auto& p, days::Extent n, days::Inputs& in) {
    return in.fill(name, n, days::special_value<ElementOf<decltype(p)>>);
  };
}

// Shapes, inputs and traffic of a step.
template <class L>
L step_of(const L& ladder) {
  return days::each_alone(days::elementwise_sizes(ladder))
      .inputs(arrays(normal("x"), normal("dy")))
      .hostile("special values of x", arrays(special("x"), normal("dy")))
      // With slopes from 0.1 to 0.9: a 0 would make an infinity NaN, and more than 1 the largest number infinite.
      .hostile("special values of dy", arrays(uniform("x", -0.5, 0.5), special("dy")))
      .hostile("x up to 12 either way", arrays(uniform("x", -12, 12), normal("dy")))
      .hostile("x up to 3e4 either way", arrays(uniform("x", -3e4, 3e4), normal("dy")))
      .hostile("dy up to 3e4 either way", arrays(normal("x"), uniform("dy", -3e4, 3e4)))
      .hostile("misaligned x", arrays(normal("x"), normal("dy"), {.x = 1}))
      .hostile("misaligned dy", arrays(normal("x"), normal("dy"), {.dy = 1}))
      .hostile("misaligned y", arrays(normal("x"), normal("dy"), {.y = 3}))
      .hostile("misaligned dx", arrays(normal("x"), normal("dy"), {.dx = 3}))
      .hostile("dx in dy's place",
               [](auto& p, days::Shape s, days::Inputs& in) {
                 p.n = s[0];
                 p.x = in.normal("x", s[0]);
                 p.y = in.output("y", s[0]);
                 p.dx = in.normal("dx", s[0]);
                 p.dy = p.dx;
               })
      // Each array once. No rung reaches it, because backward comes after everything else: it has to read again what
      // forward has read, or what forward has kept for it.
      .traffic([](const auto& p) {
        return days::reads(p.x, p.n) + days::reads(p.dy, p.n) + days::writes(p.y, p.n) +
               days::writes(p.dx, p.n);
      });
}

const auto gelu_step =
    step_of(days::ladder<GeluStep>("gelu_step").types<float, days::half, days::bf16>())
        .variant("inner", LAUNCHER(gelu_step_inner))
        .needs(kStepAligned)
        .workspace(LAUNCHER(gelu_step_inner_workspace))
        .variant("slope", LAUNCHER(gelu_step_slope))
        .needs(kStepAligned)
        .workspace(LAUNCHER(gelu_step_slope_workspace))
        .variant("recompute", LAUNCHER(gelu_step_recompute))
        .needs(kStepAligned)
        .exercise(LAUNCHER(exercise), "GELU forward and backward with nothing kept in between", "inner",
                  "recompute",
                  {.reads_per_input = 1.6, .bytes_per_request = 400, .workspace = 0, .speed = 0.75})
        .needs(kStepAligned)
        .reference(LAUNCHER(gelu_step_reference))
        .parallel(LAUNCHER(gelu_step_parallel))
        .tolerance(OfSlope{.in_type = true})
        .tolerance("y", OfGelu{})
        .lesson("bytes decide: what costs more bytes to keep than to compute is computed again.");

const auto gelu_step_byte_ladder =
    step_of(days::ladder<GeluStep>("gelu_step_byte").types<float, days::half, days::bf16>())
        .variant("byte", LAUNCHER(gelu_step_byte))
        .needs(kStepAligned)
        .workspace(LAUNCHER(gelu_step_byte_workspace))
        .reference(LAUNCHER(gelu_step_reference))
        .parallel(LAUNCHER(gelu_step_parallel))
        .tolerance(OfSlope{.more = 0.5 / kSteps})
        .tolerance("y", OfGelu{})
        .lesson("a kept byte moves less than x read twice in fp32, and as much in 16 bits.");

const auto gelu_backward =
    days::elementwise_backward(
        days::ladder<GeluBackward>("gelu_backward").types<float, days::half, days::bf16>())
        .variant("grad_single", LAUNCHER(gelu_grad_single))
        .variant("grad_vectors", LAUNCHER(gelu_grad_vectors))
        .needs(kAligned)
        .variant("grad_one_power", LAUNCHER(gelu_grad_one_power))
        .needs(kAligned)
        .reference(LAUNCHER(gelu_backward_reference))
        .parallel(LAUNCHER(gelu_backward_parallel))
        .tolerance(OfSlope{})
        .lesson("recomputing is free while it is shorter than the bytes: count instructions in 16 bits.");

REGISTER_LADDER(gelu_step);
REGISTER_LADDER(gelu_step_byte_ladder);
REGISTER_LADDER(gelu_backward);

}  // namespace
}  // namespace day15
