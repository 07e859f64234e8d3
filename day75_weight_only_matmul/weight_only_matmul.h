// SPDX-License-Identifier: MIT
// Day 75: y = x * W^T for few tokens, where W is kept in 4 or 8 bits or as it is; the problems, and the launchers that solve
// them. Element types of x and y fp16 and bf16. Sums are made in fp32, in an order that is the same in each run on one device.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/nf4.h"
#include "common/setup.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day75 {

inline constexpr int kGroup = 128;        // of int4: codes of a row that share a scale
inline constexpr int kSkinnyTokens = 32;  // of kernels that keep sums of few tokens in registers
inline constexpr int kMostTokens = 64;    // of kernels that keep more
inline constexpr int kTileRows = 16;      // rows of W that one mma takes
inline constexpr int kTileDepth = 128;    // of k, a tile of repacked weights

// y[t, r] = sum over i of x[t, i] * (code[r, i] - 8) * scale[r, i / 128].
template <class T>
struct Int4Matmul {
  const T* x;              // (m, k): m tokens
  const days::uint4x2* w;  // (n, k): codes 0 to 15
  const T* scale;          // (n, k / 128)
  T* y;                    // (m, n)
  int m, n, k;
  days::Workspace workspace;
  days::Setup setup;
};

// y[t, r] = scale[r] * sum over i of x[t, i] * w[r, i].
template <class T>
struct Int8Matmul {
  const T* x;       // (m, k)
  const int8_t* w;  // (n, k)
  const T* scale;   // (n)
  T* y;             // (m, n)
  int m, n, k;
  days::Workspace workspace;
  days::Setup setup;
};

// NF4 (common/nf4.h), whose blocks of 64 lie along k: y[t, r] = sum of x[t, i] * nf4_value(code[r, i]) * absmax[r, i / 64].
template <class T>
struct Nf4Matmul {
  const T* x;            // (m, k)
  const uint8_t* codes;  // (n, k / 2)
  const float* absmax;   // (n, k / 64)
  T* y;                  // (m, n)
  int m, n, k;
  days::Workspace workspace;
  days::Setup setup;
};

// Weights as they were trained: y[t, r] = sum of x[t, i] * w[r, i].
template <class T>
struct PlainMatmul {
  const T* x;  // (m, k)
  const T* w;  // (n, k)
  T* y;        // (m, n)
  int m, n, k;
};

template <class Problem>
void require_weight_only(const Problem& p, const char* variant) {
  days::require(p.m > 0, variant, ": m must be positive, not", p.m);
  days::require(p.n > 0, variant, ": n must be positive, not", p.n);
  days::require(p.k > 0, variant, ": k must be positive, not", p.k);
}

inline constexpr auto kFewTokens = days::at_most("m", kMostTokens, [](const auto& p) { return p.m; });
inline constexpr auto kSkinny = days::at_most("m", kSkinnyTokens, [](const auto& p) { return p.m; });
inline constexpr auto kGridTokens =  // 8 of them a block along y
    days::at_most("m", 8 * days::kMaxGridY, [](const auto& p) { return p.m; });
inline constexpr auto kWholeGroups = days::multiple_of("k", kGroup, [](const auto& p) { return p.k; });
inline constexpr auto kAligned =
    days::needs("16-byte aligned x, w", [](const auto& p) { return days::aligned16(p.x, p.w); });
inline constexpr auto kAlignedX =
    days::needs("16-byte aligned x", [](const auto& p) { return days::aligned16(p.x); });

inline constexpr auto kWholeBlocks =
    days::multiple_of("k", days::kNf4Block, [](const auto& p) { return p.k; });
inline constexpr auto kWholeChunks = days::multiple_of("k", 8, [](const auto& p) { return p.k; });

// ---- The workspace of rungs that repack: tiles of 16 rows and 128 of k (tiles.cuh), tickets, sums of parts ----

template <class T>
constexpr size_t tile_bytes(const Int4Matmul<T>&) {
  return kTileRows * kTileDepth / 2 + kTileRows * sizeof(T);
}
template <class T>
constexpr size_t tile_bytes(const Int8Matmul<T>&) {
  return kTileRows * kTileDepth;
}
template <class T>
constexpr size_t tile_bytes(const Nf4Matmul<T>&) {
  return kTileRows * kTileDepth / 2 + kTileDepth / days::kNf4Block * kTileRows * sizeof(float);
}

