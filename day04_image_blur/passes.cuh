// SPDX-License-Identifier: MIT
//
// The two passes of a separable Gaussian, for any place that weights may be kept in: `weights(i)` is the
// i-th.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day04_image_blur/border.cuh"

namespace day04 {

inline constexpr int kPassX = 32;
inline constexpr int kPassY = 8;

template <class T, class Weights>
__global__ void rows_pass(const T* image,       // (planes, height, width)
                          Between<T>* between,  // (planes, height, width)
                          Weights weights, int height, int width, int radius, Border border) {
  const int x = blockIdx.x * kPassX + threadIdx.x;
  const int y = blockIdx.y * kPassY + threadIdx.y;
  if (x >= width || y >= height) return;
  const int64_t row = (int64_t{blockIdx.z} * height + y) * width;
  float sum = 0;
  for (int dx = -radius; dx <= radius; ++dx) {
    const int from = stand_in(x + dx, width, border);
    if (from >= 0) sum += weights(dx + radius) * static_cast<float>(image[row + from]);
  }
  between[row + x] = Fixed<T>::between(sum);
}

template <class T, class Weights>
__global__ void columns_pass(const Between<T>* between,  // (planes, height, width)
                             T* blurred,                 // (planes, height, width)
                             Weights weights, int height, int width, int radius, Border border) {
  const int x = blockIdx.x * kPassX + threadIdx.x;
  const int y = blockIdx.y * kPassY + threadIdx.y;
  if (x >= width || y >= height) return;
  const int64_t plane = int64_t{blockIdx.z} * height * width;
  float sum = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    const int from = stand_in(y + dy, height, border);
    if (from >= 0)
      sum += weights(dy + radius) * static_cast<float>(between[plane + int64_t{from} * width + x]);
  }
  blurred[plane + int64_t{y} * width + x] = Fixed<T>::result(sum);
}

template <class T>
Between<T>* between_of(const Blur<T>& p, const char* variant) {
  const size_t needed = sizeof(Between<T>) * static_cast<size_t>(p.pixels());
  days::require(p.workspace.bytes >= needed, variant, ": needs a workspace of bytes:", needed);
  return static_cast<Between<T>*>(p.workspace.data);
}

}  // namespace day04
