// SPDX-License-Identifier: MIT
//
// Small arithmetic that launchers and kernels share, and the numbers of a launch.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/check.h"

#ifdef __CUDACC__
#define DAYS_HOST_DEVICE __host__ __device__
#else
#define DAYS_HOST_DEVICE
#endif

namespace days {

inline constexpr int kWarpSize = 32;
inline constexpr int64_t kMaxGridX = 2147483647;  // blocks along x that every GPU of this course takes
inline constexpr int64_t kMaxGridY = 65535;       // and along y and z

// The least number of groups of `group` that hold `count`; both positive, and `count` may be zero.
template <class A, class B>
DAYS_HOST_DEVICE constexpr std::common_type_t<A, B> ceil_div(A count, B group) {
  static_assert(std::is_integral_v<A> && std::is_integral_v<B>, "ceil_div divides whole numbers");
  using T = std::common_type_t<A, B>;
  return static_cast<T>(count) / static_cast<T>(group) + (static_cast<T>(count) % static_cast<T>(group) != 0);
}

template <class A, class B>
DAYS_HOST_DEVICE constexpr std::common_type_t<A, B> round_up(A count, B group) {
  return ceil_div(count, group) * static_cast<std::common_type_t<A, B>>(group);
}

// Whether each pointer can be read or written 16 bytes at a time.
template <class... T>
DAYS_HOST_DEVICE bool aligned16(const T*... pointers) {
  return ((reinterpret_cast<uintptr_t>(pointers) % 16 == 0) && ...);
}

// Whether two arrays of `count` elements are the same memory or have none in common: what a kernel needs that may
// work in place.
template <class T>
bool same_or_apart(const T* a, const T* b, int64_t count) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  const uintptr_t bytes = sizeof(T) * static_cast<uintptr_t>(count);
  return first == second || first + bytes <= second || second + bytes <= first;
}

// The blocks along x of a grid whose blocks take `tile` of n elements each. Throws std::invalid_argument where n is not
// positive, or is more than one grid holds.
inline unsigned grid_of(int64_t n, int64_t tile, const char* variant) {
  require(n > 0, variant, ": n must be positive, not", n);
  const int64_t blocks = ceil_div(n, tile);
  require(blocks <= kMaxGridX, variant, ": n is too large for one grid:", n);
  return static_cast<unsigned>(blocks);
}

// One of the current device's numbers, asked for each time: an attribute is a table look-up in the driver.
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

inline int multiprocessors() {
  return device_attribute(cudaDevAttrMultiProcessorCount);
}

// How many threads the whole device can hold at once: enough for a grid-stride loop, and no block waits for
// another.
inline int64_t resident_threads() {
  return int64_t{multiprocessors()} * device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
}

}  // namespace days
