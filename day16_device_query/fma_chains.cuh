// SPDX-License-Identifier: MIT
//
// The kernel of all fma rungs: they differ in how many chains a thread works on at once, and in how many
// threads there are.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

// A multiprocessor has four schedulers, each of which issues for its own warps. 128 threads give each
// scheduler one warp.
constexpr int kOneWarpEach = 128;

// The grid has a fixed number of threads, which share the n elements; a thread steps through kChains of them
// at a time. kChains is known at compile time, so `v` lives in registers and the inner loop is unrolled into
// kChains fused multiply-adds that do not wait for one another.
template <int kChains>
__global__ void fma_kernel(const float* x, float* y, float a, float b, int64_t n, int64_t steps) {
  const int64_t threads = int64_t{gridDim.x} * blockDim.x;
  for (int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; first < n;
       first += kChains * threads) {
    float v[kChains];
#pragma unroll
    for (int c = 0; c < kChains; ++c) v[c] = first + c * threads < n ? x[first + c * threads] : 0.0f;
#pragma unroll 128
    for (int64_t s = 0; s < steps; ++s) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) v[c] = fmaf(v[c], a, b);
    }
#pragma unroll
    for (int c = 0; c < kChains; ++c) {
      if (first + c * threads < n) y[first + c * threads] = v[c];
    }
  }
}

inline void require_fma(const Fma<float>& p, const char* rung) {
  days::require(p.n > 0, rung, ": n must be positive, not", p.n);
  days::require(p.steps > 0, rung, ": steps must be positive, not", p.steps);
}

}  // namespace
}  // namespace day16
