// SPDX-License-Identifier: MIT
// The day's ladders: two layouts and SwiGLU, forward and backward. Host code only.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "common/elementwise.h"
#include "common/ladder.h"
#include "common/random.h"
#include "common/scalar.h"
#include "day44_gegelu/gegelu.h"
#include "day44_gegelu/swiglu.h"

namespace day44 {
namespace {

constexpr double kLimit = 20;  // Phi-3's

// ---- Inputs: what a gate and a value are, then where they lie.

// The gate (which = 0) and the value (1) of output i.
using Numbers = double (*)(size_t i, size_t which);

double normal(size_t i, size_t which) {
  return static_cast<double>(days::normal(44 + which, i));
}
// Everything out of the ordinary, then what is next to the limit and on it.
template <class T>
double special(size_t i) {
  const double around[] = {kLimit,
                           -kLimit,
                           kLimit * (1 + days::TypeInfo<T>::kEpsilon),
                           -kLimit * (1 + days::TypeInfo<T>::kEpsilon),
                           kLimit * (1 - days::TypeInfo<T>::kEpsilon),
                           2 * kLimit,
                           -2 * kLimit};
  return i % 24 < 17 ? days::special_value<T>(i % 24) : around[i % 24 - 17];
}
template <class T>
double special_gate(size_t i, size_t which) {
  return which == 0 ? special<T>(i) : normal(i, which);
}
// Positive gates, whose slope is not small: near -0.75 it is a difference of two terms, whose error times the largest number
// is more than any bound. Nor is one so near 0 that its gelu, about half of it, is denormal in 16 bits: a rung that stores gelu
// then rounds it by up to half the least denormal, and that times the largest number is more than any bound, too.
double positive_gate(size_t i, size_t which) {
  return which == 0 ? std::max(std::abs(normal(i, which)), 0x1p-10) : normal(i, which);
}
template <class T>
double special_value(size_t i, size_t which) {
  return which == 1 ? special<T>(i) : positive_gate(i, which);
}
// The largest is halved: times a slope, which may be 1.13, it is no number of the type.
template <class T>
double special_dy(size_t i) {
  const double dy = days::special_value<T>(i);
  return std::abs(dy) == days::TypeInfo<T>::kMax ? dy / 2 : dy;
}
// Each of seven with each of seven.
double special_both(size_t i, size_t which) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double values[] = {
      std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 0, -1, kLimit, 2 * kLimit};
  return values[(which == 0 ? i : i / 7) % 7];
}
double far_out(size_t i, size_t which) {
  return 30 * (2 * static_cast<double>(days::uniform(46 + which, i)) - 1);
}

// x in one of two layouts; T and U: what a maker gets is a problem, of which it needs the element type.
template <class P>
using ElementOf = std::remove_cvref_t<decltype(*std::declval<P>().x)>;

struct Halves {
  template <class P>
  static auto x(const P& p, Numbers numbers, days::Inputs& in) {
    const auto cols = static_cast<size_t>(p.cols);
    return in.fill("x", 2 * days::Extent(p.rows) * p.cols, [=](size_t i) {
      const size_t row = i / (2 * cols), col = i % (2 * cols);
      return numbers(row * cols + col % cols, col / cols);
    });
  }
};
struct Pairs {
  template <class P>
  static auto x(const P& p, Numbers numbers, days::Inputs& in) {
    return in.fill("x", 2 * days::Extent(p.rows) * p.cols, [=](size_t i) { return numbers(i / 2, i % 2); });
  }
};

template <class P>
void set_extents(P& p, days::Shape s) {
  p.rows = s[0];
  p.cols = s[1];
  if constexpr (requires { p.limit; }) p.limit = static_cast<float>(days::scalar("limit", kLimit));
}

// numbers(p): a Numbers for p's element type. Each array begins some elements past an aligned address.
template <class Layout, class Numbers>
auto forward(Numbers numbers, int x = 0, int y = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    set_extents(p, s);
    p.x = Layout::x(p, numbers(p), in) + static_cast<size_t>(x);
    p.y = in.output("y", s[0], s[1]) + static_cast<size_t>(y);
  };
}
template <class Layout, class Numbers>
auto backward(Numbers numbers, int x = 0, int dy = 0, int dx = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    set_extents(p, s);
    p.x = Layout::x(p, numbers(p), in) + static_cast<size_t>(x);
    p.dy = in.normal("dy", s[0] * s[1]) + static_cast<size_t>(dy);
    p.dx = in.output("dx", s[0], 2 * s[1]) + static_cast<size_t>(dx);
  };
}

constexpr auto kNormal = [](const auto&) -> Numbers { return normal; };
constexpr auto kSpecialGate = [](const auto& p) -> Numbers { return special_gate<ElementOf<decltype(p)>>; };
constexpr auto kSpecialValue = [](const auto& p) -> Numbers { return special_value<ElementOf<decltype(p)>>; };
constexpr auto kSpecialBoth = [](const auto&) -> Numbers { return special_both; };
constexpr auto kFarOut = [](const auto&) -> Numbers { return far_out; };

