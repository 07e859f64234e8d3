// SPDX-License-Identifier: MIT
//
// Answers the second profile: are the sectors used? Changed since spread: when the tile is stored, the lanes of a warp go
// along the samples of one feature, which are neighbours in z.
// Bound by: loads, one at a time in each warp, and hardly less by stores into the tile: each goes down 32 words of one bank.
#include "common/check.h"
#include "common/util.h"
#include "day40_nsight_compute/columns.h"
#include "day40_nsight_compute/maxima.cuh"

namespace day40 {
namespace {

__global__ void turned_kernel(const float* x,     // (samples, features)
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
      const int row = blockIdx.x * kTile + i;  // of z: a feature, of which a warp's lanes store 32 samples
      const int64_t sample = first + threadIdx.x;
      if (row < features && sample < end) z[int64_t{row} * samples + sample] = tile[i][threadIdx.x];
    }
    __syncthreads();  // the next pass fills the tile again
  }
}

}  // namespace

template <class T>
void columns_turned(const Columns<T>& p, cudaStream_t stream) {
  require_problem(p, "turned");
  days::require_needs(p, "turned", kSamples);
  find_maxima(p, kChunk, stream);
  const dim3 block(kTile, kBlockRows);
  const dim3 grid(days::ceil_div(p.features, kTile), days::ceil_div(p.samples, kChunk));
  turned_kernel<<<grid, block, 0, stream>>>(p.x, p.most, p.z, p.samples, p.features);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(columns_turned, Columns, float);

}  // namespace day40
