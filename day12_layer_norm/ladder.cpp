// SPDX-License-Identifier: MIT
// The day's ladders, layer norm forward and backward and RMS norm: who competes, on which shapes and inputs, measured
// against what. Host only.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "common/ladder.h"
#include "common/random.h"
#include "common/scalar.h"
#include "day12_layer_norm/layer_norm.h"
#include "day12_layer_norm/rms_norm.h"

namespace day12 {
namespace {

// Where each of the arrays begins, in elements past an aligned address.
struct Offsets {
  int x = 0, gamma = 0, y = 0;
};

// gamma, beta and the outputs, of RMS norm those that it has; x holds values(p, count, inputs).
template <class Values>
auto matrices(Values values, Offsets past = {}) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.eps = static_cast<float>(days::scalar("eps", 1e-5));
    p.x = values(p, s[0] * s[1], in) + past.x;
    p.gamma = in.normal("gamma", s[1]) + past.gamma;
    if constexpr (requires { p.beta; }) p.beta = in.normal("beta", s[1]);
    p.y = in.output("y", s[0], s[1]) + past.y;
    if constexpr (requires { p.mean; }) p.mean = in.output("mean", s[0]);
    p.rstd = in.output("rstd", s[0]);
  };
}
template <class P>
using ElementOf = std::remove_cvref_t<decltype(*std::declval<P>().x)>;

auto random_values() {
  return [](const auto&, days::Extent n, days::Inputs& in) { return in.normal("x", n); };
}

// A mean that is many standard deviations from 0, as many as the type can tell apart: where the mean of the squares
// minus the square of the mean is lost. (9,984 is 39 * 2^8, so that a sum of 65,543 numbers like it, added up by one
// thread, rounds as often up as down. With 10,000 each addition loses the same 16: the mean is off by 3.)
auto far_from_zero() {
  return [](const auto& p, days::Extent n, days::Inputs& in) {
    using T = ElementOf<decltype(p)>;
    const double mean = std::is_same_v<T, float> ? 9984 : std::is_same_v<T, days::half> ? 1000 : 200;
    const double deviation = std::is_same_v<T, days::bf16> ? 30 : 1;
    return in.fill("x", n,
                   [=](size_t i) { return mean + deviation * static_cast<double>(days::normal(12, i)); });
  };
}

// As large as it may be for the squares to add up in fp32.
auto huge_values() {
  return [](const auto& p, days::Extent n, days::Inputs& in) {
    return in.normal("x", n, std::is_same_v<ElementOf<decltype(p)>, days::half> ? 1e4 : 1e15);
  };
}

// Row r of eight kinds in turn, so that eight rows have them all.
double special_value(size_t row, size_t col, size_t cols) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double number = static_cast<double>(col * 37 % 101) / 25 - 2;
  switch (row % 8) {
    case 0:
      return col + 1 == cols ? std::nan("") : number;  // NaN, all of the row
    case 1:
      return col == cols / 2 ? kInfinity : number;  // NaN, all of the row
    case 2:
      return col == 0 ? -kInfinity : col + 1 == cols ? kInfinity : number;  // NaN
    case 3:
      return 3;  // no variance: beta
    case 4:
      return (col % 2 == 0 ? 1 : -1) * std::ldexp(1.0, -140);  // denormals, whose squares are 0
    case 5:
      return col == cols / 3 ? 1000 : 0;  // one outlier
    case 6:
      return col % 2 == 0 ? 1 : -1;  // ties: two values
    default:
      return col == 0 ? 1 : 0;  // its first element tells nothing about the row
  }
}
auto special_rows() {
  return [](const auto& p, days::Extent n, days::Inputs& in) {
    const size_t cols = static_cast<size_t>(p.cols);
    return in.fill("x", n, [cols](size_t i) { return special_value(i / cols, i % cols, cols); });
  };
}

