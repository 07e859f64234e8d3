// SPDX-License-Identifier: MIT
// Day 10's ladders: who competes, on which shapes and inputs, measured against what. Host code only.

#include <limits>

#include "common/elementwise.h"
#include "common/ladder.h"
#include "common/problems/matmul_hostile.h"
#include "day10_tanh_tiled_matmul/matmul.h"
#include "day10_tanh_tiled_matmul/reference.h"

namespace day10 {
namespace {

const auto tanh_ladder =
    days::elementwise(days::ladder<TanhOf>("tanh").types<float>())
        .variant("alone", LAUNCHER(tanh_alone))
        .reference(LAUNCHER(tanh_reference))
        .parallel([](const auto& p) {
          days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t, size_t begin, size_t end) {
            const auto first = static_cast<int64_t>(begin), last = static_cast<int64_t>(end);
            tanh_reference({p.x + first, p.y + first, last - first});
          });
        })
        .tolerance(days::relative)
        .lesson("a pass of its own reads and writes 8 bytes an element for some instructions.");

REGISTER_LADDER(tanh_ladder);

// Around a tile of 32 x 32 and a piece of 8; one; no two extents alike where a mix-up could hide; primes; one past
// what fits along a grid's y.
template <class Ladder>
Ladder cases(const Ladder& ladder) {
  return ladder
      .shapes({{1, 1, 1},
               {2, 3, 5},
               {1, 37, 70},
               {41, 1, 67},
               {31, 33, 8},
               {32, 31, 9},
               {33, 32, 7},
               {32, 32, 16},
               {64, 65, 8},
               {65, 63, 1},
               {127, 131, 17},
               {3, 4, 1009},
               {2, 300, 40},
               {300, 3, 2},
               {2097121, 1, 1}})
      .bench({{8192, 8192, 8}, {8192, 8192, 64}, {2047, 2049, 2053}})
      .sweep({{4096, 4096, 8},
              {4096, 4096, 16},
              {4096, 4096, 32},
              {4096, 4096, 64},
              {4096, 4096, 128},
              {4096, 4096, 256},
              {4093, 4099, 509}},
             {.over = "k"})
      .show({{512, 512, 8}});
}

// Rows from begin on, of what has rows.
template <class Problem>
Problem some_rows(Problem p, size_t begin, size_t end) {
  p.m = static_cast<int>(end - begin);
  p.a += begin * static_cast<size_t>(p.k);
  p.c += begin * static_cast<size_t>(p.n);
  if constexpr (requires { p.residual; }) p.residual += begin * static_cast<size_t>(p.n);
  return p;
}

const auto tanh_matmul = days::with_hostile_matmuls(
    cases(days::ladder<TanhMatmul>("tanh_matmul")
              .extents({"m", "n", "k"})
              .types<float>()
              .variant("two_launches", LAUNCHER(tanh_two_launches))
              .needs(kMAlongY)
              .workspace(LAUNCHER(tanh_two_launches_workspace))
              .variant("in_place", LAUNCHER(tanh_in_place))
              .needs(kMAlongY)
              .variant("fused", LAUNCHER(tanh_fused))
              .needs(kMAlongY)
              .exercise(LAUNCHER(exercise), "one launch and no workspace", "two_launches", "fused",
                        {.launches = 1, .workspace = 0})
              .needs(kMAlongY)
              .baseline("cuBLAS, tanh"))
        .reference(LAUNCHER(reference))
        .by_rows([](const auto& p) { return static_cast<size_t>(p.m); },
                 [](const auto& p, size_t begin, size_t end) { return some_rows(p, begin, end); })
        .parallel(LAUNCHER(parallel))
        .inputs([](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in); })
        .hostile("misaligned",
                 [](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in, 1, 3); })
        .traffic(LAUNCHER(days::matmul_traffic))
        .tolerance(AfterTanh{})
        .lesson("fuse what would read the result again: 4 bytes an element in place of 12."));

REGISTER_LADDER(tanh_matmul);

// The inputs of a product, and bias and residual from N(0, 1) or by a function of the index.
template <class Inputs>
auto with_layer(Inputs inputs) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    inputs(p, s, in);
    p.bias = in.normal("bias", s[1]);
    p.residual = in.normal("residual", s[0] * s[1]);
  };
}
template <class Bias, class Residual>
auto with_values(Bias bias, Residual residual) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    days::matmul_inputs(p, s, in);
    p.bias = in.fill("bias", s[1], bias);
    p.residual = in.fill("residual", s[0] * s[1], residual);
  };
}
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInfinity = std::numeric_limits<double>::infinity();

const auto layer =
    cases(days::ladder<Layer>("layer")
              .extents({"m", "n", "k"})
              .types<float>()
              .variant("separate", LAUNCHER(layer_separate))
              .needs(kMAlongY)
              .variant("joined", LAUNCHER(layer_joined))
              .needs(kMAlongY)
              .variant("composed", LAUNCHER(layer_composed))
              .needs(kMAlongY)
              .baseline("cuBLAS, pass")
              .needs(kMAlongY))
        .reference(LAUNCHER(reference))
        .by_rows([](const auto& p) { return static_cast<size_t>(p.m); },
                 [](const auto& p, size_t begin, size_t end) { return some_rows(p, begin, end); })
        .parallel(LAUNCHER(parallel))
        .inputs(with_layer([](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in); }))
        .hostile("misaligned",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   days::matmul_inputs(p, s, in, 1, 3);
                   p.bias = in.normal("bias", s[1]) + 1;
                   p.residual = in.normal("residual", s[0] * s[1]) + 2;
                 })
        .hostile("huge", with_layer(days::matmul_scaled(1e17, 1e17)))    // tanh is 1 or -1
        .hostile("tiny", with_layer(days::matmul_scaled(1e-20, 1e-20)))  // every product is denormal
        .hostile("nothing but denormals",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   days::matmul_scaled(1e-20, 1e-20)(p, s, in);
                   p.bias = in.normal("bias", s[1], 1e-40);
                   p.residual = in.normal("residual", s[0] * s[1], 1e-40);
                 })
        // In one element of the bias, a column; in one of the residual, that element: nowhere else.
        .hostile(
            "NaN and infinity in bias and residual",
            with_values([](size_t i) { return i == 1   ? kInfinity
                                              : i == 2 ? kNan
                                                       : 0.25 * (i % 5) - 0.5; },
                        [](size_t i) { return i == 0   ? kNan
                                              : i == 3 ? -kInfinity
                                                       : 0.5 * (i % 7) - 1.5; }))
        .hostile(
            "a different number each",  // so that no bias or residual of a neighbour passes for one's own
            with_values([](size_t i) { return 1e-3 * (i % 997); }, [](size_t i) { return 2.0 * (i % 9973); }))
        .traffic([](const auto& p) {
          return days::matmul_traffic(p) + days::reads(p.bias, 1.0 * p.n) +
                 days::reads(p.residual, 1.0 * p.m * p.n);
        })
        .tolerance(AfterTanh{})
        .lesson("an epilogue is a function object: bias, tanh and residual for the price of a store.");

REGISTER_LADDER(layer);

}  // namespace
}  // namespace day10
