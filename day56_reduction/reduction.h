// SPDX-License-Identifier: MIT
// Day 56: the problems, and the launchers that solve them.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/setup.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day56 {

// What elements are added up in, and what their sum is: float for fp32 and 16 bits (a sum of fp16 may pass 65,504), whole
// numbers in 64 bits.
template <class T>
using Total = std::conditional_t<std::is_integral_v<T>, int64_t, float>;
template <class To, class From>
DAYS_HOST_DEVICE inline To to_total(From x) {
  if constexpr (std::is_integral_v<To>) {
    return x;
  } else {
    return days::to_float(x);
  }
}

// sum[0] = x[0] + ... + x[n-1]
template <class T>
struct Sum {
  const T* x;     // (n)
  Total<T>* sum;  // (1)
  int64_t n;      // positive
  days::Workspace workspace;
  days::Setup setup;
};

// value[0] is the largest element and index[0] its place: the first of equals (-0 equals 0), and the first NaN if there is one.
template <class T>
struct Argmax {
  const T* x;      // (n)
  T* value;        // (1)
  int64_t* index;  // (1)
  int64_t n;       // positive
  days::Workspace workspace;
  days::Setup setup;
};

inline constexpr int kThreads = 256;  // of a block of pairs, halves, chains and vectors
inline constexpr int kItems = 16;     // elements that a thread of chains takes
inline constexpr int kAhead = 8;  // vectors that a thread loads before it adds up the first, from vectors on
template <class T>
inline constexpr int kOfVector = 16 / static_cast<int>(sizeof(T));

inline constexpr int64_t kTileOfPairs = kThreads;
inline constexpr int64_t kTileOfChains = int64_t{kThreads} * kItems;
template <class T>
inline constexpr int64_t kTileOfVectors = int64_t{kThreads} * kAhead* kOfVector<T>;

inline constexpr auto kAligned =
    days::needs("16-byte aligned x", [](const auto& p) { return days::aligned16(p.x); });
// The index has 32 bits of a key.
inline constexpr auto kKeyHoldsIndex =
    days::at_most("n", int64_t{1} << 32, [](const auto& p) { return p.n; });

// ---- pairs, halves, chains, vectors: a launch a level ----

// The partial sums of a level begin at a multiple of 16 bytes.
inline int64_t places_of(int64_t blocks) {
  return days::round_up(blocks, int64_t{4});
}
// The tile of the first level, and of those above, whose elements are totals.
struct Tiles {
  int64_t first, above;
};
inline constexpr Tiles kTilesOfPairs = {kTileOfPairs, kTileOfPairs};
inline constexpr Tiles kTilesOfChains = {kTileOfChains, kTileOfChains};
template <class T>
inline constexpr Tiles kTilesOfVectors = {kTileOfVectors<T>, kTileOfVectors<Total<T>>};

template <class T>
size_t levels_workspace(const Sum<T>& p, Tiles tiles) {
  int64_t places = 0;
  for (int64_t blocks = days::ceil_div(p.n, tiles.first); blocks > 1;
       blocks = days::ceil_div(blocks, tiles.above))
    places += places_of(blocks);
  return sizeof(Total<T>) * static_cast<size_t>(places);
}
template <class T>
size_t pairs_workspace(const Sum<T>& p) {
  return levels_workspace(p, kTilesOfPairs);
}
template <class T>
size_t chains_workspace(const Sum<T>& p) {
  return levels_workspace(p, kTilesOfChains);
}
template <class T>
size_t vectors_workspace(const Sum<T>& p) {
  return levels_workspace(p, kTilesOfVectors<T>);
}

// launch(x, sums, n, blocks) for each level of the tree: block b writes the sum of its tile of x to sums[b], and the level above
// adds up these, until one is left.
template <class T, class Launch>
void each_level(const Sum<T>& p, const char* variant, Tiles tiles, Launch launch) {
  int64_t blocks = days::grid_of(p.n, tiles.first, variant);
  const size_t bytes = levels_workspace(p, tiles);
  days::require(p.workspace.bytes >= bytes, variant, ": needs a workspace of bytes:", bytes);
  Total<T>* to = static_cast<Total<T>*>(p.workspace.data);
  launch(p.x, blocks == 1 ? p.sum : to, p.n, static_cast<unsigned>(blocks));
  while (blocks > 1) {
    const Total<T>* from = to;
    const int64_t n = blocks;
    to += places_of(blocks);
    blocks = days::ceil_div(n, tiles.above);
    launch(from, blocks == 1 ? p.sum : to, n, static_cast<unsigned>(blocks));
  }
}

// ---- one_launch, two_sum, and both of argmax: each block has a share of x ----

