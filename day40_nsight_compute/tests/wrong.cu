// SPDX-License-Identifier: MIT
//
// Kernels of day 40 with a bug in each, which its tests must reject. They stay inside their buffers, so that it is the
// comparison that finds them and not a fault. Each has a block for each 32 features, of 32 x 8 threads.
#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day40_nsight_compute/columns.h"

namespace day40 {
namespace {

template <void (*kKernel)(Columns<float>)>
void launch(const Columns<float>& p, cudaStream_t stream) {
  kKernel<<<days::ceil_div(p.features, kTile), dim3(kTile, kBlockRows), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// The block's feature of this lane, or -1.
__device__ int my_feature(const Columns<float>& p) {
  const int feature = blockIdx.x * kTile + threadIdx.x;
  return feature < p.features ? feature : -1;
}
// By each thread alone, so that nobody has to wait.
__device__ float largest_of(const Columns<float>& p, int feature, int samples) {
  float largest = 0;
  for (int64_t sample = 0; sample < samples; ++sample)
    largest = fmaxf(largest, fabsf(p.x[sample * p.features + feature]));
  return largest;
}
__device__ void scale(const Columns<float>& p, int feature, float largest) {
  for (int64_t sample = threadIdx.y; sample < p.samples; sample += kBlockRows) {
    const float value = p.x[sample * p.features + feature];
    p.z[int64_t{feature} * p.samples + sample] = largest > 0 ? value / largest : value;
  }
  if (threadIdx.y == 0) p.most[feature] = largest;
}

// The largest x, where the largest |x| is wanted: right where that is positive.
__global__ void signed_maximum(Columns<float> p) {
  const int feature = my_feature(p);
  if (feature < 0) return;
  float largest = 0;
  for (int64_t sample = 0; sample < p.samples; ++sample)
    largest = fmaxf(largest, p.x[sample * p.features + feature]);
  scale(p, feature, largest);
}
MUST_REJECT(columns, launch<signed_maximum>, "most[");

// Multiplies by 1 / most, which rounds twice, and is infinite where most is a denormal.
__global__ void reciprocal(Columns<float> p) {
  const int feature = my_feature(p);
  if (feature < 0) return;
  const float largest = largest_of(p, feature, p.samples), factor = largest > 0 ? 1 / largest : 1;
  for (int64_t sample = threadIdx.y; sample < p.samples; sample += kBlockRows)
    p.z[int64_t{feature} * p.samples + sample] = p.x[sample * p.features + feature] * factor;
  if (threadIdx.y == 0) p.most[feature] = largest;
}
MUST_REJECT(columns, launch<reciprocal>, "z[");

// Divides by 0 where a feature is 0 throughout.
__global__ void divides_by_zero(Columns<float> p) {
  const int feature = my_feature(p);
  if (feature < 0) return;
  const float largest = largest_of(p, feature, p.samples);
  for (int64_t sample = threadIdx.y; sample < p.samples; sample += kBlockRows)
    p.z[int64_t{feature} * p.samples + sample] = p.x[sample * p.features + feature] / largest;
  if (threadIdx.y == 0) p.most[feature] = largest;
}
MUST_REJECT(columns, launch<divides_by_zero>, "z[0,0] is nan, expected 0");

// NaN becomes the maximum, as it does where a comparison is the wrong way round.
__global__ void nan_wins(Columns<float> p) {
  const int feature = my_feature(p);
  if (feature < 0) return;
  float largest = 0;
  for (int64_t sample = 0; sample < p.samples; ++sample) {
    const float size = fabsf(p.x[sample * p.features + feature]);
    if (!(size <= largest)) largest = size;
  }
  scale(p, feature, largest);
}
MUST_REJECT(columns, launch<nan_wins>, "all NaN: most[0] is nan, expected 0");

// Loses denormals, as arithmetic with -ftz=true would.
__global__ void flushes(Columns<float> p) {
  const int feature = my_feature(p);
  if (feature < 0) return;
  const float largest = largest_of(p, feature, p.samples);
  scale(p, feature, largest < 1.17549435e-38f ? 0 : largest);
}
MUST_REJECT(columns, launch<flushes>, "most[0] is 0, expected 5.87747175e-39");

// Empties the tile before the other warps have filled it.
__global__ void no_barrier(Columns<float> p) {
  __shared__ float tile[kTile][kTile + 1];
  const int mine = my_feature(p);
  const float largest = mine < 0 ? 0 : largest_of(p, mine, p.samples);
  if (mine >= 0 && threadIdx.y == 0) p.most[mine] = largest;
  for (int64_t first = 0; first < p.samples; first += kTile) {
    for (int i = threadIdx.y; i < kTile; i += kBlockRows) {
      if (mine < 0 || first + i >= p.samples) continue;
      const float value = p.x[(first + i) * p.features + mine];
      tile[threadIdx.x][i] = largest > 0 ? value / largest : value;
    }
    for (int i = threadIdx.y; i < kTile; i += kBlockRows) {
      const int feature = blockIdx.x * kTile + i;
      if (feature < p.features && first + threadIdx.x < p.samples)
        p.z[int64_t{feature} * p.samples + first + threadIdx.x] = tile[i][threadIdx.x];
    }
    __syncthreads();
  }
}
MUST_REJECT(columns, launch<no_barrier>, "z[|simt-race-shared|simt-uninit-shared");

}  // namespace
}  // namespace day40
