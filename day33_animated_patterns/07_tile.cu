// SPDX-License-Identifier: MIT
// Changed since swap: a block fetches its 32 x 8 cells and the ring around them once, into shared memory, and each cell's
// four neighbours come from there (day 04's tile, with a halo of one).
// Bound by: bytes as before. A warp asks global memory for 5 loads in place of 10, and shared memory for 15 accesses instead.
#include "day33_animated_patterns/gray_scott.cuh"

namespace day33 {
namespace {

constexpr int kWide = kBlockX + 2, kHigh = kBlockY + 2;  // the block's cells and the ring

__global__ void __launch_bounds__(kBlockX* kBlockY)
    tile_kernel(const float* u, const float* v,  // (height, width), likewise all others
                float* u_after, float* v_after, int width, int height, float feed, float kill) {
  __shared__ float tile_u[kHigh][kWide], tile_v[kHigh][kWide];
  const int x0 = blockIdx.x * kBlockX, y0 = blockIdx.y * kBlockY;
  for (int row = threadIdx.y; row < kHigh; row += kBlockY) {
    const int64_t from = int64_t{wrapped(y0 - 1 + row, height)} * width;
    for (int col = threadIdx.x; col < kWide; col += kBlockX) {
      const int64_t i = from + wrapped(x0 - 1 + col, width);
      tile_u[row][col] = u[i];
      tile_v[row][col] = v[i];
    }
  }
  __syncthreads();
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x >= width || y >= height) return;
  const int row = threadIdx.y + 1, col = threadIdx.x + 1;
  const Cell cell =
      react({tile_u[row][col], tile_v[row][col]},
            (tile_u[row][col - 1] + tile_u[row][col + 1]) + (tile_u[row - 1][col] + tile_u[row + 1][col]),
            (tile_v[row][col - 1] + tile_v[row][col + 1]) + (tile_v[row - 1][col] + tile_v[row + 1][col]),
            feed, kill);
  u_after[int64_t{y} * width + x] = cell.u;
  v_after[int64_t{y} * width + x] = cell.v;
}

}  // namespace

void gray_scott_tile(const GrayScott<float>& p, cudaStream_t stream) {
  require_steps(p, "tile");
  float* const u_other = static_cast<float*>(p.workspace.data);
  float* const v_other = u_other + p.cells();
  const float *u = p.u, *v = p.v;
  for (int left = p.steps; left > 0; --left) {
    float* const u_to = left % 2 == 1 ? p.u_after : u_other;
    float* const v_to = left % 2 == 1 ? p.v_after : v_other;
    tile_kernel<<<grid_of(p), dim3(kBlockX, kBlockY), 0, stream>>>(u, v, u_to, v_to, p.width, p.height,
                                                                   p.feed, p.kill);
    CUDA_CHECK_LAUNCH();
    u = u_to;
    v = v_to;
  }
}

}  // namespace day33
