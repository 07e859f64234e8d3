// SPDX-License-Identifier: MIT
// The day's two ladders, forward and backward: who competes, on which shapes and inputs, measured against
// what. Host only.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>

#include "common/ladder.h"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

// Matrices x and y, `to` and `from` elements past an aligned address; x holds values(p, shape, inputs).
template <class Values>
auto matrices(Values values, int from = 0, int to = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.x = values(p, s[0] * s[1], in) + from;
    p.y = in.output("y", s[0], s[1]) + to;
  };
}
auto random_values() {
  return [](const auto&, days::Extent n, days::Inputs& in) { return in.normal("x", n); };
}

// Row r of nine kinds in turn, so that nine rows have them all: what e^x does at the ends of its range.
// `most` is the type's largest number.
double special_value(size_t row, size_t col, size_t cols, double most) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool last = col + 1 == cols;
  const double number = static_cast<double>(col * 37 % 101) / 25 - 2;
  switch (row % 9) {
    case 0:
      return -kInfinity;  // nothing but -inf: NaN
    case 1:
      return last ? number : -kInfinity;  // one number: 1
    case 2:
      return col % 64 < 40 ? -kInfinity : number;  // a causal mask's like
    case 3:
      return col == cols / 2 ? kInfinity : number;  // NaN, all of the row
    case 4:
      return last ? std::nan("") : number;  // NaN, all of the row
    case 5:
      return col % 2 == 0 ? most : -most;  // their difference is no number
    case 6:
      return last ? 0 : -87 - static_cast<double>(col % 18);  // results that are denormals, or 0
    case 7:
      return (col % 2 == 0 ? 1 : -1) * std::ldexp(1.0, -140);  // denormals
    default: {                                                 // large and close together
      // Long rows have few that differ: thousands of the same term round the same way each time, while the
      // tolerance of a sum is for roundings that cancel.
      const size_t from_start = col % std::max<size_t>(5, cols / 64);
      return 1e4 - static_cast<double>(from_start < 5 ? from_start : 0);
    }
  }
}
auto special_rows() {
  return [](const auto& p, days::Extent n, days::Inputs& in) {
    using T = std::remove_cvref_t<decltype(*p.x)>;
    const size_t cols = static_cast<size_t>(p.cols);
    return in.fill("x", n, [cols](size_t i) {
      return special_value(i / cols, i % cols, cols, days::TypeInfo<T>::kMax);
    });
  };
}

// What a row of x has in it that makes its softmax hard: "nan, -inf, 3e+38"; "" where nothing.
template <class T>
std::string hard_values(const T* x, int cols) {
  std::string text;
  for (int col = 0; col < cols; ++col) {
    const double value = static_cast<double>(days::to_float(x[col]));
    if (std::isfinite(value) && std::fabs(value) < 80) continue;
    char number[32];
    std::snprintf(number, sizeof number, "%.3g", value);
    if (text.find(number) == std::string::npos) text += (text.empty() ? "" : ", ") + std::string(number);
  }
  return text;
}

// The first row of y that cannot be a softmax: its sum is not 1, or it is NaN where it should not be, or is not
// where it should.
template <class T>
std::string wrong_row(const Softmax<T>& p) {
  for (int row = 0; row < p.rows; ++row) {
    const T *x = p.x + int64_t{row} * p.cols, *y = p.y + int64_t{row} * p.cols;
    double most = -INFINITY, sum = 0;
    bool nan = false;
    for (int col = 0; col < p.cols; ++col) {
      const double value = static_cast<double>(days::to_float(x[col]));
      nan = nan || std::isnan(value);
      most = std::fmax(most, value);
      sum += static_cast<double>(days::to_float(y[col]));
    }
    nan = nan || std::isinf(most);
    if (std::isnan(sum)) sum = std::fabs(sum);  // no sign of a NaN
    if (nan ? std::isnan(sum) : std::fabs(sum - 1) < 0.01) continue;
    char text[96];
    std::snprintf(text, sizeof text, "row %d of y adds up to %.3g, not %s", row, sum, nan ? "nan" : "1");
    const std::string hard = hard_values(x, p.cols);
    return text + (hard.empty() ? "" : "; its x holds " + hard);
  }
  return "";
}

