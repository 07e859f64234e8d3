// SPDX-License-Identifier: MIT
//
// Two blocks, one tile under the other, want the same columns of b. As a cluster each asks for half of them, and the copy engine brings
// that half to both.
// Changed since persistent: b by multicast; a stage is free when the readers of both blocks say so. Teaches: multicast, remote arrivals.
// Bound by: wgmma, and the card's power.

#include "common/ptx/cluster_arrive.h"
#include "day67_hopper_matmul/walk.cuh"

namespace day67 {
namespace {

constexpr int kM = 128, kN = 256, kReaders = kM / kRows * kGroup, kThreads = kGroup + kReaders, kStages = 4,
              kCluster = 2, kTogether = 8;
constexpr int kSlabs = kN / kSlab / kCluster;  // of b, that each block asks for

template <class T>
struct Memory {
  Stage<T, kM, kN> stage[kStages];
  WayOut<T> out[kM / kRows];
  uint64_t full[kStages], empty[kStages];
};

// A warp has read the stage: both blocks have to know, as both ask for parts of it.
__device__ __forceinline__ void release(uint64_t* empty) {
  const uint32_t lane = threadIdx.x % days::kWarpSize;
  __syncwarp();
  if (lane < kCluster) days::ptx::mbarrier_arrive_reader(empty, lane);
}

template <class T>
DAYS_CLUSTER_DIMS(kCluster)
__global__ void __launch_bounds__(kThreads, 1)
    clusters_kernel(const Matmul<T> p, const __grid_constant__ CUtensorMap a,
                    const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap c,
                    int pairs_down, int across) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Memory<T>*>(memory);
  const int group = static_cast<int>(threadIdx.x) / kGroup, steps = days::ceil_div(p.k, kDepth);
  const int rank = static_cast<int>(days::ptx::cluster_ctarank());
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      days::ptx::mbarrier_init(&shared.full[s], 1);
      days::ptx::mbarrier_init(&shared.empty[s], kCluster * kReaders / days::kWarpSize);
    }
    days::ptx::fence_proxy_async_shared();
    days::ptx::fence_mbarrier_init_release_cluster();
  }
  days::ptx::barrier_cluster_arrive();
  days::ptx::barrier_cluster_wait();  // the other block's barriers are there, too
  days::Turn<kStages> turn;
  const int pairs = pairs_down * across, first = static_cast<int>(blockIdx.x) / kCluster,
            clusters = static_cast<int>(gridDim.x) / kCluster;
  if (group == 0) {
    days::ptx::setmaxnreg_dec<40>();
    for (int pair = first; threadIdx.x == 0 && pair < pairs; pair += clusters) {
      const Place place = place_of(pair, pairs_down, across, kTogether);
      for (int t = 0; t < steps; ++t, turn.next()) {
        auto& stage = shared.stage[turn.stage];
        uint64_t* const full = &shared.full[turn.stage];
        days::ptx::mbarrier_wait(&shared.empty[turn.stage], turn.phase ^ 1);
        days::ptx::mbarrier_arrive_expect_tx(full,
                                             sizeof stage);  // the other block's half of b counts as well
        days::ptx::cp_async_bulk_tensor(stage.a, &a, t * kDepth, (place.row * kCluster + rank) * kM, full);
        for (int slab = rank * kSlabs; slab < (rank + 1) * kSlabs; ++slab)
          days::ptx::cp_async_bulk_tensor_multicast(stage.b[slab], &b, place.col * kN + slab * kSlab,
                                                    t * kDepth, full, (1 << kCluster) - 1);
      }
    }
  } else {
    days::ptx::setmaxnreg_inc<232>();
    const int mine = (group - 1) * kRows;
    for (int pair = first; pair < pairs; pair += clusters) {
      const Place place = place_of(pair, pairs_down, across, kTogether);
      float sum[kN / 2] = {};
      multiply_tile(sum, shared.stage, shared.full, mine, steps, turn,
                    [&](int s) { release(&shared.empty[s]); });
      store_slabs(shared.out[group - 1], c, (place.row * kCluster + rank) * kM + mine, place.col * kN, sum,
                  static_cast<uint32_t>(group));
    }
    if (threadIdx.x % kGroup == 0)
      days::ptx::cp_async_bulk_wait_group_read<0>();  // shared memory ends with the block
  }
  days::ptx::barrier_cluster_arrive();
  days::ptx::barrier_cluster_wait();  // the other block may still write to this one, and arrive here
}

// Clusters of the kernel that run at once. Half the multiprocessors is too many: a cluster's blocks have to be neighbours, and where an
// odd multiprocessor is left over, one cluster would begin when all others have ended.
template <class Kernel>
int resident_clusters(Kernel kernel, size_t bytes) {
  CUDA_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(kCluster * multiprocessors()));
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = bytes;
  int clusters = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
  return std::max(1, clusters);
}

}  // namespace

template <class T>
requires Half<T>
void matmul_clusters(const Matmul<T>& p, cudaStream_t stream) {
  require_problem(p, "clusters");
  const int pairs = tiles_of(p, kCluster * kM, kN, "clusters");
  const int clusters = std::min(pairs, resident_clusters(clusters_kernel<T>, sizeof(Memory<T>)));
  launch<Memory<T>>(clusters_kernel<T>, static_cast<unsigned>(kCluster * clusters), kThreads, stream, p,
                    map_of_a(p, kM), map_of_b(p), map_of_c(p), days::ceil_div(p.m, kCluster * kM),
                    days::ceil_div(p.n, kN));
}

INSTANTIATE_LAUNCHER(matmul_clusters, Matmul, days::half, days::bf16);

}  // namespace day67
