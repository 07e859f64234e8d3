// SPDX-License-Identifier: MIT
// Day 18: the problems, and the launchers that solve them. The format is bitsandbytes': NF4 (common/nf4.h) whose scales have 8
// bits each. Element types of the numbers fp32, fp16 and bf16; scales, offset and map are fp32.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/nf4.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day18 {

inline constexpr int64_t kGroup = 256;  // scales that share an absmax2
inline constexpr int kMap = 256;

// offset = mean of absmax; in a group of 256 scales c = absmax - offset, absmax2 = max |c|, and codes8 is the entry of map that is
// nearest to c * (1 / absmax2): where two are as near, the even one (bitsandbytes' search ends so). Where all c of a group are 0,
// that is 0 * infinity, a NaN, and codes are 0: what comes back is offset, as it should be.
template <class T>
struct DoubleQuantize {
  const T* absmax;  // (b)
  const T* map;     // (256), rising
  uint8_t* codes8;  // (b)
  T* absmax2;       // (ceil(b / 256))
  T* offset;        // (1)
  int64_t b;        // positive
  days::Workspace workspace;
};

// absmax[j] = map[codes8[j]] * absmax2[j / 256] + offset, both rounded to fp32; y[i] = table[code of i] * absmax[i / 64], rounded once
// more to T.
template <class T>
struct DoubleDequantize {
  const uint8_t* codes;   // ((n + 1) / 2)
  const uint8_t* codes8;  // (ceil(n / 64))
  const float* absmax2;   // (ceil(n / 64 / 256))
  const float* offset;    // (1)
  const float* map;       // (256)
  T* y;                   // (n)
  int64_t n;              // positive
  int64_t block;          // 64
  days::Workspace workspace;
};

// bitsandbytes' map of 8 bits, create_dynamic_map(): seven powers of ten, each with twice as many steps as the one below. To the bit,
// for which one multiplication may not be rounded.
inline std::vector<float> dynamic_map() {
  std::vector<float> map = {0.0f, 1.0f};
  int steps = 1;
  for (const float power : {1e-6f, 1e-5f, 1e-4f, 1e-3f, 1e-2f, 1e-1f, 1.0f}) {
    const float step = 0.9f / static_cast<float>(steps);
    const auto bound = [&](int i) {
      return i < (steps + 1) / 2 ? std::fma(step, static_cast<float>(i), 0.1f)
                                 : std::fma(-step, static_cast<float>(steps - i), 1.0f);
    };
    for (int i = 0; i < steps; ++i) {
      const float middle = power * ((bound(i) + bound(i + 1)) / 2);
      map.push_back(middle);
      map.push_back(-middle);
    }
    steps *= 2;
  }
  std::sort(map.begin(), map.end());
  return map;
}

// A scale, from its code. Two roundings: a fused multiplication and addition would have one, and another last bit.
DAYS_HOST_DEVICE inline float scale_of(float entry, float absmax2, float offset) {
#if defined(__CUDA_ARCH__) && !defined(__SIMT__)
  return __fadd_rn(__fmul_rn(entry, absmax2), offset);
#else
  return entry * absmax2 + offset;
#endif
}

inline constexpr int kThreads = 256;  // of a block, in every rung

inline constexpr auto kAligned = days::needs("4-byte aligned codes, 16-byte aligned y", [](const auto& p) {
  return reinterpret_cast<uintptr_t>(p.codes) % 4 == 0 && days::aligned16(p.y);
});

// ---- From codes ----

template <class T>
size_t scales_workspace(const DoubleDequantize<T>& p) {
  return sizeof(float) * static_cast<size_t>(days::nf4_blocks(p.n));
}
// The blocks of a grid where one takes `tile` elements.
template <class T>
unsigned grid_for(const DoubleDequantize<T>& p, const char* variant, int64_t tile) {
  days::require(p.block == days::kNf4Block, variant, ": the block size must be 64, not", p.block);
  const unsigned blocks = days::grid_of(p.n, tile, variant);
  days::require_needs(p, variant, kAligned);
  return blocks;
}

template <class T>
void dequantize_apart(const DoubleDequantize<T>&, cudaStream_t);
template <class T>
void dequantize_fused(const DoubleDequantize<T>&, cudaStream_t);
template <class T>
void dequantize_once(const DoubleDequantize<T>&, cudaStream_t);
template <class T>
void exercise(const DoubleDequantize<T>&, cudaStream_t);  // yours

// ---- To codes ----

inline constexpr int64_t kMostSums = kThreads;  // a thread of the next kernel takes one each

// How many sums the first kernel leaves: one for each of its blocks.
inline unsigned sums_of(int64_t b) {
  return static_cast<unsigned>(std::min(days::ceil_div(b, int64_t{4 * kThreads}), kMostSums));
}
template <class T>
size_t three_workspace(const DoubleQuantize<T>& p) {
  return sizeof(float) * (kMostSums + static_cast<size_t>(p.b));
}
template <class T>
size_t two_workspace(const DoubleQuantize<T>&) {
  return sizeof(float) * kMostSums;
}
// The number of groups. Throws std::invalid_argument where the launcher cannot take the problem.
template <class T>
unsigned groups_of(const DoubleQuantize<T>& p, const char* variant, size_t bytes) {
  const unsigned groups = days::grid_of(p.b, kGroup, variant);
  days::require(p.workspace.bytes >= bytes, variant, ": needs a workspace of bytes:", bytes);
  return groups;
}

template <class T>
void quantize_three(const DoubleQuantize<T>&, cudaStream_t);
template <class T>
void quantize_two(const DoubleQuantize<T>&, cudaStream_t);

// On the CPU, host pointers.
template <class T>
void dequantize_reference(const DoubleDequantize<T>&);
template <class T>
void quantize_reference(const DoubleQuantize<T>&);
// The codes and absmax2 that belong to an offset.
void code_scales(const DoubleQuantize<float>& p, float offset);

}  // namespace day18
