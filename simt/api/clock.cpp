// SPDX-License-Identifier: MIT
//
// Clocks and address spaces.

#include <chrono>
#include <cstdint>

#include "api/calls.h"
#include "runtime/spinning.h"

namespace simt {

unsigned long long nanoseconds() {
  ++clock_reads;
  return static_cast<unsigned long long>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                             std::chrono::steady_clock::now().time_since_epoch())
                                             .count());
}

long long clock_ticks() {
  ++clock_reads;
#if defined(__x86_64__)
  return static_cast<long long>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
  std::uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return static_cast<long long>(ticks);
#else
  return static_cast<long long>(nanoseconds());
#endif
}

size_t shared_offset(const void* p) {
  if (!is_shared(p)) fail("simt-oob-shared", "__cvta_generic_to_shared: %p is not in shared memory", p);
  return static_cast<size_t>(static_cast<const char*>(p) - shared_base);
}

unsigned shared_rank(const void* p) {
  const dim3 size = cluster_dim();
  const unsigned blocks = size.x * size.y * size.z;
  constexpr std::ptrdiff_t kMost = 480 * 1024;  // of shared memory, the gaps between variables included
  for (unsigned rank = 0; blocks > 1 && rank < blocks; ++rank) {
    const auto* base = static_cast<const char*>(map_shared(shared_base, rank));
    const std::ptrdiff_t offset = static_cast<const char*>(p) - base;
    if (offset >= 0 && offset < kMost) return rank;
  }
  return cluster_rank();
}

// A thread's stack is small: what lies near the current frame is on it.
bool is_on_stack(const void* p) {
  const char here = 0;
  const auto distance = reinterpret_cast<std::intptr_t>(p) - reinterpret_cast<std::intptr_t>(&here);
  return distance > -(4 << 10) && distance < (64 << 10);
}

}  // namespace simt