const auto softmax =
    days::ladder<Softmax>("softmax")
        .extents({"rows", "cols"})
        .types<float, days::half, days::bf16>()
        .variant("naive", LAUNCHER(softmax_naive))
        .variant("shared", LAUNCHER(softmax_shared))
        .variant("online", LAUNCHER(softmax_online))
        .variant("warp", LAUNCHER(softmax_warp))
        .variant("vectors", LAUNCHER(softmax_vectors))
        .variant("registers", LAUNCHER(softmax_registers))
        .needs(kColsOfRegisters)
        .variant("cluster", LAUNCHER(softmax_cluster))
        .runs_on(days::sm_90)
        .needs(kLeastColsOfCluster, kColsOfCluster)
        .remark(LAUNCHER(wrong_row))
        .exercise(LAUNCHER(exercise), "softmax in at most two reads of each input", "shared", "online",
                  {.reads_per_input = 2, .wasted_sectors = 0.1})
        .reference(LAUNCHER(softmax_reference))
        .by_rows([](const auto& p) { return p.rows; },
                 [](auto p, size_t begin, size_t end) {
                   p.rows = static_cast<int>(end - begin);
                   p.x += begin * static_cast<size_t>(p.cols);
                   p.y += begin * static_cast<size_t>(p.cols);
                   return p;
                 })
        .parallel(LAUNCHER(softmax_parallel))
        // One; a column, a row; around a warp, a block and the 16-byte vectors of both widths; either side of
        // each tier of registers (64, 128, 256, ... 16384) and of cluster (32768, 65536); rows that fill no
        // block of several; nine for the nine special ones. Then rows of whole vectors, which registers gives
        // fewer threads: a vector or two, to either side of 4, 8, 16 and 32 of them, and 60, which is whole
        // vectors in fp32 alone; one row more than blocks hold.
        .shapes({{1, 1},    {9, 1},     {17, 3},    {1, 31},    {9, 32},    {10, 33},  {9, 64},   {5, 65},
                 {9, 127},  {11, 128},  {9, 129},   {5, 256},   {4, 257},   {3, 512},  {2, 513},  {9, 1000},
                 {3, 1023}, {2, 1024},  {9, 1025},  {2, 2048},  {1, 2049},  {2, 4096}, {9, 4097}, {1, 8192},
                 {2, 8193}, {2, 16383}, {1, 16391}, {1, 32769}, {1, 65543}, {65, 8},   {65, 16},  {33, 40},
                 {9, 60},   {17, 72},   {9, 136},   {9, 264}})
        .gpu_shapes({{65537, 129}, {4099, 1025}, {67, 131072}, {17, 131073}, {3, 1000003}})
        .bench({{65536, 4096}, {4096, 65536}})
        // Rows from short to long, odd ones among them, always of 256 MiB in fp32.
        .sweep({{1048576, 64},
                {262144, 256},
                {65536, 1024},
                {65537, 1023},
                {16384, 4096},
                {16385, 4095},
                {4096, 16384},
                {2048, 32768},
                {1335, 50257},
                {1024, 65536},
                {512, 131072}},
               {.over = "cols"})
        .show({{128, 4096}})
        .inputs(matrices(random_values()))
        .hostile("up to 1e4 either way", matrices([](const auto&, days::Extent n, days::Inputs& in) {
                   return in.uniform("x", n, -1e4, 1e4);
                 }))
        .hostile("all equal", matrices([](const auto&, days::Extent n, days::Inputs& in) {
                   return in.constant("x", n, 12345);
                 }))
        .hostile("special rows", matrices(special_rows()))
        .hostile("misaligned x", matrices(random_values(), 1, 0))
        .hostile("misaligned y", matrices(random_values(), 0, 3))
        .hostile("in place",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.rows = s[0];
                   p.cols = s[1];
                   p.y = in.normal("y", s[0] * s[1]).as(s[0], s[1]);
                   p.x = p.y;
                 })
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.x, elements) + days::writes(p.y, elements);
        })
        .tolerance(days::exponentials([](const auto& p) { return p.cols; }, LAUNCHER(softmax_depth)))
        .lesson("read each row once, keep it in registers, and have several rows under way.");

