// SPDX-License-Identifier: MIT
//
// The candidate, as somebody handed it in: a block for each 32 features goes through all samples. It scales and transposes
// by way of a tile in shared memory, because a transpose needs one. It is right on every shape, and slow: three things are
// wrong with it, and to stare at it is the slowest way to find them.
#include "common/check.h"
#include "common/util.h"
#include "day40_nsight_compute/columns.h"
#include "day40_nsight_compute/maxima.cuh"

namespace day40 {
namespace {

__global__ void candidate_kernel(const float* x,     // (samples, features)
                                 const float* most,  // (features)
                                 float* z,           // (features, samples)
                                 int samples, int features) {
  __shared__ float tile[kTile][kTile];  // [feature][sample]
  const int feature = blockIdx.x * kTile + threadIdx.x;
  const float largest = feature < features ? most[feature] : 0;
  for (int64_t first = 0; first < samples; first += kTile) {
    for (int i = threadIdx.y; i < kTile; i += kBlockRows) {
      if (feature < features && first + i < samples) {
        const float value = x[(first + i) * features + feature];
        tile[threadIdx.x][i] = largest > 0 ? value / largest : value;
      }
    }
    __syncthreads();
    for (int i = threadIdx.y; i < kTile; i += kBlockRows) {
      if (feature < features && first + i < samples)
        z[int64_t{feature} * samples + first + i] = tile[threadIdx.x][i];
    }
    __syncthreads();  // the next pass fills the tile again
  }
}

}  // namespace

template <class T>
void columns_candidate(const Columns<T>& p, cudaStream_t stream) {
  require_problem(p, "candidate");
  find_maxima(p, p.samples, stream);
  const dim3 block(kTile, kBlockRows);
  const dim3 grid(days::ceil_div(p.features, kTile));
  candidate_kernel<<<grid, block, 0, stream>>>(p.x, p.most, p.z, p.samples, p.features);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(columns_candidate, Columns, float);

}  // namespace day40
