// SPDX-License-Identifier: MIT
// What the tiles before each tile add up to, in two launches: each tile adds up its elements, and one block scans the sums. Both
// sweeps and raked begin with them.
#include "common/check.h"
#include "common/reduce.cuh"
#include "common/scan.cuh"
#include "common/util.h"
#include "day57_prefix_sum/prefix_sum.h"

namespace day57 {
namespace {

constexpr int kScanThreads = 1024;

template <int kSize, class T>
__global__ void __launch_bounds__(kThreads) sums_kernel(const T* x,      // (n)
                                                        Total<T>* sums,  // (tiles)
                                                        int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * kSize;
  Total<T> sum = 0;
#pragma unroll
  for (int i = 0; i < kSize / kThreads; ++i) {
    const int64_t at = first + i * kThreads + threadIdx.x;
    if (at < n) sum += to_total(x[at]);
  }
  sum = days::block_reduce(sum, days::Sum{}, Total<T>{0});
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

}  // namespace

template <int kSize, class T>
void sums_before_tiles(const Scan<T>& p, Total<T>* sums, cudaStream_t stream) {
  const int64_t tiles = days::ceil_div(p.n, kSize);
  sums_kernel<kSize><<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(p.x, sums, p.n);
  CUDA_CHECK_LAUNCH();
  days::scan_rows_kernel<kScanThreads, 1><<<1, kScanThreads, 0, stream>>>(sums, sums + tiles, tiles);
  CUDA_CHECK_LAUNCH();
}

#define SUMS_BEFORE_TILES(T)                                                               \
  template void sums_before_tiles<kTileOfSweeps>(const Scan<T>&, Total<T>*, cudaStream_t); \
  template void sums_before_tiles<kTile<T>>(const Scan<T>&, Total<T>*, cudaStream_t)
SUMS_BEFORE_TILES(float);
SUMS_BEFORE_TILES(days::half);
SUMS_BEFORE_TILES(days::bf16);
SUMS_BEFORE_TILES(int32_t);

}  // namespace day57
