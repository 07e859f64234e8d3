// SPDX-License-Identifier: MIT
// Day 43: the launchers. The problem, o = softmax(scale * q k^T) v, is shared by all attention days.
#pragma once

#include <cuda_runtime.h>

#include "common/instantiate.h"
#include "common/needs.h"
#include "common/problems/attention.h"
#include "common/types.h"

namespace day43 {

using days::Attention;
using days::for_dim;
using days::Half;

// What all but naive need besides.
inline constexpr auto kAligned = days::needs(
    "16-byte aligned q, k, v, o", [](const auto& p) { return days::aligned16(p.q, p.k, p.v, p.o); });

template <class T>
void attention_naive(const Attention<T>&, cudaStream_t);
void attention_tiled(const Attention<float>&, cudaStream_t);
template <class T>
requires Half<T>
void attention_mma(const Attention<T>&, cudaStream_t);
template <class T>
requires Half<T>
void attention_async(const Attention<T>&, cudaStream_t);
template <class T>
requires Half<T>
void attention_skipping(const Attention<T>&, cudaStream_t);
template <class T>
requires Half<T>
void attention_wide(const Attention<T>&, cudaStream_t);
void attention_turing(const Attention<days::half>&, cudaStream_t);

// Yours: exercise.cu. Takes what tiled takes.
void exercise(const Attention<float>&, cudaStream_t);

}  // namespace day43