// The inputs of both norms.
template <class L>
L norms(const L& ladder) {
  return ladder.inputs(matrices(random_values()))
      .hostile("a mean far from 0", matrices(far_from_zero()))
      .hostile("huge", matrices(huge_values()))
      .hostile("special rows", matrices(special_rows()))
      .hostile("misaligned x", matrices(random_values(), {.x = 1}))
      .hostile("misaligned gamma", matrices(random_values(), {.gamma = 1}))
      .hostile("misaligned y", matrices(random_values(), {.y = 3}))
      .hostile("in place", [](auto& p, days::Shape s, days::Inputs& in) {
        p.rows = s[0];
        p.cols = s[1];
        p.eps = 0.5f;
        p.y = in.normal("y", s[0] * s[1]).as(s[0], s[1]);
        p.x = p.y;
        p.gamma = in.normal("gamma", s[1]);
        if constexpr (requires { p.beta; }) p.beta = in.normal("beta", s[1]);
        if constexpr (requires { p.mean; }) p.mean = in.output("mean", s[0]);
        p.rstd = in.output("rstd", s[0]);
      });
}

const auto layer_norm =
    norms(days::ladder<LayerNorm>("layer_norm")
              .extents({"rows", "cols"})
              .types<float, days::half, days::bf16>())
        .variant("naive", LAUNCHER(layer_norm_naive))
        .variant("shared", LAUNCHER(layer_norm_shared))
        .variant("welford", LAUNCHER(layer_norm_welford))
        .variant("warp", LAUNCHER(layer_norm_warp))
        .variant("registers", LAUNCHER(layer_norm_registers))
        .needs(kColsOfRegisters)
        .variant("persistent", LAUNCHER(layer_norm_persistent))
        .needs(kColsOfPersistent)
        .exercise(LAUNCHER(exercise), "layer norm in at most two reads of each row", "shared", "welford",
                  {.reads_per_input = 4, .wasted_sectors = 0.1})
        .reference(LAUNCHER(layer_norm_reference))
        .by_rows([](const auto& p) { return p.rows; },
                 [](auto p, size_t begin, size_t end) {
                   p.rows = static_cast<int>(end - begin);
                   p.x += begin * static_cast<size_t>(p.cols);
                   p.y += begin * static_cast<size_t>(p.cols);
                   p.mean += begin;
                   p.rstd += begin;
                   return p;
                 })
        .parallel(LAUNCHER(layer_norm_parallel))
        // One; a column, a row; around a warp, a block and the 16-byte vectors of both widths; either side of each
        // tier of registers (64, 256, 1024, ... 16384); rows that fill no block of several; eight for the eight
        // special ones; and more rows than the CPU backend's four multiprocessors hold at once, so that persistent
        // blocks come round again.
        .shapes({{1, 1},    {9, 1},    {17, 3},    {1, 31},   {9, 32},   {10, 33},   {9, 64},    {5, 65},
                 {9, 127},  {9, 129},  {8, 256},   {9, 257},  {8, 1000}, {3, 1024},  {2, 1025},  {2, 2048},
                 {9, 2049}, {9, 4096}, {2, 4097},  {5, 8192}, {1, 8193}, {2, 16384}, {1, 16391}, {1, 65543},
                 {516, 8},  {130, 66}, {130, 200}, {33, 768}, {17, 1032}})
        .gpu_shapes({{65537, 129}, {4099, 1025}, {4507, 4096}, {2251, 8192}, {5, 65543}})
        .bench({{65536, 4096}})
        // Rows from short to long, odd ones among them, always of 256 MiB in fp32.
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
        .show({{128, 4096}})
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.x, elements) + days::reads(p.gamma, p.cols) + days::reads(p.beta, p.cols) +
                 days::writes(p.y, elements) + days::writes(p.mean, p.rows) + days::writes(p.rstd, p.rows);
        })
        .tolerance(days::within(LAUNCHER(error_of_y)))
        .tolerance("mean", days::in_type<float>(days::within(LAUNCHER(error_of_mean))))
        .tolerance("rstd", days::in_type<float>(days::within_relative(LAUNCHER(error_of_rstd))))
        .lesson(
            "a row in registers makes the exact, two-pass variance free: nothing to cancel, no division an "
            "element.");