// y, dy and dx, each some elements past an aligned address. y is random and adds up to about 1 in a row; dy
// holds values(n, inputs).
template <class Values>
auto gradients(Values values, int y = 0, int dy = 0, int dx = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.y = in.uniform("y", s[0] * s[1], 0, 2.0 / static_cast<double>(s[1])) + y;
    p.dy = values(s[0] * s[1], in) + dy;
    p.dx = in.output("dx", s[0], s[1]) + dx;
  };
}
auto random_gradients() {
  return [](days::Extent n, days::Inputs& in) { return in.normal("dy", n); };
}

const auto softmax_backward =
    days::ladder<SoftmaxBackward>("softmax_backward")
        .extents({"rows", "cols"})
        .types<float, days::half, days::bf16>()
        .variant("grad_naive", LAUNCHER(softmax_grad_naive))
        .variant("grad_warp", LAUNCHER(softmax_grad_warp))
        .variant("grad_registers", LAUNCHER(softmax_grad_registers))
        .needs(kColsOfBackward)
        .reference(LAUNCHER(softmax_backward_reference))
        .by_rows([](const auto& p) { return p.rows; },
                 [](auto p, size_t begin, size_t end) {
                   p.rows = static_cast<int>(end - begin);
                   p.y += begin * static_cast<size_t>(p.cols);
                   p.dy += begin * static_cast<size_t>(p.cols);
                   p.dx += begin * static_cast<size_t>(p.cols);
                   return p;
                 })
        .parallel(LAUNCHER(softmax_backward_parallel))
        .shapes({{1, 1},    {9, 1},    {17, 3},   {9, 31},   {10, 33},   {9, 127},  {3, 128},
                 {9, 129},  {5, 257},  {5, 512},  {3, 513},  {2, 1024},  {9, 1025}, {3, 2049},
                 {2, 4096}, {2, 4097}, {1, 8192}, {1, 8193}, {1, 65543}, {65, 8},   {33, 32},
                 {33, 40},  {9, 60},   {17, 64},  {17, 72},  {9, 136}})
        .gpu_shapes({{65537, 129}, {4099, 1025}, {3, 1000003}})
        .bench({{65536, 4096}})
        .sweep({{1048576, 64},
                {262144, 256},
                {65536, 1024},
                {65537, 1023},
                {16384, 4096},
                {16385, 4095},
                {8192, 8192},
                {4096, 16384}},
               {.over = "cols"})
        .show({{128, 4096}})
        .inputs(gradients(random_gradients()))
        .hostile("up to 1e4 either way",
                 gradients([](days::Extent n, days::Inputs& in) { return in.uniform("dy", n, -1e4, 1e4); }))
        .hostile("dy all equal",  // what is left is rounding
                 gradients([](days::Extent n, days::Inputs& in) { return in.constant("dy", n, 3); }))
        .hostile("one-hot y, some of dy not finite",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.rows = s[0];
                   p.cols = s[1];
                   const size_t cols = s[1];
                   p.y = in.fill("y", s[0] * s[1],
                                 [cols](size_t i) { return i % cols == i / cols % cols ? 1.0 : 0.0; });
                   p.dy = in.fill("dy", s[0] * s[1], [cols](size_t i) {
                     const size_t row = i / cols % 4;
                     if (i % cols == cols / 2 && row == 1) return std::nan("");
                     if (i % cols == cols / 2 && row == 2) return -std::numeric_limits<double>::infinity();
                     return static_cast<double>(i % 13) - 6;
                   });
                   p.dx = in.output("dx", s[0], s[1]);
                 })
        .hostile("misaligned y", gradients(random_gradients(), 1, 0, 0))
        .hostile("misaligned dy", gradients(random_gradients(), 0, 3, 0))
        .hostile("misaligned dx", gradients(random_gradients(), 0, 0, 5))
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.y, elements) + days::reads(p.dy, elements) + days::writes(p.dx, elements);
        })
        .tolerance(days::differences(LAUNCHER(softmax_backward_size)))
        .lesson("the softmax itself is all that its gradient needs to remember.");

REGISTER_LADDER(softmax);
REGISTER_LADDER(softmax_backward);

}  // namespace
}  // namespace day14
