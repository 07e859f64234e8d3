// SPDX-License-Identifier: MIT
//
// Exercise: turn a square picture by a quarter in place, with no second array.
// Gates: every pixel right for every side; no race; one launch; each pixel loaded once; no byte of a workspace written.
//   ./days check 58      tells how far you are        ./days hint 58      when you are stuck
#include "common/check.h"
#include "common/util.h"
#include "day58_matrix_rotation/rotation.h"

namespace day58 {
namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

// turned(row, col, side, side, quarters) is the Place where the pixel at (row, col) goes; index(place, side) is the place as an index.
template <class T>
__global__ void exercise_kernel(T* image,  // (side, side)
                                int side, int quarters) {
  const int col = blockIdx.x * kBlockX + threadIdx.x;
  const int row = blockIdx.y * kBlockY + threadIdx.y;
  // 1. Pixel (row, col) goes to the place of another one. Where does that one go, and the next?
  // 2. Which threads own such a ring, so that each ring has one owner, whether side is even or odd?
  // 3. Load all of the ring, and only then store all of it.
  // your code
  static_cast<void>(image);
  static_cast<void>(row + col);
}

}  // namespace

template <class T>
void exercise(const InPlace<T>& p, cudaStream_t stream) {
  require_square(p, "exercise");
  days::require_needs(p, "exercise", kHeightBy8);
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(days::ceil_div(p.width, kBlockX), days::ceil_div(p.height, kBlockY));
  exercise_kernel<<<grid, block, 0, stream>>>(p.image, p.height, p.quarters);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, InPlace, uint32_t, uint8_t);

}  // namespace day58
