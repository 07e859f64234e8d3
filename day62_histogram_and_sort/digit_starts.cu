// SPDX-License-Identifier: MIT
// The kernels of digit_starts.cuh: the histogram of each tile, and the scan of them.
#include "day62_histogram_and_sort/digit_starts.cuh"

namespace day62 {
namespace {

// Each block counts the digits of its tile, in shared memory, as the rung block counts bytes.
__global__ void __launch_bounds__(kTileThreads) count_digits_kernel(const uint32_t* in,  // (n)
                                                                    uint32_t* counts,    // (kDigits, tiles)
                                                                    int64_t n, int pass) {
  __shared__ uint32_t mine[kDigits];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const int64_t first = int64_t{blockIdx.x} * kTileKeys + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kTileItems; ++i) {
    const int64_t at = first + i * kTileThreads;
    if (at < n) atomicAdd(&mine[digit_of(in[at], pass)], 1u);
  }
  __syncthreads();
  counts[int64_t{threadIdx.x} * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

// Block d turns digit d's counts into the sums over the tiles before each. A thread has eight neighbours.
constexpr int kScanThreads = 64, kScanItems = 8;
__global__ void __launch_bounds__(kScanThreads) scan_tiles_kernel(uint32_t* counts,  // (kDigits, tiles)
                                                                  uint32_t* totals,  // (kDigits)
                                                                  int64_t tiles) {
  counts += blockIdx.x * tiles;
  uint32_t before = 0;
  for (int64_t first = 0; first < tiles; first += kScanThreads * kScanItems) {
    const int64_t mine = first + threadIdx.x * kScanItems;
    uint32_t count[kScanItems], sum = 0, total;
#pragma unroll
    for (int i = 0; i < kScanItems; ++i) {
      count[i] = mine + i < tiles ? counts[mine + i] : 0;
      sum += count[i];
    }
    uint32_t start = before + block_exclusive_scan<kScanThreads>(sum, total);
#pragma unroll
    for (int i = 0; i < kScanItems; ++i) {
      if (mine + i < tiles) counts[mine + i] = start;
      start += count[i];
    }
    before += total;
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

}  // namespace

void launch_digit_starts(const uint32_t* in, int64_t n, int pass, const TileScratch& s, cudaStream_t stream) {
  count_digits_kernel<<<static_cast<unsigned>(s.tiles), kTileThreads, 0, stream>>>(in, s.counts, n, pass);
  CUDA_CHECK_LAUNCH();
  scan_tiles_kernel<<<kDigits, kScanThreads, 0, stream>>>(s.counts, s.totals, s.tiles);
  CUDA_CHECK_LAUNCH();
}

size_t tiles_workspace(const RadixSort<uint32_t>& p) {
  const size_t tiles = static_cast<size_t>(days::ceil_div(p.n, kTileKeys));
  return (static_cast<size_t>(p.n) + kDigits + kDigits * tiles) * sizeof(uint32_t);
}

}  // namespace day62
