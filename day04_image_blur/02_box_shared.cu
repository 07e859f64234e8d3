// SPDX-License-Identifier: MIT
//
// A block first fetches its 32 x 32 pixels and the `radius` pixels around them, the halo, into shared memory;
// then each thread adds up from there. Since direct: a byte of the picture is asked for once a block, not
// (2 radius + 1)^2 times, and the border is looked after while fetching, not while adding.
// Bound by: as many additions as before, now fed by shared memory.

#include "common/check.h"
#include "common/util.h"
#include "day04_image_blur/border.cuh"

namespace day04 {
namespace {

constexpr int kThreadsY = 8;  // a thread blurs 4 pixels, 8 rows apart

__global__ void box_shared_kernel(const uint8_t* image,  // (planes, height, width)
                                  uint8_t* blurred,      // (planes, height, width)
                                  int height, int width, int radius, Border border) {
  extern __shared__ uint8_t tile[];  // (kTile + 2 radius)^2
  const int side = kTile + 2 * radius;
  const int x0 = blockIdx.x * kTile, y0 = blockIdx.y * kTile;
  const int64_t plane = int64_t{blockIdx.z} * height * width;
  for (int row = threadIdx.y; row < side; row += kThreadsY) {
    for (int col = threadIdx.x; col < side; col += kTile) {
      tile[row * side + col] =
          pixel(image + plane, height, width, y0 - radius + row, x0 - radius + col, border);
    }
  }
  __syncthreads();  // every thread of the block gets here, those past the picture's end too
  const int x = x0 + threadIdx.x;
  const unsigned count = (2 * radius + 1) * (2 * radius + 1);
  for (int row = threadIdx.y; row < kTile; row += kThreadsY) {
    if (x >= width || y0 + row >= height) continue;
    unsigned sum = 0;
    for (int dy = 0; dy <= 2 * radius; ++dy) {
      for (int dx = 0; dx <= 2 * radius; ++dx) sum += tile[(row + dy) * side + threadIdx.x + dx];
    }
    blurred[plane + int64_t{y0 + row} * width + x] = mean(sum, count);
  }
}

}  // namespace

void box_shared(const Blur<uint8_t>& p, cudaStream_t stream) {
  require_extents(p, "box_shared");
  days::require_needs(p, "box_shared", kBoxTileFits);
  const size_t bytes = box_tile_bytes(p.radius);
  const dim3 block(kTile, kThreadsY);
  const dim3 grid(days::ceil_div(p.width, kTile), days::ceil_div(p.height, kTile), p.planes);
  box_shared_kernel<<<grid, block, bytes, stream>>>(p.image, p.blurred, p.height, p.width, p.radius,
                                                    p.border);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day04
