// SPDX-License-Identifier: MIT
//
// y[i] = f(x[i]) and y[i] = f(a[i], b[i]), 16 bytes a thread: the loops that kernels of elementwise days share.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/ptx.h"
#include "common/types.h"
#include "common/vector.cuh"

namespace days {

// 1 / (1 + e^-x) with the digits of both tails: the power is at most 1 and the divisor at most 2. NaN gives NaN.
__device__ inline float sigmoid(float x) {
  const float power = expf(-fabsf(x)), right = ptx::rcp_approx_ftz(1.0f + power);
  return x < 0 ? power * right : right;
}

// This thread's 16 bytes of n elements. x and y must be aligned to 16 bytes, and may be the same. f(float) -> float;
// 16-bit types are converted to float and back, which rounds once. Elements after the last whole vector are taken one
// by one, at most seven, by one thread of the grid.
template <class T, class F>
__device__ inline void map_vector(const T* x, T* y, int64_t n, F f) {
  constexpr int kEach = Vec<T>::kSize;
  const int64_t first = kEach * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (first + kEach <= n) {
    Vec<T> v = load16(x + first);
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = from_float<T>(f(to_float(v[i])));
    store16(y + first, v);
  } else {
    for (int64_t i = first; i < n; ++i) y[i] = from_float<T>(f(to_float(x[i])));
  }
}

// The same of two arrays, as backward passes have them: f(float a, float b) -> float. y may be a or b.
template <class T, class F>
__device__ inline void map_vector(const T* a, const T* b, T* y, int64_t n, F f) {
  constexpr int kEach = Vec<T>::kSize;
  const int64_t first = kEach * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (first + kEach <= n) {
    const Vec<T> u = load16(a + first);
    Vec<T> v = load16(b + first);
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = from_float<T>(f(to_float(u[i]), to_float(v[i])));
    store16(y + first, v);
  } else {
    for (int64_t i = first; i < n; ++i) y[i] = from_float<T>(f(to_float(a[i]), to_float(b[i])));
  }
}

}  // namespace days
