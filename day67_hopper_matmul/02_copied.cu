// SPDX-License-Identifier: MIT
//
// One thread asks the copy engine for both tiles and goes on; a barrier in shared memory counts their bytes.
// Changed since warpgroup: no thread loads, swizzles, stores or fences. Teaches: tensor maps of both operands, a barrier's bytes.
// Bound by: latency: a block has one stage, and waits for it whole.

#include "day67_hopper_matmul/tiles.cuh"

namespace day67 {
namespace {

constexpr int kM = 128, kN = 128, kThreads = kM / kRows * kGroup;

template <class T>
struct Memory {
  Stage<T, kM, kN> stage;
  uint64_t full;
};

template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    copied_kernel(const Matmul<T> p, const __grid_constant__ CUtensorMap a,
                  const __grid_constant__ CUtensorMap b) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Memory<T>*>(memory);
  const int across = days::ceil_div(p.n, kN), row = static_cast<int>(blockIdx.x) / across * kM,
            col = static_cast<int>(blockIdx.x) % across * kN;
  const int group = static_cast<int>(threadIdx.x) / kGroup;
  if (threadIdx.x == 0) {
    days::ptx::mbarrier_init(&shared.full, 1);
    days::ptx::fence_proxy_async_shared();  // the engine has to see the barrier, too
  }
  __syncthreads();
  float sum[kN / 2] = {};
  for (int t = 0; t < days::ceil_div(p.k, kDepth); ++t) {
    if (threadIdx.x == 0) {
      days::ptx::mbarrier_arrive_expect_tx(&shared.full, sizeof shared.stage);
      days::ptx::cp_async_bulk_tensor(shared.stage.a, &a, t * kDepth, row, &shared.full);
      for (int slab = 0; slab < kN / kSlab; ++slab)
        days::ptx::cp_async_bulk_tensor(shared.stage.b[slab], &b, col + slab * kSlab, t * kDepth,
                                        &shared.full);
    }
    days::ptx::mbarrier_wait(&shared.full, t % 2);
    days::ptx::wgmma_fence();
    multiply_stage(sum, shared.stage, group * kRows);
    days::ptx::wgmma_commit_group();
    days::ptx::wgmma_wait_group<0>();
    __syncthreads();  // both groups have read the stage
  }
  store_pairs(p, row + group * kRows, col, sum);
}

}  // namespace

template <class T>
requires Half<T>
void matmul_copied(const Matmul<T>& p, cudaStream_t stream) {
  require_problem(p, "copied");
  const int tiles = tiles_of(p, kM, kN, "copied");
  launch<Memory<T>>(copied_kernel<T>, static_cast<unsigned>(tiles), kThreads, stream, p, map_of_a(p, kM),
                    map_of_b(p));
}

INSTANTIATE_LAUNCHER(matmul_copied, Matmul, days::half, days::bf16);

}  // namespace day67
