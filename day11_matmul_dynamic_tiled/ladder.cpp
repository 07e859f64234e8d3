// SPDX-License-Identifier: MIT
// Day 11's ladders: who competes, on which shapes and inputs, measured against what. Host code only.

#include "common/ladder.h"
#include "common/problems/matmul_hostile.h"
#include "day11_matmul_dynamic_tiled/matmul.h"

namespace day11 {
namespace {

const auto matmul = days::with_hostile_matmuls(
    days::ladder<Matmul>("matmul")
        .extents({"m", "n", "k"})
        .types<float>()
        .variant("direct", LAUNCHER(matmul_direct))
        .needs(kMAlongY)
        .variant("tiled", LAUNCHER(matmul_tiled))
        .needs(kMAlongY)
        .variant("dynamic", LAUNCHER(matmul_dynamic))
        .needs(kMAlongY)
        .variant("picked", LAUNCHER(matmul_picked))
        .needs(kMAlongY)
        .exercise(LAUNCHER(exercise), "each element fetched once for 32 threads", "direct", "tiled",
                  {.reads_per_input = 14})
        .needs(kMAlongY)
        .baseline("cuBLAS")
        .reference(LAUNCHER(days::matmul_reference))
        .by_rows(days::kRowsOfC, days::kSomeRowsOfC)
        .parallel(LAUNCHER(days::matmul_parallel))
        // One; around tiles of 32, 64 and 128 in each of m, n and k; several tiles of each; no two extents alike
        // where a mix-up could hide; primes; long, wide, tall; one past what fits along a grid's y.
        .shapes({{1, 1, 1},
                 {2, 3, 5},
                 {1, 37, 70},
                 {41, 1, 67},
                 {31, 33, 32},
                 {32, 31, 33},
                 {33, 32, 31},
                 {32, 32, 64},
                 {64, 65, 63},
                 {65, 63, 1},
                 {129, 127, 17},
                 {127, 131, 113},
                 {3, 4, 1009},
                 {2, 700, 40},
                 {600, 3, 2},
                 {300, 310, 9},
                 {2097121, 1, 1}})
        .bench({{4096, 4096, 4096}, {1024, 1024, 1024}, {2047, 2049, 2053}})
        .sweep({{128, 128, 128},
                {256, 256, 256},
                {509, 511, 513},
                {1024, 1024, 1024},
                {2047, 2049, 2053},
                {4096, 4096, 4096}})
        .show({{384, 384, 128}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in); })
        .hostile("misaligned",
                 [](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in, 1, 3); })
        .traffic(LAUNCHER(days::matmul_traffic))
        .flops(LAUNCHER(days::matmul_flops), days::Rate::ffma)
        .check_large(LAUNCHER(days::matmul_check_large))
        .tolerance(days::dot_product([](const auto& p) { return p.k; }))
        .lesson(
            "fetch once, use many times: a tile of t x t fetches a t-th of what its multiply-adds read."));

REGISTER_LADDER(matmul);

// The same with the tile as the fourth number of a shape.
auto with_tile(int past_a, int past_b) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    days::matmul_inputs(p, s, in, static_cast<size_t>(past_a), static_cast<size_t>(past_b));
    p.tile = s[3];
  };
}

const auto by_tile =
    days::ladder<TiledMatmul>("by_tile")
        .extents({"m", "n", "k", "tile"})
        .types<float>()
        .variant("by_hand", LAUNCHER(matmul_by_hand))
        .needs(kSomeTile, kWholeTile, kFittingTile, kMAlongY)
        .reference(LAUNCHER(days::matmul_reference))
        .by_rows(days::kRowsOfC, days::kSomeRowsOfC)
        .parallel(LAUNCHER(days::matmul_parallel))
        // Tiles that are refused: not whole warps, more than shared memory holds. Each size that fits an H200, with c
        // one past a tile and k one past the depth; the largest in the middle of c.
        .shapes({{5, 6, 7, 31},
                 {5, 6, 7, 48},
                 {5, 6, 7, 224},
                 {5, 6, 7, 32768},
                 {1, 1, 1, 32},
                 {33, 31, 33, 32},
                 {65, 67, 20, 64},
                 {97, 95, 33, 96},
                 {129, 257, 31, 128},
                 {161, 3, 40, 160},
                 {2, 193, 65, 192}})
        .bench({{4096, 4096, 4096, 32},
                {4096, 4096, 4096, 64},
                {4096, 4096, 4096, 96},
                {4096, 4096, 4096, 128},
                {4096, 4096, 4096, 160},
                {4096, 4096, 4096, 192}})
        .show({{384, 384, 128, 96}})
        .inputs(with_tile(0, 0))
        .hostile("misaligned", with_tile(1, 3))
        .hostile("NaN and infinity",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   days::matmul_elements(days::kNotFinite)(p, s, in);
                   p.tile = s[3];
                 })
        .traffic(LAUNCHER(days::matmul_traffic))
        .flops(LAUNCHER(days::matmul_flops), days::Rate::ffma)
        .check_large(LAUNCHER(days::matmul_check_large))
        .tolerance(days::dot_product([](const auto& p) { return p.k; }))
        .lesson(
            "which tile: the traffic falls with its side, and so do the blocks that fit a multiprocessor.");

REGISTER_LADDER(by_tile);

}  // namespace
}  // namespace day11
