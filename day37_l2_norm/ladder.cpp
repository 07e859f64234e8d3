// SPDX-License-Identifier: MIT
// The day's two ladders, forward and backward: who competes, on which shapes and inputs, measured against what. Host
// only.

#include <cmath>
#include <cstddef>
#include <limits>

#include "common/ladder.h"
#include "common/scalar.h"
#include "day37_l2_norm/l2_norm.h"

namespace day37 {
namespace {

constexpr double kEps = 1e-12;

// x and y, some elements past an aligned address; x holds values(n, cols, inputs).
template <class Values>
auto matrices(Values values, double eps = kEps, int from = 0, int to = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.eps = static_cast<float>(days::scalar("eps", eps));
    p.x = values(s[0] * s[1], static_cast<size_t>(s[1]), in) + from;
    p.y = in.output("y", s[0], s[1]) + to;
    p.norm = in.output("norm", s[0]);
  };
}
auto random_values() {
  return [](days::Extent n, size_t, days::Inputs& in) { return in.normal("x", n); };
}

// Row r of nine kinds in turn, so that nine rows have them all: the ends of what fp32 has. (In fp16 the large ones
// are infinite and the small ones 0.)
double special_value(size_t row, size_t col, size_t cols) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double number = static_cast<double>(col * 37 % 101) / 25 - 2;
  switch (row % 9) {
    case 0:
      return row % 2 == 0 ? 0.0 : -0.0;  // no norm: 0
    case 1:
      return col % 3 == 0 ? 1e20 : 1e-20;  // squares beyond fp32 at both ends
    case 2:
      return 3e38;  // two of them have a norm beyond fp32, and a y of 0.7
    case 3:
      return 1e-30 * number;
    case 4:
      return (col % 2 == 0 ? 1 : -1) * std::ldexp(1.0, -149);  // fp32's least
    case 5:
      return col == cols / 3 ? 1e19 : 1e-19;
    case 6:
      return col == cols / 2 ? std::nan("") : number;  // NaN, all of the row
    case 7:
      return col + 1 == cols || col == 0 ? -kInfinity : number;  // NaN there, 0 elsewhere
    default:
      return col == 0 ? 1 : 0;  // its first element is all there is
  }
}
auto special_rows() {
  return [](days::Extent n, size_t cols, days::Inputs& in) {
    return in.fill("x", n, [cols](size_t i) { return special_value(i / cols, i % cols, cols); });
  };
}

// Rows whose norm is below, at and above an eps of 0.5.
auto rows_near_eps() {
  return [](days::Extent n, size_t cols, days::Inputs& in) {
    return in.fill("x", n, [cols](size_t i) {
      const double norm = 0.5 + (static_cast<double>(i / cols % 3) - 1) * 0.25;
      return i % cols == cols - 1 ? -norm : 0;
    });
  };
}

// Sums of squares have no cancellation: the error is some epsilons of the result, which the root halves.
constexpr auto kErrorOfSum = [](const auto& p) { return 4 + 2 * std::log2(p.cols); };

const auto l2_norm =
    days::ladder<L2Normalize>("l2_norm")
        .extents({"rows", "cols"})
        .types<float, days::half, days::bf16>()
        .variant("largest", LAUNCHER(l2_norm_largest))
        .variant("three", LAUNCHER(l2_norm_three))
        .variant("registers", LAUNCHER(l2_norm_registers))
        .needs(kColsOfRegisters)
        .variant("exponent", LAUNCHER(l2_norm_exponent))
        .needs(kColsOfRegisters)
        .exercise(LAUNCHER(exercise), "norms of all floats in at most two reads of each row", "largest",
                  "three", {.reads_per_input = 2.1, .wasted_sectors = 0.1})
        .reference(LAUNCHER(l2_norm_reference))
        .by_rows([](const auto& p) { return p.rows; },
                 [](auto p, size_t begin, size_t end) {
                   p.rows = static_cast<int>(end - begin);
                   p.x += begin * static_cast<size_t>(p.cols);
                   p.y += begin * static_cast<size_t>(p.cols);
                   p.norm += begin;
                   return p;
                 })
        .parallel(LAUNCHER(l2_norm_parallel))
        // One; a column; around a warp, a block and the 16-byte vectors of both widths; either side of each tier of
        // registers (16, 64, 128, ... 16384 in fp32); nine rows for the nine special ones; rows that fill no block of
        // several.
        .shapes({{1, 1},    {9, 1},    {9, 3},     {9, 31},   {9, 32},    {10, 33},  {9, 64},
                 {9, 129},  {9, 256},  {9, 257},   {9, 520},  {9, 1000},  {2, 1025}, {9, 2049},
                 {3, 4096}, {9, 4097}, {1, 16384}, {1, 8193}, {1, 65543}, {130, 12}, {516, 8}})
        .gpu_shapes({{65537, 129}, {4099, 1025}, {2251, 8192}, {3, 1000003}})
        .bench({{65536, 4096}})
        // Rows from short to long, odd ones among them, always of 256 MiB in fp32.
        .sweep({{1048576, 64},
                {262144, 256},
                {65536, 1024},
                {65537, 1023},
                {16384, 4096},
                {16385, 4095},
                {4096, 16384},
                {2048, 32768}},
               {.over = "cols"})
        .show({{128, 4096}})
        .inputs(matrices(random_values()))
        .hostile("special rows", matrices(special_rows()))
        .hostile("special rows, eps 1e-45", matrices(special_rows(), 1e-45))
        .hostile("near eps", matrices(rows_near_eps(), 0.5))
        .hostile("misaligned x", matrices(random_values(), kEps, 1))
        .hostile("misaligned y", matrices(random_values(), kEps, 0, 3))
        .hostile("in place",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.rows = s[0];
                   p.cols = s[1];
                   p.eps = static_cast<float>(kEps);
                   p.y = in.normal("y", s[0] * s[1]).as(s[0], s[1]);
                   p.x = p.y;
                   p.norm = in.output("norm", s[0]);
                 })
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.x, elements) + days::writes(p.y, elements) + days::writes(p.norm, p.rows);
        })
        .tolerance(days::within_relative(kErrorOfSum))
        .tolerance("norm", days::in_type<float>(days::within_relative(kErrorOfSum)))
        .lesson("a power of two rounds nothing: scale by the largest's, and every float has a square.");

