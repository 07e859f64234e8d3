// SPDX-License-Identifier: MIT
// Changed since copy: nothing is copied. There are two pairs of arrays; a step reads one and writes the other, and the
// next step does it the other way round. What changes places are pointers, on the host: double buffering.
// Bound by: bytes. Each step reads and writes both arrays once, if a cache serves the neighbours.
#include "day33_animated_patterns/gray_scott.cuh"

namespace day33 {
namespace {

__global__ void __launch_bounds__(kBlockX* kBlockY)
    swap_kernel(const float* u, const float* v,  // (height, width), likewise all others
                float* u_after, float* v_after, int width, int height, float feed, float kill) {
  const int x = blockIdx.x * kBlockX + threadIdx.x;
  const int y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const Cell cell = react_at(u, v, x, y, width, height, feed, kill);
  u_after[int64_t{y} * width + x] = cell.u;
  v_after[int64_t{y} * width + x] = cell.v;
}

}  // namespace

void gray_scott_swap(const GrayScott<float>& p, cudaStream_t stream) {
  require_steps(p, "swap");
  float* const u_other = static_cast<float*>(p.workspace.data);
  float* const v_other = u_other + p.cells();
  const float *u = p.u, *v = p.v;
  for (int left = p.steps; left > 0; --left) {
    const bool last_pair = left % 2 == 1;  // so that the last step, with left = 1, writes the result
    float* const u_to = last_pair ? p.u_after : u_other;
    float* const v_to = last_pair ? p.v_after : v_other;
    swap_kernel<<<grid_of(p), dim3(kBlockX, kBlockY), 0, stream>>>(u, v, u_to, v_to, p.width, p.height,
                                                                   p.feed, p.kill);
    CUDA_CHECK_LAUNCH();
    u = u_to;
    v = v_to;
  }
}

}  // namespace day33
