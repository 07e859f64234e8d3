// SPDX-License-Identifier: MIT
//
// Day 05: the launchers. The problem itself, c = a * b in row-major order, is shared by all matmul days.
#pragma once

#include <cuda_runtime.h>

#include "common/problems/matmul.h"

namespace day05 {

using days::Matmul;

// The extent that runs along the grid's y, n for lanes_down and m for lanes_across, has at most 65,535 blocks of 8 threads.
inline constexpr auto kNAlongY = days::at_most("n", 8 * days::kMaxGridY, [](const auto& p) { return p.n; });
inline constexpr auto kMAlongY = days::at_most("m", 8 * days::kMaxGridY, [](const auto& p) { return p.m; });

// One thread computes one element of c. m, n and k must be positive.
void matmul_lanes_down(const Matmul<float>&, cudaStream_t);
void matmul_lanes_across(const Matmul<float>&, cudaStream_t);

// Yours: exercise.cu. Takes what both rungs take, so that either way round is possible.
void exercise(const Matmul<float>&, cudaStream_t);

}  // namespace day05
