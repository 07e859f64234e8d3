// SPDX-License-Identifier: MIT
// Day 43: the launchers. The problem, o = softmax(scale * q k^T) v, is shared by all attention days.
#pragma once

#include <cuda_runtime.h>

#include "common/problems/attention.h"
#include "common/types.h"

namespace day43 {

using days::Attention;

// What tensor cores multiply.
template <class T>
concept Half = std::is_same_v<T, days::half> || std::is_same_v<T, days::bf16>;

template <class T>
void attention_naive(const Attention<T>&, cudaStream_t);
// From here on q, k, v and o have to be 16-byte aligned.
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

template <class T>
bool takes_vectors(const Attention<T>& p) {
  return days::aligned16(p.q, p.k, p.v, p.o);
}
template <class T>
void require_vectors(const Attention<T>& p, const char* variant) {
  days::require_attention(p, variant);
  days::require(takes_vectors(p), variant, ": q, k, v and o must be 16-byte aligned");
}

// A head's dimension as a compile-time constant: calls launch(std::integral_constant<int, 64 or 128>).
template <class Launch>
void for_dim(int dim, const Launch& launch) {
  if (dim == 64) return launch(std::integral_constant<int, 64>{});
  return launch(std::integral_constant<int, 128>{});
}

}  // namespace day43

// A launcher for both types of tensor cores.
#define ATTENTION_INSTANTIATE_HALVES(launcher)                        \
  template void launcher(const Attention<days::half>&, cudaStream_t); \
  template void launcher(const Attention<days::bf16>&, cudaStream_t)
#define ATTENTION_INSTANTIATE(launcher)                          \
  template void launcher(const Attention<float>&, cudaStream_t); \
  ATTENTION_INSTANTIATE_HALVES(launcher)
