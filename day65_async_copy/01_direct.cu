// SPDX-License-Identifier: MIT
//
// The definition, an element a thread and a step: 17 loads, most of which the caches answer.
// Takes any rows, columns and alignment. Bound by: latency. A step waits for its loads before the next one asks.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

__global__ void __launch_bounds__(kThreads, kMostBlocks)
    direct_kernel(const Stencil<float> p, const March march) {
  const int64_t col = blockIdx.x % march.strips * kThreads + threadIdx.x;
  if (col >= p.cols) return;
  const int64_t first = blockIdx.x / march.strips * march.rows,
                last = min(first + march.rows, int64_t{p.rows});
  const auto at = [&](int64_t r, int64_t c) {
    return r >= 0 && r < p.rows && c >= 0 && c < p.cols ? p.in[r * p.cols + c] : 0.0f;
  };
  for (int64_t row = first; row < last; ++row) {
    float sum = weight(0) * at(row, col);
#pragma unroll
    for (int k = 1; k <= kRadius; ++k) {
      sum += weight(k) * (at(row - k, col) + at(row + k, col) + at(row, col - k) + at(row, col + k));
    }
    p.out[row * p.cols + col] = sum;
  }
}

}  // namespace

void stencil_direct(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "direct");
  const March march = march_of(p, kThreads, "direct");
  direct_kernel<<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(p, march);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
