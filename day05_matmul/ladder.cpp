// SPDX-License-Identifier: MIT
//
// The day's ladder: who competes, on which shapes and inputs, measured against what. Host code only.

#include "common/ladder.h"
#include "common/problems/matmul_hostile.h"
#include "day05_matmul/matmul.h"

namespace day05 {
namespace {

const auto matmul = days::with_hostile_matmuls(
    days::ladder<Matmul>("matmul")
        .extents({"m", "n", "k"})
        .types<float>()
        .variant("lanes_down", LAUNCHER(matmul_lanes_down))
        .needs(kNAlongY)
        .variant("lanes_across", LAUNCHER(matmul_lanes_across))
        .needs(kMAlongY)
        .exercise(LAUNCHER(exercise), "one thread an element of c, a warp on 32 neighbours", "lanes_down",
                  "lanes_across", {.wasted_sectors = 0.1})
        .needs(kMAlongY, kNAlongY)
        .baseline("cuBLAS")
        .reference(LAUNCHER(matmul_reference))
        .by_rows(days::kRowsOfC, days::kSomeRowsOfC)
        .parallel(LAUNCHER(matmul_parallel))
        // One; around the block's 32 and 8; no two extents alike where a mix-up could hide; square; tall,
        // wide, long; primes; one past what fits along a grid's y, for either rung.
        .shapes({{1, 1, 1},    {1, 1, 257},   {1, 300, 1},     {300, 1, 1},     {2, 3, 4},
                 {7, 9, 5},    {8, 32, 16},   {9, 33, 17},     {31, 7, 33},     {32, 8, 31},
                 {33, 31, 32}, {64, 64, 64},  {65, 63, 1},     {127, 131, 113}, {5, 1000, 7},
                 {1000, 5, 7}, {3, 2, 10007}, {257, 255, 100}, {524281, 1, 1},  {1, 524281, 1}})
        .bench({{4096, 4096, 4096}, {1024, 1024, 1024}, {2047, 2049, 2053}})
        .sweep({{128, 128, 128},
                {256, 256, 256},
                {509, 511, 513},
                {1024, 1024, 1024},
                {2047, 2049, 2053},
                {4096, 4096, 4096}})
        .show({{256, 256, 256}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) { matmul_inputs(p, s, in); })
        .traffic(LAUNCHER(matmul_traffic))
        .flops(LAUNCHER(matmul_flops), days::Rate::ffma)
        .check_large(LAUNCHER(matmul_check_large))
        .tolerance(days::dot_product([](const auto& p) { return p.k; }))
        .lesson("neighbouring threads, neighbouring addresses: lane = column."));

REGISTER_LADDER(matmul);

}  // namespace
}  // namespace day05