// y, dy and norm, as no forward would make them: the gradient is right for any.
template <class Values>
auto gradients(Values values, int y = 0, int dy = 0, int dx = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.eps = static_cast<float>(days::scalar("eps", kEps));
    p.y = in.normal("y", s[0] * s[1], 1 / std::sqrt(static_cast<double>(s[1]))) + y;
    p.dy = values(s[0] * s[1], in) + dy;
    p.norm = in.uniform("norm", s[0], 0.5, 2);
    p.dx = in.output("dx", s[0], s[1]) + dx;
  };
}
auto random_gradients() {
  return [](days::Extent n, days::Inputs& in) { return in.normal("dy", n); };
}

const auto l2_norm_backward =
    days::ladder<L2NormalizeBackward>("l2_norm_backward")
        .extents({"rows", "cols"})
        .types<float, days::half, days::bf16>()
        .variant("grad_twice", LAUNCHER(l2_norm_grad_twice))
        .variant("grad_registers", LAUNCHER(l2_norm_grad_registers))
        .needs(kColsOfBackward)
        .reference(LAUNCHER(l2_norm_backward_reference))
        .by_rows([](const auto& p) { return p.rows; },
                 [](auto p, size_t begin, size_t end) {
                   p.rows = static_cast<int>(end - begin);
                   p.y += begin * static_cast<size_t>(p.cols);
                   p.dy += begin * static_cast<size_t>(p.cols);
                   p.norm += begin;
                   p.dx += begin * static_cast<size_t>(p.cols);
                   return p;
                 })
        .parallel(LAUNCHER(l2_norm_backward_parallel))
        .shapes({{1, 1},
                 {9, 1},
                 {9, 3},
                 {9, 31},
                 {9, 64},
                 {10, 129},
                 {5, 257},
                 {9, 520},
                 {2, 1025},
                 {5, 2049},
                 {2, 4096},
                 {1, 8192},
                 {1, 8193},
                 {130, 12},
                 {516, 8}})
        .gpu_shapes({{65537, 129}, {4099, 1025}, {3, 1000003}})
        .bench({{65536, 4096}})
        .sweep({{1048576, 64},
                {262144, 256},
                {65536, 1024},
                {65537, 1023},
                {16384, 4096},
                {16385, 4095},
                {8192, 8192}},
               {.over = "cols"})
        .show({{128, 4096}})
        .inputs(gradients(random_gradients()))
        .hostile("dy up to 1e4 either way",
                 gradients([](days::Extent n, days::Inputs& in) { return in.uniform("dy", n, -1e4, 1e4); }))
        .hostile("norms around eps, inf and nan",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.rows = s[0];
                   p.cols = s[1];
                   p.eps = 0.5f;
                   p.y = in.normal("y", s[0] * s[1]);
                   p.dy = in.normal("dy", s[0] * s[1]);
                   p.norm = in.fill("norm", s[0], [](size_t i) {
                     const double norms[] = {0, 0.25, 0.5, 0.75, INFINITY, std::nan(""), 3e38};
                     return norms[i % 7];
                   });
                   p.dx = in.output("dx", s[0], s[1]);
                 })
        .hostile("some of dy not finite", gradients([](days::Extent n, days::Inputs& in) {
                   return in.fill("dy", n, [](size_t i) {
                     return i % 997 == 5     ? std::nan("")
                            : i % 997 == 500 ? -INFINITY
                                             : static_cast<double>(i % 13) - 6;
                   });
                 }))
        .hostile("misaligned y", gradients(random_gradients(), 1, 0, 0))
        .hostile("misaligned dy", gradients(random_gradients(), 0, 3, 0))
        .hostile("misaligned dx", gradients(random_gradients(), 0, 0, 5))
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.y, elements) + days::reads(p.dy, elements) + days::reads(p.norm, p.rows) +
                 days::writes(p.dx, elements);
        })
        .tolerance(days::differences(LAUNCHER(l2_norm_backward_size)))
        .lesson("the length is taken away, so what of dy points along y is no part of the gradient.");

REGISTER_LADDER(l2_norm);
REGISTER_LADDER(l2_norm_backward);

}  // namespace
}  // namespace day37
