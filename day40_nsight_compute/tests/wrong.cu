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

__global__ void zeros(Columns<float> p) {
  const int feature = my_feature(p);
  if (feature < 0) return;
  for (int64_t sample = threadIdx.y; sample < p.samples; sample += kBlockRows)
    p.z[int64_t{feature} * p.samples + sample] = 0;
  if (threadIdx.y == 0) p.most[feature] = largest_of(p, feature, p.samples);
}
MUST_REJECT(columns, launch<zeros>, "z[0,0] is 0, expected");

// Scales, and leaves each element where it was.
__global__ void not_turned(Columns<float> p) {
  const int feature = my_feature(p);
  if (feature < 0) return;
  const float largest = largest_of(p, feature, p.samples);
  for (int64_t sample = threadIdx.y; sample < p.samples; sample += kBlockRows) {
    const int64_t i = sample * p.features + feature;
    p.z[i] = largest > 0 ? p.x[i] / largest : p.x[i];
  }
  if (threadIdx.y == 0) p.most[feature] = largest;
}
MUST_REJECT(columns, launch<not_turned>, "2 x 3: z[0,1] is");

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

// The first chunk's maximum: right for up to kChunk samples.
__global__ void first_chunk(Columns<float> p) {
  const int feature = my_feature(p);
  if (feature < 0) return;
  scale(p, feature, largest_of(p, feature, min(p.samples, kChunk)));
}
MUST_REJECT(columns, launch<first_chunk>, "most[");

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

// One maximum for all features of the block: right where there is one feature.
__global__ void one_for_all(Columns<float> p) {
  const int feature = my_feature(p);
  if (feature < 0) return;
  float largest = 0;
  for (int other = blockIdx.x * kTile; other < min(p.features, static_cast<int>(blockIdx.x + 1) * kTile);
       ++other)
    largest = fmaxf(largest, largest_of(p, other, p.samples));
  scale(p, feature, largest);
}
MUST_REJECT(columns, launch<one_for_all>, "2 x 3: z[");

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
