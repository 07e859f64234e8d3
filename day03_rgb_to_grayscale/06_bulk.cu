// SPDX-License-Identifier: MIT
//
// The copy engine fetches a block's colours: one thread asks for 24 KiB with one instruction, and they go to
// shared memory without passing through anybody's registers. Since staged: no load instructions at all, so
// what is in flight is no longer limited by threads. Needs compute capability 9.0.
// Bound by: memory alone.

#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day03_rgb_to_grayscale/quad.cuh"

namespace day03 {
namespace {

constexpr int kThreads = 512;

template <class T>
struct Tile {
  alignas(16) Four<T> rgb[3 * kThreads];
  alignas(8) uint64_t arrived;
};

template <class T>
__global__ void __launch_bounds__(kThreads) bulk_kernel(const T* rgb,  // (n, 3)
                                                        T* gray,       // (n)
                                                        int64_t n) {
  constexpr int kBlockPixels = kQuad<T> * kThreads;
  __shared__ Tile<T> tile;
  const int64_t start = int64_t{blockIdx.x} * kBlockPixels;
  if (start + kBlockPixels > n) {  // the last block: a bulk copy moves multiples of 16 bytes only
    for (int64_t i = start + threadIdx.x; i < n; i += kThreads) gray_of_rest(rgb, gray, i, i + 1);
    return;
  }
  if (threadIdx.x == 0) {
    days::ptx::mbarrier_init(&tile.arrived, 1);
    days::ptx::fence_proxy_async_shared();
    days::ptx::mbarrier_arrive_expect_tx(&tile.arrived, sizeof(tile.rgb));
    days::ptx::cp_async_bulk(tile.rgb, rgb + 3 * start, sizeof(tile.rgb), &tile.arrived);
  }
  __syncthreads();  // nobody waits on a barrier that is not there yet
  days::ptx::mbarrier_wait(&tile.arrived, 0);
  const Four<T>* mine = tile.rgb + 3 * threadIdx.x;
  reinterpret_cast<Four<T>*>(gray + start)[threadIdx.x] = gray_of_48_bytes(mine[0], mine[1], mine[2]);
}

}  // namespace

template <class T>
void grayscale_bulk(const Grayscale<T>& p, cudaStream_t stream) {
  require_extents(p, "bulk");
  days::require_needs(p, "bulk", kAligned);
  const int64_t n = p.pixels(), blocks = days::ceil_div(n, kQuad<T> * kThreads);
  days::require(blocks <= days::kMaxGridX, "bulk: too many pixels for one grid:", n);
  bulk_kernel<T><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.rgb, p.gray, n);
  CUDA_CHECK_LAUNCH();
}
INSTANTIATE_LAUNCHER(grayscale_bulk, Grayscale, uint8_t, float);

}  // namespace day03
