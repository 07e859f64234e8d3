// SPDX-License-Identifier: MIT
// Day 06: the launchers. The problem itself, c = a * b in row-major order, is shared by all matmul days.
#pragma once

#include <cuda_runtime.h>

#include "common/problems/matmul.h"

namespace day06 {

using days::Matmul;

// A grid's y has at most 65,535 blocks of 8 rows or columns: n runs along it for strided, m for the others.
inline constexpr auto kNAlongY = days::at_most("n", 8 * days::kMaxGridY, [](const auto& p) { return p.n; });
inline constexpr auto kMAlongY = days::at_most("m", 8 * days::kMaxGridY, [](const auto& p) { return p.m; });
// Four neighbours of a row are read with one instruction, in wide also written.
inline constexpr auto kWholeK = days::multiple_of("k", 4, [](const auto& p) { return p.k; });
inline constexpr auto kWholeN = days::multiple_of("n", 4, [](const auto& p) { return p.n; });
inline constexpr auto kAlignedA =
    days::needs("16-byte aligned a", [](const auto& p) { return days::aligned16(p.a); });
inline constexpr auto kAligned =
    days::needs("16-byte aligned a, b, c", [](const auto& p) { return days::aligned16(p.a, p.b, p.c); });

// Blocks of 256 threads in one dimension, 8 x 32 elements of c each (wide: 8 x 128).
void matmul_strided(const Matmul<float>&, cudaStream_t);
void matmul_coalesced(const Matmul<float>&, cudaStream_t);
void matmul_broadcast(const Matmul<float>&, cudaStream_t);
void matmul_wide(const Matmul<float>&, cudaStream_t);

// Yours: exercise.cu. Takes what broadcast takes.
void exercise(const Matmul<float>&, cudaStream_t);

}  // namespace day06
