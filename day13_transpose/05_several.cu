// SPDX-License-Identifier: MIT
//
// Sixteen elements a thread instead of four (several.cuh). Changed since padded: the tile's side is 64, and
// a thread has sixteen loads under way. A multiprocessor needs some 30 KiB on their way to keep the memory
// busy; now two blocks do it, where it took eight. The grid is one-dimensional and takes any shape.
// Bound by: the memory, whose pages are written in pieces of 256 bytes, one a row of out.

#include "common/check.h"
#include "common/util.h"
#include "day13_transpose/several.cuh"
#include "day13_transpose/transpose.h"

namespace day13 {

template <class T>
void transpose_several(const Transpose<T>& p, cudaStream_t stream) {
  require_problem(p, "several");
  const unsigned rows = static_cast<unsigned>(p.rows), cols = static_cast<unsigned>(p.cols);
  const unsigned tiles_down = days::ceil_div(rows, kSeveralTile),
                 tiles_across = days::ceil_div(cols, kSeveralTile);
  const int64_t blocks = int64_t{tiles_down} * tiles_across;
  days::require(blocks <= days::kMaxGridX,
                "several: a grid has at most 2^31 - 1 blocks of 64 x 64 elements, not", blocks);
  several_kernel<Across><<<static_cast<unsigned>(blocks), kSeveralThreads, 0, stream>>>(
      p.in, p.out, rows, cols, tiles_down, tiles_across);
  CUDA_CHECK_LAUNCH();
}

TRANSPOSE_INSTANTIATE(transpose_several);

}  // namespace day13
