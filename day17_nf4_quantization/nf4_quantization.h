// SPDX-License-Identifier: MIT
// Day 17: the problems, and the launchers that solve them. Element types fp32, fp16 and bf16. The format: common/nf4.h.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/nf4.h"
#include "common/types.h"
#include "common/util.h"

namespace day17 {

// y[i] = table[code of i] * absmax[i / 64], in fp32, rounded once to T.
template <class T>
struct Nf4Dequantize {
  const uint8_t* codes;  // ((n + 1) / 2)
  const float* absmax;   // (ceil(n / 64))
  T* y;                  // (n)
  int64_t n;             // positive
  int64_t block;         // 64; the format has others, which these launchers refuse
};

// absmax[b] is the largest size in block b, the last block perhaps a short one, and codes are as common/nf4.h says. A NaN in x
// makes its block's absmax NaN, all codes 0. Where absmax is infinite, what is infinite has code 0, and all else 7, which
// comes back as NaN.
template <class T>
struct Nf4Quantize {
  const T* x;      // (n)
  uint8_t* codes;  // ((n + 1) / 2)
  float* absmax;   // (ceil(n / 64))
  int64_t n;       // positive
  int64_t block;   // 64
};

inline constexpr int kThreads = 256;  // of a block, in every rung

inline constexpr auto kPairsOfY = days::needs("y aligned to two elements", [](const auto& p) {
  return reinterpret_cast<uintptr_t>(p.y) % (2 * sizeof(*p.y)) == 0;
});
inline constexpr auto kAlignedY = days::needs("4-byte aligned codes, 16-byte aligned y", [](const auto& p) {
  return reinterpret_cast<uintptr_t>(p.codes) % 4 == 0 && days::aligned16(p.y);
});
inline constexpr auto kPairsOfX = days::needs("x aligned to two elements", [](const auto& p) {
  return reinterpret_cast<uintptr_t>(p.x) % (2 * sizeof(*p.x)) == 0;
});
inline constexpr auto kAlignedX = days::needs("16-byte aligned x, 4-byte aligned codes", [](const auto& p) {
  return days::aligned16(p.x) && reinterpret_cast<uintptr_t>(p.codes) % 4 == 0;
});

// The blocks of a grid where one takes `tile` elements.
template <class P>
unsigned grid_for(const P& p, const char* variant, int64_t tile) {
  days::require(p.block == days::kNf4Block, variant, ": the block size must be 64, not", p.block);
  return days::grid_of(p.n, tile, variant);
}

template <class T>
void dequantize_constant(const Nf4Dequantize<T>&, cudaStream_t);
template <class T>
void dequantize_shared(const Nf4Dequantize<T>&, cudaStream_t);
template <class T>
void dequantize_wide(const Nf4Dequantize<T>&, cudaStream_t);
template <class T>
void dequantize_shuffle(const Nf4Dequantize<T>&, cudaStream_t);
template <class T>
void exercise(const Nf4Dequantize<T>&, cudaStream_t);  // yours

template <class T>
void quantize_block(const Nf4Quantize<T>&, cudaStream_t);
template <class T>
void quantize_warp(const Nf4Quantize<T>&, cudaStream_t);
template <class T>
void quantize_vectors(const Nf4Quantize<T>&, cudaStream_t);
template <class T>
void quantize_cells(const Nf4Quantize<T>&, cudaStream_t);

// Blocks [begin, end) of a problem, as a problem.
template <class P>
P some_blocks(P p, size_t begin, size_t end) {
  const int64_t from = static_cast<int64_t>(begin) * days::kNf4Block,
                to = static_cast<int64_t>(end) * days::kNf4Block;
  p.codes += from / 2;
  p.absmax += begin;
  if constexpr (requires { p.x; }) p.x += from;
  if constexpr (requires { p.y; }) p.y += from;
  p.n = (to < p.n ? to : p.n) - from;
  return p;
}

// On the CPU, host pointers: the format, and the same by all cores.
template <class T>
void dequantize_reference(const Nf4Dequantize<T>&);
template <class T>
void dequantize_parallel(const Nf4Dequantize<T>&);
template <class T>
void quantize_reference(const Nf4Quantize<T>&);
template <class T>
void quantize_parallel(const Nf4Quantize<T>&);

}  // namespace day17
