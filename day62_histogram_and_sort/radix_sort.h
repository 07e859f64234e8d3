// SPDX-License-Identifier: MIT
// Day 62, third problem: sort whole numbers. Launchers as in histogram.h.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/needs.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day62 {

// A radix sort takes kDigitBits of the keys at a time, the lowest first, and each pass keeps the order of keys
// with equal digits: so after the last pass the highest digit rules, and the lower ones break its ties.
inline constexpr int kDigitBits = 8;
inline constexpr int kDigits = 1 << kDigitBits;
inline constexpr int kPasses = 32 / kDigitBits;
static_assert(kPasses % 2 == 0,
              "passes alternate between scratch memory and `out`, and the last writes `out`");

// out are the keys of in, smallest first. out may not overlap in.
template <class T>
struct RadixSort {
  const T* in;  // (n)
  T* out;       // (n)
  int64_t n;    // below 2^30, for onesweep publishes counts of 30 bits
  days::Workspace workspace;
};

// What every launcher needs. `workspace`: the bytes of scratch memory that it asks for.
inline constexpr int64_t kMaxSorted = (1 << 30) - 1;
inline constexpr auto kSortableKeys = days::at_most("n", kMaxSorted, [](const auto& p) { return p.n; });

inline void require_problem(const RadixSort<uint32_t>& p, size_t workspace, const char* variant) {
  days::require(p.n > 0, variant, ": n must be positive, not", p.n);
  days::require_needs(p, variant, kSortableKeys);
  days::require(p.workspace.bytes >= workspace, variant, ": needs a workspace of", workspace, " bytes, not",
                p.workspace.bytes);
}

DAYS_HOST_DEVICE inline uint32_t digit_of(uint32_t key, int pass) {
  return key >> (pass * kDigitBits) & (kDigits - 1);
}

void radix_sort_scatter(const RadixSort<uint32_t>&, cudaStream_t);
void radix_sort_staged(const RadixSort<uint32_t>&, cudaStream_t);
void radix_sort_onesweep(const RadixSort<uint32_t>&, cudaStream_t);

// baselines/cub.cu, and at least the scratch memory that CUB asks for.
void radix_sort_cub(const RadixSort<uint32_t>&, cudaStream_t);
inline size_t radix_sort_cub_workspace(const RadixSort<uint32_t>& p) {
  return (size_t{1} << 24) + 2 * sizeof(uint32_t) * static_cast<size_t>(p.n);
}

// Bytes of scratch memory.
size_t tiles_workspace(const RadixSort<uint32_t>&);  // of scatter and staged
size_t onesweep_workspace(const RadixSort<uint32_t>&);

// On the CPU, host pointers: std::stable_sort; each core a share of every pass.
void radix_sort_reference(const RadixSort<uint32_t>&);
void radix_sort_parallel(const RadixSort<uint32_t>&);

}  // namespace day62
