// SPDX-License-Identifier: MIT
// The fp32 sums that atomics add to, and their rounding to dw.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "common/check.h"
#include "day73_embedding/embedding.h"

namespace day73 {

// Cleared: (vocab, width).
template <class T>
float* cleared_sums(const EmbeddingBackward<T>& p, const char* variant, cudaStream_t stream) {
  float* sums = reinterpret_cast<float*>(workspace_of(p, sums_workspace(p), variant));
  if constexpr (std::is_same_v<T, float>) sums = p.dw;
  CUDA_CHECK(cudaMemsetAsync(
      sums, 0, sizeof(float) * static_cast<size_t>(p.vocab) * static_cast<size_t>(p.width), stream));
  return sums;
}

template <class T>
__global__ void __launch_bounds__(kThreads) round_kernel(const float* sums,  // (n)
                                                         T* dw,              // (n)
                                                         int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) dw[i] = days::from_float<T>(sums[i]);
}

// In fp32 the sums are dw, and there is nothing to do.
template <class T>
void round_sums(const EmbeddingBackward<T>& p, const float* sums, const char* variant, cudaStream_t stream) {
  if constexpr (!std::is_same_v<T, float>) {
    const int64_t n = int64_t{p.vocab} * p.width;
    round_kernel<<<days::grid_of(n, kThreads, variant), kThreads, 0, stream>>>(sums, p.dw, n);
    CUDA_CHECK_LAUNCH();
  }
}

}  // namespace day73
