// SPDX-License-Identifier: MIT
//
// A thread's view of its cluster: compute capability 9.0's built-in functions. Included by cuda_runtime.h in
// .cu files.
#pragma once

#include "simt/async_copies.h"
#include "simt/runtime.h"

namespace simt {
// The rank in the cluster of the block whose shared memory holds the address; the caller's own for any other
// address.
unsigned shared_rank(const void* address);
}  // namespace simt

inline unsigned int __isCtaShared(const void* p) {
  return simt::is_shared(p) && simt::shared_rank(p) == simt::cluster_rank();
}
inline unsigned int __isClusterShared(const void* p) {
  return simt::is_shared(p);
}
inline void* __cluster_map_shared_rank(const void* p, unsigned int rank) {
  return simt::map_shared(p, rank);
}
inline unsigned int __cluster_query_shared_rank(const void* p) {
  return simt::shared_rank(p);
}
inline unsigned int __clusterDimIsSpecified() {
  const dim3 d = simt::cluster_dim();
  return d.x * d.y * d.z != 1;
}
inline dim3 __clusterDim() {
  return simt::cluster_dim();
}
inline dim3 __clusterRelativeBlockIdx() {
  const dim3 d = simt::cluster_dim();
  return dim3(blockIdx.x % d.x, blockIdx.y % d.y, blockIdx.z % d.z);
}
inline dim3 __clusterGridDimInClusters() {
  const dim3 d = simt::cluster_dim();
  return dim3(gridDim.x / d.x, gridDim.y / d.y, gridDim.z / d.z);
}
inline dim3 __clusterIdx() {
  const dim3 d = simt::cluster_dim();
  return dim3(blockIdx.x / d.x, blockIdx.y / d.y, blockIdx.z / d.z);
}
inline unsigned int __clusterRelativeBlockRank() {
  return simt::cluster_rank();
}
inline unsigned int __clusterSizeInBlocks() {
  const dim3 d = simt::cluster_dim();
  return d.x * d.y * d.z;
}
inline void __cluster_barrier_arrive(simt::Site site = simt::here()) {
  simt::cluster_arrive(site);
}
inline void __cluster_barrier_arrive_relaxed(simt::Site site = simt::here()) {
  simt::cluster_arrive(site);
}
inline void __cluster_barrier_wait(simt::Site site = simt::here()) {
  simt::cluster_wait(site);
}
inline void __threadfence_cluster() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
