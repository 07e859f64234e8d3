// SPDX-License-Identifier: MIT
// A step reads neighbours, so its results must not overwrite what others still read. The safe way: write them elsewhere,
// and copy them back once all are there. Two launches a step, because only the end of a kernel waits for all blocks.
// Bound by: bytes, half of which the copy moves.
#include "day33_animated_patterns/gray_scott.cuh"

namespace day33 {
namespace {

__global__ void __launch_bounds__(kBlockX* kBlockY)
    step_kernel(const float* u, const float* v,  // (height, width), likewise all others
                float* u_after, float* v_after, int width, int height, float feed, float kill) {
  const int x = blockIdx.x * kBlockX + threadIdx.x;
  const int y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const Cell cell = react_at(u, v, x, y, width, height, feed, kill);
  u_after[int64_t{y} * width + x] = cell.u;
  v_after[int64_t{y} * width + x] = cell.v;
}

__global__ void __launch_bounds__(kBlockX* kBlockY)
    copy_kernel(const float* u, const float* v, float* u_to, float* v_to, int width, int height) {
  const int x = blockIdx.x * kBlockX + threadIdx.x;
  const int y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  u_to[int64_t{y} * width + x] = u[int64_t{y} * width + x];
  v_to[int64_t{y} * width + x] = v[int64_t{y} * width + x];
}

}  // namespace

void gray_scott_copy(const GrayScott<float>& p, cudaStream_t stream) {
  require_steps(p, "copy");
  float* const u_new = static_cast<float*>(p.workspace.data);
  float* const v_new = u_new + p.cells();
  const dim3 grid = grid_of(p), block(kBlockX, kBlockY);
  const float *u = p.u, *v = p.v;
  for (int step = 0; step < p.steps; ++step) {
    step_kernel<<<grid, block, 0, stream>>>(u, v, u_new, v_new, p.width, p.height, p.feed, p.kill);
    CUDA_CHECK_LAUNCH();
    copy_kernel<<<grid, block, 0, stream>>>(u_new, v_new, p.u_after, p.v_after, p.width, p.height);
    CUDA_CHECK_LAUNCH();
    u = p.u_after;
    v = p.v_after;
  }
}

}  // namespace day33
