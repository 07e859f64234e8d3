// SPDX-License-Identifier: MIT
//
// What the ladders of elementwise days share: y[i] = f(x[i]) for a problem with the members x, y and n.
//
//   const auto gelu = days::elementwise(days::ladder<Gelu>("gelu").types<float, days::half>())
//                         .variant("erf", LAUNCHER(gelu_erf))
//                         ...
//
// Shapes, the sizes that are measured, inputs, hostile inputs and the bytes that have to move; rungs, reference and
// tolerance are the day's own. elementwise_backward is the same for dx[i] = f(x[i], dy[i]). A day with other arrays takes
// elementwise_sizes and special_value alone. Host code only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

#include "common/ladder.h"

namespace days {

// What a function of one number does something out of the ordinary at, in turn: NaN, the infinities, both zeros, the
// least and a larger denormal, the least normal number, the largest, large ones whose squares are none, and 1.
template <class T>
double special_value(size_t i) {
  using Info = TypeInfo<T>;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kMinNormal = Info::kDenormMin / Info::kEpsilon;
  constexpr double kLarge = Info::kMax / 4;
  const double values[] = {
      std::numeric_limits<double>::quiet_NaN(),
      kInfinity,
      -kInfinity,
      0.0,
      -0.0,
      Info::kDenormMin,
      -Info::kDenormMin,
      3 * Info::kDenormMin,
      -kMinNormal / 2,
      kMinNormal,
      -kMinNormal,
      Info::kMax,
      -Info::kMax,
      kLarge,
      -kLarge,
      1.0,
      -1.0,
  };
  return values[i % std::size(values)];
}

// One; around the vectors of 2, 4 and 8 elements, a warp, a block of 256 and its tile (512, 1024, 2048 elements), and
// one past a tile's last vector.
template <class L>
L elementwise_sizes(const L& ladder) {
  return ladder.extents({"n"})
      .shapes({{1},   {2},   {3},   {4},    {5},    {7},    {8},    {9},    {31},   {33},   {255},
               {256}, {257}, {511}, {1023}, {1024}, {1025}, {2047}, {2048}, {2049}, {8201}, {65537}})
      // Several rounds of any grid, and more elements than a float counts.
      .gpu_shapes({{(1 << 24) + 5}})
      .bench({{1 << 28}})
      .sweep({{1 << 14}, {1 << 18}, {1000003}, {1 << 22}, {1 << 24}, {(1 << 26) + 5}, {1 << 28}})
      .show({{1 << 16}});
}

// No element needs another, so the reference of a big problem takes all cores: not for a day whose reference sums over them.
// For problems with n and some of these arrays.
template <class L>
L each_alone(const L& ladder) {
  return ladder.by_rows([](const auto& p) { return p.n; },
                        [](auto p, size_t begin, size_t end) {
                          p.n = static_cast<decltype(p.n)>(end - begin);
                          if constexpr (requires { p.x; }) p.x += begin;
                          if constexpr (requires { p.y; }) p.y += begin;
                          if constexpr (requires { p.dy; }) p.dy += begin;
                          if constexpr (requires { p.dx; }) p.dx += begin;
                          return p;
                        });
}

// The sizes, and y = f(x) on them.
template <class L>
L elementwise(const L& ladder) {
  // x holds values(p, n, inputs) and begins `from` elements past an aligned address, y `to` elements.
  const auto arrays = [](auto values, int from = 0, int to = 0) {
    return [=](auto& p, Shape s, Inputs& in) {
      p.n = s[0];
      p.x = values(p, s[0], in) + static_cast<size_t>(from);
      p.y = in.output("y", s[0]) + static_cast<size_t>(to);
    };
  };
  const auto normal = [](const auto&, Extent n, Inputs& in) { return in.normal("x", n); };
  return each_alone(elementwise_sizes(ladder))
      .inputs(arrays(normal))
      .hostile("special values", arrays([](const auto& p, Extent n, Inputs& in) {
                 using T = std::remove_cvref_t<decltype(*p.x)>;
                 return in.fill("x", n, special_value<T>);
               }))
      .hostile("up to 12 either way",
               arrays([](const auto&, Extent n, Inputs& in) { return in.uniform("x", n, -12, 12); }))
      .hostile("up to 3e4 either way",
               arrays([](const auto&, Extent n, Inputs& in) { return in.uniform("x", n, -3e4, 3e4); }))
      .hostile("misaligned x", arrays(normal, 1, 0))
      .hostile("misaligned y", arrays(normal, 0, 3))
      .hostile("in place",
               [](auto& p, Shape s, Inputs& in) {
                 p.n = s[0];
                 p.y = in.normal("y", s[0]);
                 p.x = p.y;
               })
      .traffic([](const auto& p) { return reads(p.x, p.n) + writes(p.y, p.n); });
}

// The sizes, and dx = f(x, dy) on them, for a problem with the members x, dy, dx and n. Special values of x meet ordinary
// ones of dy and the other way round: what 0 * inf is where a derivative is 0 only after it was rounded is the day's to say.
template <class L>
L elementwise_backward(const L& ladder) {
  // Each array begins as many elements past an aligned address.
  const auto arrays = [](auto xs, auto dys, int x = 0, int dy = 0, int dx = 0) {
    return [=](auto& p, Shape s, Inputs& in) {
      p.n = s[0];
      p.x = xs("x", p, s[0], in) + static_cast<size_t>(x);
      p.dy = dys("dy", p, s[0], in) + static_cast<size_t>(dy);
      p.dx = in.output("dx", s[0]) + static_cast<size_t>(dx);
    };
  };
  const auto normal = [](const char* name, const auto&, Extent n, Inputs& in) { return in.normal(name, n); };
  const auto special = [](const char* name, const auto& p, Extent n, Inputs& in) {
    using T = std::remove_cvref_t<decltype(*p.x)>;
    return in.fill(name, n, special_value<T>);
  };
  const auto within = [](double most) {
    return
        [=](const char* name, const auto&, Extent n, Inputs& in) { return in.uniform(name, n, -most, most); };
  };
  return each_alone(elementwise_sizes(ladder))
      .inputs(arrays(normal, normal))
      .hostile("special values of x", arrays(special, normal))
      .hostile("special values of dy", arrays(normal, special))
      .hostile("x up to 12 either way", arrays(within(12), normal))
      .hostile("x and dy up to 3e4 either way", arrays(within(3e4), within(3e4)))
      .hostile("misaligned x", arrays(normal, normal, 1, 0, 0))
      .hostile("misaligned dy", arrays(normal, normal, 0, 1, 0))
      .hostile("misaligned dx", arrays(normal, normal, 0, 0, 3))
      .hostile("dx in dy's place",
               [](auto& p, Shape s, Inputs& in) {
                 p.n = s[0];
                 p.x = in.normal("x", s[0]);
                 p.dx = in.normal("dx", s[0]);
                 p.dy = p.dx;
               })
      .traffic([](const auto& p) { return reads(p.x, p.n) + reads(p.dy, p.n) + writes(p.dx, p.n); });
}

}  // namespace days
