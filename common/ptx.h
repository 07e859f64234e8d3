// SPDX-License-Identifier: MIT
//
// PTX instructions, one a function, under PTX's own names, each with a twin that does the same on the CPU
// backend. No other file of the course holds inline assembly. Sections are those of the PTX ISA reference
// (docs.nvidia.com/cuda/parallel-thread-execution).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace days::ptx {

// ld.global.cs.v4.u32: "cache streaming", likely to be accessed once. Section "Cache Operators".
__device__ inline uint4 ld_global_cs(const uint4* from) {
#ifdef __SIMT__
  return *from;
#else
  uint4 v;
  asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
#endif
}

// st.global.cs.v4.u32: "cache streaming". Section "Cache Operators".
__device__ inline void st_global_cs(uint4* to, uint4 v) {
#ifdef __SIMT__
  *to = v;
#else
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
#endif
}

// ld.global.nc.v4.u32: the read-only path; undefined if anything writes *from during the kernel. Section
// "ld.global.nc".
__device__ inline uint4 ld_global_nc(const uint4* from) {
#ifdef __SIMT__
  return *from;
#else
  uint4 v;
  asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
#endif
}

// ---- asynchronous bulk copies and the barriers that they complete on: compute capability 9.0 and later ----
//
// A barrier is 8 bytes of shared memory. Its phase ends once all expected arrivals and all expected bytes
// have come; then the next begins. On the CPU it holds: bit 63 the phase's parity, bits 43-62 the arrivals of
// each phase, bits 23-42 those still missing, bits 0-22 the missing bytes, which may be negative for a
// moment.

#ifdef __SIMT__
namespace detail {

inline constexpr int kBytesBits = 23, kArrivalBits = 20;
inline constexpr uint64_t kArrivalMask = (uint64_t{1} << kArrivalBits) - 1;
inline constexpr uint64_t kBytesMask = (uint64_t{1} << kBytesBits) - 1;

// Threads of a block take turns, so plain reads and writes do.
inline void mbarrier_update(uint64_t* barrier, int64_t arrivals, int64_t bytes) {
  const uint64_t expected = *barrier >> (kBytesBits + kArrivalBits) & kArrivalMask;
  uint64_t parity = *barrier >> 63;
  uint64_t missing = (*barrier >> kBytesBits & kArrivalMask) - static_cast<uint64_t>(arrivals);
  const uint64_t left = (*barrier + static_cast<uint64_t>(bytes)) & kBytesMask;
  if (missing == 0 && left == 0) {
    parity ^= 1;
    missing = expected;
    simt::notify();
  }
  *barrier = parity << 63 | expected << (kBytesBits + kArrivalBits) | missing << kBytesBits | left;
}

}  // namespace detail
#endif

// mbarrier.init.shared.b64: a barrier whose phases need `arrivals` arrivals each. Section "mbarrier.init".
__device__ inline void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
#ifdef __SIMT__
  *barrier = uint64_t{arrivals} << (detail::kBytesBits + detail::kArrivalBits) | uint64_t{arrivals}
                                                                                     << detail::kBytesBits;
#elif __CUDA_ARCH__ >= 900
  asm volatile(
      "mbarrier.init.shared.b64 [%0], %1;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(barrier))),
      "r"(arrivals)
      : "memory");
#endif
}

// fence.proxy.async.shared::cta: what this thread has written to shared memory, barriers too, is seen by the
// copy engine. Section "membar / fence".
__device__ inline void fence_proxy_async_shared() {
#if !defined(__SIMT__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// mbarrier.arrive.expect_tx.shared.b64: this thread arrives, and the phase needs `bytes` more bytes. Section
// "mbarrier.arrive".
__device__ inline void mbarrier_arrive_expect_tx(uint64_t* barrier, uint32_t bytes) {
#ifdef __SIMT__
  detail::mbarrier_update(barrier, 1, static_cast<int64_t>(bytes));
#elif __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(barrier))),
               "r"(bytes)
               : "memory");
#endif
}

// mbarrier.try_wait.parity.shared.b64 in a loop: returns once the phase of this parity (0, then 1, ...) has
// ended. Section "mbarrier.test_wait / try_wait".
__device__ inline void mbarrier_wait(uint64_t* barrier, uint32_t parity) {
#ifdef __SIMT__
  while (*barrier >> 63 == parity) simt::wait(simt::here());
#elif __CUDA_ARCH__ >= 900
  uint32_t done = 0;
  while (!done) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(barrier))), "r"(parity)
                 : "memory");
  }
#endif
}

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes: copies `bytes`, a multiple of 16, from
// global to shared memory, both aligned to 16 bytes, while the thread goes on; the barrier counts the bytes.
// Section "cp.async.bulk".
__device__ inline void cp_async_bulk(void* shared, const void* global, uint32_t bytes, uint64_t* barrier) {
#ifdef __SIMT__
  memcpy(shared, global, bytes);
  detail::mbarrier_update(barrier, 0, -static_cast<int64_t>(bytes));
#elif __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
      "l"(global), "r"(bytes), "r"(static_cast<uint32_t>(__cvta_generic_to_shared(barrier)))
      : "memory");
#endif
}

}  // namespace days::ptx
