// SPDX-License-Identifier: MIT
//
// Vectors: 16 bytes a load and a store (8 for uint8). A thread loads a small square, as many vectors as a
// vector has elements, turns it in its registers, and puts it into shared memory as rows of out. Changed
// since aligned: a quarter of the instructions, and shared memory is read along its rows, 16 bytes a lane.
// Needs rows and columns that are whole vectors. Bound by: the memory.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

template <class T>
struct Tiling {
  static constexpr int kSide = kVector<T>;  // of a thread's square
  using Vector = days::Vec<T, kSide>;
  static constexpr int kRows = sizeof(T) == 4 ? 64 : 128;  // of in
  static constexpr int kCols = sizeof(T) == 1 ? 256 : 128;
  static constexpr int kAlign = sizeof(T) == 2 ? 64 : 32;      // bytes, of each store
  static constexpr int kExtra = kAlign / int{sizeof(Vector)};  // vectors of rows above the tile
  static constexpr int kAcross = kCols / kSide;                // squares
  static constexpr int kDown = kExtra + kRows / kSide;
  static constexpr int kThreads = kAcross * kDown;

  // The rows of out in shared memory. A thread writes as many rows as its square has, and its neighbour the
  // ones after: with one vector of padding between them, neighbours write to different banks.
  struct Shared {
    Vector vector[kCols * kDown + kAcross];
    __device__ Vector& at(int col, int down) { return vector[col * kDown + col / kSide + down]; }
  };
  static_assert(kSide * kDown * sizeof(Vector) % 128 == 0 && kThreads <= 1024 && sizeof(Shared) <= 48 * 1024);
};

template <class T>
__global__ void __launch_bounds__(Tiling<T>::kThreads)
    vectorised_kernel(const T* in,  // (rows, cols)
                      T* out,       // (cols, rows)
                      int rows, int cols, int tiles_down, bool aligned) {
  using K = Tiling<T>;
  using Vector = typename K::Vector;
  constexpr int kSide = K::kSide;
  __shared__ typename K::Shared tile;
  const int64_t row0 = int64_t{blockIdx.x % tiles_down} * K::kRows;
  const int64_t col0 = int64_t{blockIdx.x / tiles_down} * K::kCols;

  {
    const int across = threadIdx.x % K::kAcross, down = threadIdx.x / K::kAcross;
    const int64_t row = row0 + int64_t{down - K::kExtra} * kSide, col = col0 + across * kSide;
    const bool needed = !aligned || down >= K::kExtra;  // no store moves back: the rows above are not wanted
    if (needed && row >= 0 && row < rows && col < cols) {
      Vector square[kSide];
#pragma unroll
      for (int i = 0; i < kSide; ++i)
        square[i] = *reinterpret_cast<const Vector*>(in + (row + i) * cols + col);
#pragma unroll
      for (int j = 0; j < kSide; ++j) {
        Vector turned;
#pragma unroll
        for (int i = 0; i < kSide; ++i) turned[i] = square[i][j];
        tile.at(across * kSide + j, down) = turned;
      }
    }
  }
  __syncthreads();
  constexpr int kStores = K::kRows / kSide;  // a row of out
  for (int t = threadIdx.x; t < K::kCols * kStores; t += K::kThreads) {
    const int col = t / kStores;  // of the tile
    if (col0 + col >= cols) break;
    T* const out_row = out + (col0 + col) * rows;
    const int back =
        static_cast<int>(reinterpret_cast<uintptr_t>(out_row + row0) % K::kAlign / sizeof(Vector));
    const int down = K::kExtra + t % kStores - back;
    const int64_t row = row0 + int64_t{down - K::kExtra} * kSide;
    if (row >= 0 && row < rows) {
      *reinterpret_cast<Vector*>(out_row + row) = tile.at(col, down);
    }
  }
}

}  // namespace

template <class T>
void transpose_vectorised(const Transpose<T>& p, cudaStream_t stream) {
  using K = Tiling<T>;
  require_problem(p, "vectorised");
  days::require_needs(p, "vectorised", kWholeVectors);
  const bool aligned = int64_t{p.rows} * int64_t{sizeof(T)} % K::kAlign == 0 &&
                       reinterpret_cast<uintptr_t>(p.out) % K::kAlign == 0;
  // The last piece of a row may move back too.
  const int last = aligned ? 0 : (K::kExtra - 1) * K::kSide;
  const int tiles_down = static_cast<int>(days::ceil_div(int64_t{p.rows} + last, K::kRows));
  const int64_t blocks = int64_t{tiles_down} * days::ceil_div(p.cols, K::kCols);
  days::require(blocks <= days::kMaxGridX, "vectorised: a grid has at most 2^31 - 1 blocks, not", blocks);
  vectorised_kernel<T><<<static_cast<unsigned>(blocks), K::kThreads, 0, stream>>>(p.in, p.out, p.rows, p.cols,
                                                                                  tiles_down, aligned);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(transpose_vectorised, Transpose, float, days::half, uint8_t);

}  // namespace day13
