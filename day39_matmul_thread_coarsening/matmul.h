// SPDX-License-Identifier: MIT
// Day 39: the launchers. The problems, c = a * b and its general form, are shared by all matmul days.
#pragma once

#include <cuda_runtime.h>

#include "common/problems/gemm.h"
#include "common/problems/matmul.h"

namespace day39 {

using days::Gemm;
using days::Matmul;

// A grid's y has at most 65,535 blocks, of 8 rows (gemm_direct), 32 (tiled), 64 (column) or 128 rows (square to warps).
inline constexpr auto kRowsBy8 = days::at_most("m", 8 * days::kMaxGridY, [](const auto& p) { return p.m; });
inline constexpr auto kRowsBy32 = days::at_most("m", 32 * days::kMaxGridY, [](const auto& p) { return p.m; });
inline constexpr auto kRowsBy64 = days::at_most("m", 64 * days::kMaxGridY, [](const auto& p) { return p.m; });
inline constexpr auto kRowsBy128 =
    days::at_most("m", 128 * days::kMaxGridY, [](const auto& p) { return p.m; });
// Four neighbours of a row are read, and written, with one instruction.
inline constexpr auto kWholeVectors =
    days::needs("n, k % 4 == 0, 16-byte aligned a, b, c",
                [](const auto& p) { return p.n % 4 == 0 && p.k % 4 == 0 && days::aligned16(p.a, p.b, p.c); });
// A grid's x, along which all blocks of autotuned lie: 64 x 64 elements are its smallest.
inline constexpr auto kBlocksFit = days::at_most("64 x 64 blocks", days::kMaxGridX, [](const auto& p) {
  return ((p.m - int64_t{1}) / 64 + 1) * ((p.n - int64_t{1}) / 64 + 1);
});

void matmul_tiled(const Matmul<float>&, cudaStream_t);
void matmul_column(const Matmul<float>&, cudaStream_t);
void matmul_square(const Matmul<float>&, cudaStream_t);
void matmul_vectors(const Matmul<float>&, cudaStream_t);
void matmul_spread(const Matmul<float>&, cudaStream_t);
void matmul_buffered(const Matmul<float>&, cudaStream_t);
void matmul_warps(const Matmul<float>&, cudaStream_t);
void matmul_autotuned(const Matmul<float>&, cudaStream_t);

// c = alpha * op(a) * op(b) + beta * c, any pitches: an element a thread; and autotuned's kernel.
void gemm_direct(const Gemm<float>&, cudaStream_t);
void gemm_autotuned(const Gemm<float>&, cudaStream_t);

// Yours: exercise.cu. Takes what column takes.
void exercise(const Matmul<float>&, cudaStream_t);

}  // namespace day39
