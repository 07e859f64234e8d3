// SPDX-License-Identifier: MIT
//
// Kernels of day 67 with a bug in each, which its tests must reject. All are `copied` but for one line.

#include "common/must_reject.h"
#include "day67_hopper_matmul/tiles.cuh"

namespace day67 {
namespace {

constexpr int kM = 128, kN = 128, kThreads = kM / kRows * kGroup;

enum class Bug { phase, early, leading, coordinates, last_wait, slab };

template <class T>
struct Memory {
  Stage<T, kM, kN> stage;
  uint64_t full;
};

template <Bug kBug, class T>
__device__ void ask(Memory<T>& shared, const CUtensorMap& a, const CUtensorMap& b, int row, int col, int t) {
  days::ptx::mbarrier_arrive_expect_tx(&shared.full, sizeof shared.stage);
  days::ptx::cp_async_bulk_tensor(shared.stage.a, &a, t * kDepth, row, &shared.full);
  for (int slab = 0; slab < kN / kSlab; ++slab) {
    const int across = kBug == Bug::slab ? col : col + slab * kSlab;
    if (kBug == Bug::coordinates) {
      days::ptx::cp_async_bulk_tensor(shared.stage.b[slab], &b, t * kDepth, across, &shared.full);
    } else {
      days::ptx::cp_async_bulk_tensor(shared.stage.b[slab], &b, across, t * kDepth, &shared.full);
    }
  }
}

template <Bug kBug, class T>
__global__ void __launch_bounds__(kThreads, 1)
    wrong_kernel(const Matmul<T> p, const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap b) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Memory<T>*>(memory);
  const int across = days::ceil_div(p.n, kN), row = static_cast<int>(blockIdx.x) / across * kM,
            col = static_cast<int>(blockIdx.x) % across * kN;
  const int group = static_cast<int>(threadIdx.x) / kGroup, steps = days::ceil_div(p.k, kDepth);
  if (threadIdx.x == 0) {
    days::ptx::mbarrier_init(&shared.full, 1);
    days::ptx::fence_proxy_async_shared();
  }
  __syncthreads();
  float sum[kN / 2] = {};
  if (threadIdx.x == 0) ask<kBug>(shared, a, b, row, col, 0);
  for (int t = 0; t < steps; ++t) {
    days::ptx::mbarrier_wait(&shared.full, kBug == Bug::phase ? 0 : t % 2);
    days::ptx::wgmma_fence();
    if (kBug == Bug::leading) {
      const uint64_t at_a = days::ptx::wgmma_descriptor(shared.stage.a + group * kRows * kDepth),
                     at_b = days::ptx::wgmma_descriptor(shared.stage.b[0]);
      for (int step = 0; step < 4; ++step)
        days::ptx::wgmma<T, T, days::ptx::Major::k, days::ptx::Major::rows>(sum, at_a + 2 * step,
                                                                            at_b + 128 * step);
    } else {
      multiply_stage(sum, shared.stage, group * kRows);
    }
    days::ptx::wgmma_commit_group();
    const bool more = threadIdx.x == 0 && t + 1 < steps;
    if (kBug == Bug::early && more)
      ask<kBug>(shared, a, b, row, col, t + 1);  // while the products still read the stage
    if (kBug == Bug::last_wait && t + 1 == steps) {
      days::ptx::wgmma_wait_group<1>();
    } else {
      days::ptx::wgmma_wait_group<0>();
    }
    __syncthreads();
    if (kBug != Bug::early && more) ask<kBug>(shared, a, b, row, col, t + 1);
  }
  store_pairs(p, row + group * kRows, col, sum);
  days::ptx::wgmma_wait_group<0>();
}

template <Bug kBug>
void run(const Product<days::half>& p, cudaStream_t stream) {
  using T = days::half;
  require_problem<T>(p, "wrong");
  launch<Memory<T>>(wrong_kernel<kBug, T>, static_cast<unsigned>(tiles_of<T>(p, kM, kN, "wrong")), kThreads,
                    stream, static_cast<const Matmul<T>&>(p), map_of_a<T>(p, kM), map_of_b<T>(p));
}

}  // namespace

// The barrier's phase is asked for by a number that never changes: the second stage is read before it has come.
MUST_REJECT(half, run<Bug::phase>, "c[|simt-");
// The stage is filled anew before its products have ended.
MUST_REJECT(half, run<Bug::early>, "c[|simt-async-wait");
// The next 64 columns of b lie where the descriptor's leading bytes say.
MUST_REJECT(half, run<Bug::leading>, "c[");
// A box is asked for by its innermost coordinate first.
MUST_REJECT(half, run<Bug::coordinates>, "c[");
// The sums are read while their last products run.
MUST_REJECT_ON_CPU(half, run<Bug::last_wait>, "is nan", "ptxas adds the wait");
// Both slabs are of the same columns.
MUST_REJECT(half, run<Bug::slab>, "c[");

}  // namespace day67
