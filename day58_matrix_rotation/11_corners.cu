// SPDX-License-Identifier: MIT
//
// Two rungs that differ in the shape of a warp alone.
//
// corners: any angle. One thread a pixel of out asks which place of in it sees, loads the four pixels around that place and blends them:
// bilinear interpolation. A warp is 32 pixels of a row of out, so it sees a slanted line across in.
// Bound by: sectors. The steeper the line, the more rows it crosses, and of each it uses a few bytes of a sector of 32.
//
// patches: a warp is 8 pixels across and 4 down. Changed since corners: its 32 places lie close together in both directions, whatever the
// angle, so that they share sectors. Bound by: requests, four a pixel, and what is computed for each.

#include "common/check.h"
#include "common/util.h"
#include "day58_matrix_rotation/pixel.cuh"

namespace day58 {
namespace {

constexpr int kBlockX = 32, kBlockY = 8;  // pixels of a block, whatever the shape of its warps
constexpr int kThreads = kBlockX * kBlockY;

// Which pixel of its block a thread takes.
struct Line {  // a warp is 32 x 1
  __device__ static int x() { return threadIdx.x % 32; }
  __device__ static int y() { return threadIdx.x / 32; }
};
struct Patch {  // a warp is 8 x 4, and four warps lie side by side
  __device__ static int x() { return threadIdx.x / 32 % 4 * 8 + threadIdx.x % 8; }
  __device__ static int y() { return threadIdx.x / 128 * 4 + threadIdx.x % 32 / 8; }
};

template <class T>
__device__ typename Pixel<T>::Value corner(const Turn<T>& p, int row, int col) {
  if (p.border == Border::kClamp) {
    row = min(max(row, 0), p.height - 1);
    col = min(max(col, 0), p.width - 1);
  } else if (row < 0 || row >= p.height || col < 0 || col >= p.width) {
    return {};
  }
  using Bytes = typename Pixel<T>::Bytes;
  return Pixel<T>::value(reinterpret_cast<const Bytes*>(p.in)[int64_t{row} * p.width + col]);
}

template <class Lanes, class T>
__global__ void __launch_bounds__(kThreads) corners_kernel(Turn<T> p) {
  const int x = blockIdx.x * kBlockX + Lanes::x(), y = blockIdx.y * kBlockY + Lanes::y();
  if (x >= p.width || y >= p.height) return;
  const Spot spot = seen_at(p, x, y);
  const float left = floorf(spot.x), top = floorf(spot.y);
  const int col = static_cast<int>(left), row = static_cast<int>(top);
  const auto above = blend(corner(p, row, col), corner(p, row, col + 1), spot.x - left);
  const auto below = blend(corner(p, row + 1, col), corner(p, row + 1, col + 1), spot.x - left);
  using Bytes = typename Pixel<T>::Bytes;
  reinterpret_cast<Bytes*>(p.out)[int64_t{y} * p.width + x] =
      Pixel<T>::bytes(blend(above, below, spot.y - top));
}

template <class Lanes, class T>
void launch(const Turn<T>& p, const char* variant, cudaStream_t stream) {
  require_picture(p, variant);
  days::require_needs(p, variant, kExtents);
  const dim3 grid(days::ceil_div(p.width, kBlockX), days::ceil_div(p.height, kBlockY));
  corners_kernel<Lanes><<<grid, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void turn_corners(const Turn<T>& p, cudaStream_t stream) {
  launch<Line>(p, "corners", stream);
}
template <class T>
void turn_patches(const Turn<T>& p, cudaStream_t stream) {
  launch<Patch>(p, "patches", stream);
}

INSTANTIATE_LAUNCHER(turn_corners, Turn, uint8_t, float);
INSTANTIATE_LAUNCHER(turn_patches, Turn, uint8_t, float);

}  // namespace day58
