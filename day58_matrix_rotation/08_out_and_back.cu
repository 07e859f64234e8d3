// SPDX-License-Identifier: MIT
//
// In place by way of another array: turned into it, then copied back. Right because the second launch begins when the first has ended.
// Bound by: memory, where four accesses a pixel are made in place of two, and one of them goes down a column.

#include "common/check.h"
#include "common/util.h"
#include "day58_matrix_rotation/rotation.h"

namespace day58 {
namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

template <class T>
__global__ void out_kernel(const T* image,  // (side, side)
                           T* other,        // (side, side)
                           int side, int quarters) {
  const int col = blockIdx.x * kBlockX + threadIdx.x;
  const int row = blockIdx.y * kBlockY + threadIdx.y;
  if (row >= side || col >= side) return;
  other[index({row, col}, side)] = image[index(turned(row, col, side, side, 4 - quarters), side)];
}

template <class T>
__global__ void back_kernel(T* image,        // (side, side)
                            const T* other,  // (side, side)
                            int side) {
  const int col = blockIdx.x * kBlockX + threadIdx.x;
  const int row = blockIdx.y * kBlockY + threadIdx.y;
  if (row >= side || col >= side) return;
  image[index({row, col}, side)] = other[index({row, col}, side)];
}

}  // namespace

template <class T>
void out_and_back(const InPlace<T>& p, cudaStream_t stream) {
  require_square(p, "out_and_back");
  days::require_needs(p, "out_and_back", kHeightBy8);
  days::require(p.workspace.bytes >= copy_bytes(p),
                "out_and_back: needs a workspace of bytes:", copy_bytes(p));
  T* other = static_cast<T*>(p.workspace.data);
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(days::ceil_div(p.width, kBlockX), days::ceil_div(p.height, kBlockY));
  out_kernel<<<grid, block, 0, stream>>>(p.image, other, p.height, p.quarters);
  CUDA_CHECK_LAUNCH();
  back_kernel<<<grid, block, 0, stream>>>(p.image, other, p.height);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(out_and_back, InPlace, uint32_t, uint8_t);

}  // namespace day58
