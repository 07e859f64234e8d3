// SPDX-License-Identifier: MIT
//
// Kernels of day 13 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

constexpr int kTile = 32;

// A block of 32 x 32 threads a tile of in.
template <class Problem>
dim3 tiles(const Problem& p) {
  return dim3(days::ceil_div(p.cols, kTile), days::ceil_div(p.rows, kTile));
}
template <void (*kKernel)(Transpose<float>)>
void launch(const Transpose<float>& p, cudaStream_t stream) {
  kKernel<<<tiles(p), dim3(kTile, kTile), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
template <void (*kKernel)(Transpose<days::half>)>
void launch_half(const Transpose<days::half>& p, cudaStream_t stream) {
  kKernel<<<tiles(p), dim3(kTile, kTile), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// The block's tile begins at (row0, col0) of in; this thread is at (y, x) of the tile.
struct Place {
  int64_t row0, col0;
  int y, x;
};
__device__ Place place_of_grid() {
  return {int64_t{blockIdx.y} * kTile, int64_t{blockIdx.x} * kTile, static_cast<int>(threadIdx.y),
          static_cast<int>(threadIdx.x)};
}

// Takes the column out before the others have put it in.
__global__ void no_barrier(Transpose<float> p) {
  __shared__ float tile[kTile][kTile + 1];
  const auto [row0, col0, y, x] = place_of_grid();
  if (row0 + y < p.rows && col0 + x < p.cols) tile[y][x] = p.in[(row0 + y) * p.cols + col0 + x];
  if (col0 + y < p.cols && row0 + x < p.rows) p.out[(col0 + y) * p.rows + row0 + x] = tile[x][y];
}
MUST_REJECT(transpose, launch<no_barrier>, "out[|simt-race-shared");

// Moves each tile and does not turn it: right for tiles that are symmetric.
__global__ void turns_twice(Transpose<float> p) {
  __shared__ float tile[kTile][kTile + 1];
  const auto [row0, col0, y, x] = place_of_grid();
  if (row0 + y < p.rows && col0 + x < p.cols) tile[y][x] = p.in[(row0 + y) * p.cols + col0 + x];
  __syncthreads();
  if (col0 + y < p.cols && row0 + x < p.rows) p.out[(col0 + y) * p.rows + row0 + x] = tile[y][x];
}
MUST_REJECT(transpose, launch<turns_twice>, "2 x 3: out[0,1] is|simt-uninit-shared");

// Swizzles when it writes the tile and not when it reads it.
__global__ void half_swizzled(Transpose<float> p) {
  __shared__ float tile[kTile][kTile];
  const auto [row0, col0, y, x] = place_of_grid();
  tile[y][x] = 0.0f;
  __syncthreads();
  if (row0 + y < p.rows && col0 + x < p.cols) tile[y][x ^ y] = p.in[(row0 + y) * p.cols + col0 + x];
  __syncthreads();
  if (col0 + y < p.cols && row0 + x < p.rows) p.out[(col0 + y) * p.rows + row0 + x] = tile[x][y];
}
MUST_REJECT(transpose, launch<half_swizzled>, "2 x 3: out[0,1] is");

// Swaps pairs within `in`, as one does for a square matrix in place, then copies it.
__global__ void in_place(Transpose<float> p) {
  float* const in = const_cast<float*>(p.in);
  const auto [row0, col0, y, x] = place_of_grid();
  const int64_t row = row0 + y, col = col0 + x;
  if (row >= p.rows || col >= p.cols) return;
  if (row < col && col < p.rows && row < p.cols) {
    const float above = in[row * p.cols + col];
    in[row * p.cols + col] = in[col * p.cols + row];
    in[col * p.cols + row] = above;
    p.out[row * p.rows + col] = in[row * p.cols + col];
    p.out[col * p.rows + row] = above;
  } else if (row == col || row >= p.cols || col >= p.rows) {
    p.out[col * p.rows + row] = in[row * p.cols + col];
  }
}
MUST_REJECT(transpose, launch<in_place>, "input in[0,1] was changed|input in[1] was changed");

// A thread writes four elements of a row of out, and forgets that the last group of a row may be shorter.
__global__ void vector_tail(Transpose<float> p) {
  const auto [row0, col0, y, x] = place_of_grid();
  const int64_t row = 4 * (row0 + y), col = col0 + x, size = int64_t{p.rows} * p.cols;
  if (row >= p.rows || col >= p.cols) return;
  for (int64_t i = row; i < row + 4 && col * p.rows + i < size; ++i)
    p.out[col * p.rows + i] = p.in[(i < p.rows ? i : p.rows - 1) * p.cols + col];
}
MUST_REJECT(transpose, launch<vector_tail>, "out[1,0] is|simt-race-global");

// The same in fp16, whose least normal number is 2^-14.
__global__ void flushes_half(Transpose<days::half> p) {
  const auto [row0, col0, y, x] = place_of_grid();
  const int64_t row = row0 + y, col = col0 + x;
  if (row >= p.rows || col >= p.cols) return;
  const days::half value = p.in[row * p.cols + col];
  p.out[col * p.rows + row] =
      fabsf(days::to_float(value)) < 6.103515625e-5f ? days::from_float<days::half>(0.0f) : value;
}
MUST_REJECT(transpose, launch_half<flushes_half>, "special values: out[");

}  // namespace
}  // namespace day13
