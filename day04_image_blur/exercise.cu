// SPDX-License-Identifier: MIT
//
// Exercise: a box blur that fetches each block's pixels, and those around them, once.
// Gates: every pixel right at every border; no race; at most 3 bytes read for each byte of the picture
// (box_direct reads 225 at radius 7).
//   ./days check 4      tells how far you are        ./days hint 4      when you are stuck
#include "common/check.h"
#include "common/util.h"
#include "day04_image_blur/border.cuh"

namespace day04 {
namespace {

constexpr int kThreadsY = 8;  // a thread blurs 4 pixels, 8 rows apart

__global__ void exercise_kernel(const uint8_t* image,  // (planes, height, width)
                                uint8_t* blurred,      // (planes, height, width)
                                int height, int width, int radius, Border border) {
  extern __shared__ uint8_t tile[];  // 1. How many rows and columns of pixels does the block need?
  // 2. Fetch them, all threads together, in steps of the block. pixel() of border.cuh looks after the border.
  // 3. What must have happened before a thread reads what others have fetched?
  // 4. Add up (2 radius + 1)^2 pixels from the tile for each of this thread's 4, and store the mean().
  // your code
}

}  // namespace

void exercise(const Blur<uint8_t>& p, cudaStream_t stream) {
  require_extents(p, "exercise");
  days::require_needs(p, "exercise", kBoxTileFits);
  const size_t bytes = box_tile_bytes(p.radius);
  const dim3 block(kTile, kThreadsY);
  const dim3 grid(days::ceil_div(p.width, kTile), days::ceil_div(p.height, kTile), p.planes);
  exercise_kernel<<<grid, block, bytes, stream>>>(p.image, p.blurred, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day04
