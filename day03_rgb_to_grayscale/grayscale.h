// SPDX-License-Identifier: MIT
//
// Day 03: a colour picture becomes gray. The problem, what gray means, and every kernel's launcher.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/util.h"

namespace day03 {

// Interleaved, as picture files and cameras have it: red, green, blue of the first pixel, then of the second.
// Rows follow each other without a gap, so that the picture is one run of height * width pixels.
template <class T>
struct Grayscale {
  const T* rgb;  // (height, width, 3)
  T* gray;       // (height, width)
  int height, width;

  int64_t pixels() const { return int64_t{height} * width; }
};

// Shares of red, green and blue in 256: those of television's luma (ITU-R BT.601: 0.299, 0.587, 0.114), in
// eight bits. They add up to 256, so white stays white.
inline constexpr unsigned kRed = 77, kGreen = 150, kBlue = 29;

// Whole numbers: rounded to the nearest, a half upwards. Exact, so every kernel must agree with it bit by
// bit.
DAYS_HOST_DEVICE inline uint8_t gray_of(uint8_t red, uint8_t green, uint8_t blue) {
  return static_cast<uint8_t>((kRed * red + kGreen * green + kBlue * blue + 128) >> 8);
}
DAYS_HOST_DEVICE inline float gray_of(float red, float green, float blue) {
  return (kRed / 256.0f) * red + (kGreen / 256.0f) * green + (kBlue / 256.0f) * blue;
}

template <class T>
void require_extents(const Grayscale<T>& p, const char* variant) {
  days::require(p.height > 0, variant, ": height must be positive, not", p.height);
  days::require(p.width > 0, variant, ": width must be positive, not", p.width);
}

// What all but bytes need besides.
inline constexpr auto kAlignedRgb =
    days::needs("16-byte aligned rgb", [](const auto& p) { return days::aligned16(p.rgb); });
inline constexpr auto kAligned =
    days::needs("16-byte aligned rgb, gray", [](const auto& p) { return days::aligned16(p.rgb, p.gray); });
inline constexpr auto kAlignedWords = days::needs("4-byte aligned rgb, gray", [](const auto& p) {
  return reinterpret_cast<uintptr_t>(p.rgb) % 4 == 0 && reinterpret_cast<uintptr_t>(p.gray) % 4 == 0;
});

// T is uint8_t or float.
template <class T>
void grayscale_bytes(const Grayscale<T>&, cudaStream_t);
template <class T>
void grayscale_shared(const Grayscale<T>&, cudaStream_t);
void grayscale_words(const Grayscale<uint8_t>&, cudaStream_t);
template <class T>
void grayscale_vectors(const Grayscale<T>&, cudaStream_t);
template <class T>
void grayscale_staged(const Grayscale<T>&, cudaStream_t);
template <class T>
void grayscale_bulk(const Grayscale<T>&, cudaStream_t);
void exercise(const Grayscale<uint8_t>&, cudaStream_t);  // yours

// On the CPU, host pointers: one plain loop, and the same loop on all cores.
template <class T>
void grayscale_reference(const Grayscale<T>&);
template <class T>
void grayscale_parallel(const Grayscale<T>&);

}  // namespace day03
