// SPDX-License-Identifier: MIT
//
// Random numbers that any thread computes from a seed and an index alone, the same bit for bit on host and
// device, whatever the compiler fuses. The way there: whole-number arithmetic up to one conversion and one
// multiplication, each of which IEEE arithmetic rounds in one way only. (A Box-Muller transform cannot
// promise that: logf and cosf differ from one mathematics library to the next, and a compiler may fuse a * b
// + c or not.)
#pragma once

#include <cmath>
#include <cstdint>

#include "common/types.h"
#include "common/util.h"

namespace days {

// A hash that spreads every bit over all 64: the finaliser of SplitMix64 with David Stafford's constants
// ("mix13"); Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
DAYS_HOST_DEVICE inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// 64 random bits: number `index` of stream `seed`. The same as the index-th output of SplitMix64 started at
// mix(seed).
DAYS_HOST_DEVICE inline uint64_t random_bits(uint64_t seed, uint64_t index) {
  return mix(mix(seed) + (index + 1) * 0x9e3779b97f4a7c15u);
}

namespace detail {
DAYS_HOST_DEVICE inline int count_ones(uint64_t x) {
#if defined(__CUDA_ARCH__) && !defined(__SIMT__)
  return __popcll(x);
#else
  return __builtin_popcountll(x);
#endif
}
// a * b, rounded once, never fused with what the caller does to it
DAYS_HOST_DEVICE inline float multiply(float a, float b) {
#if defined(__CUDA_ARCH__) && !defined(__SIMT__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
}  // namespace detail

// Uniform in [0, 1), in steps of 2^-24.
DAYS_HOST_DEVICE inline float uniform(uint64_t seed, uint64_t index) {
  return static_cast<float>(random_bits(seed, index) >> 40) *
         (1.0f / (1 << 24));  // exact: 24 bits, a power of two
}

// Uniform among the whole numbers from `low` up to, not including, `high`.
DAYS_HOST_DEVICE inline int64_t uniform_integer(uint64_t seed, uint64_t index, int64_t low, int64_t high) {
  // The product's upper half, as in Lemire, "Fast Random Integer Generation in an Interval" (2019), without
  // the rejection step: the bias is below (high - low) / 2^32.
  const uint64_t range = static_cast<uint64_t>(high - low);
  const uint64_t bits = random_bits(seed, index);
  const uint64_t upper = (bits >> 32) * (range >> 32), lower = ((bits >> 32) * (range & 0xffffffffu)) >> 32;
  return low + static_cast<int64_t>(upper + lower);
}

// Close to N(0, 1): the number of ones among 64 random bits, which is binomial with standard deviation 4,
// plus a triangular random number in (-1, 1) that joins its steps up. Mean 0, variance 1, kurtosis 2.97 (a
// normal distribution has 3), and no value beyond 8.3.
DAYS_HOST_DEVICE inline float normal(uint64_t seed, uint64_t index) {
  const uint64_t bits = random_bits(seed, index);
  const uint64_t dither = mix(bits + 0x9e3779b97f4a7c15u);
  const int32_t steps = detail::count_ones(bits) - 32;
  const int32_t joint = static_cast<int32_t>(dither >> 40) - static_cast<int32_t>((dither >> 8) & 0xffffff);
  const int32_t fixed = steps * (1 << 24) + joint;      // 2^24 is one step; at most 33 * 2^24 in size
  constexpr float kScale = 0.24871070599f / (1 << 24);  // 1 / sqrt(16 + 1/6)
  return detail::multiply(static_cast<float>(fixed), kScale);
}

// How a buffer is filled. `function` (host only) is in inputs.h.
enum class Distribution { kNormal, kUniform, kConstant };

// Element `index` of a random buffer, rounded to T. kNormal: a is the scale. kUniform: from a to b; where
// a == b, [a, a + 1) or all of an integer's range. kConstant: a.
template <class T>
DAYS_HOST_DEVICE inline T random_value(Distribution distribution, uint64_t seed, uint64_t index, double a,
                                       double b) {
  constexpr bool floating = TypeInfo<T>::kFloating;
  if (distribution == Distribution::kNormal) {
    const float value = detail::multiply(normal(seed, index), static_cast<float>(a));
    if constexpr (floating) return from_float<T>(value);
    // through 64 bits: a negative float has no defined value as an unsigned integer
    return static_cast<T>(static_cast<int64_t>(rintf(value)));
  }
  if (distribution == Distribution::kUniform) {
    if constexpr (floating) {
      const float low = static_cast<float>(a), high = a == b ? low + 1 : static_cast<float>(b);
      return from_float<T>(
          fmaf(uniform(seed, index), high - low, low));  // an explicit fma: rounded once everywhere
    } else {
      if (a == b) return static_cast<T>(random_bits(seed, index) >> 32);
      return static_cast<T>(uniform_integer(seed, index, static_cast<int64_t>(a), static_cast<int64_t>(b)));
    }
  }
  if constexpr (floating) return from_float<T>(static_cast<float>(a));
  return static_cast<T>(a);
}

// Byte `index` of packed numbers: numbers 2 index and 2 index + 1, of which there are `n`.
DAYS_HOST_DEVICE inline uint4x2 random_pair(Distribution distribution, uint64_t seed, uint64_t index,
                                            uint64_t n, double a, double b) {
  const uint8_t lower = random_value<uint8_t>(distribution, seed, 2 * index, a, b);
  if (2 * index + 1 == n) return uint4x2::of(lower, 0);
  return uint4x2::of(lower, random_value<uint8_t>(distribution, seed, 2 * index + 1, a, b));
}

}  // namespace days
