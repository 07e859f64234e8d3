// SPDX-License-Identifier: MIT
// The weights' copies in 16 bits, by a launch of their own.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/types.h"
#include "day53_adam/adam.h"
#include "day53_adam/table.cuh"

namespace day53 {

template <class T>
__global__ void __launch_bounds__(kThreads)
    cast_kernel(const __grid_constant__ Table<AdamTensor<T>> table, const float* norm) {  // (1)
  if (!isfinite(*norm)) return;
  const int tensor = tensor_of(table, blockIdx.x);
  const AdamTensor<T>& t = table.tensors[tensor];
  const int64_t begin = int64_t{blockIdx.x - table.begins[tensor]} * kChunk, end = min(begin + kChunk, t.n);
  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) t.copy[i] = days::from_float<T>(t.w[i]);
}

template <class T>
void cast_weights(const AdamStep<T>& p, const char* variant, cudaStream_t stream) {
  if constexpr (!std::is_same_v<T, float>) {
    for_each_table(p.tensors, kChunk, variant, [&](const Table<AdamTensor<T>>& table, unsigned blocks) {
      cast_kernel<<<blocks, kThreads, 0, stream>>>(table, p.norm);
      CUDA_CHECK_LAUNCH();
    });
  }
}

// The tensors as float has them, which have no copy.
template <class T>
std::vector<AdamTensor<float>> without_copies(const std::vector<AdamTensor<T>>& tensors) {
  std::vector<AdamTensor<float>> made;
  for (const auto& t : tensors) made.push_back({t.w, t.g, t.m, t.v, nullptr, t.n, t.decays});
  return made;
}

}  // namespace day53
