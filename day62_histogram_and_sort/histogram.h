// SPDX-License-Identifier: MIT
// Day 62, first problem: how often does each byte occur? Launchers on device pointers; they throw
// std::invalid_argument that names the value where they do not support a problem.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/needs.h"
#include "common/workspace.h"

namespace day62 {

inline constexpr int kBins = 256;

// counts[b] is the number of keys that are b.
template <class T>
struct Histogram {
  const T* keys;     // (n), bytes
  uint32_t* counts;  // (kBins)
  int64_t n;         // below 2^32, for a bin counts in 32 bits
  days::Workspace workspace;
};

// What every launcher needs.
inline constexpr auto kCountableKeys = days::at_most("n", 4294967295, [](const auto& p) { return p.n; });

inline void require_problem(const Histogram<uint8_t>& p, const char* variant) {
  days::require(p.n > 0, variant, ": n must be positive, not", p.n);
  days::require_needs(p, variant, kCountableKeys);
}

void histogram_global(const Histogram<uint8_t>&, cudaStream_t);
void histogram_block(const Histogram<uint8_t>&, cudaStream_t);
void histogram_warp(const Histogram<uint8_t>&, cudaStream_t);
void histogram_thread(const Histogram<uint8_t>&, cudaStream_t);
void exercise(const Histogram<uint8_t>&, cudaStream_t);  // yours

// baselines/cub.cu, and at least the scratch memory that CUB asks for.
void histogram_cub(const Histogram<uint8_t>&, cudaStream_t);
inline size_t histogram_cub_workspace(const Histogram<uint8_t>&) {
  return size_t{1} << 20;
}

// On the CPU, host pointers: one plain loop, and a private histogram for each core.
void histogram_reference(const Histogram<uint8_t>&);
void histogram_parallel(const Histogram<uint8_t>&);

}  // namespace day62