// Random inputs of what is measured are made on the device, where a function of the index would take minutes.
auto random_forward() {
  return [](auto& p, days::Shape s, days::Inputs& in) {
    set_extents(p, s);
    p.x = in.normal("x", 2 * s[0] * s[1]);
    p.y = in.output("y", s[0], s[1]);
  };
}
auto random_backward() {
  return [](auto& p, days::Shape s, days::Inputs& in) {
    set_extents(p, s);
    p.x = in.normal("x", 2 * s[0] * s[1]);
    p.dy = in.normal("dy", s[0] * s[1]);
    p.dx = in.output("dx", s[0], 2 * s[1]);
  };
}

// ---- Tolerances

// The largest that multiplies an error of the gate's function, of what is not hostile.
constexpr double kHuge = 1e4;
template <class P>
double largest_factor(const P& p) {
  double largest = 1;
  const auto see = [&](double factor) {
    if (std::abs(factor) <= kHuge) largest = std::max(largest, std::abs(factor));
  };
  for (int64_t i = 0; i < 2 * p.rows * p.cols; ++i) see(days::to_double(p.x[i]) + 1);
  if constexpr (requires { p.dy; }) {
    const double of_x = largest;
    double of_dy = 0;
    for (int64_t i = 0; i < p.rows * p.cols; ++i) {
      const double dy = std::abs(days::to_double(p.dy[i]));
      if (dy <= kHuge) of_dy = std::max(of_dy, dy);
    }
    largest = of_x * std::max(of_dy, 1.0);
  }
  return largest;
}

// Who adds 1 and tanh far left of 0 is off by epsilons of x / 2, absolutely; a slope is a sum of two terms that cancel
// near -0.75. What multiplies them, multiplies that. In 16 bits two roundings are permitted, of gelu and of the product,
// as Liger and a library of single functions make them.
struct OfGates {
  double epsilons;

  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem& p, days::Inputs&) const {
    using Fp32 = days::TypeInfo<float>;
    using Info = days::TypeInfo<T>;
    constexpr bool kRounded = Info::kEpsilon > Fp32::kEpsilon;
    const double factor = largest_factor(p);
    return {
        epsilons * Fp32::kEpsilon * factor + (kRounded ? Info::kDenormMin * factor : 4 * Fp32::kDenormMin),
        16 * Fp32::kEpsilon + (kRounded ? 2 * Info::kEpsilon : 0)};
  }
};

// ---- What the four have in common

// One; rows of one output; around vectors, a warp, a block, its tiles in both types; rows of whole 16 bytes and not; rows
// that are no whole block and more than one; an odd number of outputs, so that a tail is left.
template <class L>
L sizes(const L& ladder) {
  return ladder.extents({"rows", "cols"})
      .by_rows([](const auto& p) { return p.rows; },
               [](auto p, size_t begin, size_t end) {
                 const size_t outputs = begin * static_cast<size_t>(p.cols);
                 p.rows = static_cast<int64_t>(end - begin);
                 p.x += 2 * outputs;
                 if constexpr (requires { p.dx; }) {
                   p.dy += outputs;
                   p.dx += 2 * outputs;
                 } else {
                   p.y += outputs;
                 }
                 return p;
               })
      .shapes({{1, 1},    {1, 2},    {3, 1},    {7, 3},    {1, 4},    {5, 8},    {9, 33},   {3, 64},
               {2, 255},  {2, 256},  {2, 257},  {1, 511},  {3, 520},  {1, 1023}, {2, 1024}, {1, 1025},
               {2, 2048}, {1, 2049}, {3, 2056}, {1, 8201}, {131, 24}, {17, 1000}})
      .gpu_shapes({{1031, 14336}, {1025, 8193}})
      .bench({{8192, 14336}})
      .sweep({{256, 14336},
              {1024, 14336},
              {4096, 14336},
              {65536, 768},
              {32768, 3072},
              {16384, 8192},
              {16385, 8190},
              {8192, 14336},
              {8192, 24576}})
      .show({{32, 2048}});
}

template <class Layout, class L>
L outputs(const L& ladder) {
  return sizes(ladder)
      .inputs(random_forward())
      .hostile("special gates", forward<Layout>(kSpecialGate))
      .hostile("special values", forward<Layout>(kSpecialValue))
      .hostile("special pairs", forward<Layout>(kSpecialBoth))
      .hostile("up to 30 either way", forward<Layout>(kFarOut))
      .hostile("misaligned x", forward<Layout>(kNormal, 1, 0))
      .hostile("misaligned y", forward<Layout>(kNormal, 0, 3))
      .traffic([](const auto& p) {
        const double n = 1.0 * p.rows * p.cols;
        return days::reads(p.x, 2 * n) + days::writes(p.y, n);
      })
      .tolerance(OfGates{4});
}

const auto geglu =
    outputs<Halves>(days::ladder<Geglu>("geglu").types<float, days::half, days::bf16>())
        .variant("unfused", LAUNCHER(geglu_unfused))
        .workspace(LAUNCHER(unfused_workspace))
        .variant("fused", LAUNCHER(geglu_fused))
        .variant("halves", LAUNCHER(geglu_halves))
        .needs(kAlignedHalves)
        .reference(LAUNCHER(geglu_reference))
        .parallel(LAUNCHER(geglu_parallel))
        .lesson("halves side by side: neighbours load neighbours, as long as a row's half is whole vectors.");

