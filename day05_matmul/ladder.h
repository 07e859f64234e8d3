// SPDX-License-Identifier: MIT
//
// The day's ladder: who competes, on which shapes and inputs, measured against what. Host code only.
#pragma once

#include <limits>

#include "common/ladder.h"
#include "day05_matmul/matmul.h"

namespace day05 {

// Input makers for a shape {m, n, k}: each element from a function of its index, or N(0, scale^2).
template <class MakeA, class MakeB>
auto elements(MakeA make_a, MakeB make_b) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.m = s[0];
    p.n = s[1];
    p.k = s[2];
    p.a = in.fill(s[0] * s[2], make_a);
    p.b = in.fill(s[2] * s[1], make_b);
    p.c = in.output(s[0], s[1]);
  };
}

inline auto scaled(double scale_a, double scale_b) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.m = s[0];
    p.n = s[1];
    p.k = s[2];
    p.a = in.normal(s[0] * s[2], scale_a);
    p.b = in.normal(s[2] * s[1], scale_b);
    p.c = in.output(s[0], s[1]);
  };
}

inline const auto matmul =
    days::ladder<Matmul>("matmul")
        .extents({"m", "n", "k"})
        .types<float>()
        .variant("rows", LAUNCHER(matmul_rows))
        .needs("n <= 524280", [](const auto& p) { return p.n <= kMaxAlongY; })
        .variant("columns", LAUNCHER(matmul_columns))
        .needs("m <= 524280", [](const auto& p) { return p.m <= kMaxAlongY; })
        .baseline("cuBLAS")
        .reference(LAUNCHER(matmul_reference))
        .parallel(LAUNCHER(matmul_parallel))
        // One; around the block's 32 and 8; no two extents alike where a mix-up could hide; square; tall,
        // wide, long; primes; one past what fits along a grid's y, for either rung.
        .shapes({{1, 1, 1},    {1, 1, 257},   {1, 300, 1},     {300, 1, 1},     {2, 3, 4},
                 {7, 9, 5},    {8, 32, 16},   {9, 33, 17},     {31, 7, 33},     {32, 8, 31},
                 {33, 31, 32}, {64, 64, 64},  {65, 63, 1},     {127, 131, 113}, {5, 1000, 7},
                 {1000, 5, 7}, {3, 2, 10007}, {257, 255, 100}, {524281, 1, 1},  {1, 524281, 1}})
        .bench({{4096, 4096, 4096}, {1024, 1024, 1024}, {2047, 2049, 2053}})
        .show({{256, 256, 256}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) { matmul_inputs(p, s, in); })
        .hostile("huge", scaled(1e17, 1e17))    // sums near 1e36, the largest float is 3.4e38
        .hostile("tiny", scaled(1e-20, 1e-20))  // every product is denormal
        .hostile("integers", elements([](size_t i) { return static_cast<double>(i * 7 % 17) - 8; },
                                      [](size_t i) { return static_cast<double>(i * 5 % 13) - 6; }))
        .hostile("all equal", elements([](size_t) { return 0.5; }, [](size_t) { return 3.0; }))
        .hostile("one outlier", elements([](size_t i) { return i == 0 ? 1e6 : 1.0 + i % 3; },
                                         [](size_t i) { return 0.25 * (i % 7) - 0.5; }))
        .hostile(
            "NaN and infinity",  // in one row of a and in one column of b: no other element may change
            elements([](size_t i) { return i == 0 ? std::numeric_limits<double>::quiet_NaN() : 1.0 + i % 5; },
                     [](size_t i) { return i == 1 ? std::numeric_limits<double>::infinity() : 2.0 - i % 3; }))
        .traffic(LAUNCHER(matmul_traffic))
        .flops(LAUNCHER(matmul_flops), days::Rate::ffma)
        .check_large(LAUNCHER(matmul_check_large))
        .tolerance(days::dot_product([](const auto& p) { return p.k; }))
        .lesson("neighbouring threads, neighbouring addresses: lane = column.");

}  // namespace day05
