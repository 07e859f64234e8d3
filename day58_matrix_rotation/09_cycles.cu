// SPDX-License-Identifier: MIT
//
// A quarter turn moves four pixels in a ring: each goes to the next one's place. One thread owns a ring, loads all four and then stores
// all four. The owners are a rectangle of side / 2 x (side + 1) / 2 pixels at the top left: its four turned copies cover the square but
// for the middle of an odd side, which stays. Changed since out_and_back: two accesses a pixel for four, one launch, no other array.
// Bound by: sectors. Of a ring's pixels two lie down a column from their neighbours'.

#include "common/check.h"
#include "common/util.h"
#include "day58_matrix_rotation/rotation.h"

namespace day58 {
namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

template <class T>
__global__ void cycles_kernel(T* image,  // (side, side)
                              int side, int quarters) {
  const int col = blockIdx.x * kBlockX + threadIdx.x;
  const int row = blockIdx.y * kBlockY + threadIdx.y;
  if (row >= side / 2 || col >= (side + 1) / 2) return;
  T* ring[4];
  Place at{row, col};
  for (T*& place : ring) {
    place = image + index(at, side);
    at = turned(at.row, at.col, side, side, quarters);
  }
  const T a = *ring[0], b = *ring[1], c = *ring[2], d = *ring[3];
  *ring[1] = a;
  *ring[2] = b;
  *ring[3] = c;
  *ring[0] = d;
}

}  // namespace

template <class T>
void cycles(const InPlace<T>& p, cudaStream_t stream) {
  require_square(p, "cycles");
  days::require_needs(p, "cycles", kSideBy16);
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(days::ceil_div(days::ceil_div(p.width, 2), kBlockX),
                  days::ceil_div(days::ceil_div(p.height, 2), kBlockY));
  cycles_kernel<<<grid, block, 0, stream>>>(p.image, p.height, p.quarters);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(cycles, InPlace, uint32_t, uint8_t);

}  // namespace day58
