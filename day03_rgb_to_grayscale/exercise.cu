// SPDX-License-Identifier: MIT
//
// Exercise: gray from RGB bytes with 16-byte loads and stores, any number of pixels.
// Gates: every pixel right for every height and width; no race; at least 400 bytes to each request of a warp
// (one byte a lane is 32); on a GPU, 85% of what its memory gives to three reads and a write.
//   ./days check 3      tells how far you are        ./days hint 3      when you are stuck
#include "common/check.h"
#include "common/util.h"
#include "day03_rgb_to_grayscale/quad.cuh"

namespace day03 {
namespace {

constexpr int kThreads = 128;
constexpr int kPixels = 16;  // a thread's: 16 bytes of gray, and how many of colour?

__global__ void exercise_kernel(const uint8_t* rgb,  // (n, 3)
                                uint8_t* gray,       // (n)
                                int64_t n) {
  // 1. Which 16 neighbouring pixels are this thread's? Compute the index of the first in 64 bits.
  // 2. All 16 exist: load their colours as uint4s, make them gray (quad.cuh), store one uint4.
  // 3. Fewer than 16 are left at the end of the picture: one by one, gray_of says what gray is.
  // your code
}

}  // namespace

void exercise(const Grayscale<uint8_t>& p, cudaStream_t stream) {
  require_extents(p, "exercise");
  days::require_needs(p, "exercise", kAligned);
  const int64_t n = p.pixels(), blocks = days::ceil_div(n, kPixels * kThreads);
  days::require(blocks <= days::kMaxGridX, "exercise: too many pixels for one grid:", n);
  exercise_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.rgb, p.gray, n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day03
