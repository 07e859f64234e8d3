// SPDX-License-Identifier: MIT
//
// Four stages in a ring: while one is multiplied, three are on their way, and the products of the last one may still run when the next ones
// start. A stage is asked for again once both groups have waited for the products that read it.
// Changed since copied: 128 KiB under way a block instead of 32; one group of products is left open. Teaches: wgmma_wait_group<1>.
// Bound by: L2: the block's tile is small.

#include "day67_hopper_matmul/copies.cuh"

namespace day67 {
namespace {

constexpr int kM = 128, kN = 128, kThreads = kM / kRows * kGroup, kStages = 4;

template <class T>
using Memory = days::Ring<Stage<T, kM, kN>, kStages, kThreads / days::kWarpSize>;

template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    ring_kernel(const Matmul<T> p, const __grid_constant__ CUtensorMap a,
                const __grid_constant__ CUtensorMap b) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& ring = *reinterpret_cast<Memory<T>*>(memory);
  const int across = days::ceil_div(p.n, kN), row = static_cast<int>(blockIdx.x) / across * kM,
            col = static_cast<int>(blockIdx.x) % across * kN;
  const int group = static_cast<int>(threadIdx.x) / kGroup, steps = days::ceil_div(p.k, kDepth);
  ring.init();
  if (threadIdx.x == 0) {
    for (int t = 0; t < min(kStages, steps); ++t) copy_stage(ring.stage[t], a, b, row, col, t, &ring.full[t]);
  }
  float sum[kN / 2] = {};
  days::Turn<kStages> turn, before;
  for (int t = 0; t < steps; ++t) {
    days::ptx::mbarrier_wait(&ring.full[turn.stage], turn.phase);
    days::ptx::wgmma_fence();
    multiply_stage(sum, ring.stage[turn.stage], group * kRows);
    days::ptx::wgmma_commit_group();
    if (t > 0) {
      days::ptx::wgmma_wait_group<1>();  // the products of the stage before have read it
      ring.release(before.stage);
      if (threadIdx.x == 0 && t - 1 + kStages < steps) {
        days::ptx::mbarrier_wait(&ring.empty[before.stage], before.phase);
        copy_stage(ring.stage[before.stage], a, b, row, col, t - 1 + kStages, &ring.full[before.stage]);
      }
      before.next();
    }
    turn.next();
  }
  days::ptx::wgmma_wait_group<0>();
  store_pairs(p, row + group * kRows, col, sum);
}

}  // namespace

template <class T>
requires Half<T>
void matmul_ring(const Matmul<T>& p, cudaStream_t stream) {
  require_problem(p, "ring");
  const int tiles = tiles_of(p, kM, kN, "ring");
  launch<Memory<T>>(ring_kernel<T>, static_cast<unsigned>(tiles), kThreads, stream, p, map_of_a(p, kM),
                    map_of_b(p));
}

INSTANTIATE_LAUNCHER(matmul_ring, Matmul, days::half, days::bf16);

}  // namespace day67
