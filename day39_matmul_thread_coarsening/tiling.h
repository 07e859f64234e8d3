// SPDX-License-Identifier: MIT
//
// Day 39: the numbers of autotuned's kernel. A tiling says which part of c a block, a warp and a thread makes, how
// deep a tile is, and how many tiles are in flight. Kernel files, the tuner's candidates and tests share it.
#pragma once

#include <cstddef>

#include "common/util.h"

namespace day39 {

struct Tiling {
  int block_m, block_n;    // of c, a block; multiples of 32
  int block_k;             // of k, a tile: a multiple of 8
  int warp_m, warp_n;      // of c, a warp
  int thread_m, thread_n;  // of c, a thread: multiples of 4
  int stages;              // tiles in shared memory

  bool operator==(const Tiling&) const = default;

  DAYS_HOST_DEVICE constexpr int threads() const { return block_m / warp_m * (block_n / warp_n) * 32; }
  // A row of a's or b's tile has 4 floats more: 8 floats of k times 4 rows, stored by a warp, are in 32 banks.
  DAYS_HOST_DEVICE constexpr int pitch_a() const { return block_m + 4; }
  DAYS_HOST_DEVICE constexpr int pitch_b() const { return block_n + 4; }
  DAYS_HOST_DEVICE constexpr size_t shared_bytes() const {
    return sizeof(float) * static_cast<size_t>(stages * block_k * (pitch_a() + pitch_b()));
  }
  // Blocks that an m x n matrix takes.
  DAYS_HOST_DEVICE constexpr long long blocks(int m, int n) const {
    return ((m - 1LL) / block_m + 1) * ((n - 1LL) / block_n + 1);
  }
};

// A tiling as a type of plain numbers, which a kernel's template takes: the host code that nvcc 13.0 makes for a kernel
// cannot name one whose template argument is a struct.
template <int... kNumbers>
struct Numbers {
  static constexpr Tiling kTiling{kNumbers...};
};
template <Tiling t>
using NumbersOf =
    Numbers<t.block_m, t.block_n, t.block_k, t.warp_m, t.warp_n, t.thread_m, t.thread_n, t.stages>;

// Whether the kernel can be made of it. tuning/space.json says the same to the tuner, which adds what a device has.
constexpr bool possible(const Tiling& t) {
  const int threads = t.block_m % t.warp_m == 0 && t.block_n % t.warp_n == 0 ? t.threads() : 0;
  return t.block_m % 32 == 0 && t.block_n % 32 == 0 && t.block_k % 8 == 0 && t.thread_m % 4 == 0 &&
         t.thread_n % 4 == 0 && t.warp_m % t.thread_m == 0 && t.warp_n % t.thread_n == 0 &&
         t.warp_m / t.thread_m * (t.warp_n / t.thread_n) == 32 && t.warp_n / t.thread_n >= 2 &&
         t.stages >= 2 && threads >= 32 && threads <= 1024 &&
         // each thread copies as many floats as every other, of each tile
         t.block_m * t.block_k % (4 * threads) == 0 && t.block_n * t.block_k % (4 * threads) == 0 &&
         threads / 8 <= t.block_m && threads / 8 <= t.block_n;
}

}  // namespace day39
