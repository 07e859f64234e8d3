// SPDX-License-Identifier: MIT
//
// Clusters: shared memory of the other blocks, the two halves of the cluster's barrier, arrivals, copies and
// stores that a barrier of another block counts. The same on a GPU of compute capability 9.0.

#include <cooperative_groups.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/ptx.h"
#include "common/ptx/cluster_arrive.h"
#include "tests/ptx/managed.h"

#ifdef __SIMT__
#include "simt/tests/reports.h"
#endif

namespace cg = cooperative_groups;

namespace cluster_test {

namespace ptx = days::ptx;

std::vector<int> results(void (*kernel)(int*), int blocks, int threads) {
  int* const out = ptx_tests::managed<int>(blocks * threads);
  kernel<<<blocks, threads>>>(out);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<int> v(out, out + blocks * threads);
  cudaFree(out);
  return v;
}

// Each block reads its neighbour's numbers, by cooperative groups and by PTX's mapa.
__global__ __cluster_dims__(4) void neighbours(int* out) {
  __shared__ int mine[32];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = static_cast<int>(threadIdx.x);
  mine[t] = static_cast<int>(blockIdx.x) * 100 + t;
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % 4;
  const int by_group = cluster.map_shared_rank(mine, static_cast<int>(next))[31 - t];
  const int by_ptx = ptx::mapa(mine, next)[31 - t];
  out[blockIdx.x * 32 + threadIdx.x] = by_group == by_ptx ? by_group : -1;
  cluster.sync();
}

TEST(Clusters, SharedMemoryOfTheNeighbour) {
  const std::vector<int> v = results(neighbours, 8, 32);
  for (int i = 0; i < 256; ++i) {
    const int block = i / 32, next = block / 4 * 4 + (block + 1) % 4;
    ASSERT_EQ(v[static_cast<size_t>(i)], next * 100 + 31 - i % 32) << i;
  }
}

// Work between arrival and wait; threads that have returned are not waited for.
__global__ __cluster_dims__(2) void split_barrier(int* out) {
  __shared__ int mine;
  if (threadIdx.x == 0) mine = 7 + static_cast<int>(blockIdx.x);
  for (int round = 0; round < 3; ++round) {
    ptx::barrier_cluster_arrive();
    const int busy = round * 2;
    ptx::barrier_cluster_wait();
    if (threadIdx.x == 0)
      out[blockIdx.x * 32 + static_cast<unsigned>(round)] = *ptx::mapa(&mine, 1 - blockIdx.x) + busy;
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    if (threadIdx.x == 0) mine += 10;
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

TEST(Clusters, BarrierInTwoHalves) {
  const std::vector<int> v = results(split_barrier, 2, 32);
  for (int block = 0; block < 2; ++block)
    for (int round = 0; round < 3; ++round)
      EXPECT_EQ(v[static_cast<size_t>(block * 32 + round)], 7 + (1 - block) + round * 12)
          << block << " " << round;
}

// Rank 0 sends to rank 1: a bulk copy, single stores, and an arrival of each of its threads.
__global__ __cluster_dims__(2) void remote(int* out) {
  __shared__ __align__(16) int from[32], to[32];
  __shared__ uint32_t words[32];
  __shared__ uint64_t copied, stored, ready;
  const uint32_t t = threadIdx.x, rank = ptx::cluster_ctarank();
  from[t] = static_cast<int>(t * 3);
  if (t == 0) {
    ptx::mbarrier_init(&copied, 1);
    ptx::mbarrier_init(&stored, 1);
    ptx::mbarrier_init(&ready, 64);
    if (rank == 1) {
      ptx::mbarrier_arrive_expect_tx(&copied, sizeof to);
      ptx::mbarrier_arrive_expect_tx(&stored, sizeof words);
    }
    ptx::fence_mbarrier_init_release_cluster();
  }
  ptx::fence_proxy_async_shared();
  __syncthreads();
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (rank == 0) {
    if (t == 0) ptx::cp_async_bulk_to_cluster(to, from, sizeof to, &copied, 1);
    ptx::st_async(&words[t], t + 1000, &stored, 1);
    ptx::mbarrier_arrive_cluster(&ready, 1);
    ptx::mbarrier_arrive_reader(&ready, 1);
    out[t] = 0;
  } else {
    ptx::mbarrier_wait(&copied, 0);
    ptx::mbarrier_wait(&stored, 0);
    ptx::mbarrier_wait(&ready, 0);
    out[32 + t] = to[31 - t] + static_cast<int>(words[t]);
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

TEST(Clusters, CopiesStoresAndArrivalsAcrossBlocks) {
  const std::vector<int> v = results(remote, 2, 32);
  for (int t = 0; t < 32; ++t) ASSERT_EQ(v[static_cast<size_t>(32 + t)], (31 - t) * 3 + t + 1000) << t;
}

#ifdef __SIMT__

__global__ __cluster_dims__(2) void misuse(int what) {
  __shared__ int mine;
  if (what == 0) ptx::barrier_cluster_wait();
  if (what == 1) {
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_arrive();
  }
  if (what == 2) *ptx::mapa(&mine, 2) = 1;
}

TEST(Clusters, MisuseIsReported) {
  const char* const expected[] = {"barrier.cluster.wait without barrier.cluster.arrive before it",
                                  "barrier.cluster.arrive twice",
                                  "rank 2 is not in this block's cluster of 2"};
  for (int what = 0; what < 3; ++what) {
    const std::string text = report_of([&] { misuse<<<2, 1>>>(what); });
    EXPECT_NE(text.find(expected[what]), std::string::npos) << text;
    EXPECT_NE(text.find("\ntests/ptx/cluster_test.cu:"), std::string::npos) << text;
  }
}

#endif  // __SIMT__

}  // namespace cluster_test
