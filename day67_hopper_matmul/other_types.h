// SPDX-License-Identifier: MIT
// Day 67: the launchers of the ladders "fp8" and "fp32", and their problems.
#pragma once

#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/problems/matmul.h"
#include "common/setup.h"
#include "common/types.h"
#include "common/workspace.h"

namespace day67 {

template <class T>
concept Byte = std::is_same_v<T, days::fp8_e4m3> || std::is_same_v<T, days::fp8_e5m2>;

// c = a * b of numbers of 8 bits, which wgmma takes along k alone: b comes by columns.
template <class T>
struct ByteMatmul {
  const T* a;     // (m, k)
  const T* b;     // (n, k)
  days::bf16* c;  // (m, n), written only
  int m, n, k;
  days::Setup setup;  // a library's kernel for it
};

// c = a * b of floats, row-major as everywhere, with room for what becomes of b.
template <class T>
struct WideMatmul : days::Matmul<T> {
  days::Workspace workspace;
};

// The copy engine wants rows that begin at multiples of 16 bytes.
inline constexpr auto kByteK16 = days::multiple_of("k", 16, [](const auto& p) { return p.k; });
inline constexpr auto kByteN8 = days::multiple_of("n", 8, [](const auto& p) { return p.n; });
inline constexpr auto kByteAligned =
    days::needs("16-byte aligned a, b, c", [](const auto& p) { return days::aligned16(p.a, p.b, p.c); });

inline constexpr auto kWideK = days::multiple_of("k", 4, [](const auto& p) { return p.k; });
inline constexpr auto kWideN = days::multiple_of("n", 2, [](const auto& p) { return p.n; });

// fp8: float sums, bf16 out.
template <class T>
requires Byte<T>
void matmul_one(const ByteMatmul<T>&, cudaStream_t);
template <class T>
requires Byte<T>
void matmul_promoted(const ByteMatmul<T>&, cudaStream_t);

// fp32: floats in and out. Its workspace has both parts of b.
void matmul_three(const WideMatmul<float>&, cudaStream_t);
template <class T>
size_t three_workspace(const WideMatmul<T>& p) {
  return 2 * sizeof(T) * static_cast<size_t>(p.n) * static_cast<size_t>(p.k);
}

}  // namespace day67
