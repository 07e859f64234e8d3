// SPDX-License-Identifier: MIT
// Day 40: the problem and the launchers. A table of samples becomes one array for each feature, scaled to [-1, 1].
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/util.h"

namespace day40 {

// most[f] = the largest |x[s][f]| of all samples s, where NaN does not count; z[f][s] = x[s][f] / most[f]. Where most[f] is 0
// nothing is divided. Both matrices are row-major without padding, and the arrays have no element in common.
template <class T>
struct Columns {
  const T* x;  // (samples, features)
  T* z;        // (features, samples)
  T* most;     // (features)
  int samples, features;
};

inline constexpr int kTile = 32;      // a block's part of x: features side by side, samples at a time
inline constexpr int kBlockRows = 8;  // a block has 32 x 8 threads
inline constexpr int kChunk = 128;    // samples of a block, where a feature's samples have several blocks

// From spread on, blocks along y have kChunk samples each, and a grid has at most 65,535 of them.
inline constexpr auto kSamples =
    days::at_most("samples", kChunk* days::kMaxGridY, [](const auto& p) { return p.samples; });

template <class T>
void require_problem(const Columns<T>& p, const char* variant) {
  days::require(p.samples > 0, variant, ": samples must be positive, not", p.samples);
  days::require(p.features > 0, variant, ": features must be positive, not", p.features);
}

template <class T>
void columns_candidate(const Columns<T>&, cudaStream_t);
template <class T>
void columns_spread(const Columns<T>&, cudaStream_t);
template <class T>
void columns_turned(const Columns<T>&, cudaStream_t);
template <class T>
void columns_padded(const Columns<T>&, cudaStream_t);
template <class T>
void exercise(const Columns<T>&, cudaStream_t);  // yours

// On the CPU, host pointers: plain loops, and tiles on all cores.
template <class T>
void columns_reference(const Columns<T>&);
template <class T>
void columns_parallel(const Columns<T>&);

}  // namespace day40
