// SPDX-License-Identifier: MIT
//
// Exercise: a transpose that reads and writes whole rows, by way of a tile in shared memory.
// Gates: every element right for every shape; no race; at most 10% wasted sectors, those beyond the fewest
// that could hold what a warp asks for (naive wastes 78%); at most 0.1 bank conflicts (passes beyond the
// first) a request of shared memory.
//   ./days check 13     tells how far you are        ./days hint 13     when you are stuck
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

constexpr int kTile = 32;
constexpr int kBlockRows = 8;  // a block is 32 x 8 threads: each moves 4 elements

template <class T>
__global__ void exercise_kernel(const T* in,  // (rows, cols)
                                T* out,       // (cols, rows)
                                int rows, int cols) {
  __shared__ T tile[kTile][kTile];
  // 1. Read: which element of in does a thread take, so that a warp's lanes are neighbours along a row?
  // 2. Who wrote the elements of the tile that this thread needs next?
  // 3. Write: a row of out, again with a warp's lanes side by side. Where has the tile moved to?
  // 4. Which bank does each lane read from? Can one more element a row help?
  // your code
}

}  // namespace

template <class T>
void exercise(const Transpose<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  days::require_needs(p, "exercise", kRowsBy32);
  const dim3 block(kTile, kBlockRows);
  const dim3 grid(days::ceil_div(p.cols, kTile), days::ceil_div(p.rows, kTile));
  exercise_kernel<<<grid, block, 0, stream>>>(p.in, p.out, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, Transpose, float, days::half, uint8_t);

}  // namespace day13
