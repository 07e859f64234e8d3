// SPDX-License-Identifier: MIT
// Day 57: the problems, and the launchers that solve them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day57 {

// What elements are added up in: fp32 for floating-point types, whole numbers that wrap for int32.
template <class T>
using Total = std::conditional_t<std::is_integral_v<T>, uint32_t, float>;
template <class T>
DAYS_HOST_DEVICE inline Total<T> to_total(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<uint32_t>(x);
  } else {
    return days::to_float(x);
  }
}
template <class T>
DAYS_HOST_DEVICE inline T from_total(Total<T> sum) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(sum);
  } else {
    return days::from_float<T>(sum);
  }
}

// y[i] = x[0] + ... + x[i]; exclusive: without x[i]. y may be x, but may not overlap it otherwise.
template <class T>
struct Scan {
  const T* x;  // (n)
  T* y;        // (n)
  int64_t n;   // positive
  bool exclusive;
  days::Workspace workspace;
};

// The same, inclusive, but where head[i] is not 0 a new sum begins with x[i].
template <class T>
struct SegmentedScan {
  const T* x;           // (n)
  const uint8_t* head;  // (n)
  T* y;                 // (n)
  int64_t n;            // positive
  days::Workspace workspace;
};

// ---- tiles ----

inline constexpr int kTileOfSweeps = 1024;

// From raked on: a thread has kVectors vectors of 16 bytes, and its block 16 KiB.
inline constexpr int kThreads = 256, kWarps = kThreads / days::kWarpSize;
inline constexpr int kVectors = 4;
template <class T>
inline constexpr int kEach = 16 / static_cast<int>(sizeof(T));  // elements of a vector
template <class T>
inline constexpr int kTile = kThreads* kVectors* kEach<T>;

// ---- what the launchers need ----

inline constexpr auto kAligned =
    days::needs("16-byte aligned x, y", [](const auto& p) { return days::aligned16(p.x, p.y); });

// How many tiles there are. Throws std::invalid_argument where no launcher could take the problem.
template <class P>
int64_t tiles_of(const P& p, int tile, const char* variant) {
  const int64_t tiles = days::grid_of(p.n, tile, variant);
  days::require(days::same_or_apart(p.x, static_cast<decltype(p.x)>(p.y), p.n), variant,
                ": x and y overlap; they may be the same array or two apart");
  return tiles;
}
// And gives the workspace, of which so many bytes are needed.
template <class P>
char* workspace_of(const P& p, size_t needed, const char* variant) {
  days::require(p.workspace.bytes >= needed, variant, ": needs a workspace of bytes:", needed);
  return static_cast<char*>(p.workspace.data);
}

// Two arrays of sums, to which the launches of doubling write in turn.
template <class T>
size_t doubling_workspace(const Scan<T>& p) {
  return 2 * sizeof(Total<T>) * static_cast<size_t>(p.n);
}
// A sum for each tile, and that of all.
template <class T>
size_t sums_workspace(const Scan<T>& p, int tile) {
  return sizeof(Total<T>) * static_cast<size_t>(days::ceil_div(p.n, tile) + 1);
}
template <class T>
size_t sweeps_workspace(const Scan<T>& p) {
  return sums_workspace(p, kTileOfSweeps);
}
template <class T>
size_t raked_workspace(const Scan<T>& p) {
  return sums_workspace(p, kTile<T>);
}

// The ticket, which a workspace of released and the rungs after it begins with. What tiles publish follows.
inline constexpr size_t kTicketBytes = 16;
// Of each tile a flag and two sums.
template <class T>
size_t released_workspace(const Scan<T>& p) {
  return kTicketBytes + 3 * sizeof(uint32_t) * static_cast<size_t>(days::ceil_div(p.n, kTile<T>));
}
// Of each tile a word.
template <class P>
size_t words_workspace(const P& p) {
  using T = std::remove_cvref_t<decltype(*p.y)>;
  return kTicketBytes + sizeof(unsigned long long) * static_cast<size_t>(days::ceil_div(p.n, kTile<T>));
}

// ---- launchers ----

template <class T>
void scan_doubling(const Scan<T>&, cudaStream_t);
template <class T>
void scan_sweeps(const Scan<T>&, cudaStream_t);
template <class T>
void scan_raked(const Scan<T>&, cudaStream_t);
template <class T>
void scan_released(const Scan<T>&, cudaStream_t);
template <class T>
void scan_one_word(const Scan<T>&, cudaStream_t);
template <class T>
void scan_look_ahead(const Scan<T>&, cudaStream_t);
template <class T>
void scan_segmented(const SegmentedScan<T>&, cudaStream_t);
template <class T>
void exercise(const Scan<T>&, cudaStream_t);  // yours

// The first two of the three launches of sweeps and raked: sums[t] = what the tiles before tile t add up to, in tiles of kSize
// elements, and behind the last one what all add up to. In tile_sums.cu.
template <int kSize, class T>
void sums_before_tiles(const Scan<T>& p, Total<T>* sums, cudaStream_t stream);

// baselines/cub.cu, and at least the scratch memory that CUB asks for.
template <class P>
size_t cub_workspace(const P& p) {
  return (size_t{1} << 20) + static_cast<size_t>(p.n) / 16;
}

// ---- on the CPU, host pointers ----

// One loop in double (whole numbers: wrapping), and what all cores do.
template <class T>
void scan_reference(const Scan<T>&);
template <class T>
void scan_parallel(const Scan<T>&);
template <class T>
void segmented_reference(const SegmentedScan<T>&);

}  // namespace day57
