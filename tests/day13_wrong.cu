// SPDX-License-Identifier: MIT
//
// Kernels of day 13 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

constexpr int kTile = 32;
constexpr int kBlockRows = 8;

enum class Bug {
  kZeros,           // writes zeros
  kDropsLastTiles,  // a grid that is rounded down: right where the tile divides both extents
  kNoBarrier,       // takes the column out before the others have put it in
  kSwapsExtents,    // guards rows with cols and cols with rows: right for square matrices
  kPitchCols,       // takes the rows of out to be cols long: right for square matrices
  kTileStays,       // turns each tile and leaves it where it was: right within the first tile
  kTurnsTwice,      // moves each tile and does not turn it: right for tiles that are symmetric
  kHalfSwizzled,    // swizzles when it writes the tile and not when it reads it
  kFlushes,         // loses denormals, as arithmetic with -ftz=true would
};

template <Bug kBug>
__global__ void wrong_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  const int64_t size = int64_t{rows} * cols;
  const int high = kBug == Bug::kSwapsExtents ? cols : rows, wide = kBug == Bug::kSwapsExtents ? rows : cols;
  const int tile_x = static_cast<int>(blockIdx.x) * kTile, tile_y = static_cast<int>(blockIdx.y) * kTile;
  for (int i = static_cast<int>(threadIdx.y); i < kTile; i += kBlockRows) {
    const int64_t row = tile_y + i, col = tile_x + static_cast<int>(threadIdx.x);
    const int place = static_cast<int>(threadIdx.x) ^ (kBug == Bug::kHalfSwizzled ? i : 0);
    if (row < high && col < wide) tile[i][place] = in[row * cols + col < size ? row * cols + col : size - 1];
  }
  if (kBug != Bug::kNoBarrier) __syncthreads();
  const int out_x = kBug == Bug::kTileStays ? tile_x : tile_y,
            out_y = kBug == Bug::kTileStays ? tile_y : tile_x;
  const int64_t pitch = kBug == Bug::kPitchCols ? cols : rows;
  for (int i = static_cast<int>(threadIdx.y); i < kTile; i += kBlockRows) {
    const int64_t row = out_y + i, col = out_x + static_cast<int>(threadIdx.x);
    float value = kBug == Bug::kTurnsTwice ? tile[i][threadIdx.x] : tile[threadIdx.x][i];
    if (kBug == Bug::kZeros) value = 0.0f;
    if (kBug == Bug::kFlushes && fabsf(value) < 1.17549435e-38f) value = 0.0f;
    if (row < wide && col < high && row * pitch + col < size) out[row * pitch + col] = value;
  }
}

template <Bug kBug>
void launch(const Transpose<float>& p, cudaStream_t stream) {
  const int down = kBug == Bug::kDropsLastTiles ? std::max(1, p.rows / kTile) : days::ceil_div(p.rows, kTile);
  const int across =
      kBug == Bug::kDropsLastTiles ? std::max(1, p.cols / kTile) : days::ceil_div(p.cols, kTile);
  wrong_kernel<kBug><<<dim3(across, down), dim3(kTile, kBlockRows), 0, stream>>>(p.in, p.out, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

__global__ void copies_kernel(const float* in, float* out, int64_t size) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) out[i] = in[i];
}

// Swaps pairs within `in`, as one does for a square matrix in place, then copies it.
__global__ void in_place_kernel(float* in, float* out, int rows, int cols) {
  const int64_t col = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  if (row < col && col < rows && row < cols) {
    const float above = in[row * cols + col];
    in[row * cols + col] = in[col * cols + row];
    in[col * cols + row] = above;
    out[row * rows + col] = in[row * cols + col];
    out[col * rows + row] = above;
  } else if (row == col || row >= cols || col >= rows) {
    out[col * rows + row] = in[row * cols + col];
  }
}

// A thread writes four elements of a row of out, and forgets that the last group of a row may be shorter.
__global__ void vector_tail_kernel(const float* in, float* out, int rows, int cols) {
  const int64_t col = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t row = 4 * (int64_t{blockIdx.y} * blockDim.y + threadIdx.y);
  if (row >= rows || col >= cols) return;
  for (int64_t i = row; i < row + 4; ++i) {
    if (col * rows + i < int64_t{rows} * cols)
      out[col * rows + i] = in[(i < rows ? i : rows - 1) * cols + col];
  }
}

__global__ void copy_transposes_kernel(const float* in, float* out, int rows, int cols) {
  const int64_t col = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
}

dim3 grid_of(int rows, int cols) {
  return dim3(days::ceil_div(cols, 32), days::ceil_div(rows, 8));
}

}  // namespace

void zeros(const Transpose<float>& p, cudaStream_t s) {
  launch<Bug::kZeros>(p, s);
}
void drops_last_tiles(const Transpose<float>& p, cudaStream_t s) {
  launch<Bug::kDropsLastTiles>(p, s);
}
void no_barrier(const Transpose<float>& p, cudaStream_t s) {
  launch<Bug::kNoBarrier>(p, s);
}
void swaps_extents(const Transpose<float>& p, cudaStream_t s) {
  launch<Bug::kSwapsExtents>(p, s);
}
void pitch_cols(const Transpose<float>& p, cudaStream_t s) {
  launch<Bug::kPitchCols>(p, s);
}
void tile_stays(const Transpose<float>& p, cudaStream_t s) {
  launch<Bug::kTileStays>(p, s);
}
void turns_twice(const Transpose<float>& p, cudaStream_t s) {
  launch<Bug::kTurnsTwice>(p, s);
}
void half_swizzled(const Transpose<float>& p, cudaStream_t s) {
  launch<Bug::kHalfSwizzled>(p, s);
}
void flushes(const Transpose<float>& p, cudaStream_t s) {
  launch<Bug::kFlushes>(p, s);
}
void copies(const Transpose<float>& p, cudaStream_t s) {
  const int64_t size = int64_t{p.rows} * p.cols;
  copies_kernel<<<static_cast<unsigned>(days::ceil_div(size, 256)), 256, 0, s>>>(p.in, p.out, size);
  CUDA_CHECK_LAUNCH();
}
void in_place(const Transpose<float>& p, cudaStream_t s) {
  in_place_kernel<<<grid_of(p.rows, p.cols), dim3(32, 8), 0, s>>>(const_cast<float*>(p.in), p.out, p.rows,
                                                                  p.cols);
  CUDA_CHECK_LAUNCH();
}
void vector_tail(const Transpose<float>& p, cudaStream_t s) {
  vector_tail_kernel<<<grid_of(days::ceil_div(p.rows, 4), p.cols), dim3(32, 8), 0, s>>>(p.in, p.out, p.rows,
                                                                                        p.cols);
  CUDA_CHECK_LAUNCH();
}
void copy_transposes(const Copy2D<float>& p, cudaStream_t s) {
  copy_transposes_kernel<<<grid_of(p.rows, p.cols), dim3(32, 8), 0, s>>>(p.in, p.out, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day13
