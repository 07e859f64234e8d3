// SPDX-License-Identifier: MIT
//
// Barriers of parts of a block, by number, and of a cluster; what Hopper's kernels say about registers and
// the next grid. Included by common/ptx.h.
#pragma once

#include "common/ptx/address.h"

namespace days::ptx {

// bar.sync id, threads: waits until `threads` threads, whole warps, have come to barrier `id` of the block's
// sixteen, by bar_sync or bar_arrive. Barrier 0 is __syncthreads()'s. Section "bar / barrier".
__device__ __forceinline__ void bar_sync(uint32_t id, uint32_t threads DAYS_PTX_AND_SITE) {
#ifdef __SIMT__
  simt::bar_sync(id, threads, site);
#else
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#endif
}

// bar.arrive id, threads: counts this thread and goes on. Section "bar / barrier".
__device__ __forceinline__ void bar_arrive(uint32_t id, uint32_t threads DAYS_PTX_AND_SITE) {
#ifdef __SIMT__
  simt::bar_arrive(id, threads, site);
#else
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
#endif
}

// elect.sync: true in one lane of the warp, the same at each call; all 32 take part. Which one the GPU says
// (compute capability 9.0 and later; before, the first). Section "elect.sync".
__device__ __forceinline__ bool elect_sync(DAYS_PTX_SITE) {
#ifdef __SIMT__
  simt::sync_warp(~0u, site);
  return simt::lane_id() == 0;
#elif __CUDA_ARCH__ >= 900
  uint32_t elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(elected)::"memory");
  return elected != 0;
#else
  uint32_t lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  __syncwarp();
  return lane == 0;
#endif
}

// ---- clusters: compute capability 9.0 and later ----

// Before a kernel that runs in clusters of `blocks` blocks. nvcc takes __cluster_dims__ for no older
// architecture, and the launch reads it from the device's code alone.
#if defined(__SIMT__) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
#define DAYS_CLUSTER_DIMS(blocks) __cluster_dims__(blocks)
#else
#define DAYS_CLUSTER_DIMS(blocks)
#endif

// barrier.cluster.arrive.release.aligned: first half of the cluster's barrier. Section "barrier.cluster".
__device__ __forceinline__ void barrier_cluster_arrive(DAYS_PTX_SITE) {
#ifdef __SIMT__
  simt::cluster_arrive(site);
#elif __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

// barrier.cluster.wait.acquire.aligned: second half, which waits for all threads of the cluster. Section
// "barrier.cluster".
__device__ __forceinline__ void barrier_cluster_wait(DAYS_PTX_SITE) {
#ifdef __SIMT__
  simt::cluster_wait(site);
#elif __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// mov.u32 from %cluster_ctarank: which block of the cluster this is. Section "%cluster_ctarank".
__device__ __forceinline__ uint32_t cluster_ctarank() {
  uint32_t rank = 0;
#ifdef __SIMT__
  rank = simt::cluster_rank();
#elif __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}

// mapa.u64: where `shared`, a place in this block's shared memory, is in that of the cluster's block `rank`.
// Section "mapa".
template <class T>
__device__ __forceinline__ T* mapa(T* shared, uint32_t rank) {
#ifdef __SIMT__
  return static_cast<T*>(simt::map_shared(shared, rank));
#else
  T* there = nullptr;
#if __CUDA_ARCH__ >= 900
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
#endif
  return there;
#endif
}

// st.async.shared::cluster.mbarrier::complete_tx::bytes.u32: stores to the place that `there` is, in block
// `rank`; the barrier there counts 4 bytes. Section "st.async".
__device__ __forceinline__ void st_async(uint32_t* there, uint32_t value, uint64_t* barrier_there,
                                         uint32_t rank) {
#ifdef __SIMT__
  simt::store_async(simt::map_shared(there, rank), &value, sizeof value,
                    static_cast<uint64_t*>(simt::map_shared(barrier_there, rank)));
#elif __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .b32 to, bar; mapa.shared::cluster.u32 to, %0, %3; mapa.shared::cluster.u32 bar, %2, %3;"
      " st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [to], %1, [bar]; }" ::"r"(
          detail::shared_address(there)),
      "r"(value), "r"(detail::shared_address(barrier_there)), "r"(rank)
      : "memory");
#endif
}

// ---- hints: nothing to do on the CPU ----

// setmaxnreg.inc.sync.aligned.u32: this warp's group waits for more registers. For compute capability 9.0a.
// Section "setmaxnreg".
template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_inc() {
#if !defined(__SIMT__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}

// setmaxnreg.dec.sync.aligned.u32: this warp's group gives registers back. For compute capability 9.0a.
// Section "setmaxnreg".
template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_dec() {
#if !defined(__SIMT__) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}

// ---- kernels of one stream that may overlap (programmatic dependent launch) ----

// griddepcontrol.wait: until the grids that this one was launched to overlap with have ended. Section
// "griddepcontrol".
__device__ __forceinline__ void griddepcontrol_wait() {
#if defined(__SIMT__) || __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// griddepcontrol.launch_dependents: grids that wait for this one to say so may start; on the CPU they never do. Section
// "griddepcontrol".
__device__ __forceinline__ void griddepcontrol_launch_dependents() {
#if !defined(__SIMT__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace days::ptx
