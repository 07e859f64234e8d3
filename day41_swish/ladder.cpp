// SPDX-License-Identifier: MIT
// The day's two ladders: swish, and its gradients with respect to x and to beta. Host code only.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "common/elementwise.h"
#include "common/ladder.h"
#include "day41_swish/swish.h"

namespace day41 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastNormal = days::TypeInfo<float>::kDenormMin / days::TypeInfo<float>::kEpsilon;

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
double size_of(float beta) {
  return std::isfinite(beta) ? std::abs(static_cast<double>(beta)) : 0;
}
// u = beta * x is rounded by half a unit, and e^u is off by as large a part of it as u is off by: an epsilon for each unit of
// |u|. Beyond 88 nothing is left.
template <class P>
double depth(const P& p) {
  return std::min(88.0, size_of(*p.beta) * largest(p.x, p.n));
}
// The largest x whose s(u) may be a denormal in fp32, which has few digits, and is multiplied by x.
template <class P>
double largest_in_the_tail(const P& p) {
  const double most = largest(p.x, p.n), beta = size_of(*p.beta);
  return beta * most < 80 ? 0 : std::min(most, 104 / beta);
}

struct OfY {
  template <class T>
  days::Bound operator()(days::Type<T>, const Swish<T>& p, days::Inputs&) const {
    return {4 * days::TypeInfo<T>::kDenormMin + largest_in_the_tail(p) * kLeastNormal,
            digits<T>(6 + depth(p))};
  }
};

// 1 + u s(-u) is a sum of numbers of both signs: it is 0 at u = -1.28.
struct OfDx {
  template <class T>
  days::Bound operator()(days::Type<T>, const SwishBackward<T>& p, days::Inputs&) const {
    const double dy = largest(p.dy, p.n);
    return {days::TypeInfo<T>::kDenormMin + dy * (8 * days::TypeInfo<float>::kEpsilon),
            digits<T>(8 + depth(p))};
  }
};

// Each addition rounds a partial sum, which is no larger than all that is added without its sign, and each term is off by what
// u is. A running sum of as many terms as `atomic` takes is off by half a root of n epsilons, where all have the same sign.
struct OfDbeta {
  template <class T>
  days::Bound operator()(days::Type<T>, const SwishBackward<T>& p, days::Inputs&) const {
    using Fp32 = days::TypeInfo<float>;
    const double x = largest_in_the_tail(p),
                 lost = x * x * largest(p.dy, p.n) * static_cast<double>(p.n) * kLeastNormal;
    const double root = std::sqrt(static_cast<double>(std::min(p.n, int64_t{1} << 20)));
    return {(8 + depth(p) + root) * Fp32::kEpsilon * sum_of_sizes(p) + lost +
                Fp32::kDenormMin * static_cast<double>(p.n),
            0};
  }
};

auto normal(double scale = 1) {
  return [=](const char* name, const auto&, days::Extent n, days::Inputs& in) {
    return in.normal(name, n, scale);
  };
}
auto within(double most) {
  return [=](const char* name, const auto&, days::Extent n, days::Inputs& in) {
    return in.uniform(name, n, -most, most);
  };
}
auto special() {
  return [](const char* name, const auto& p, days::Extent n, days::Inputs& in) {
    return in.fill(name, n, days::special_value<std::remove_cvref_t<decltype(*p.x)>>);
  };
}
auto equal(double value) {
  return [=](const char* name, const auto&, days::Extent n, days::Inputs& in) {
    return in.constant(name, n, value);
  };
}
// Some numbers that are not finite among ordinary ones.
auto some_not_finite() {
  return [](const char* name, const auto&, days::Extent n, days::Inputs& in) {
    return in.fill(name, n,
                   [](size_t i) { return i % 61 == 3 ? -kInfinity : static_cast<double>(i % 13) - 6; });
  };
}

// The largest numbers of either sign among ordinary ones: their gates are 0 or 1, and their squares infinite in fp32.
auto some_largest() {
  return [](const char* name, const auto& p, days::Extent n, days::Inputs& in) {
    constexpr double kLargest = days::TypeInfo<std::remove_cvref_t<decltype(*p.x)>>::kMax;
    return in.fill(name, n, [](size_t i) {
      return i % 61 == 3 ? kLargest : i % 61 == 4 ? -kLargest : static_cast<double>(i % 13) - 6;
    });
  };
}

// Each array begins as many elements past an aligned address.
template <class Xs>
auto forward(double beta, Xs xs, int x = 0, int y = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.x = xs("x", p, s[0], in) + static_cast<size_t>(x);
    p.beta = in.constant("beta", 1, beta);
    p.y = in.output("y", s[0]) + static_cast<size_t>(y);
  };
}
template <class Xs, class Dys>
auto backward(double beta, Xs xs, Dys dys, int x = 0, int dy = 0, int dx = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.x = xs("x", p, s[0], in) + static_cast<size_t>(x);
    p.dy = dys("dy", p, s[0], in) + static_cast<size_t>(dy);
    p.beta = in.constant("beta", 1, beta);
    p.dx = in.output("dx", s[0]) + static_cast<size_t>(dx);
    p.dbeta = in.output("dbeta", 1);
  };
}

