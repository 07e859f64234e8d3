// SPDX-License-Identifier: MIT
//
// Sixteen bytes at a time: a vector of T that one load or store instruction moves, with the cache hints of
// ptx.h. A pointer must be aligned to 16 bytes (util.h: aligned16), which a launcher checks and a kernel
// takes for granted.
#pragma once

#include <cuda_runtime.h>

#include <cstring>

#include "common/ptx.h"
#include "common/util.h"

namespace days {

template <class T, int kCount = 16 / static_cast<int>(sizeof(T))>
struct alignas(sizeof(T) * kCount) Vec {
  static constexpr int kSize = kCount;
  T lane[kCount];

  DAYS_HOST_DEVICE T& operator[](int i) { return lane[i]; }
  DAYS_HOST_DEVICE const T& operator[](int i) const { return lane[i]; }
};

// A vector as the 16 bytes that an instruction moves, and back.
template <class T>
__device__ inline Vec<T> from_word(uint4 word) {
  static_assert(sizeof(Vec<T>) == 16);
  Vec<T> vec;
  memcpy(&vec, &word, 16);
  return vec;
}
template <class T>
__device__ inline uint4 to_word(const Vec<T>& vec) {
  static_assert(sizeof(Vec<T>) == 16);
  uint4 word;
  memcpy(static_cast<void*>(&word), &vec, 16);  // the CPU backend counts whole uint4s: no plain struct
  return word;
}

// Elements [0, 16 / sizeof(T)) from `from`.
template <class T>
__device__ inline Vec<T> load16(const T* from) {
  return from_word<T>(*reinterpret_cast<const uint4*>(from));
}
template <class T>
__device__ inline void store16(T* to, const Vec<T>& vec) {
  *reinterpret_cast<uint4*>(to) = to_word(vec);
}

// Elements [0, 8 / sizeof(T)) from `from`, which must be aligned to 8 bytes: where one array of a kernel has half as many
// bytes for each element of work as another that goes 16 bytes at a time.
template <class T>
using HalfVec = Vec<T, 8 / static_cast<int>(sizeof(T))>;
template <class T>
__device__ inline HalfVec<T> load8(const T* from) {
  const uint2 word = *reinterpret_cast<const uint2*>(from);
  HalfVec<T> vec;
  memcpy(&vec, &word, 8);
  return vec;
}
template <class T>
__device__ inline void store8(T* to, const HalfVec<T>& vec) {
  uint2 word;
  memcpy(static_cast<void*>(&word), &vec, 8);
  *reinterpret_cast<uint2*>(to) = word;
}

// For data that is used once: it leaves the caches first.
template <class T>
__device__ inline Vec<T> load16_streaming(const T* from) {
  return from_word<T>(ptx::ld_global_cs(reinterpret_cast<const uint4*>(from)));
}
template <class T>
__device__ inline void store16_streaming(T* to, const Vec<T>& vec) {
  ptx::st_global_cs(reinterpret_cast<uint4*>(to), to_word(vec));
}

// For data that no kernel writes while this one runs: may go through the read-only path.
template <class T>
__device__ inline Vec<T> load16_readonly(const T* from) {
  return from_word<T>(ptx::ld_global_nc(reinterpret_cast<const uint4*>(from)));
}

}  // namespace days
