// SPDX-License-Identifier: MIT
//
// Exercise: double buffering. `./days check 33` copies this file to my/day33.cu.
//
// Goal: `steps` steps of Gray and Scott's reaction, with one launch a step and no copy.
//
//  1. There are three pairs of arrays: u, v, where it begins (read only); u_after, v_after, where it must end; and a
//     workspace of 2 width height floats, whose contents nobody needs.
//  2. A step reads one pair and writes another one, never the one that it reads.
//  3. Which pair must the first step write, so that the last one writes u_after, v_after? `steps` may be odd or even, or 1.
#include "day33_animated_patterns/gray_scott.cuh"

namespace day33 {
namespace {

// A step, a cell a thread. Right as it is.
__global__ void __launch_bounds__(kBlockX* kBlockY)
    exercise_kernel(const float* u, const float* v,  // (height, width), likewise all others
                    float* u_after, float* v_after, int width, int height, float feed, float kill) {
  const int x = blockIdx.x * kBlockX + threadIdx.x;
  const int y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const Cell cell = react_at(u, v, x, y, width, height, feed, kill);
  u_after[int64_t{y} * width + x] = cell.u;
  v_after[int64_t{y} * width + x] = cell.v;
}

}  // namespace

void exercise(const GrayScott<float>& p, cudaStream_t stream) {
  require_steps(p, "exercise");
  float* const u_other = static_cast<float*>(p.workspace.data);
  float* const v_other = u_other + p.cells();
  const float *u = p.u, *v = p.v;
  float *u_to = u_other, *v_to = v_other;
  for (int step = 0; step < p.steps; ++step) {
    // What does this step read, and where does it write?
    // your code
    exercise_kernel<<<grid_of(p), dim3(kBlockX, kBlockY), 0, stream>>>(u, v, u_to, v_to, p.width, p.height,
                                                                       p.feed, p.kill);
    CUDA_CHECK_LAUNCH();
  }
}

}  // namespace day33
