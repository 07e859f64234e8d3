// SPDX-License-Identifier: MIT
//
// One thread a pixel of in. Neighbouring lanes read neighbours of a row, which becomes a column: they write a whole row of out apart.
// A warp's load takes 4 sectors of 32 bytes (of 4-byte pixels), its store 32.
// Bound by: the stores' sectors.

#include "common/check.h"
#include "common/util.h"
#include "day58_matrix_rotation/rotation.h"

namespace day58 {
namespace {

constexpr int kBlockX = 32;
constexpr int kBlockY = 8;

template <class T>
__global__ void scatter_kernel(const T* in,  // (height, width)
                               T* out,       // (width, height)
                               int height, int width, int quarters) {
  const int col = blockIdx.x * kBlockX + threadIdx.x;
  const int row = blockIdx.y * kBlockY + threadIdx.y;
  if (row >= height || col >= width) return;
  out[index(turned(row, col, height, width, quarters), height)] = in[index({row, col}, width)];
}

}  // namespace

template <class T>
void quarter_scatter(const Rotate<T>& p, cudaStream_t stream) {
  require_quarter(p, "scatter");
  days::require_needs(p, "scatter", kHeightBy8);
  const dim3 block(kBlockX, kBlockY);
  const dim3 grid(days::ceil_div(p.width, kBlockX), days::ceil_div(p.height, kBlockY));
  scatter_kernel<<<grid, block, 0, stream>>>(p.in, p.out, p.height, p.width, p.quarters);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(quarter_scatter, Rotate, uint32_t, uint8_t);

}  // namespace day58
