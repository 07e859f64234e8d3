// SPDX-License-Identifier: MIT
//
// One thread a pixel of out: it asks where its pixel comes from, which is where it would go in the other direction. Changed since
// scatter: neighbouring lanes write neighbours, and it is the reads that lie a row apart.
// Bound by: the loads' sectors. A sector that was fetched for one pixel may still be in L1 for the next seven.

#include "common/check.h"
#include "common/util.h"
#include "day58_matrix_rotation/rotation.h"

namespace day58 {
namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

template <class T>
__global__ void gather_kernel(const T* in,  // (height, width)
                              T* out,       // (width, height)
                              int height, int width, int quarters) {
  const int col = blockIdx.x * kBlockX + threadIdx.x;
  const int row = blockIdx.y * kBlockY + threadIdx.y;
  if (row >= width || col >= height) return;
  // out is a picture of width x height; turned back, by 4 - quarters, its pixels are where they came from.
  out[index({row, col}, height)] = in[index(turned(row, col, width, height, 4 - quarters), width)];
}

}  // namespace

template <class T>
void quarter_gather(const Rotate<T>& p, cudaStream_t stream) {
  require_quarter(p, "gather");
  days::require_needs(p, "gather", kWidthBy8);
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(days::ceil_div(p.height, kBlockX), days::ceil_div(p.width, kBlockY));
  gather_kernel<<<grid, block, 0, stream>>>(p.in, p.out, p.height, p.width, p.quarters);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(quarter_gather, Rotate, uint32_t, uint8_t);

}  // namespace day58
