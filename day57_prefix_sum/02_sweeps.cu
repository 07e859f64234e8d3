// SPDX-License-Identifier: MIT
// Tiles: each adds up its elements, one block scans the sums, and each tile scans its own elements and adds the sum before it.
// The scan of a tile sweeps twice over a tree in shared memory (Blelloch, "Prefix Sums and Their Applications", 1990): up, where
// pairs become sums, then down, where each node hands its left child what came before, and its right child that and the left
// child's sum. So 2 additions an element do, and not log2 n.
// Changed since doubling: three launches, which read x twice and write y once. Bound by: barriers, of which a tile has 21, and
// bank conflicts.
#include "common/check.h"
#include "common/util.h"
#include "day57_prefix_sum/prefix_sum.h"

namespace day57 {
namespace {

constexpr int kBlock = kTileOfSweeps / 2;

template <class T>
__global__ void __launch_bounds__(kBlock) sweeps_kernel(const T* x,            // (n)
                                                        T* y,                  // (n)
                                                        const Total<T>* sums,  // (tiles)
                                                        int64_t n, bool exclusive) {
  __shared__ Total<T> tree[kTileOfSweeps];
  const int64_t first = int64_t{blockIdx.x} * kTileOfSweeps;
  const int thread = static_cast<int>(threadIdx.x);
  const Total<T> sum = sums[blockIdx.x];
  Total<T> own[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t at = first + thread + i * kBlock;
    own[i] = at < n ? to_total(x[at]) : Total<T>{0};
    tree[thread + i * kBlock] = own[i];
  }
  for (int distance = 1; distance < kTileOfSweeps; distance *= 2) {
    __syncthreads();
    const int right = (thread + 1) * 2 * distance - 1;
    if (right < kTileOfSweeps) tree[right] += tree[right - distance];
  }
  if (thread == 0)
    tree[kTileOfSweeps - 1] = 0;  // before the first element is nothing; this thread alone wrote the last sum
  for (int distance = kTileOfSweeps / 2; distance > 0; distance /= 2) {
    __syncthreads();
    const int right = (thread + 1) * 2 * distance - 1;
    if (right < kTileOfSweeps) {
      const Total<T> before = tree[right], left = tree[right - distance];
      tree[right - distance] = before;
      tree[right] = before + left;
    }
  }
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    const int64_t at = first + thread + i * kBlock;
    const Total<T> before = sum + tree[thread + i * kBlock];
    if (at < n) y[at] = from_total<T>(exclusive ? before : before + own[i]);
  }
}

}  // namespace

template <class T>
void scan_sweeps(const Scan<T>& p, cudaStream_t stream) {
  const unsigned tiles = static_cast<unsigned>(tiles_of(p, kTileOfSweeps, "sweeps"));
  Total<T>* sums = reinterpret_cast<Total<T>*>(workspace_of(p, sweeps_workspace(p), "sweeps"));
  sums_before_tiles<kTileOfSweeps>(p, sums, stream);
  sweeps_kernel<<<tiles, kBlock, 0, stream>>>(p.x, p.y, sums, p.n, p.exclusive);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(scan_sweeps, Scan, float, days::half, days::bf16, int32_t);

}  // namespace day57
