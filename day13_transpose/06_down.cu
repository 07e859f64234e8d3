// SPDX-License-Identifier: MIT
//
// The same kernel (several.cuh) with its blocks numbered down the columns of in. Changed since several: the
// blocks that run at the same time write neighbouring pieces of the same rows of out, where before they wrote
// to thousands of rows at once. It is the reads that lie apart now, and they suffer less from it.
// Bound by: the memory, as a copy is, where the rows of out start on sectors; else by pieces of sectors.

#include "common/check.h"
#include "common/util.h"
#include "day13_transpose/several.cuh"
#include "day13_transpose/transpose.h"

namespace day13 {

template <class T>
void transpose_down(const Transpose<T>& p, cudaStream_t stream) {
  require_problem(p, "down");
  const unsigned rows = static_cast<unsigned>(p.rows), cols = static_cast<unsigned>(p.cols);
  const unsigned tiles_down = days::ceil_div(rows, kSeveralTile),
                 tiles_across = days::ceil_div(cols, kSeveralTile);
  const int64_t blocks = int64_t{tiles_down} * tiles_across;
  days::require(blocks <= days::kMaxGridX,
                "down: a grid has at most 2^31 - 1 blocks of 64 x 64 elements, not", blocks);
  several_kernel<Down><<<static_cast<unsigned>(blocks), kSeveralThreads, 0, stream>>>(
      p.in, p.out, rows, cols, tiles_down, tiles_across);
  CUDA_CHECK_LAUNCH();
}

TRANSPOSE_INSTANTIATE(transpose_down);

}  // namespace day13
