// SPDX-License-Identifier: MIT
//
// The work of this day's programs: each element is the state of a random number generator, which is turned a
// number of times. A GPU turns step by step. The CPU knows a short cut, so that it can check every element.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/buffer.h"
#include "common/program.h"
#include "common/util.h"

namespace day60 {

constexpr uint32_t kFactor = 1664525, kSummand = 1013904223;  // Numerical Recipes' generator, modulo 2^32
constexpr int kThreads = 256;                                 // of a block

// to[i] = from[i], turned `turns` times. from and to may be the same. One element a thread.
__global__ void turn(const uint32_t* from, uint32_t* to, size_t n, int turns) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  uint32_t state = from[i];
  for (int t = 0; t < turns; ++t) state = kFactor * state + kSummand;
  to[i] = state;
}

inline unsigned blocks(size_t n) {
  return static_cast<unsigned>(days::ceil_div(n, size_t{kThreads}));
}

// On a GPU there should be a kernel to hide: an H200 takes about 0.7 ms for 2^26 elements, as compilers make one
// multiply-add of four turns. On a CPU there is nothing to hide.
inline int default_turns() {
  return days::on_gpu() ? 500 : 20;
}

// What n elements begin with.
inline void fill(uint32_t* x, size_t n) {
  uint32_t state = 60;
  for (size_t i = 0; i < n; ++i) x[i] = state = kFactor * state + kSummand + static_cast<uint32_t>(i);
}

// x, turned `turns` times, in one step: a turn is state -> factor state + summand, and two of them are another
// such step.
inline std::vector<uint32_t> turned(const uint32_t* x, size_t n, int turns) {
  uint32_t factor = 1, summand = 0;
  for (int t = 0; t < turns; ++t) {
    factor *= kFactor;
    summand = kFactor * summand + kSummand;
  }
  std::vector<uint32_t> y(n);
  for (size_t i = 0; i < n; ++i) y[i] = factor * x[i] + summand;
  return y;
}

inline double gigabytes_per_second(size_t bytes, double seconds) {
  return 1e-9 * static_cast<double>(bytes) / seconds;
}

}  // namespace day60
