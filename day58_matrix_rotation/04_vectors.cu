// SPDX-License-Identifier: MIT
//
// A thread loads a square of 4 x 4 pixels (8 x 8 bytes) as one vector a row, turns it in its registers and stores it as vectors.
// Changed since tile: a quarter of the requests, and no shared memory and no barrier. A warp's squares lie 8 across and 4 down, so that
// its loads take whole sectors of a row, and its stores whole sectors of a column that has become a row.
// Needs extents of whole squares. Bound by: the memory.
// Teaches: days::Vec.

#include "common/check.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day58_matrix_rotation/rotation.h"

namespace day58 {
namespace {

constexpr int kThreads = 256;

template <class T>
struct Squares {
  static constexpr int kAcross = sizeof(T) == 4 ? 8 : 4;  // of a warp: 128 bytes of a row, or 32
  static constexpr int kDown = 32 / kAcross;              // which become 64 bytes of a row of out
  static constexpr int kBlockAcross = 2 * kAcross;        // of a block: two warps across and four down
  static constexpr int kBlockDown = 4 * kDown;
};

template <class T>
__global__ void __launch_bounds__(kThreads) vectors_kernel(const T* in,  // (height, width)
                                                           T* out,       // (width, height)
                                                           int height, int width, int quarters) {
  using S = Squares<T>;
  using Vector = days::Vec<T, kSide<T>>;
  constexpr int kN = kSide<T>;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int across = blockIdx.x * S::kBlockAcross + warp % 2 * S::kAcross + lane % S::kAcross;
  const int down = blockIdx.y * S::kBlockDown + warp / 2 * S::kDown + lane / S::kAcross;
  const int row = down * kN, col = across * kN;
  if (row >= height || col >= width) return;

  Vector square[kN];
#pragma unroll
  for (int i = 0; i < kN; ++i)
    square[i] = *reinterpret_cast<const Vector*>(in + index({row + i, col}, width));

    // Column j becomes a row of out: from its first pixel to its last, or for three quarters backwards.
#pragma unroll
  for (int j = 0; j < kN; ++j) {
    Vector column;
#pragma unroll
    for (int i = 0; i < kN; ++i) column[i] = square[quarters == 1 ? i : kN - 1 - i][j];
    const int first = quarters == 1 ? row : row + kN - 1;  // the pixel that comes first in that row of out
    const Place to = turned(first, col + j, height, width, quarters);
    *reinterpret_cast<Vector*>(out + index(to, height)) = column;
  }
}

}  // namespace

template <class T>
void quarter_vectors(const Rotate<T>& p, cudaStream_t stream) {
  using S = Squares<T>;
  require_quarter(p, "vectors");
  days::require_needs(p, "vectors", kWholeSquares);
  const dim3 grid(days::ceil_div(p.width, kSide<T> * S::kBlockAcross),
                  days::ceil_div(p.height, kSide<T> * S::kBlockDown));
  vectors_kernel<<<grid, kThreads, 0, stream>>>(p.in, p.out, p.height, p.width, p.quarters);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(quarter_vectors, Rotate, uint32_t, uint8_t);

}  // namespace day58
