// SPDX-License-Identifier: MIT
//
// Day 13's padded tile: a block reads 32 x 32 pixels by rows and takes them out by columns. Changed since gather: reads and writes both
// run along rows. New against a transpose is the mirror, and it costs nothing: the store goes to where turned() says, and lanes that
// write a row backwards ask for the same sectors.
// Bound by: bytes in flight, and sectors that two tiles share where rows do not begin on one.

#include "common/check.h"
#include "common/util.h"
#include "day58_matrix_rotation/rotation.h"

namespace day58 {
namespace {

constexpr int kTile = 32;
constexpr int kBlockY = 8;  // a thread moves 4 pixels

template <class T>
__global__ void tile_kernel(const T* in,  // (height, width)
                            T* out,       // (width, height)
                            int height, int width, int quarters) {
  __shared__ T tile[kTile][kTile + 1];
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile, lane = threadIdx.x;
  for (int i = threadIdx.y; i < kTile; i += kBlockY) {
    const int row = row0 + i, col = col0 + lane;
    if (row < height && col < width) tile[i][lane] = in[index({row, col}, width)];
  }
  __syncthreads();  // the column that a warp takes out was put in by all of them
  for (int j = threadIdx.y; j < kTile; j += kBlockY) {
    const int row = row0 + lane, col = col0 + j;
    if (row < height && col < width)
      out[index(turned(row, col, height, width, quarters), height)] = tile[lane][j];
  }
}

}  // namespace

template <class T>
void quarter_tile(const Rotate<T>& p, cudaStream_t stream) {
  require_quarter(p, "tile");
  days::require_needs(p, "tile", kHeightBy32);
  const dim3 block(kTile, kBlockY);
  const dim3 grid(days::ceil_div(p.width, kTile), days::ceil_div(p.height, kTile));
  tile_kernel<<<grid, block, 0, stream>>>(p.in, p.out, p.height, p.width, p.quarters);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(quarter_tile, Rotate, uint32_t, uint8_t);

}  // namespace day58
