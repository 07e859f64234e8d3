// SPDX-License-Identifier: MIT
//
// What a CUDA thread does together with others of its block or warp, and what it asks about itself: barriers,
// votes, shuffles, matches, reductions, fences, clocks, address spaces. Included by cuda_runtime.h in .cu
// files.
#pragma once

#include "simt/async_copies.h"
#include "simt/runtime.h"

// `site` is the caller's place, for reports; no call names it.
#define SIMT_SITE simt::Site site = simt::here()

// ---- barriers of the block ----

inline void __syncthreads(SIMT_SITE) {
  simt::sync_threads(site);
}
inline int __syncthreads_count(int predicate, SIMT_SITE) {
  return simt::sync_threads_vote(simt::Vote::count, predicate, site);
}
inline int __syncthreads_and(int predicate, SIMT_SITE) {
  return simt::sync_threads_vote(simt::Vote::all, predicate, site);
}
inline int __syncthreads_or(int predicate, SIMT_SITE) {
  return simt::sync_threads_vote(simt::Vote::any, predicate, site);
}

// Barriers by number; `count` threads, a multiple of 32, take part.
inline void __barrier_sync(unsigned int id, SIMT_SITE) {
  simt::bar_sync(id, 0, site);
}
inline void __barrier_sync_count(unsigned int id, unsigned int count, SIMT_SITE) {
  simt::bar_sync(id, count, site);
}
// An older spelling.
inline int syncthreads_count(bool predicate, SIMT_SITE) {
  return __syncthreads_count(predicate, site);
}
inline bool syncthreads_and(bool predicate, SIMT_SITE) {
  return __syncthreads_and(predicate, site) != 0;
}
inline bool syncthreads_or(bool predicate, SIMT_SITE) {
  return __syncthreads_or(predicate, site) != 0;
}

// ---- kernels of one stream that may overlap (programmatic dependent launch) ----

// Until the kernel before this one in its stream has ended and its writes are seen.
inline void cudaGridDependencySynchronize() {
  simt::wait_for_kernel_before();
}
// Lets the next kernel start early; here it never does.
inline void cudaTriggerProgrammaticLaunchCompletion() {}

// ---- the warp: barriers, votes, matches ----

inline void __syncwarp(unsigned int mask = 0xffffffffu, SIMT_SITE) {
  simt::sync_warp(mask, site);
}
inline unsigned int __activemask(SIMT_SITE) {
  return simt::active_mask(site);
}

inline unsigned int __ballot_sync(unsigned int mask, int predicate, SIMT_SITE) {
  return simt::ballot(mask, predicate != 0, site);
}
inline int __any_sync(unsigned int mask, int predicate, SIMT_SITE) {
  return simt::ballot(mask, predicate != 0, site) != 0;
}
inline int __all_sync(unsigned int mask, int predicate, SIMT_SITE) {
  return simt::ballot(mask, predicate == 0, site) == 0;
}
inline int __uni_sync(unsigned int mask, int predicate, SIMT_SITE) {
  const bool none = simt::ballot(mask, predicate != 0, site) == 0;
  const bool all = simt::ballot(mask, predicate == 0, site) == 0;
  return none || all;
}

// Compared by their bits: integers and floats of 4 and 8 bytes.
template <class T>
inline unsigned int __match_any_sync(unsigned int mask, T value, SIMT_SITE) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "4 or 8 bytes are compared");
  return simt::match_any(mask, value, site);
}
// The lanes that take part where all have the same value, else 0.
template <class T>
inline unsigned int __match_all_sync(unsigned int mask, T value, int* predicate, SIMT_SITE) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "4 or 8 bytes are compared");
  const unsigned int equal = simt::match_all(mask, value, site);
  *predicate = equal != 0;
  return equal;
}

// ---- shuffles ----
// For every type with a unary plus: integers promote to int as with CUDA's overloads, and half, bfloat16 and
// their pairs have one, too. `width` divides the warp into segments, whose end no lane reads across.

template <class T>
inline auto __shfl_sync(unsigned int mask, T value, int source, int width = 32, SIMT_SITE)
    -> decltype(+value) {
  static_assert(sizeof(T) <= 8, "shuffles move up to 8 bytes");
  const int lane = static_cast<int>(simt::lane_id());
  return simt::shuffle(mask, +value, (lane & ~(width - 1)) | (source & (width - 1)), site);
}
template <class T>
inline auto __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32, SIMT_SITE)
    -> decltype(+value) {
  static_assert(sizeof(T) <= 8, "shuffles move up to 8 bytes");
  const int lane = static_cast<int>(simt::lane_id()), source = lane - static_cast<int>(delta);
  return simt::shuffle(mask, +value, source < (lane & ~(width - 1)) ? lane : source, site);
}
template <class T>
inline auto __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32, SIMT_SITE)
    -> decltype(+value) {
  static_assert(sizeof(T) <= 8, "shuffles move up to 8 bytes");
  const int lane = static_cast<int>(simt::lane_id()), source = lane + static_cast<int>(delta);
  return simt::shuffle(mask, +value, source > (lane | (width - 1)) ? lane : source, site);
}
template <class T>
inline auto __shfl_xor_sync(unsigned int mask, T value, int lane_mask, int width = 32, SIMT_SITE)
    -> decltype(+value) {
  static_assert(sizeof(T) <= 8, "shuffles move up to 8 bytes");
  const int lane = static_cast<int>(simt::lane_id()), source = lane ^ lane_mask;
  return simt::shuffle(mask, +value, source > (lane | (width - 1)) ? lane : source, site);
}

