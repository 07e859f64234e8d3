// SPDX-License-Identifier: MIT
// Day 06's ladder: who competes, on which shapes and inputs, measured against what. Host code only.

#include "common/ladder.h"
#include "common/problems/matmul_hostile.h"
#include "day06_matmul_coalesced/matmul.h"

namespace day06 {
namespace {

const auto matmul = days::with_hostile_matmuls(
    days::ladder<Matmul>("matmul")
        .extents({"m", "n", "k"})
        .types<float>()
        .variant("strided", LAUNCHER(matmul_strided))
        .needs(kNAlongY)
        .variant("coalesced", LAUNCHER(matmul_coalesced))
        .needs(kMAlongY)
        .variant("broadcast", LAUNCHER(matmul_broadcast))
        .needs(kWholeK, kAlignedA, kMAlongY)
        .variant("wide", LAUNCHER(matmul_wide))
        .needs(kWholeN, kWholeK, kAligned, kMAlongY)
        .exercise(LAUNCHER(exercise), "a broadcast of 16 bytes: five loads for four multiply-adds",
                  "coalesced", "broadcast", {.wasted_sectors = 0.1, .bytes_per_request = 200})
        .needs(kWholeK, kAlignedA, kMAlongY)
        .baseline("cuBLAS")
        .reference(LAUNCHER(days::matmul_reference))
        .by_rows(days::kRowsOfC, days::kSomeRowsOfC)
        .parallel(LAUNCHER(days::matmul_parallel))
        // One; around the blocks' 8, 32 and 128; whole vectors along k or n or both; no two extents alike
        // where a mix-up could hide; tall, wide, long; primes; one past what fits along a grid's y.
        .shapes({{1, 1, 1},    {1, 3, 256},   {1, 300, 4},     {300, 1, 8},    {2, 3, 4},       {7, 9, 5},
                 {8, 32, 16},  {9, 33, 20},   {31, 8, 33},     {32, 8, 31},    {33, 31, 32},    {64, 64, 64},
                 {65, 63, 1},  {5, 127, 8},   {9, 128, 12},    {7, 132, 36},   {127, 131, 113}, {5, 1000, 7},
                 {1000, 4, 8}, {3, 4, 10008}, {257, 255, 100}, {524281, 1, 1}, {1, 524281, 1}})
        .bench({{4096, 4096, 4096}, {1024, 1024, 1024}, {2047, 2049, 2053}})
        .sweep({{128, 128, 128},
                {256, 256, 256},
                {509, 511, 513},
                {1024, 1024, 1024},
                {2047, 2049, 2053},
                {4096, 4096, 4096}})
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
        .lesson("L1 delivers 128 bytes a turn, broadcast or not: use a float again from its register."));

REGISTER_LADDER(matmul);

}  // namespace
}  // namespace day06
