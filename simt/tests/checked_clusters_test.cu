// SPDX-License-Identifier: MIT
//
// Checked builds: shared memory of another block of the cluster, before it may have begun and after it may have
// ended.
#include "checked.h"

#include <cooperative_groups.h>

namespace checked_clusters_test {

namespace cg = cooperative_groups;
using checked::device;
using checked::report_of;

const std::string kFile = "simt/tests/checked_clusters_test.cu:";

enum class Signal { none, atomic };

constexpr int kWrite = __LINE__ + 9, kRead = kWrite + 5;
__global__ void __cluster_dims__(4, 1, 1) exchange(int* out, bool begin, bool end, Signal signal) {
  __shared__ int mine[32], from[32], flag;
  auto cluster = cg::this_cluster();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  mine[threadIdx.x] = static_cast<int>(blockIdx.x);
  if (signal == Signal::atomic) atomicExch(&flag, 1);
  if (begin) cluster.sync();
  int* const theirs = cluster.map_shared_rank(from, next);
  theirs[threadIdx.x] = mine[threadIdx.x];
  cluster.sync();
  const int* const others = cluster.map_shared_rank(mine, next);
  int sum = from[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 16) sum += others[threadIdx.x];
  out[blockIdx.x * 32 + threadIdx.x] = sum;
  if (end) cluster.sync();
}

// Halves of the barrier: what comes between them is not before the one that the other waits for.
__global__ void __cluster_dims__(2, 1, 1) halves(int* out, bool read_late) {
  __shared__ int mine[32];
  auto cluster = cg::this_cluster();
  mine[threadIdx.x] = 1;
  cluster.sync();
  const int* const others = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
  int value = read_late ? 0 : others[threadIdx.x];
  cluster.barrier_arrive();
  if (read_late) value = others[threadIdx.x];
  out[blockIdx.x * 32 + threadIdx.x] = value;
  cluster.barrier_wait();
}

TEST(CheckedClusters, SharedMemoryOfOthersLivesBetweenBarriers) {
  SKIP_UNLESS_CHECKED();
  const auto run = [](bool begin, bool end, Signal signal, simt::Order order) {
    return report_of([=] { exchange<<<8, 32>>>(device<int>(256), begin, end, signal); }, order);
  };
  for (const simt::Order order : checked::kOrders) {
    EXPECT_EQ(run(true, true, Signal::none, order), "");
    // Something else may have told.
    EXPECT_EQ(run(false, true, Signal::atomic, order), "");
    EXPECT_EQ(run(true, false, Signal::atomic, order), "");
    const std::string early = run(false, true, Signal::none, order);
    EXPECT_NE(early.find(
                  "error: use of another block's shared memory that may not have begun [simt-race-shared]\n" +
                  kFile + std::to_string(kWrite)),
              std::string::npos)
        << early;
    EXPECT_NE(early.find("The thread writes 4 bytes of the shared memory of block "), std::string::npos)
        << early;
    const std::string late = run(true, false, Signal::none, order);
    EXPECT_NE(
        late.find("error: use of another block's shared memory that may have ended [simt-race-shared]\n" +
                  kFile + std::to_string(kRead)),
        std::string::npos)
        << late;
    EXPECT_EQ(report_of([] { halves<<<4, 32>>>(device<int>(128), false); }, order), "");
    EXPECT_NE(report_of([] { halves<<<4, 32>>>(device<int>(128), true); }, order)
                  .find("shared memory that may have ended"),
              std::string::npos);
  }
}

}  // namespace checked_clusters_test