const auto swish =
    days::elementwise_sizes(days::ladder<Swish>("swish").types<float, days::half, days::bf16>())
        .inputs(forward(1.5, normal()))
        .hostile("beta is NaN", forward(std::nan(""), normal()))
        .hostile("beta is infinite", forward(kInfinity, normal()))
        .hostile("beta is 0", forward(0, normal()))
        .hostile("beta is negative", forward(-1.7, within(60)))
        .hostile("beta is 1e30", forward(1e30, normal()))
        .hostile("special values", forward(1, special()))
        .hostile("up to 3e4 either way", forward(0.01, within(3e4)))
        .hostile("misaligned x", forward(1, normal(), 1, 0))
        .hostile("misaligned y", forward(1, normal(), 0, 3))
        .hostile("in place",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.y = in.normal("y", s[0]);
                   p.beta = in.constant("beta", 1, 1.25);
                   p.x = p.y;
                 })
        .traffic([](const auto& p) {
          return days::reads(p.x, p.n) + days::reads(p.beta, 1) + days::writes(p.y, p.n);
        })
        .variant("vectors", LAUNCHER(swish_vectors))
        .needs(kAligned)
        .reference(LAUNCHER(swish_reference))
        .by_rows([](const auto& p) { return p.n; },
                 [](auto p, size_t begin, size_t end) {
                   p.n = static_cast<int64_t>(end - begin);
                   p.x += begin;
                   p.y += begin;
                   return p;
                 })
        .parallel(LAUNCHER(swish_parallel))
        .tolerance(OfY{})
        .lesson("a parameter that all threads read costs forward nothing: L1 has it.");

const auto swish_backward =
    days::elementwise_sizes(
        days::ladder<SwishBackward>("swish_backward").types<float, days::half, days::bf16>())
        .inputs(backward(1.5, normal(), normal()))
        .hostile("beta is NaN", backward(std::nan(""), normal(), normal()))
        .hostile("beta is infinite", backward(kInfinity, normal(), normal()))
        .hostile("beta is 0", backward(0, normal(), normal()))
        .hostile("beta is negative", backward(-1.7, within(60), normal()))
        .hostile("beta is 1e30", backward(1e30, normal(), normal()))
        .hostile("dy all equal", backward(1, normal(), equal(1)))
        .hostile("some of dy infinite", backward(1, normal(), some_not_finite()))
        .hostile("special values of x", backward(1, special(), normal()))
        .hostile("some of x the largest", backward(1, some_largest(), normal()))
        .hostile("x up to 3e4 either way", backward(0.01, within(3e4), normal()))
        .hostile("misaligned x", backward(1, normal(), normal(), 1, 0, 0))
        .hostile("misaligned dy", backward(1, normal(), normal(), 0, 1, 0))
        .hostile("misaligned dx", backward(1, normal(), normal(), 0, 0, 3))
        .hostile("dx in dy's place",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.x = in.normal("x", s[0]);
                   p.dx = in.normal("dx", s[0]);
                   p.beta = in.constant("beta", 1, 1.25);
                   p.dbeta = in.output("dbeta", 1);
                   p.dy = p.dx;
                 })
        .traffic([](const auto& p) {
          return days::reads(p.x, p.n) + days::reads(p.dy, p.n) + days::reads(p.beta, 1) +
                 days::writes(p.dx, p.n) + days::writes(p.dbeta, 1);
        })
        .variant("atomic", LAUNCHER(swish_atomic))
        .needs(kFewElements)
        .variant("block", LAUNCHER(swish_block))
        .needs(kAlignedBackward)
        .variant("stages", LAUNCHER(swish_stages))
        .needs(kAlignedBackward)
        .workspace(LAUNCHER(stages_workspace))
        .variant("ticket", LAUNCHER(swish_ticket))
        .needs(kAlignedBackward)
        .workspace(LAUNCHER(ticket_workspace))
        .setup(LAUNCHER(swish_ticket_setup))
        .exercise(LAUNCHER(exercise), "swish's gradients with one atomic addition a block", "atomic", "block",
                  {.bytes_per_request = 300, .atomics_per_input = 0.02, .speed = 0.9})
        .needs(kAlignedBackward)
        .reference(LAUNCHER(swish_backward_reference))
        .parallel(LAUNCHER(swish_backward_parallel))
        .tolerance(OfDx{})
        .tolerance("dbeta", OfDbeta{})
        .lesson("a sum in a fixed order costs no more than atomics, and is the same on every run.");

REGISTER_LADDER(swish);
REGISTER_LADDER(swish_backward);

}  // namespace
}  // namespace day41
