// SPDX-License-Identifier: MIT
//
// Barriers of 8 bytes in shared memory, which count arrivals of threads and bytes of asynchronous copies. A
// phase ends once all expected arrivals and bytes have come; then the next begins. Included by common/ptx.h.
#pragma once

#include "common/ptx/address.h"

namespace days::ptx {

// mbarrier.init.shared.b64: a barrier whose phases need `arrivals` arrivals each. Section "mbarrier.init".
__device__ __forceinline__ void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
#ifdef __SIMT__
  simt::mbarrier_init(barrier, arrivals);
#elif __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(detail::shared_address(barrier)), "r"(arrivals)
               : "memory");
#endif
}

// mbarrier.inval.shared.b64: the 8 bytes may serve something else. Section "mbarrier.inval".
__device__ __forceinline__ void mbarrier_inval(uint64_t* barrier) {
#ifdef __SIMT__
  simt::mbarrier_inval(barrier);
#elif __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(detail::shared_address(barrier)) : "memory");
#endif
}

// fence.mbarrier_init.release.cluster: other blocks of the cluster, once they are past the cluster's barrier,
// see initialised mbarriers. Section "membar / fence".
__device__ __forceinline__ void fence_mbarrier_init_release_cluster() {
#if !defined(__SIMT__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// fence.proxy.async.shared::cta: what this thread has written to shared memory, barriers too, is seen by the
// copy engine. Needed between writing shared memory and a bulk copy that reads it. The CPU backend's copies
// see memory as threads do; its checked builds report where it is missing. Section "membar / fence".
__device__ __forceinline__ void fence_proxy_async_shared() {
#ifdef __SIMT__
  simt::fence_proxy_async();
#elif __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// mbarrier.arrive.shared.b64: one arrival; returns the name of the phase that it counts in. Section
// "mbarrier.arrive".
__device__ __forceinline__ uint64_t mbarrier_arrive(uint64_t* barrier) {
  uint64_t state = 0;
#ifdef __SIMT__
  state = simt::mbarrier_arrive(barrier);
#elif __CUDA_ARCH__ >= 800
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
               : "=l"(state)
               : "r"(detail::shared_address(barrier))
               : "memory");
#endif
  return state;
}

// mbarrier.arrive.expect_tx.shared.b64: this thread arrives, and the phase needs `bytes` more bytes. Section
// "mbarrier.arrive".
__device__ __forceinline__ uint64_t mbarrier_arrive_expect_tx(uint64_t* barrier, uint32_t bytes) {
  uint64_t state = 0;
#ifdef __SIMT__
  state = simt::mbarrier_arrive(barrier, 1, bytes);
#elif __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(detail::shared_address(barrier)), "r"(bytes)
               : "memory");
#endif
  return state;
}

// mbarrier.expect_tx.relaxed.cta.shared::cta.b64: `bytes` more bytes, without an arrival. Section
// "mbarrier.expect_tx".
__device__ __forceinline__ void mbarrier_expect_tx(uint64_t* barrier, uint32_t bytes) {
#ifdef __SIMT__
  simt::mbarrier_expect_tx(barrier, bytes);
#elif __CUDA_ARCH__ >= 900
  asm volatile(
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(detail::shared_address(barrier)),
      "r"(bytes)
      : "memory");
#endif
}

// mbarrier.arrive.release.cluster.shared::cluster.b64: an arrival at the barrier that stands at the same
// place in the shared memory of the cluster's block `rank`. Section "mbarrier.arrive".
__device__ __forceinline__ void mbarrier_arrive_cluster(uint64_t* barrier, uint32_t rank) {
#ifdef __SIMT__
  simt::mbarrier_arrive(static_cast<uint64_t*>(simt::map_shared(barrier, rank)));
#elif __CUDA_ARCH__ >= 900
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;"
      " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote]; }" ::"r"(
          detail::shared_address(barrier)),
      "r"(rank)
      : "memory");
#endif
}

// mbarrier.test_wait.shared.b64: whether the phase that arrive() named has ended. Does not wait. Section
// "mbarrier.test_wait / try_wait".
__device__ __forceinline__ bool mbarrier_test_wait(uint64_t* barrier, uint64_t state DAYS_PTX_AND_SITE) {
  uint32_t done = 0;
#ifdef __SIMT__
  done = simt::mbarrier_test(barrier, state, site);
#elif __CUDA_ARCH__ >= 800
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(detail::shared_address(barrier)), "l"(state)
               : "memory");
#endif
  return done != 0;
}

// mbarrier.test_wait.parity.shared.b64: whether the phase of this parity (0, then 1, ...) has ended: true as
// long as the one after it fills. Does not wait. Section "mbarrier.test_wait / try_wait".
__device__ __forceinline__ bool mbarrier_test_wait_parity(uint64_t* barrier,
                                                          uint32_t parity DAYS_PTX_AND_SITE) {
  uint32_t done = 0;
#ifdef __SIMT__
  done = simt::mbarrier_test_parity(barrier, parity, site);
#elif __CUDA_ARCH__ >= 800
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(detail::shared_address(barrier)), "r"(parity)
               : "memory");
#endif
  return done != 0;
}

// mbarrier.try_wait.parity.shared.b64: the same, but sleeps a while before it says no. Section
// "mbarrier.test_wait / try_wait".
__device__ __forceinline__ bool mbarrier_try_wait_parity(uint64_t* barrier,
                                                         uint32_t parity DAYS_PTX_AND_SITE) {
  uint32_t done = 0;
#ifdef __SIMT__
  done = simt::mbarrier_test_parity(barrier, parity, site);
#elif __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(detail::shared_address(barrier)), "r"(parity)
               : "memory");
#endif
  return done != 0;
}

// mbarrier.try_wait.parity in a loop (test_wait before compute capability 9.0): returns once the phase of
// this parity has ended. Section "mbarrier.test_wait / try_wait".
__device__ __forceinline__ void mbarrier_wait(uint64_t* barrier, uint32_t parity DAYS_PTX_AND_SITE) {
#ifdef __SIMT__
  simt::mbarrier_wait_parity(barrier, parity, site);
#elif __CUDA_ARCH__ >= 900
  while (!mbarrier_try_wait_parity(barrier, parity)) {
  }
#elif __CUDA_ARCH__ >= 800
  while (!mbarrier_test_wait_parity(barrier, parity)) {
  }
#endif
}

}  // namespace days::ptx
