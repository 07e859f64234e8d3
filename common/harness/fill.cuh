// SPDX-License-Identifier: MIT
//
// Part of harness.cu: kernels that fill a buffer with random values and that tell whether a buffer has
// changed.
#pragma once

#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/device.h"
#include "common/harness.h"
#include "common/random.h"
#include "common/util.h"

namespace days {
namespace detail {

inline constexpr int kHarnessThreads = 256;

// Some sixteen elements a thread until the device is full.
inline unsigned harness_blocks(size_t n) {
  const size_t wanted = ceil_div(n, size_t{16} * kHarnessThreads);
  return static_cast<unsigned>(std::clamp<size_t>(wanted, 1, 16 * static_cast<size_t>(multiprocessors())));
}

template <class T>
__global__ void fill_kernel(T* data, size_t n, Distribution distribution, uint64_t seed, double a, double b) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    data[i] = random_value<T>(distribution, seed, i, a, b);
  }
}

// n packed numbers, two a byte.
template <>
__global__ void fill_kernel(uint4x2* data, size_t n, Distribution distribution, uint64_t seed, double a,
                            double b) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < (n + 1) / 2; i += stride) {
    data[i] = random_pair(distribution, seed, i, n, a, b);
  }
}

// Adds up a hash of (place, value) over all bytes, eight at a time.
__global__ void fingerprint_kernel(const unsigned char* data, size_t bytes, unsigned long long* sum) {
  const size_t words = bytes / 8, stride = size_t{gridDim.x} * blockDim.x;
  const size_t first = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  uint64_t mine = 0;
  for (size_t i = first; i < words; i += stride) {
    mine += mix(reinterpret_cast<const uint64_t*>(data)[i] ^ mix(i + 1));
  }
  if (first < bytes % 8) mine += mix(data[8 * words + first] ^ mix(~first));
  atomicAdd(sum, static_cast<unsigned long long>(mine));
}

}  // namespace detail

uint64_t fingerprint(const void* data, size_t bytes) {
  DeviceBuffer<uint64_t> sum(std::vector<uint64_t>{0});
  detail::fingerprint_kernel<<<detail::harness_blocks(bytes / 8), detail::kHarnessThreads>>>(
      static_cast<const unsigned char*>(data), bytes, reinterpret_cast<unsigned long long*>(sum.data()));
  CUDA_CHECK_LAUNCH();
  return sum.download()[0];
}

int compiled_architecture() {
  cudaFuncAttributes attributes;
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, detail::fingerprint_kernel));
  return attributes.ptxVersion;
}

template <class T>
void fill_on_device(T* data, size_t n, Distribution distribution, uint64_t seed, double a, double b,
                    cudaStream_t stream) {
  if (n == 0) return;
  detail::fill_kernel<<<detail::harness_blocks(n), detail::kHarnessThreads, 0, stream>>>(
      data, n, distribution, seed, a, b);
  CUDA_CHECK_LAUNCH();
}

#define DAYS_FILL(T) \
  template void fill_on_device<T>(T*, size_t, Distribution, uint64_t, double, double, cudaStream_t);
DAYS_FILL(float)
DAYS_FILL(double)
DAYS_FILL(half)
DAYS_FILL(bf16)
DAYS_FILL(fp8_e4m3)
DAYS_FILL(fp8_e5m2)
DAYS_FILL(uint4x2)
DAYS_FILL(int8_t)
DAYS_FILL(uint8_t)
DAYS_FILL(int16_t)
DAYS_FILL(uint16_t)
DAYS_FILL(int32_t)
DAYS_FILL(uint32_t)
DAYS_FILL(int64_t)
DAYS_FILL(uint64_t)
#undef DAYS_FILL

}  // namespace days
