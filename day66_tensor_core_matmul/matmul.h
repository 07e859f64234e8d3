// SPDX-License-Identifier: MIT
// Day 66: the launchers. c = a * b in row-major order is shared by all matmul days; two problems of this day's own are below.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/problems/matmul.h"
#include "common/types.h"
#include "common/workspace.h"

namespace day66 {

using days::Matmul;

// What tensor cores multiply 16 x 8 x 16 an instruction.
template <class T>
concept Half = std::is_same_v<T, days::half> || std::is_same_v<T, days::bf16>;

// Bytes into 32-bit sums. b is stored by columns, as the weights of a network mostly are: each of its columns is a
// row here, k bytes side by side.
template <class T>
struct ByteMatmul {
  const T* a;  // (m, k)
  const T* b;  // (n, k)
  int32_t* c;  // (m, n), written only
  int m, n, k;
};

// -128 * -128 is 2^14: so many fit into 31 bits.
inline constexpr auto kSumFits = days::at_most("k", 131071, [](const auto& p) { return p.k; });

inline constexpr auto kWordsOfBytes =
    days::needs("k % 4 == 0, n % 4 == 0", [](const auto& p) { return p.k % 4 == 0 && p.n % 4 == 0; });

template <class T>
void require_bytes(const ByteMatmul<T>& p, const char* variant) {
  days::require(p.m > 0 && p.n > 0 && p.k > 0, variant, ": m, n and k must be positive; they are ", p.m, p.n,
                p.k);
  days::require_needs(p, variant, kSumFits);
}

// Few elements of c and a long k: sums are made in pieces, which meet in the workspace.
template <class T>
struct DeepMatmul : Matmul<T> {
  days::Workspace workspace;
};

// A layer of a network: c = max(a * b + bias, 0), where bias has a number for each column.
template <class T>
struct Linear : Matmul<T> {
  const T* bias;  // (n)
};

// Rows of a and b are moved 16 bytes at a time.
inline constexpr auto kWholeK = days::multiple_of("k", 8, [](const auto& p) { return p.k; });
inline constexpr auto kWholeN = days::multiple_of("n", 8, [](const auto& p) { return p.n; });
inline constexpr auto kAligned =
    days::needs("16-byte aligned a, b, c", [](const auto& p) { return days::aligned16(p.a, p.b, p.c); });

// Blocks that have a tile of c each.
inline unsigned tile_blocks(int m, int n, int tile_m, int tile_n, const char* variant) {
  const int64_t blocks = int64_t{days::ceil_div(m, tile_m)} * days::ceil_div(n, tile_n);
  days::require(blocks < int64_t{1} << 31, variant, ": a grid has at most 2147483647 blocks; tiles are",
                blocks);
  return static_cast<unsigned>(blocks);
}

// half: T in, float sums, T out.
template <class T>
requires Half<T>
void matmul_wmma(const Matmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_mma(const Matmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_swizzled(const Matmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_staged(const Matmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_wide(const Matmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_grouped(const Matmul<T>&, cudaStream_t);
void matmul_turing(const Matmul<days::half>&, cudaStream_t);

// tf32, fp32: floats in and out.
void matmul_tf32(const Matmul<float>&, cudaStream_t);
void matmul_three(const Matmul<float>&, cudaStream_t);

// int8.
void matmul_bytes(const ByteMatmul<int8_t>&, cudaStream_t);

// deep: T in, float sums, T out. split and streamed put so many bytes into their workspace.
template <class T>
requires Half<T>
void matmul_tiles(const DeepMatmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_split(const DeepMatmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_streamed(const DeepMatmul<T>&, cudaStream_t);
size_t split_bytes(int m, int n, int k);
size_t streamed_bytes(int m, int n, int k);

// linear.
template <class T>
requires Half<T>
void linear_apart(const Linear<T>&, cudaStream_t);
template <class T>
requires Half<T>
void linear_fused(const Linear<T>&, cudaStream_t);

// Yours: exercise.cu. Takes what swizzled takes.
template <class T>
requires Half<T>
void exercise(const Matmul<T>&, cudaStream_t);

}  // namespace day66
