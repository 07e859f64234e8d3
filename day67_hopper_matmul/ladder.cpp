// SPDX-License-Identifier: MIT
// Day 67's ladder: who competes, on which shapes and inputs, measured against what. Host code only.

#include <cmath>

#include "common/ladder.h"
#include "common/problems/matmul_hostile.h"
#include "day67_hopper_matmul/matmul.h"

namespace day67 {
namespace {

auto past(size_t a, size_t b) {
  return [=](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in, a, b); };
}

const auto half =
    days::ladder<Product>("half")
        .extents({"m", "n", "k"})
        .types<days::half, days::bf16>()
        .variant("warpgroup", LAUNCHER(matmul_warpgroup))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("copied", LAUNCHER(matmul_copied))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("ring", LAUNCHER(matmul_ring))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("roles", LAUNCHER(matmul_roles))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("persistent", LAUNCHER(matmul_persistent))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("clusters", LAUNCHER(matmul_clusters))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .exercise(LAUNCHER(exercise), "tiles that the copy engine brings, where threads brought them",
                  "warpgroup", "copied", {.under_way = 30000})
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .baseline("cuBLASLt")
        .reference(LAUNCHER(days::matmul_reference))
        .parallel(LAUNCHER(days::matmul_parallel))
        // A chunk in each extent; below, at and past a warpgroup's rows, a tile, a slab and a stage; more stages than the ring has; more tiles
        // than the CPU's device has multiprocessors, an odd number of them down.
        .shapes({{1, 8, 8},
                 {63, 64, 72},
                 {65, 72, 40},
                 {64, 136, 328},
                 {129, 264, 64},
                 {127, 256, 128},
                 {300, 520, 72}})
        .gpu_shapes(
            {{1000, 1000, 1000}, {1021, 1032, 1040}, {2056, 4104, 520}, {4096, 128, 8200}, {8200, 768, 768}})
        .bench({{8192, 8192, 8192}, {4096, 4096, 4096}, {65536, 768, 768}, {65536, 768, 3072}})
        .sweep(
            {{512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}})
        .show({{256, 256, 256}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in); })
        .hostile("misaligned a", past(1, 0))
        .hostile("misaligned b", past(0, 1))
        .hostile("integers", days::matmul_elements(days::kWholeNumbers))
        .hostile("all equal", days::matmul_elements(days::kAllEqual))
        .hostile("NaN and infinity",  // in one row of a and in one column of b: no other element may change
                 days::matmul_elements(days::kNotFinite))
        .traffic(LAUNCHER(days::matmul_traffic))
        .flops(LAUNCHER(days::matmul_flops), days::Rate::wgmma_by_type)
        .check_large(LAUNCHER(days::matmul_check_large))
        .tolerance(days::dot_product([](const auto& p) { return p.k; }))
        .lesson("one thread asks, four warps multiply, and the rest is who waits for whom.");

REGISTER_LADDER(half);

}  // namespace
}  // namespace day67
