// SPDX-License-Identifier: MIT
// The day's two ladders, forward and backward. Host code only.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/elementwise.h"
#include "common/ladder.h"
#include "common/parallel.h"
#include "day36_dyt/dyt.h"

namespace day36 {
namespace {

constexpr double kAlpha = 0.5;  // what training begins with

// The largest finite size among n numbers.
template <class T>
double largest(const T* values, size_t n) {
  std::vector<double> of_part(days::cpu_threads());
  days::parallel_ranges(n, [&](size_t part, size_t begin, size_t end) {
    double most = 0;
    for (size_t i = begin; i < end; ++i) {
      const double size = std::abs(days::to_double(values[i]));
      if (size > most && std::isfinite(size)) most = size;
    }
    of_part[part] = most;
  });
  return *std::max_element(of_part.begin(), of_part.end());
}

using Fp32 = days::TypeInfo<float>;

// `epsilons` of fp32, half a unit of T where it rounds, and what a sum of n terms loses relative to itself.
template <class T>
days::Bound bound_of(double epsilons, double n = 1) {
  constexpr bool kRounded = days::TypeInfo<T>::kEpsilon > Fp32::kEpsilon;
  return {epsilons * Fp32::kEpsilon + 4 * Fp32::kDenormMin + (kRounded ? days::TypeInfo<T>::kDenormMin : 0),
          (2 + 2 * std::sqrt(n)) * Fp32::kEpsilon + (kRounded ? days::TypeInfo<T>::kEpsilon : 0)};
}

// tanh is off by 5 epsilons at most, where a power and a quotient make it.
struct OfY {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem& p, days::Inputs&) const {
    return bound_of<T>(6 * largest(p.gamma, static_cast<size_t>(p.cols)));
  }
};

// What the tolerances of backward want to know. Errors of single terms are relative to `most`. n terms, added up, are off by
// 2 n epsilons of their root mean square: four times half an epsilon of a sum of sqrt(n) of them, sqrt(n) times (compare.h).
template <class Problem>
struct Sizes {
  double dy, gamma, alpha,
      x;  // of x what counts for alpha's gradient: beyond 9 / alpha the slope of tanh is 0

  explicit Sizes(const Problem& p) {
    const size_t n = static_cast<size_t>(p.rows) * static_cast<size_t>(p.cols);
    dy = largest(p.dy, n);
    gamma = largest(p.gamma, static_cast<size_t>(p.cols));
    alpha = std::abs(static_cast<double>(*p.alpha));
    if (!std::isfinite(alpha)) alpha = 1;
    x = std::min(largest(p.x, n), 9 / alpha);
  }
};
struct OfDx {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem& p, days::Inputs&) const {
    const Sizes<Problem> most(p);
    return bound_of<T>(8 * most.dy * most.gamma * most.alpha);
  }
};
struct OfColumns {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem& p, days::Inputs& in) const {
    return bound_of<T>(2 * p.rows * in.rms("dy") + 8 * Sizes<Problem>(p).dy, p.rows);
  }
};
struct OfDalpha {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem& p, days::Inputs& in) const {
    const Sizes<Problem> most(p);
    const double n = 1.0 * p.rows * p.cols,
                 x = std::min(most.x, 0.448 / most.alpha);  // x * slope is at most that
    return bound_of<T>(2 * n * in.rms("dy") * in.rms("gamma") * x + 16 * most.dy * most.gamma * most.x, n);
  }
};

// Where each of the arrays begins, in elements past an aligned address.
struct Offsets {
  size_t x = 0, gamma = 0, out = 0, dy = 0;
};
template <class P>
using ElementOf = std::remove_cvref_t<decltype(*std::declval<P>().x)>;

