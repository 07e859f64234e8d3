// SPDX-License-Identifier: MIT
//
// The second half of a sum over rows: the partial sums of parts of them, added up in a fixed order. So the result
// is the same on every run, which atomic additions would not promise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/types.h"
#include "common/util.h"

namespace days {

inline constexpr int kMaxSumWarps = 32;

// Block b adds up columns [32 b, 32 b + 32), a lane each. Its warps take the parts in turn, then the first two warps
// add up what the others found.
template <class T>
__global__ void __launch_bounds__(kMaxSumWarps* kWarpSize)
    sum_partials_kernel(const float* partials,  // (parts, 2, cols): dgamma's, dbeta's
                        T* dgamma,              // (cols)
                        T* dbeta,               // (cols)
                        int parts, int cols) {
  __shared__ float sums[2][kMaxSumWarps][kWarpSize];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int warps = blockDim.x / kWarpSize;
  const int col = blockIdx.x * kWarpSize + lane;
  float of_gamma = 0, of_beta = 0;
  if (col < cols) {
#pragma unroll 4
    for (int part = warp; part < parts; part += warps) {
      of_gamma += partials[int64_t{2} * part * cols + col];
      of_beta += partials[(int64_t{2} * part + 1) * cols + col];
    }
  }
  sums[0][warp][lane] = of_gamma;
  sums[1][warp][lane] = of_beta;
  __syncthreads();
  if (warp >= 2 || col >= cols) return;
  float sum = 0;
  for (int i = 0; i < warps; ++i) sum += sums[warp][i][lane];
  (warp == 0 ? dgamma : dbeta)[col] = from_float<T>(sum);
}

// The rung's last launch: as many warps a block as there are parts, two at least and 32 at most.
template <class T>
void sum_partials(const float* partials, T* dgamma, T* dbeta, int parts, int cols, cudaStream_t stream) {
  const int warps = parts < 2 ? 2 : parts < kMaxSumWarps ? parts : kMaxSumWarps;
  sum_partials_kernel<<<ceil_div(cols, kWarpSize), warps * kWarpSize, 0, stream>>>(partials, dgamma, dbeta,
                                                                                   parts, cols);
  CUDA_CHECK_LAUNCH();
}

}  // namespace days
