// SPDX-License-Identifier: MIT
// The day's ladder: who competes, on which shapes and inputs, measured against what. Host code only.

#include <cmath>
#include <cstddef>
#include <limits>

#include "common/ladder.h"
#include "day38_l1_norm/l1_norm.h"

namespace day38 {
namespace {

// x and dx, some elements past an aligned address, made by values(n, cols, inputs).
template <class Values>
auto rows_of(Values values, int from = 0, int to = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.x = values(s[0] * s[1], static_cast<size_t>(s[1]), in) + from;
    p.norm = in.output("norm", s[0]);
    p.dnorm = in.normal("dnorm", s[0]);
    p.dx = in.output("dx", s[0], s[1]) + to;
  };
}
auto random_values() {
  return [](days::Extent n, size_t, days::Inputs& in) { return in.normal("x", n); };
}

// Row r of seven kinds in turn.
double special_value(size_t row, size_t col, size_t cols) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double sign = col % 2 == 0 ? 1 : -1;
  switch (row % 7) {
    case 0:
      return 0.0;
    case 1:
      return -0.0;
    case 2:
      return sign * std::ldexp(1.0, col % 3 == 0 ? -149 : col % 3 == 1 ? -133 : -24);  // each type's least
    case 3:
      return col == cols / 2 ? kInfinity : col + 1 == cols ? -kInfinity : sign;
    case 4:
      return col == cols / 3 ? std::nan("") : col == cols / 2 ? -std::nan("") : sign;
    case 5:
      return sign * 3e38;  // two of them are beyond fp32
    default:
      return sign * (col % 5 == 0 ? 0.0 : 6e4);  // two of them are beyond fp16, and the norm is fp32
  }
}
auto special_rows() {
  return [](days::Extent n, size_t cols, days::Inputs& in) {
    return in.fill("x", n, [cols](size_t i) { return special_value(i / cols, i % cols, cols); });
  };
}

// All terms are positive: an error in the last place of a partial sum is at most that of the sum.
constexpr auto kErrorOfSum = [](const auto& p) { return 4 + 2 * std::log2(p.cols); };

const auto l1_norm =
    days::ladder<L1Norm>("l1_norm")
        .extents({"rows", "cols"})
        .types<float, days::half, days::bf16>()
        .variant("again", LAUNCHER(l1_norm_again))
        .variant("bytes", LAUNCHER(l1_norm_bytes))
        .workspace(LAUNCHER(l1_norm_bytes_workspace))
        .variant("ballots", LAUNCHER(l1_norm_ballots))
        .workspace(LAUNCHER(l1_norm_ballots_workspace))
        .variant("own_bits", LAUNCHER(l1_norm_own_bits))
        .workspace(LAUNCHER(l1_norm_own_bits_workspace))
        .exercise(LAUNCHER(exercise), "backward by two bits of each x", "again", "ballots",
                  {.reads_per_input = 1.2, .wasted_sectors = 0.1})
        .workspace(LAUNCHER(l1_norm_ballots_workspace))
        .reference(LAUNCHER(l1_norm_reference))
        .by_rows([](const auto& p) { return p.rows; },
                 [](auto p, size_t begin, size_t end) {
                   p.rows = static_cast<int>(end - begin);
                   p.x += begin * static_cast<size_t>(p.cols);
                   p.dx += begin * static_cast<size_t>(p.cols);
                   p.norm += begin;
                   p.dnorm += begin;
                   return p;
                 })
        .parallel(LAUNCHER(l1_norm_parallel))
        // One; a column; around a warp, a word and the vectors of both widths; either side of own_bits' threads (512,
        // 2048, 4096 columns); more than one turn; seven rows for the seven special ones; rows that fill no block of
        // several.
        .shapes({{1, 1},    {9, 1},    {7, 3},    {7, 16},    {7, 31},   {7, 32},   {7, 33},
                 {9, 128},  {7, 129},  {7, 512},  {7, 513},   {7, 1000}, {3, 2048}, {7, 2052},
                 {2, 4096}, {7, 4097}, {1, 8200}, {1, 65543}, {130, 12}, {516, 8}})
        .gpu_shapes({{65537, 129}, {4099, 1025}, {2251, 8192}, {3, 1000003}})
        .bench({{65536, 4096}})
        // Rows from short to long, odd ones among them, always of 256 MiB in fp32.
        .sweep({{1048576, 64},
                {262144, 256},
                {65536, 1024},
                {65537, 1023},
                {16384, 4096},
                {16385, 4095},
                {4096, 16384}},
               {.over = "cols"})
        .show({{128, 4096}})
        .inputs(rows_of(random_values()))
        .hostile("special rows", rows_of(special_rows()))
        .hostile("special gradients",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.rows = s[0];
                   p.cols = s[1];
                   // Every third is 0, which a gradient of inf or NaN makes NaN.
                   p.x = in.fill("x", s[0] * s[1], [](size_t i) { return static_cast<double>(i % 3) - 1; });
                   p.norm = in.output("norm", s[0]);
                   p.dnorm = in.fill("dnorm", s[0], [](size_t i) {
                     const double slopes[] = {0, INFINITY, std::nan(""), -3, -INFINITY, 1e-45};
                     return slopes[i % 6];
                   });
                   p.dx = in.output("dx", s[0], s[1]);
                 })
        .hostile("misaligned x", rows_of(random_values(), 1, 0))
        .hostile("misaligned dx", rows_of(random_values(), 0, 3))
        // Each array once. No rung reaches it: backward reads again what forward has read, or has kept for it.
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.x, elements) + days::writes(p.norm, p.rows) + days::reads(p.dnorm, p.rows) +
                 days::writes(p.dx, elements);
        })
        .tolerance(days::exact)
        .tolerance("norm", days::in_type<float>(days::within_relative(kErrorOfSum)))
        .lesson("keep what backward will ask for, packed so that nobody has to exchange anything.");

REGISTER_LADDER(l1_norm);

}  // namespace
}  // namespace day38
