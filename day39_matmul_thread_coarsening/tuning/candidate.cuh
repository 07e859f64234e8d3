// SPDX-License-Identifier: MIT
//
// Day 39: a candidate of the tuner, in the exercise's place. `./days tune 39` makes a file of two lines for each:
//
//   #define DAYS_CANDIDATE 128, 128, 8, 64, 64, 8, 16, 4
//   #include "day39_matmul_thread_coarsening/tuning/candidate.cuh"
#pragma once

#include "common/check.h"
#include "day39_matmul_thread_coarsening/matmul.h"
#include "day39_matmul_thread_coarsening/tile.cuh"

namespace day39 {
namespace {

constexpr Tiling kCandidate{DAYS_CANDIDATE};
static_assert(possible(kCandidate), "tuning/space.json lets through what tiling.h forbids");

__global__ void __launch_bounds__(kCandidate.threads()) candidate_kernel(const Gemm<float> p) {
  extern __shared__ uint4 memory[];
  gemm_block<kCandidate, days::Op::kN, days::Op::kN>(p, *reinterpret_cast<Tiles<kCandidate>*>(memory));
}

}  // namespace

void exercise(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "exercise");
  days::require_needs(p, "exercise", kRowsBy64);  // the exercise's row of the ladder says so
  constexpr int kBytes = static_cast<int>(sizeof(Tiles<kCandidate>));
  if (kBytes > 48 * 1024) {
    CUDA_CHECK(cudaFuncSetAttribute(candidate_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  }
  const Gemm<float> general{p.a, p.b, p.c,  p.m,  p.n,          p.k,         p.k,
                            p.n, p.n, 1.0f, 0.0f, days::Op::kN, days::Op::kN};
  const unsigned blocks = static_cast<unsigned>(kCandidate.blocks(p.m, p.n));
  candidate_kernel<<<blocks, kCandidate.threads(), kBytes, stream>>>(general);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day39
