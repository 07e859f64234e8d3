// SPDX-License-Identifier: MIT
// Two neighbours in one load or store: what a byte of codes stands for. Their address is a multiple of the two's size.
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <type_traits>

#include "common/vector.cuh"

namespace day17 {

template <class T>
using Pair = days::Vec<T, 2>;
template <class T>
using PairWord = std::conditional_t<sizeof(T) == 4, uint2, unsigned>;

template <class T>
__device__ inline Pair<T> load_pair(const T* from) {
  const PairWord<T> word = *reinterpret_cast<const PairWord<T>*>(from);
  Pair<T> pair;
  memcpy(static_cast<void*>(&pair), &word, sizeof word);
  return pair;
}
template <class T>
__device__ inline void store_pair(T* to, const Pair<T>& pair) {
  PairWord<T> word;
  memcpy(static_cast<void*>(&word), &pair, sizeof word);
  *reinterpret_cast<PairWord<T>*>(to) = word;
}

}  // namespace day17
