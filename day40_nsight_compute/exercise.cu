// SPDX-License-Identifier: MIT
//
// Exercise: the candidate's work without its three faults.
// Gates: every element right for every shape; no race; at least 64 blocks in each launch (the candidate has 8); at most
// 10% wasted sectors, those beyond the fewest that could hold what a warp asks for; at most 0.1 bank conflicts a
// request: wavefronts that shared memory takes beyond the first.
//   ./days check 40     tells how far you are        ./days hint 40     when you are stuck
#include "common/check.h"
#include "common/util.h"
#include "day40_nsight_compute/columns.h"
#include "day40_nsight_compute/maxima.cuh"

namespace day40 {
namespace {

__global__ void exercise_kernel(const float* x,     // (samples, features)
                                const float* most,  // (features), the largest |x| of each
                                float* z,           // (features, samples)
                                int samples, int features) {
  // 1. Which samples are this block's? The launch below is the candidate's: are there enough blocks?
  // 2. Declare a tile, [feature][sample], as the candidate does, and fill it: which element of x does a thread take, so that a warp's lanes are neighbours? Divide it here.
  // 3. Empty the tile: which element of z does a thread store, so that a warp's lanes are neighbours there?
  // 4. Which banks do a warp's lanes want, each time?
  // your code
}

}  // namespace

template <class T>
void exercise(const Columns<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  days::require_needs(p, "exercise", kSamples);
  // Here goes find_maxima(p, chunk, stream); the candidate's chunk, the samples of a block, is p.samples.
  const dim3 block(kTile, kBlockRows);
  const dim3 grid(days::ceil_div(p.features, kTile));
  exercise_kernel<<<grid, block, 0, stream>>>(p.x, p.most, p.z, p.samples, p.features);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, Columns, float);

}  // namespace day40