// x, dy, gamma and what forward has kept; dy holds values(p, count, inputs). Mean and rstd are those of no row, but
// the gradients are right for any.
template <class Values>
auto gradients(Values values, int x = 0, int dy = 0, int dx = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.x = in.normal("x", s[0] * s[1]) + x;
    p.dy = values(p, s[0] * s[1], in) + dy;
    p.gamma = in.normal("gamma", s[1]);
    p.mean = in.normal("mean", s[0], 0.1);
    p.rstd = in.uniform("rstd", s[0], 0.5, 2);
    p.dx = in.output("dx", s[0], s[1]) + dx;
    p.dgamma = in.output("dgamma", s[1]);
    p.dbeta = in.output("dbeta", s[1]);
  };
}

auto random_gradients() {
  return [](const auto&, days::Extent n, days::Inputs& in) { return in.normal("dy", n); };
}

const auto layer_norm_backward =
    days::ladder<LayerNormBackward>("layer_norm_backward")
        .extents({"rows", "cols"})
        .types<float, days::half, days::bf16>()
        .variant("grad_naive", LAUNCHER(layer_norm_grad_naive))
        .variant("grad_partials", LAUNCHER(layer_norm_grad_partials))
        .workspace([](const auto& p) { return grad_partials_workspace(p.rows, p.cols); })
        .variant("grad_registers", LAUNCHER(layer_norm_grad_registers))
        .needs(kColsOfPersistent)
        .workspace([](const auto& p) { return grad_workspace(p.rows, p.cols); })
        .variant("grad_async", LAUNCHER(layer_norm_grad_async))
        .runs_on(days::sm_80)
        .needs(kColsOfPersistent)
        .workspace([](const auto& p) { return grad_workspace(p.rows, p.cols); })
        .reference(LAUNCHER(layer_norm_backward_reference))
        .parallel(LAUNCHER(layer_norm_backward_parallel))
        // As above, for the tiers of grad_registers (64, 256, 1024, ... 8192); and more rows than parts.
        .shapes({{1, 1},    {9, 1},    {17, 3},  {9, 31},   {10, 33},  {9, 64},   {9, 65},
                 {9, 129},  {5, 256},  {5, 257}, {2, 1025}, {9, 2049}, {9, 4096}, {2, 4097},
                 {5, 8192}, {1, 8193}, {516, 8}, {516, 7},  {130, 72}, {33, 768}})
        .gpu_shapes({{65537, 129}, {4099, 1025}, {4507, 4096}, {2251, 8192}, {5, 65543}})
        .bench({{65536, 4096}})
        .sweep({{1048576, 64},
                {262144, 256},
                {87381, 768},
                {65536, 1024},
                {65537, 1023},
                {32768, 2048},
                {16384, 4096},
                {16385, 4095},
                {8192, 8192}},
               {.over = "cols"})
        .show({{128, 4096}})
        .inputs(gradients(random_gradients()))
        .hostile("dy up to 1e4 either way", gradients([](const auto&, days::Extent n, days::Inputs& in) {
                   return in.uniform("dy", n, -1e4, 1e4);
                 }))
        .hostile("dy all equal", gradients([](const auto&, days::Extent n, days::Inputs& in) {
                   return in.constant("dy", n, 3);
                 }))
        .hostile("some of dy not finite", gradients([](const auto& p, days::Extent n, days::Inputs& in) {
                   const size_t cols = static_cast<size_t>(p.cols);
                   return in.fill("dy", n, [cols](size_t i) {
                     const size_t row = i / cols % 4;
                     if (i % cols == cols / 2 && row == 1) return std::nan("");
                     if (i % cols == cols / 3 && row == 2) return -std::numeric_limits<double>::infinity();
                     return static_cast<double>(i % 13) - 6;
                   });
                 }))
        .hostile("misaligned x", gradients(random_gradients(), 1, 0, 0))
        .hostile("misaligned dy", gradients(random_gradients(), 0, 3, 0))
        .hostile("misaligned dx", gradients(random_gradients(), 0, 0, 5))
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.x, elements) + days::reads(p.dy, elements) + days::reads(p.gamma, p.cols) +
                 days::reads(p.mean, p.rows) + days::reads(p.rstd, p.rows) + days::writes(p.dx, elements) +
                 days::writes(p.dgamma, p.cols) + days::writes(p.dbeta, p.cols);
        })
        .tolerance(days::within(LAUNCHER(error_of_dx)))
        .tolerance("dgamma", days::within(LAUNCHER(error_of_dgamma)))
        .tolerance("dbeta", days::within(LAUNCHER(error_of_dbeta)))
        .lesson(
            "sums over rows belong to blocks that stay: one line of partial sums a block, not one a row.");