// x holds values(name, p, n, inputs).
template <class Values>
auto forward(Values values, double alpha = kAlpha, Offsets past = {}) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.x = values("x", p, s[0] * s[1], in) + past.x;
    p.alpha = in.constant("alpha", 1, alpha);
    p.gamma = in.normal("gamma", s[1]) + past.gamma;
    p.beta = in.normal("beta", s[1]);
    p.y = in.output("y", s[0], s[1]) + past.out;
  };
}
// dy holds dys(name, p, n, inputs), too.
template <class Values, class Gradients>
auto backward(Values values, Gradients dys, double alpha = kAlpha, Offsets past = {}) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.x = values("x", p, s[0] * s[1], in) + past.x;
    p.dy = dys("dy", p, s[0] * s[1], in) + past.dy;
    p.alpha = in.constant("alpha", 1, alpha);
    p.gamma = in.normal("gamma", s[1]) + past.gamma;
    p.dx = in.output("dx", s[0], s[1]) + past.out;
    p.dgamma = in.output("dgamma", s[1]);
    p.dbeta = in.output("dbeta", s[1]);
    p.dalpha = in.output("dalpha", 1);
  };
}

auto normal(double scale = 1) {
  return [=](const char* name, const auto&, days::Extent n, days::Inputs& in) {
    return in.normal(name, n, scale);
  };
}
auto equal(double value) {
  return [=](const char* name, const auto&, days::Extent n, days::Inputs& in) {
    return in.constant(name, n, value);
  };
}
auto special() {
  return [](const char* name, const auto& p, days::Extent n, days::Inputs& in) {
    return in.fill(name, n, days::special_value<ElementOf<decltype(p)>>);
  };
}
// A NaN and an infinity in every fourth row, in different columns: the others have to stay numbers.
auto some_not_finite() {
  return [](const char* name, const auto& p, days::Extent n, days::Inputs& in) {
    const size_t cols = static_cast<size_t>(p.cols);
    return in.fill(name, n, [cols](size_t i) {
      const size_t row = i / cols % 4;
      if (i % cols == cols / 2 && row == 1) return std::nan("");
      if (i % cols == cols / 3 && row == 2) return -std::numeric_limits<double>::infinity();
      return static_cast<double>(i % 13) - 6;
    });
  };
}

// Sizes that both ladders are measured at: rows from short to long, always of 256 MiB in fp32, as day 12's.
template <class L>
L measured(const L& ladder) {
  return ladder.extents({"rows", "cols"})
      .gpu_shapes({{65537, 129}, {4099, 1025}, {4507, 4096}, {5, 65543}})
      .bench({{65536, 4096}})
      .sweep({{1048576, 64},
              {262144, 256},
              {87381, 768},
              {65536, 1024},
              {65537, 1023},
              {32768, 2048},
              {16384, 4096},
              {16385, 4095},
              {8192, 8192},
              {4096, 16384},
              {2048, 32768}},
             {.over = "cols"})
      .show({{256, 1024}});
}

// One; rows shorter than a warp, around a warp, a tile and the vectors of both widths; more rows than one block of a strip
// takes; rows of several tiles that end within a vector, a warp or a tile.
const auto dyt =
    measured(days::ladder<Dyt>("dyt").types<float, days::half, days::bf16>())
        .variant("naive", LAUNCHER(dyt_naive))
        .variant("columns", LAUNCHER(dyt_columns))
        .variant("one_power", LAUNCHER(dyt_one_power))
        .reference(LAUNCHER(dyt_reference))
        .by_rows([](const auto& p) { return p.rows; },
                 [](auto p, size_t begin, size_t end) {
                   p.rows = static_cast<int>(end - begin);
                   p.x += begin * static_cast<size_t>(p.cols);
                   p.y += begin * static_cast<size_t>(p.cols);
                   return p;
                 })
        .parallel(LAUNCHER(dyt_parallel))
        .shapes({{1, 1},
                 {9, 1},
                 {17, 3},
                 {3, 8},
                 {1, 31},
                 {9, 32},
                 {10, 33},
                 {70, 64},
                 {5, 129},
                 {2, 256},
                 {9, 257},
                 {8, 1000},
                 {2, 1025},
                 {2, 4097},
                 {65, 264},
                 {516, 8},
                 {2100, 5}})
        .inputs(forward(normal()))
        .hostile("special values", forward(special()))
        .hostile("x up to some 100", forward(normal(30)))
        .hostile("alpha 0", forward(normal(), 0))
        .hostile("alpha -20", forward(normal(), -20))
        .hostile("alpha NaN", forward(normal(), std::numeric_limits<double>::quiet_NaN()))
        .hostile("misaligned x", forward(normal(), kAlpha, {.x = 1}))
        .hostile("misaligned gamma", forward(normal(), kAlpha, {.gamma = 1}))
        .hostile("misaligned y", forward(normal(), kAlpha, {.out = 3}))
        .hostile("in place",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.rows = s[0];
                   p.cols = s[1];
                   p.y = in.normal("y", s[0] * s[1]).as(s[0], s[1]);
                   p.x = p.y;
                   p.alpha = in.constant("alpha", 1, 1.5);
                   p.gamma = in.normal("gamma", s[1]);
                   p.beta = in.normal("beta", s[1]);
                 })
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.x, elements) + days::reads(p.gamma, p.cols) + days::reads(p.beta, p.cols) +
                 days::writes(p.y, elements);
        })
        .tolerance(OfY{})
        .lesson("nothing is known of a row, so no thread waits for another: it is a copy with a function.");

