// SPDX-License-Identifier: MIT
//
// Answers the first profile: are there enough blocks? Changed since candidate: the samples are cut into chunks of kChunk,
// and each chunk has a block of its own, in both kernels.
// Bound by: the stores. A warp's 32 lanes have 32 features, whose places in z lie `samples` floats apart.
#include "common/check.h"
#include "common/util.h"
#include "day40_nsight_compute/columns.h"
#include "day40_nsight_compute/maxima.cuh"

namespace day40 {
namespace {

__global__ void spread_kernel(const float* x,     // (samples, features)
                              const float* most,  // (features)
                              float* z,           // (features, samples)
                              int samples, int features) {
  __shared__ float tile[kTile][kTile];  // [feature][sample]
  const int feature = blockIdx.x * kTile + threadIdx.x;
  const int64_t begin = int64_t{blockIdx.y} * kChunk, end = min(begin + kChunk, int64_t{samples});
  const float largest = feature < features ? most[feature] : 0;
  for (int64_t first = begin; first < end; first += kTile) {
    for (int i = threadIdx.y; i < kTile; i += kBlockRows) {
      if (feature < features && first + i < end) {
        const float value = x[(first + i) * features + feature];
        tile[threadIdx.x][i] = largest > 0 ? value / largest : value;
      }
    }
    __syncthreads();
    for (int i = threadIdx.y; i < kTile; i += kBlockRows) {
      if (feature < features && first + i < end)
        z[int64_t{feature} * samples + first + i] = tile[threadIdx.x][i];
    }
    __syncthreads();  // the next pass fills the tile again
  }
}

}  // namespace

template <class T>
void columns_spread(const Columns<T>& p, cudaStream_t stream) {
  require_problem(p, "spread");
  days::require_needs(p, "spread", kSamples);
  find_maxima(p, kChunk, stream);
  const dim3 block(kTile, kBlockRows);
  const dim3 grid(days::ceil_div(p.features, kTile), days::ceil_div(p.samples, kChunk));
  spread_kernel<<<grid, block, 0, stream>>>(p.x, p.most, p.z, p.samples, p.features);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(columns_spread, Columns, float);

}  // namespace day40
