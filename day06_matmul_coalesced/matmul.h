// SPDX-License-Identifier: MIT
// Day 06: the launchers. The problem itself, c = a * b in row-major order, is shared by all matmul days.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "common/check.h"
#include "common/problems/matmul.h"

namespace day06 {

using days::Matmul;

inline void require_extents(const Matmul<float>& p, const char* variant) {
  days::require(p.m > 0 && p.n > 0 && p.k > 0, variant, ": m, n and k must be positive; the least is",
                std::min({p.m, p.n, p.k}));
}

// Blocks of 256 threads in one dimension, 8 x 32 elements of c each (wide: 8 x 128). A grid's y has at most
// 65,535 blocks, which limits the extent that runs along it: n for strided, m for the others.
void matmul_strided(const Matmul<float>&, cudaStream_t);
void matmul_coalesced(const Matmul<float>&, cudaStream_t);
void matmul_broadcast(const Matmul<float>&, cudaStream_t);  // k % 4 == 0, 16-byte aligned a
void matmul_wide(const Matmul<float>&, cudaStream_t);       // also n % 4 == 0, 16-byte aligned b and c

// Yours: exercise.cu. Takes what broadcast takes.
void exercise(const Matmul<float>&, cudaStream_t);

inline constexpr int kMaxAlongY = 65535 * 8;

}  // namespace day06