// ---- reductions over the lanes of a mask ----

#define SIMT_REDUCE(T, name, expression)                  \
  inline T name(unsigned int mask, T value, SIMT_SITE) {  \
    struct Fold {                                         \
      T operator()(T a, T b) const { return expression; } \
    };                                                    \
    return simt::reduce(mask, value, Fold(), site);       \
  }
SIMT_REDUCE(unsigned int, __reduce_add_sync, a + b)
SIMT_REDUCE(int, __reduce_add_sync,
            static_cast<int>(static_cast<unsigned int>(a) + static_cast<unsigned int>(b)))
SIMT_REDUCE(unsigned int, __reduce_min_sync, a < b ? a : b)
SIMT_REDUCE(int, __reduce_min_sync, a < b ? a : b)
SIMT_REDUCE(unsigned int, __reduce_max_sync, a > b ? a : b)
SIMT_REDUCE(int, __reduce_max_sync, a > b ? a : b)
SIMT_REDUCE(unsigned int, __reduce_and_sync, a& b)
SIMT_REDUCE(unsigned int, __reduce_or_sync, a | b)
SIMT_REDUCE(unsigned int, __reduce_xor_sync, a ^ b)
#undef SIMT_REDUCE
#undef SIMT_SITE

// ---- fences ----
// Fibers of one block share an OS thread; other blocks may run on another core, so every scope is a full
// fence.

inline void __threadfence_block() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_system() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// ---- time ----

namespace simt {
long long clock_ticks();
unsigned long long nanoseconds();
}  // namespace simt
// Both count the host's cycles. clock() stands in kernels as simt::device_clock(), which the translator puts
// there: the C library's function of this name counts microseconds.
inline long long clock64() {
  return simt::clock_ticks();
}
namespace simt {
inline clock_t device_clock() {
  return static_cast<clock_t>(clock_ticks());
}
}  // namespace simt
// Lets other threads of the block run; there is nothing to save by sleeping longer.
inline void __nanosleep(unsigned int) {
  simt::tick_slow();
}

// ---- giving up ----

[[noreturn]] inline void __trap() {
  simt::fail("simt-trap", "__trap()");
}
// Without a debugger there is nobody to stop for, without a profiler nobody who counts.
inline void __brkpt() {}
inline void __prof_trigger(int) {}
#ifndef __clang__
#define __builtin_assume(condition) ((void)0)
#endif
#define __nv_assume(condition) ((void)0)

// ---- address spaces ----

namespace simt {
// Byte offset in the block's shared memory, which stands for a 32-bit shared address.
size_t shared_offset(const void* p);
bool is_on_stack(const void* p);
}  // namespace simt

inline unsigned int __isShared(const void* p) {
  return simt::is_shared(p);
}
inline unsigned int __isLocal(const void* p) {
  return !simt::is_shared(p) && simt::is_on_stack(p);
}
inline unsigned int __isGlobal(const void* p) {
  return !simt::is_shared(p) && !simt::is_on_stack(p);
}
inline unsigned int __isConstant(const void*) {
  return 0;
}  // constants lie among the globals
inline size_t __cvta_generic_to_shared(const void* p) {
  return simt::shared_offset(p);
}
inline void* __cvta_shared_to_generic(size_t offset) {
  return simt::shared_base + offset;
}
inline unsigned int __isGridConstant(const void*) {
  return 0;
}  // a kernel's arguments lie on its stack
// The other spaces' addresses are the generic ones.
#define SIMT_ADDRESS_SPACE(space)                            \
  inline size_t __cvta_generic_to_##space(const void* p) {   \
    return reinterpret_cast<size_t>(p);                      \
  }                                                          \
  inline void* __cvta_##space##_to_generic(size_t address) { \
    return reinterpret_cast<void*>(address);                 \
  }
SIMT_ADDRESS_SPACE(global)
SIMT_ADDRESS_SPACE(constant)
SIMT_ADDRESS_SPACE(local)
SIMT_ADDRESS_SPACE(grid_constant)
#undef SIMT_ADDRESS_SPACE
