// SPDX-License-Identifier: MIT
// What every rung launches first: each feature's largest |x|. Its accesses are right as they are; how many blocks it has
// is the rung's to say.
#pragma once

#include "common/check.h"
#include "common/util.h"
#include "day40_nsight_compute/columns.h"

namespace day40 {
namespace {

// Block (kTile, kBlockRows), grid (features / kTile, samples / chunk), rounded up. most: 0 before. Floats that are not
// negative have the order of their bits, so that atomicMax of integers finds the largest, in whatever order blocks come.
__global__ void maxima_kernel(const float* x,  // (samples, features)
                              float* most,     // (features)
                              int samples, int features, int chunk) {
  __shared__ float part[kBlockRows][kTile];
  const int feature = blockIdx.x * kTile + threadIdx.x;
  const int64_t begin = int64_t{blockIdx.y} * chunk, end = min(begin + chunk, int64_t{samples});
  float largest = 0;
  if (feature < features) {
    for (int64_t sample = begin + threadIdx.y; sample < end; sample += kBlockRows)
      largest = fmaxf(largest, fabsf(x[sample * features + feature]));
  }
  part[threadIdx.y][threadIdx.x] = largest;
  __syncthreads();
  if (threadIdx.y > 0 || feature >= features) return;
  for (int row = 1; row < kBlockRows; ++row) largest = fmaxf(largest, part[row][threadIdx.x]);
  atomicMax(reinterpret_cast<int*>(most) + feature, __float_as_int(largest));
}

[[maybe_unused]] void find_maxima(const Columns<float>& p, int chunk, cudaStream_t stream) {
  const dim3 grid(days::ceil_div(p.features, kTile), days::ceil_div(p.samples, chunk));
  CUDA_CHECK(cudaMemsetAsync(p.most, 0, sizeof(float) * p.features, stream));
  maxima_kernel<<<grid, dim3(kTile, kBlockRows), 0, stream>>>(p.x, p.most, p.samples, p.features, chunk);
  CUDA_CHECK_LAUNCH();
}

}  // namespace
}  // namespace day40