const auto gegelu =
    outputs<Pairs>(days::ladder<Gegelu>("gegelu").types<float, days::half, days::bf16>())
        .variant("strided", LAUNCHER(gegelu_strided))
        .variant("pairs", LAUNCHER(gegelu_pairs))
        .needs(kAlignedPairs)
        .variant("vectors", LAUNCHER(gegelu_vectors))
        .needs(kAligned)
        .exercise(LAUNCHER(exercise), "Phi-3's GeGELU, no sector half used", "strided", "vectors",
                  {.wasted_sectors = 0.05, .bytes_per_request = 300, .speed = 0.95})
        .needs(kAligned)
        .reference(LAUNCHER(gegelu_reference))
        .parallel(LAUNCHER(gegelu_parallel))
        .hostile("x aligned to a pair", forward<Pairs>(kNormal, 2, 0))
        .lesson("interleaved pairs: one load must take whole pairs, or every sector moves twice.");

template <class Layout, class L>
L gradients(const L& ladder) {
  return sizes(ladder)
      .inputs(random_backward())
      .hostile("special gates", backward<Layout>(kSpecialGate))
      .hostile("special values", backward<Layout>(kSpecialValue))
      .hostile("special pairs", backward<Layout>(kSpecialBoth))
      .hostile("up to 30 either way", backward<Layout>(kFarOut))
      .hostile("special dy",
               [](auto& p, days::Shape s, days::Inputs& in) {
                 using T = ElementOf<decltype(p)>;
                 set_extents(p, s);
                 p.x = Layout::x(p, positive_gate, in);
                 p.dy = in.fill("dy", s[0] * s[1], special_dy<T>);
                 p.dx = in.output("dx", s[0], 2 * s[1]);
               })
      .hostile("misaligned x", backward<Layout>(kNormal, 1, 0, 0))
      .hostile("misaligned dy", backward<Layout>(kNormal, 0, 1, 0))
      .hostile("misaligned dx", backward<Layout>(kNormal, 0, 0, 2))
      .hostile("in place",
               [](auto& p, days::Shape s, days::Inputs& in) {
                 set_extents(p, s);
                 p.dx = in.normal("dx", 2 * s[0] * s[1], 2).as(s[0], 2 * s[1]);
                 p.x = p.dx;
                 p.dy = in.normal("dy", s[0] * s[1]);
               })
      .traffic([](const auto& p) {
        const double n = 1.0 * p.rows * p.cols;
        return days::reads(p.x, 2 * n) + days::reads(p.dy, n) + days::writes(p.dx, 2 * n);
      })
      .tolerance(OfGates{16});
}

const auto geglu_backward =
    gradients<Halves>(days::ladder<GegluBackward>("geglu_backward").types<float, days::half, days::bf16>())
        .variant("grad_fused", LAUNCHER(geglu_grad_fused))
        .variant("grad_halves", LAUNCHER(geglu_grad_halves))
        .needs(kAlignedGradHalves)
        .reference(LAUNCHER(geglu_backward_reference))
        .parallel(LAUNCHER(geglu_backward_parallel))
        .lesson("gelu is computed again: ten instructions are cheaper than an element from memory.");

const auto gegelu_backward =
    gradients<Pairs>(days::ladder<GegeluBackward>("gegelu_backward").types<float, days::half, days::bf16>())
        .variant("grad_strided", LAUNCHER(gegelu_grad_strided))
        .variant("grad_vectors", LAUNCHER(gegelu_grad_vectors))
        .needs(kAlignedGrad)
        .reference(LAUNCHER(gegelu_backward_reference))
        .parallel(LAUNCHER(gegelu_backward_parallel))
        .lesson("the gradient goes out in the layout that the input came in: whole pairs again.");

const auto swiglu_ladder =
    outputs<Halves>(days::ladder<Swiglu>("swiglu").types<float, days::half, days::bf16>())
        .variant("swiglu", LAUNCHER(swiglu))
        .reference(LAUNCHER(swiglu_reference))
        .parallel(LAUNCHER(swiglu_parallel))
        .lesson("another gate, the same bytes: what is computed between load and store costs nothing.");

const auto swiglu_backward =
    gradients<Halves>(days::ladder<SwigluBackward>("swiglu_backward").types<float, days::half, days::bf16>())
        .variant("swiglu_grad", LAUNCHER(swiglu_grad))
        .reference(LAUNCHER(swiglu_backward_reference))
        .parallel(LAUNCHER(swiglu_backward_parallel))
        .lesson("the gate is computed again: what is kept for backward is the input alone.");

REGISTER_LADDER(geglu);
REGISTER_LADDER(gegelu);
REGISTER_LADDER(geglu_backward);
REGISTER_LADDER(gegelu_backward);
REGISTER_LADDER(swiglu_ladder);
REGISTER_LADDER(swiglu_backward);

}  // namespace
}  // namespace day44