const auto dyt_backward =
    measured(days::ladder<DytBackward>("dyt_backward").types<float, days::half, days::bf16>())
        .variant("grad_atomic", LAUNCHER(dyt_grad_atomic))
        .workspace([](const auto& p) { return sums_workspace(p.cols); })
        .variant("grad_tiles", LAUNCHER(dyt_grad_tiles))
        .workspace([](const auto& p) { return sums_workspace(p.cols); })
        .variant("grad_partials", LAUNCHER(dyt_grad_partials))
        .workspace([](const auto& p) { return partials_workspace(p.rows, p.cols); })
        .variant("grad_wide", LAUNCHER(dyt_grad_wide))
        .workspace([](const auto& p) { return wide_workspace(p.rows, p.cols); })
        .exercise(LAUNCHER(exercise), "DyT's four gradients without an atomic addition", "grad_atomic",
                  "grad_partials",
                  {.reads_per_input = 1.6,
                   .wasted_sectors = 0.1,
                   .atomics_per_input = 0,
                   .launches = 2,
                   .speed = 0.5})
        .workspace([](const auto& p) { return partials_workspace(p.rows, p.cols); })
        .reference(LAUNCHER(dyt_backward_reference))
        .parallel(LAUNCHER(dyt_backward_parallel))
        .shapes({{1, 1},
                 {9, 1},
                 {17, 3},
                 {3, 8},
                 {9, 31},
                 {10, 33},
                 {70, 64},
                 {9, 129},
                 {5, 257},
                 {65, 130},
                 {2, 1025},
                 {130, 264},
                 {516, 8},
                 {1030, 5}})
        .inputs(backward(normal(), normal()))
        .hostile("special values of x", backward(special(), normal()))
        .hostile("x up to some 100", backward(normal(30), normal()))
        .hostile("some of dy not finite", backward(normal(), some_not_finite()))
        .hostile("dy all equal", backward(normal(), equal(3)))
        .hostile("dy up to some 1e4", backward(normal(), normal(3e3)))
        .hostile("alpha 0", backward(normal(), normal(), 0))
        .hostile("alpha -20", backward(normal(), normal(), -20))
        .hostile("alpha NaN", backward(normal(), normal(), std::numeric_limits<double>::quiet_NaN()))
        .hostile("misaligned x", backward(normal(), normal(), kAlpha, {.x = 1}))
        .hostile("misaligned dy", backward(normal(), normal(), kAlpha, {.dy = 3}))
        .hostile("misaligned gamma", backward(normal(), normal(), kAlpha, {.gamma = 1}))
        .hostile("misaligned dx", backward(normal(), normal(), kAlpha, {.out = 5}))
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.x, elements) + days::reads(p.dy, elements) + days::reads(p.gamma, p.cols) +
                 days::writes(p.dx, elements) + days::writes(p.dgamma, p.cols) +
                 days::writes(p.dbeta, p.cols);
        })
        .tolerance(OfDx{})
        .tolerance("dgamma", OfColumns{})
        .tolerance("dbeta", OfColumns{})
        .tolerance("dalpha", days::in_type<float>(OfDalpha{}))
        .lesson("sum in registers, then once a block: after that atomics cost nothing but their order.");

REGISTER_LADDER(dyt);
REGISTER_LADDER(dyt_backward);

}  // namespace
}  // namespace day36
