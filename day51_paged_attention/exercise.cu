// SPDX-License-Identifier: MIT
//
// Exercise: look up each row once, and a tile ahead. Append, launch and the end are there, the loop is missing.
// Gates: o, lse, k and v right for every shape, type and table; no race; at most 1.12 bytes read for each byte of input; at most 10%
// wasted sectors.
//   ./days check 51      tells how far you are        ./days hint 51      when you are stuck

#include <cstdint>

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day51_paged_attention/columns.cuh"
#include "day51_paged_attention/paged_attention.h"

namespace day51 {
namespace {

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads)
    exercise_kernel(const PagedDecode<T> p, [[maybe_unused]] float scale) {
  __shared__ BlockResult<T, kDim> result;
  const int columns = columns_of(p), sequence = static_cast<int>(blockIdx.x) / columns;
  const Group group(p, static_cast<int>(blockIdx.x) % columns);
  [[maybe_unused]] const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize;  // of kWarps
  [[maybe_unused]] const int keys = keys_of(p, sequence);  // rows in use, the new one too
  Columns<T, kDim> mine;
  mine.begin(p, sequence, group);
  // 1. Before the loop: lane i looks up row i of this warp's first tile. kKeys rows are a tile, and none is at `keys` or beyond.
  // 2. The loop over this warp's tiles, as chased has it; but row(i), which all lanes call, gives what lane i has looked up.
  // 3. While keys and values are on their way: lane i looks up row i of this warp's next tile.
  // your code
  result.finish(p, sequence, group, mine);
}

}  // namespace

template <class T>
requires Half<T>
void exercise(const PagedDecode<T>& p, cudaStream_t stream) {
  const unsigned blocks = paged_blocks(p, "exercise");
  append(p, stream);
  for_dim(p.dim, [&](auto dim) {
    exercise_kernel<T, dim><<<blocks, kThreads, 0, stream>>>(p, scale_log2(p));
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(exercise, PagedDecode, days::half, days::bf16);

}  // namespace day51
