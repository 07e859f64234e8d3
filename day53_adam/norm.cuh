// SPDX-License-Identifier: MIT
// The norm of all gradients, in two stages of fixed shape: a block adds up the squares of its chunk, then one block adds up what
// those have found, in the order of their places. So the bits are the same on every run, which atomic additions would not promise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/reduce.cuh"
#include "common/vector.cuh"
#include "day53_adam/adam.h"
#include "day53_adam/table.cuh"

namespace day53 {

inline constexpr int kFinishThreads = 1024;

template <class T>
__global__ void __launch_bounds__(kThreads)
    squares_kernel(const __grid_constant__ Table<AdamTensor<T>> table, float* sums) {  // (blocks)
  const int tensor = tensor_of(table, blockIdx.x);
  const AdamTensor<T>& t = table.tensors[tensor];
  const int64_t begin = int64_t{blockIdx.x - table.begins[tensor]} * kNormChunk,
                end = min(begin + kNormChunk, t.n);
  float sum = 0;
  int64_t rest = begin;  // from here on one by one
  if (days::aligned16(t.g)) {
    rest += (end - begin) / 4 * 4;
#pragma unroll 4
    for (int64_t i = begin + 4 * int64_t{threadIdx.x}; i < rest; i += 4 * kThreads) {
      const days::Vec<float> g = days::load16(t.g + i);
      sum += (g[0] * g[0] + g[1] * g[1]) + (g[2] * g[2] + g[3] * g[3]);
    }
  }
  for (int64_t i = rest + threadIdx.x; i < end; i += kThreads) sum += t.g[i] * t.g[i];
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <class T>
__global__ void __launch_bounds__(kFinishThreads) finish_kernel(const float* sums, int64_t count, T* norm) {
  double sum = 0;
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < count; i += kFinishThreads) sum += double{sums[i]};
  sum = days::block_reduce(sum, days::Sum{}, 0.0);
  if (threadIdx.x == 0) *norm = static_cast<T>(sqrt(sum));
}

// `sums` has room for norm_workspace(tensors) bytes.
template <class T>
void gradient_norm(const std::vector<AdamTensor<T>>& tensors, void* sums, float* norm, const char* variant,
                   cudaStream_t stream) {
  float* const found = static_cast<float*>(sums);
  int64_t count = 0;
  for_each_table(tensors, kNormChunk, variant, [&](const Table<AdamTensor<T>>& table, unsigned blocks) {
    squares_kernel<<<blocks, kThreads, 0, stream>>>(table, found + count);
    CUDA_CHECK_LAUNCH();
    count += blocks;
  });
  finish_kernel<<<1, kFinishThreads, 0, stream>>>(found, count, norm);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day53
