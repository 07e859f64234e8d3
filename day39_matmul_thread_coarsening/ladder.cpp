// SPDX-License-Identifier: MIT
// The day's two ladders, the product and its general form: who competes, on which shapes and inputs, measured against
// what. Host only.

#include "common/ladder.h"
#include "common/problems/gemm_hostile.h"
#include "common/problems/matmul_hostile.h"
#include "day39_matmul_thread_coarsening/matmul.h"

namespace day39 {
namespace {

// Sums differ from the reference's by rounding alone; cuBLAS, too, computes in plain fp32 here, without TF32.
const auto matmul = days::with_hostile_matmuls(
    days::ladder<Matmul>("matmul")
        .extents({"m", "n", "k"})
        .types<float>()
        .variant("tiled", LAUNCHER(matmul_tiled))
        .needs(kRowsBy32)
        .variant("column", LAUNCHER(matmul_column))
        .needs(kRowsBy64)
        .variant("square", LAUNCHER(matmul_square))
        .needs(kRowsBy128)
        .variant("vectors", LAUNCHER(matmul_vectors))
        .needs(kWholeVectors, kRowsBy128)
        .variant("spread", LAUNCHER(matmul_spread))
        .needs(kWholeVectors, kRowsBy128)
        .variant("buffered", LAUNCHER(matmul_buffered))
        .needs(kWholeVectors, kRowsBy128)
        .variant("warps", LAUNCHER(matmul_warps))
        .needs(kWholeVectors, kRowsBy128)
        .variant("autotuned", LAUNCHER(matmul_autotuned))
        .needs(kBlocksFit)
        .exercise(LAUNCHER(exercise), "eight elements a thread: a float of b loaded once for eight", "tiled",
                  "column", {.reads_per_input = 5, .conflicts = 0.1})
        .needs(kRowsBy64)
        .baseline("cuBLAS")
        .reference(LAUNCHER(days::matmul_reference))
        .parallel(LAUNCHER(days::matmul_parallel))
        // One; around tiles of 8, 16, 32, 64 and 128; whole vectors along n, k or both; tall, wide, long; whole tiles
        // alone, of autotuned's largest, too, three one after another; primes.
        .shapes({{1, 1, 1},
                 {1, 1, 100},
                 {3, 4, 8},
                 {1, 131, 7},
                 {130, 1, 9},
                 {33, 31, 17},
                 {31, 68, 36},
                 {64, 64, 16},
                 {65, 63, 15},
                 {63, 132, 4},
                 {129, 64, 20},
                 {128, 128, 24},
                 {127, 129, 23},
                 {131, 260, 12},
                 {256, 512, 96},
                 {257, 127, 33}})
        .gpu_shapes({{1, 300, 4},
                     {1, 4, 2052},
                     {1000, 1004, 200},
                     {1023, 1025, 211},
                     {2049, 2052, 68},
                     {2500, 2500, 300}})
        .bench({{4096, 4096, 4096}, {8192, 8192, 8192}, {1024, 1024, 1024}})
        .sweep({{128, 128, 128},
                {256, 256, 256},
                {512, 512, 512},
                {1024, 1024, 1024},
                {2048, 2048, 2048},
                {2047, 2049, 2053},
                {4096, 4096, 4096},
                {8192, 8192, 8192}})
        .show({{256, 256, 256}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in); })
        .hostile("misaligned a",
                 [](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in, 1, 0); })
        .hostile("misaligned b",
                 [](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in, 0, 1); })
        .traffic(LAUNCHER(days::matmul_traffic))
        .flops(LAUNCHER(days::matmul_flops), days::Rate::ffma)
        .check_large(LAUNCHER(days::matmul_check_large))
        .tolerance(days::dot_product([](const auto& p) { return p.k; }))
        .lesson(
            "registers are the fastest tile: what a thread keeps there, shared memory need not deliver."));

const auto gemm = days::with_hostile_fp32_gemms(
    days::ladder<Gemm>("gemm")
        .extents({"m", "n", "k", "form"})
        .types<float>()
        .variant("gemm_direct", LAUNCHER(gemm_direct))
        .needs(kRowsBy8)
        .variant("gemm_autotuned", LAUNCHER(gemm_autotuned))
        .needs(kBlocksFit)
        .baseline("cuBLAS")
        .reference(LAUNCHER(days::gemm_reference))
        .parallel(LAUNCHER(days::gemm_parallel))
        // form: 1 is NN, 2 NT, 3 TN, 4 TT. Where one extent alone keeps a block of 64 x 64 from being whole: n, its pitch, that of
        // a's columns, k.
        .shapes({{1, 1, 1, 4},
                 {5, 3, 7, 2},
                 {64, 64, 16, 3},
                 {64, 68, 16, 1},
                 {64, 65, 16, 1},
                 {65, 64, 16, 3},
                 {64, 64, 17, 2},
                 {65, 68, 20, 1},
                 {67, 66, 19, 2},
                 {68, 65, 9, 3},
                 {63, 72, 24, 4},
                 {136, 4, 12, 4},
                 {128, 256, 16, 2},
                 {128, 256, 32, 4}})
        // As large as the matmul's, but below what check_large is for, which cannot know what c held where beta is not 0.
        .gpu_shapes({{1000, 1004, 200, 1},
                     {1001, 999, 101, 2},
                     {1023, 1025, 77, 3},
                     {2049, 2051, 37, 4},
                     {2500, 2500, 44, 2}})
        .bench({{4096, 4096, 4096, 2}, {4096, 4096, 4096, 3}, {4096, 4096, 4096, 4}})
        .sweep({{1024, 1024, 1024, 2}, {4095, 4097, 4099, 1}, {4096, 4096, 4096, 2}, {8192, 8192, 8192, 2}})
        .show({{256, 256, 256, 2}})
        .inputs(days::gemm_maker())
        .traffic(LAUNCHER(days::gemm_traffic))
        .flops(LAUNCHER(days::gemm_flops), days::Rate::ffma)
        .check_large(LAUNCHER(days::gemm_check_large))
        .tolerance(days::GemmTolerance{})
        .lesson("a transposed operand costs its copy into the tile; from there on it is like any other."));

REGISTER_LADDER(matmul);
REGISTER_LADDER(gemm);

}  // namespace
}  // namespace day39
