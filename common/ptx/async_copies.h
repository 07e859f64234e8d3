// SPDX-License-Identifier: MIT
//
// Copies between global and shared memory that go on while the thread does. Included by common/ptx.h.
//
// On the CPU a copy lands as late as it may, and its destination holds NaN until then, so a missing wait
// shows.
#pragma once

#include "common/ptx/address.h"

namespace days::ptx {

// ---- cp.async: each thread copies 4, 8 or 16 bytes; compute capability 8.0 and later ----
// Before 8.0 these copy at once: right, and slow.

// cp.async.ca.shared.global: through the L1 cache. The first `source_bytes` are copied, the rest of the
// destination becomes zero; none are read if that is 0. Section "cp.async".
template <int kBytes>
__device__ __forceinline__ void cp_async_ca(void* shared, const void* global,
                                            uint32_t source_bytes = kBytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async copies 4, 8 or 16 bytes");
#ifdef __SIMT__
  simt::async_copy(shared, global, kBytes, source_bytes);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(detail::shared_address(shared)),
               "l"(global), "n"(kBytes), "r"(source_bytes)
               : "memory");
#else
  for (uint32_t i = 0; i < kBytes / 4; ++i) {
    static_cast<uint32_t*>(shared)[i] = 4 * i < source_bytes ? static_cast<const uint32_t*>(global)[i] : 0;
  }
#endif
}

// cp.async.cg.shared.global: 16 bytes, past the L1 cache. Section "cp.async".
__device__ __forceinline__ void cp_async_cg(void* shared, const void* global, uint32_t source_bytes = 16) {
#ifdef __SIMT__
  simt::async_copy(shared, global, 16, source_bytes);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(detail::shared_address(shared)),
               "l"(global), "r"(source_bytes)
               : "memory");
#else
  cp_async_ca<16>(shared, global, source_bytes);
#endif
}

// cp.async.commit_group: this thread's copies since the last one are a group. Section
// "cp.async.commit_group".
__device__ __forceinline__ void cp_async_commit_group() {
#ifdef __SIMT__
  simt::async_commit_group();
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// cp.async.wait_group: until at most the kLeft youngest groups of this thread are under way. What other
// threads copied is seen after a barrier that they reach behind their own wait. Section
// "cp.async.wait_group".
template <int kLeft>
__device__ __forceinline__ void cp_async_wait_group() {
#ifdef __SIMT__
  simt::async_wait_group(kLeft);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
#endif
}

// cp.async.wait_all: until all copies of this thread have landed. Section "cp.async.wait_all".
__device__ __forceinline__ void cp_async_wait_all() {
#ifdef __SIMT__
  simt::async_wait_all();
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// cp.async.mbarrier.arrive.noinc.shared.b64: an arrival, one of those that the barrier was initialised with,
// once this thread's copies so far have landed. Section "cp.async.mbarrier.arrive".
__device__ __forceinline__ void cp_async_mbarrier_arrive_noinc(uint64_t* barrier) {
#ifdef __SIMT__
  simt::async_arrive(barrier, true);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(detail::shared_address(barrier))
               : "memory");
#endif
}

// ---- cp.async.bulk: one thread copies a multiple of 16 bytes; compute capability 9.0 and later ----
// All addresses are multiples of 16.

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes: from global to shared memory; the
// barrier counts the bytes. Section "cp.async.bulk".
__device__ __forceinline__ void cp_async_bulk(void* shared, const void* global, uint32_t bytes,
                                              uint64_t* barrier) {
#ifdef __SIMT__
  simt::bulk_to_shared(shared, global, bytes, barrier);
#elif __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          detail::shared_address(shared)),
      "l"(global), "r"(bytes), "r"(detail::shared_address(barrier))
      : "memory");
#endif
}

// The same with .multicast::cluster: to the same place in each block whose rank is a bit of `blocks`; each
// block's own barrier counts. For compute capability 9.0a. Section "cp.async.bulk".
__device__ __forceinline__ void cp_async_bulk_multicast(void* shared, const void* global, uint32_t bytes,
                                                        uint64_t* barrier, uint16_t blocks) {
#ifdef __SIMT__
  simt::bulk_to_shared(shared, global, bytes, barrier, blocks);
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
      "[%3], "
      "%4;" ::"r"(detail::shared_address(shared)),
      "l"(global), "r"(bytes), "r"(detail::shared_address(barrier)), "h"(blocks)
      : "memory");
#endif
}

// cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes: from this block's shared memory to
// that of block `rank`, to the place that `shared_there` is here; the barrier there counts. Section
// "cp.async.bulk".
__device__ __forceinline__ void cp_async_bulk_to_cluster(void* shared_there, const void* shared,
                                                         uint32_t bytes, uint64_t* barrier_there,
                                                         uint32_t rank) {
#ifdef __SIMT__
  simt::bulk_to_cluster(simt::map_shared(shared_there, rank), shared, bytes,
                        static_cast<uint64_t*>(simt::map_shared(barrier_there, rank)));
#elif __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .b32 to, bar; mapa.shared::cluster.u32 to, %0, %4; mapa.shared::cluster.u32 bar, %3, %4;"
      " cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [%1], %2, [bar]; }" ::
          "r"(detail::shared_address(shared_there)),
      "r"(detail::shared_address(shared)), "r"(bytes), "r"(detail::shared_address(barrier_there)), "r"(rank)
      : "memory");
#endif
}

// cp.async.bulk.global.shared::cta.bulk_group: from shared to global memory, as part of a group of this
// thread. Section "cp.async.bulk".
__device__ __forceinline__ void cp_async_bulk_store(void* global, const void* shared, uint32_t bytes) {
#ifdef __SIMT__
  simt::bulk_to_global(global, shared, bytes);
#elif __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(detail::shared_address(shared)), "r"(bytes)
               : "memory");
#endif
}

// cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32: adds floats of shared memory to those in global
// memory. Section "cp.reduce.async.bulk".
__device__ __forceinline__ void cp_reduce_async_bulk_add(float* global, const float* shared, uint32_t bytes) {
#ifdef __SIMT__
  simt::bulk_to_global(global, shared, bytes, simt::Reduction::add, simt::ElementType::f32);
#elif __CUDA_ARCH__ >= 900
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(global),
               "r"(detail::shared_address(shared)), "r"(bytes)
               : "memory");
#endif
}

// cp.async.bulk.commit_group: this thread's bulk copies from shared memory since the last one are a group.
// Section "cp.async.bulk.commit_group".
__device__ __forceinline__ void cp_async_bulk_commit_group() {
#ifdef __SIMT__
  simt::bulk_commit_group();
#elif __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

// cp.async.bulk.wait_group: until at most the kLeft youngest groups are under way. Section
// "cp.async.bulk.wait_group".
template <int kLeft>
__device__ __forceinline__ void cp_async_bulk_wait_group() {
#ifdef __SIMT__
  simt::bulk_wait_group(kLeft, false);
#elif __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kLeft) : "memory");
#endif
}

// cp.async.bulk.wait_group.read: until all but those have read their shared memory, which may then be written
// again, or end with the block. Section "cp.async.bulk.wait_group".
template <int kLeft>
__device__ __forceinline__ void cp_async_bulk_wait_group_read() {
#ifdef __SIMT__
  simt::bulk_wait_group(kLeft, true);
#elif __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
#endif
}

}  // namespace days::ptx