// Squares have one sign, so that their sum's error is relative, and half of it the root's. Where they are of few bits, the roundings
// of a thread that adds many of them lean one way: they grow with the columns and not with their root.
double rms_epsilons(int cols) {
  return cols / 8.0 + 2 * std::sqrt(cols) + 4;
}
// In 16 bits y is rounded twice, and a first rounding that goes the other way is a whole unit. Who rounds once is as near.
struct OfRms {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem& p, days::Inputs&) const {
    using Fp32 = days::TypeInfo<float>;
    using Info = days::TypeInfo<T>;
    constexpr bool kRounded = Info::kEpsilon > Fp32::kEpsilon;
    double gamma = 1;
    for (int col = 0; col < p.cols; ++col) gamma = std::max(gamma, std::abs(days::to_double(p.gamma[col])));
    return {4 * Fp32::kDenormMin * gamma + (kRounded ? Info::kDenormMin * (gamma + 1) : 0),
            (rms_epsilons(p.cols) + 3) * Fp32::kEpsilon + (kRounded ? 2 * Info::kEpsilon : 0)};
  }
};

const auto rms_norm =
    norms(days::ladder<RmsNorm>("rms_norm").extents({"rows", "cols"}).types<float, days::half, days::bf16>())
        .variant("rms_warp", LAUNCHER(rms_norm_warp))
        .variant("rms_registers", LAUNCHER(rms_norm_registers))
        .needs(kColsOfRegisters, kWholeRows)
        .reference(LAUNCHER(rms_norm_reference))
        .by_rows([](const auto& p) { return p.rows; },
                 [](auto p, size_t begin, size_t end) {
                   p.rows = static_cast<int>(end - begin);
                   p.x += begin * static_cast<size_t>(p.cols);
                   p.y += begin * static_cast<size_t>(p.cols);
                   p.rstd += begin;
                   return p;
                 })
        .parallel(LAUNCHER(rms_norm_parallel))
        // One; a column; around a warp and the vectors of both widths; either side of each tier of registers (64, 256,
        // 1024, 4096, ...); rows that fill no block of several; a width that is no power of two.
        .shapes({{1, 1},
                 {9, 1},
                 {17, 3},
                 {10, 33},
                 {9, 64},
                 {9, 72},
                 {8, 256},
                 {5, 264},
                 {17, 576},
                 {3, 1024},
                 {2, 1032},
                 {9, 4096},
                 {2, 4104},
                 {1, 8192},
                 {1, 8200},
                 {2, 16384},
                 {1, 16391},
                 {130, 200}})
        .gpu_shapes({{65537, 136}, {4099, 1024}, {4507, 4096}, {5, 65543}})
        .bench({{65536, 4096}})
        .sweep({{1, 576},
                {1, 4096},
                {1048576, 64},
                {87381, 768},
                {65536, 1024},
                {16384, 4096},
                {8192, 8192},
                {4096, 16384}})
        .show({{128, 4096}})
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.x, elements) + days::reads(p.gamma, p.cols) + days::writes(p.y, elements) +
                 days::writes(p.rstd, p.rows);
        })
        .tolerance(OfRms{})
        .tolerance("rstd", days::in_type<float>(
                               days::within_relative([](const auto& p) { return rms_epsilons(p.cols); })))
        .lesson("without a mean nothing cancels, and one sum and one wait are all that a row needs.");

REGISTER_LADDER(layer_norm);
REGISTER_LADDER(layer_norm_backward);
REGISTER_LADDER(rms_norm);

}  // namespace
}  // namespace day12