// Of the table that a kernel keeps beside its stages.
template <class Problem>
constexpr size_t table_bytes(const Problem&) {
  return 0;
}
template <class T>
constexpr size_t table_bytes(const Nf4Matmul<T>&) {
  return 256 * days::kWarpSize * sizeof(uint32_t);
}

// Sums that a thread block has of a row: for 8, 16, 32 or 64 tokens.
constexpr int padded_tokens(int m) {
  return m <= 8 ? 8 : m <= 16 ? 16 : m <= 32 ? 32 : kMostTokens;
}

// How `striped` shares out the work. A unit is 256 rows of W and 128 of k; units are numbered along k first, and each block of
// the grid takes as many in a row as any other, or one more.
struct Stripes {
  static constexpr int kRows = 256, kStages = 4;
  int depths, row_blocks, blocks;
  size_t tickets, partials, bytes;  // offsets in the workspace, and its end

  // A multiprocessor has two blocks where both fit into its 227 KiB of shared memory, of which each block takes one more itself, and
  // where sums are so few that registers suffice.
  static constexpr int resident(int tokens, size_t shared_bytes) {
    return tokens <= 16 && 2 * (shared_bytes + 1024) <= 227 * 1024 ? 2 : 1;
  }

  template <class Problem>
  explicit Stripes(const Problem& p)
      : depths(days::ceil_div(p.k, kTileDepth)), row_blocks(days::ceil_div(p.n, kRows)) {
    const int64_t units = int64_t{depths} * row_blocks;
    const int tokens = padded_tokens(p.m);
    const size_t stage = kRows / kTileRows * tile_bytes(p) + static_cast<size_t>(tokens) * kTileDepth * 2;
    const int64_t resident = Stripes::resident(tokens, kStages * stage + table_bytes(p));
    blocks = static_cast<int>(std::min(units, resident * days::multiprocessors()));
    tickets =
        tile_bytes(p) * static_cast<size_t>(depths) * static_cast<size_t>(days::ceil_div(p.n, kTileRows));
    partials = tickets + days::round_up(sizeof(unsigned) * static_cast<size_t>(row_blocks), size_t{16});
    bytes = partials + sizeof(float) * 2 * static_cast<size_t>(blocks) * kRows * static_cast<size_t>(tokens);
  }
};
template <class Problem>
size_t repacked_workspace(const Problem& p) {
  return Stripes(p).bytes;
}

// Fills the workspace. The weights are read here and by no launch after.
struct Repacked {};
template <class T>
Repacked int4_repack(const Int4Matmul<T>&, cudaStream_t);
template <class T>
Repacked int8_repack(const Int8Matmul<T>&, cudaStream_t);
template <class T>
Repacked nf4_repack(const Nf4Matmul<T>&, cudaStream_t);

// Throws where a launcher cannot take the problem.
template <class Problem>
Stripes require_repacked(const Problem& p, const char* variant) {
  require_weight_only(p, variant);
  days::require_needs(p, variant, kFewTokens, kAlignedX);
  const Stripes stripes(p);
  const int64_t units = int64_t{stripes.depths} * stripes.row_blocks;
  days::require(units <= days::kMaxGridX, variant, ": W has at most 2147483647 parts of 256 x 128, not",
                units);
  days::require(p.workspace.bytes >= stripes.bytes, variant, ": needs a workspace of bytes:", stripes.bytes);
  p.setup.template get<Repacked>(variant);
  return stripes;
}

// int4
template <class T>
void int4_rows(const Int4Matmul<T>&, cudaStream_t);
template <class T>
void int4_magic(const Int4Matmul<T>&, cudaStream_t);
template <class T>
void int4_fragments(const Int4Matmul<T>&, cudaStream_t);
template <class T>
void int4_repacked(const Int4Matmul<T>&, cudaStream_t);
template <class T>
void int4_striped(const Int4Matmul<T>&, cudaStream_t);
template <class T>
void exercise(const Int4Matmul<T>&, cudaStream_t);  // yours: takes what magic takes

// int8
template <class T>
void int8_bytes(const Int8Matmul<T>&, cudaStream_t);

// nf4
template <class T>
void nf4_pairs(const Nf4Matmul<T>&, cudaStream_t);

// plain: W as it lies, no workspace.
template <class T>
void plain_skinny(const PlainMatmul<T>&, cudaStream_t);

// On the CPU, host pointers.
template <class T>
void int4_reference(const Int4Matmul<T>&);
template <class T>
void int8_reference(const Int8Matmul<T>&);
template <class T>
void nf4_reference(const Nf4Matmul<T>&);
template <class T>
void plain_reference(const PlainMatmul<T>&);

}  // namespace day75
