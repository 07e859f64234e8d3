// SPDX-License-Identifier: MIT
// Day 67: the launchers of c = a * b, row-major, which all matmul days share.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "common/instantiate.h"
#include "common/needs.h"
#include "common/problems/matmul.h"
#include "common/setup.h"
#include "common/types.h"

namespace day67 {

using days::Matmul;

// The ladder's problem: a product for which a library may have chosen its kernel before.
template <class T>
struct Product : Matmul<T> {
  days::Setup setup;
};

template <class T>
concept Half = std::is_same_v<T, days::half> || std::is_same_v<T, days::bf16>;

// The copy engine wants rows that begin at multiples of 16 bytes.
inline constexpr auto kWholeK = days::multiple_of("k", 8, [](const auto& p) { return p.k; });
inline constexpr auto kWholeN = days::multiple_of("n", 8, [](const auto& p) { return p.n; });
inline constexpr auto kAligned =
    days::needs("16-byte aligned a, b, c", [](const auto& p) { return days::aligned16(p.a, p.b, p.c); });

template <class T>
requires Half<T>
void matmul_warpgroup(const Matmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_copied(const Matmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_ring(const Matmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_roles(const Matmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_persistent(const Matmul<T>&, cudaStream_t);
template <class T>
requires Half<T>
void matmul_clusters(const Matmul<T>&, cudaStream_t);

// Yours: exercise.cu.
template <class T>
requires Half<T>
void exercise(const Matmul<T>&, cudaStream_t);

}  // namespace day67