inline constexpr int kShareThreads = 512;
// Blocks of one wave: two for each of the 132 multiprocessors of an H100 or H200. It is a constant, so that n alone shapes the
// tree: another GPU takes the same blocks in its own number of turns, and gets the same bits.
inline constexpr int64_t kWave = 264;
// A block's share is to be no more than so many bytes, while there are at most kMostWaves waves: who is done early then takes
// another, and no multiprocessor waits long for the slowest.
inline constexpr int64_t kShareBytes = 256 << 10, kMostWaves = 32;

struct Shares {
  int64_t each;     // vectors of 16 bytes of a share; the last one may have fewer
  unsigned blocks;  // shares
};
template <class T>
constexpr Shares shares_of(int64_t n) {
  const int64_t vectors =
      n / kOfVector<T>;  // the elements after the last whole vector are the last block's, too
  const int64_t waves = std::clamp(16 * vectors / (kWave * kShareBytes), int64_t{1}, kMostWaves);
  const int64_t most = std::clamp(days::ceil_div(vectors, int64_t{kShareThreads}), int64_t{1}, waves * kWave);
  const int64_t each = std::max(days::ceil_div(vectors, most), int64_t{1});
  return {each, static_cast<unsigned>(std::max(days::ceil_div(vectors, each), int64_t{1}))};
}

// What a workspace begins with.
struct Scratch {
  unsigned ticket;  // 0 before the first launch, and after each
  unsigned unused;
  unsigned long long key;  // of argmax_key, likewise
  // A place for each block follows.
};
// Sets the counts to 0, once, before the first launch.
struct Ready {};
template <class P>
Ready ready(const P& p, cudaStream_t stream) {
  days::require(p.workspace.bytes >= sizeof(Scratch), "set-up: needs a workspace of bytes:", sizeof(Scratch));
  CUDA_CHECK(cudaMemsetAsync(p.workspace.data, 0, sizeof(Scratch), stream));
  return {};
}
// A place that argmax_pairs fills: a block's largest element, as float, and its index.
struct Largest {
  float value;
  int64_t index;
};
template <class T>
size_t sums_workspace(const Sum<T>& p) {
  return sizeof(Scratch) + sizeof(Total<T>) * shares_of<T>(p.n).blocks;
}
template <class T>
size_t pairs_of_floats_workspace(const Sum<T>& p) {  // two_sum's: a sum and what its additions lost
  return sizeof(Scratch) + 2 * sizeof(float) * shares_of<T>(p.n).blocks;
}
template <class T>
size_t argmax_pairs_workspace(const Argmax<T>& p) {
  return sizeof(Largest) * shares_of<T>(p.n).blocks;
}
template <class T>
size_t argmax_key_workspace(const Argmax<T>&) {
  return sizeof(Scratch);
}

// A problem's shares. Throws std::invalid_argument where the launcher cannot take it.
template <class T, template <class> class Problem>
Shares shares_for(const Problem<T>& p, const char* variant, size_t workspace(const Problem<T>&)) {
  days::require(p.n > 0, variant, ": n must be positive, not", p.n);
  // A place within a share has 32 bits.
  days::require(p.n <= int64_t{1} << 42, variant, ": n must be at most 2^42, not", p.n);
  days::require_needs(p, variant, kAligned);
  days::require(p.workspace.bytes >= workspace(p), variant, ": needs a workspace of bytes:", workspace(p));
  return shares_of<T>(p.n);
}

template <class T>
void sum_pairs(const Sum<T>&, cudaStream_t);
template <class T>
void sum_halves(const Sum<T>&, cudaStream_t);
template <class T>
void sum_chains(const Sum<T>&, cudaStream_t);
template <class T>
void sum_vectors(const Sum<T>&, cudaStream_t);
template <class T>
void sum_one_launch(const Sum<T>&, cudaStream_t);
template <class T>
void sum_two_sum(const Sum<T>&, cudaStream_t);  // floating-point types
template <class T>
void argmax_pairs(const Argmax<T>&, cudaStream_t);  // likewise
template <class T>
void argmax_key(const Argmax<T>&, cudaStream_t);  // likewise
template <class T>
void exercise(const Sum<T>&, cudaStream_t);  // yours

// baselines/cub.cu asks CUB whether these bytes are enough.
template <class T>
size_t sum_cub_workspace(const Sum<T>&) {
  return 1 << 20;
}

// On the CPU, host pointers: one loop in double (int64_t for whole numbers), and what all cores do.
template <class T>
void sum_reference(const Sum<T>&);
template <class T>
void sum_parallel(const Sum<T>&);
template <class T>
void argmax_reference(const Argmax<T>&);
template <class T>
void argmax_parallel(const Argmax<T>&);
// What the tolerances need to know: the sum of the elements without their signs, where they are finite.
template <class T>
double sum_of_sizes(const Sum<T>&);

}  // namespace day56
