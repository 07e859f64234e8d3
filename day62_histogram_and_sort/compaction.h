// SPDX-License-Identifier: MIT
// Day 62, second problem: keep what is above a threshold, without gaps. Launchers as in histogram.h.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/needs.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day62 {

// y[0 .. *count) are the elements of x above the threshold; a NaN is not. What lies behind them in y is
// undefined. y may not overlap x. In a stable compaction they keep their order, in others they come in any.
template <class T>
struct Compaction {
  const T* x;       // (n)
  T* y;             // (n), of which the first *count count
  uint32_t* count;  // (1)
  int64_t n;        // below 2^32, for *count has 32 bits
  T threshold;
  days::Workspace workspace;
};

// What every launcher needs.
inline constexpr auto kCountableElements = days::at_most("n", 4294967295, [](const auto& p) { return p.n; });

inline void require_problem(const Compaction<float>& p, const char* variant) {
  days::require(p.n > 0, variant, ": n must be positive, not", p.n);
  days::require_needs(p, variant, kCountableElements);
}

void compaction_one_each(const Compaction<float>&, cudaStream_t);
void compaction_one_warp(const Compaction<float>&, cudaStream_t);
void compaction_one_block(const Compaction<float>&, cudaStream_t);

void compaction_two_reads(const Compaction<float>&, cudaStream_t);  // stable, as is the next
void compaction_look_back(const Compaction<float>&, cudaStream_t);

// baselines/cub.cu, stable, and at least the scratch memory that CUB asks for.
void compaction_cub(const Compaction<float>&, cudaStream_t);
inline size_t compaction_cub_workspace(const Compaction<float>& p) {
  return (size_t{1} << 20) + static_cast<size_t>(p.n) / 16;
}

// Bytes of scratch memory.
size_t two_reads_workspace(const Compaction<float>&);
size_t look_back_workspace(const Compaction<float>&);

// On the CPU, host pointers, both stable: one plain loop; each core counts, then each core writes.
void compaction_reference(const Compaction<float>&);
void compaction_parallel(const Compaction<float>&);

}  // namespace day62
