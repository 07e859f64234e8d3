// SPDX-License-Identifier: MIT
// Day 66: the launchers. c = a * b in row-major order is shared by all matmul days; a problem of this day's own is below.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/problems/matmul.h"
#include "common/types.h"

namespace day66 {

using days::Matmul;

// What tensor cores multiply 16 x 8 x 16 an instruction.
template <class T>
concept Half = std::is_same_v<T, days::half> || std::is_same_v<T, days::bf16>;

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

// tf32, fp32: floats in and out.
void matmul_tf32(const Matmul<float>&, cudaStream_t);
void matmul_three(const Matmul<float>&, cudaStream_t);

// linear.
template <class T>
requires Half<T>
void linear_fused(const Linear<T>&, cudaStream_t);

// Yours: exercise.cu. Takes what swizzled takes.
template <class T>
requires Half<T>
void exercise(const Matmul<T>&, cudaStream_t);

}  // namespace day66
