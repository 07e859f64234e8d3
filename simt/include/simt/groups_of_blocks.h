// SPDX-License-Identifier: MIT
//
// cooperative_groups' grid and cluster. Included by cooperative_groups.h.
#pragma once

#include "simt/cluster_functions.h"
#include "simt/runtime.h"

namespace cooperative_groups {

namespace details {
inline dim3 times(dim3 a, dim3 b) {
  return dim3(a.x * b.x, a.y * b.y, a.z * b.z);
}
inline unsigned long long volume(dim3 d) {
  return 1ull * d.x * d.y * d.z;
}
inline unsigned long long rank_of(uint3 index, dim3 extent) {
  return index.x + 1ull * extent.x * (index.y + 1ull * extent.y * index.z);
}
inline dim3 in_threads(dim3 block) {
  return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
              block.z * blockDim.z + threadIdx.z);
}
}  // namespace details

class grid_group {
 public:
  static bool is_valid() { return simt::is_cooperative(); }
  static void sync(simt::Site site = simt::here()) { simt::sync_grid(site); }
  // The arrival waits already: stricter than asked.
  using arrival_token = unsigned int;
  static arrival_token barrier_arrive(simt::Site site = simt::here()) {
    simt::sync_grid(site);
    return 0;
  }
  static void barrier_wait(arrival_token&&) {}

  static dim3 dim_threads() { return details::times(gridDim, blockDim); }
  static unsigned long long num_threads() { return num_blocks() * details::volume(blockDim); }
  static unsigned long long size() { return num_threads(); }
  static dim3 thread_index() { return details::in_threads(dim3(blockIdx)); }
  static unsigned long long thread_rank() {
    return block_rank() * details::volume(blockDim) + details::rank_of(threadIdx, blockDim);
  }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
  static unsigned long long num_blocks() { return details::volume(gridDim); }
  static dim3 block_index() { return dim3(blockIdx); }
  static unsigned long long block_rank() { return details::rank_of(blockIdx, gridDim); }
  static dim3 dim_clusters() { return __clusterGridDimInClusters(); }
  static unsigned long long num_clusters() { return details::volume(dim_clusters()); }
  static dim3 cluster_index() { return __clusterIdx(); }
  static unsigned long long cluster_rank() { return details::rank_of(cluster_index(), dim_clusters()); }
};
inline grid_group this_grid() {
  return grid_group();
}

// Gone since CUDA 13, and this backend has one device.
template <int kAbsent = 1>
inline grid_group this_multi_grid() {
  static_assert(kAbsent == 0, "simt: there are no groups of several devices' grids");
  return {};
}

class cluster_group {
 public:
  struct arrival_token {};
  static void sync(simt::Site site = simt::here()) { simt::sync_cluster(site); }
  static arrival_token barrier_arrive(simt::Site site = simt::here()) {
    __cluster_barrier_arrive(site);
    return {};
  }
  static void barrier_wait(simt::Site site = simt::here()) { __cluster_barrier_wait(site); }
  static void barrier_wait(arrival_token&&, simt::Site site = simt::here()) { __cluster_barrier_wait(site); }

  static dim3 dim_blocks() { return simt::cluster_dim(); }
  static unsigned int num_blocks() { return __clusterSizeInBlocks(); }
  static dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static unsigned int block_rank() { return simt::cluster_rank(); }
  static dim3 dim_threads() { return details::times(dim_blocks(), blockDim); }
  static unsigned int num_threads() {
    return num_blocks() * static_cast<unsigned int>(details::volume(blockDim));
  }
  static unsigned int size() { return num_threads(); }
  static dim3 thread_index() { return details::in_threads(block_index()); }
  static unsigned int thread_rank() {
    return static_cast<unsigned int>(block_rank() * details::volume(blockDim) +
                                     details::rank_of(threadIdx, blockDim));
  }
  // The same variable in the shared memory of another block of the cluster.
  template <class T>
  static T* map_shared_rank(T* address, int rank) {
    return static_cast<T*>(simt::map_shared(address, static_cast<unsigned int>(rank)));
  }
  static unsigned int query_shared_rank(const void* address) { return simt::shared_rank(address); }
};
inline cluster_group this_cluster() {
  return cluster_group();
}

}  // namespace cooperative_groups
