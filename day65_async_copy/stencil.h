// SPDX-License-Identifier: MIT
// Day 65: the problem, and the launchers that solve it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/instantiate.h"
#include "common/needs.h"
#include "common/util.h"

namespace day65 {

// The Laplacian of a field, to the eighth order: out is the sum, over k = 0 ... 4, of weight(k) times the elements of `in`
// that are k away along the row and along the column. What is outside of the field counts as 0.
template <class T>
struct Stencil {
  const T* in;  // (rows, cols)
  T* out;       // (rows, cols)
  int rows, cols;
  int blocks;  // that each multiprocessor is given; the result does not depend on it
};

inline constexpr int kRadius = 4;
// Of the second derivative by central differences of the eighth order; k = 0 belongs to the row and to the column.
DAYS_HOST_DEVICE constexpr float weight(int k) {
  return k == 0 ? -205.0f / 36 : k == 1 ? 8.0f / 5 : k == 2 ? -1.0f / 5 : k == 3 ? 8.0f / 315 : -1.0f / 560;
}

// A block computes a strip of kStrip columns, four a thread. Of each row it fetches the strip and a margin of 8 columns on both
// sides: four would do, but with eight every tile begins where a sector of 32 bytes does.
inline constexpr int kThreads = 256;
inline constexpr int kStrip = 4 * kThreads;
inline constexpr int kMargin = 8;
inline constexpr int kTile = kStrip + 2 * kMargin;
static_assert(kMargin >= kRadius);
inline constexpr int kMostBlocks = 3;  // that a multiprocessor can be given: 80 registers for each thread
inline constexpr int kLeastRows = 16;  // a block marches over so many at least
// A place in a tile, or a row that is fetched ahead, lies so far beyond the field at most, and is counted in 32 bits.
inline constexpr int kMostExtent = 2147483647 - 2048;

// How the field is dealt out: in strips of columns, each in parts of so many rows. A block marches down one part of a strip.
struct March {
  int64_t strips;
  int64_t rows;    // of a part; the last one may be shorter
  int64_t blocks;  // in all
};
template <class T>
March march_of(const Stencil<T>& p, int strip, const char* variant) {
  March march;
  march.strips = days::ceil_div(p.cols, strip);
  const int64_t at_once = int64_t{p.blocks} * days::multiprocessors();
  const int64_t parts = std::max<int64_t>(1, at_once / march.strips);
  march.rows = std::max<int64_t>(kLeastRows, days::ceil_div(int64_t{p.rows}, parts));
  march.blocks = march.strips * days::ceil_div(int64_t{p.rows}, march.rows);
  days::require(march.blocks <= days::kMaxGridX, variant, ": a grid has at most 2^31 - 1 blocks, not",
                march.blocks);
  return march;
}

template <class T>
void require_problem(const Stencil<T>& p, const char* variant) {
  days::require(p.rows > 0 && p.cols > 0, variant, ": rows and cols must be positive; rows is", p.rows,
                "and cols", p.cols);
  days::require(p.rows <= kMostExtent && p.cols <= kMostExtent, variant, ": rows and cols must be at most",
                kMostExtent, "; rows is", p.rows, "and cols", p.cols);
  days::require(p.blocks > 0 && p.blocks <= kMostBlocks, variant, ": a multiprocessor can be given 1 to",
                kMostBlocks, "blocks, not", p.blocks);
  const uintptr_t in = reinterpret_cast<uintptr_t>(p.in), out = reinterpret_cast<uintptr_t>(p.out);
  const uintptr_t bytes = sizeof(T) * static_cast<uintptr_t>(p.rows) * static_cast<uintptr_t>(p.cols);
  days::require(in + bytes <= out || out + bytes <= in, variant, ": in and out must not overlap");
}

// What all need that fetch 16 bytes at a time, and the copy engine too: every row begins at a multiple of 16 bytes.
inline constexpr auto kWholeVectors =
    days::needs("cols % 4 == 0, 16-byte aligned in, out",
                [](const auto& p) { return p.cols % 4 == 0 && days::aligned16(p.in, p.out); });
void stencil_direct(const Stencil<float>&, cudaStream_t);
void stencil_plain(const Stencil<float>&, cudaStream_t);
void stencil_prefetch(const Stencil<float>&, cudaStream_t);
void stencil_stages4(const Stencil<float>&, cudaStream_t);
void stencil_stages9(const Stencil<float>&, cudaStream_t);
void stencil_mbarrier(const Stencil<float>&, cudaStream_t);
void stencil_tensor(const Stencil<float>&, cudaStream_t);

// Yours: exercise.cu. Takes what plain takes.
void exercise(const Stencil<float>&, cudaStream_t);

// On the CPU, host pointers: the sum as it stands above, and the same on all cores.
void stencil_reference(const Stencil<float>&);
void stencil_parallel(const Stencil<float>&);

}  // namespace day65
