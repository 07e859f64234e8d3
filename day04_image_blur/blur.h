// SPDX-License-Identifier: MIT
//
// Day 04: a picture is blurred, by a box and by a Gaussian. The problem, its exact arithmetic, and every
// kernel's launcher.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day04 {

// Which pixel stands in for one outside the picture.
enum class Border {
  kClamp,   // the nearest one of the edge:        a a a | a b c d | d d d
  kMirror,  // the picture mirrored at its edge:   c b a | a b c d | d c b
  kWrap,    // the picture once more:              b c d | a b c d | a b c
  kZero,    // none: zero                          0 0 0 | a b c d | 0 0 0
};

// A pixel becomes a mean of the (2 radius + 1)^2 pixels around it, all alike (box) or weighted (Gaussian).
// Colours are planes, one after the other, and blurred each on its own.
template <class T>
struct Blur {
  const T* image;        // (planes, height, width)
  T* blurred;            // (planes, height, width)
  const float* weights;  // (2 radius + 1): gaussian_weights(radius) of weights.h; null for a box
  int planes, height, width, radius;
  Border border;
  days::Workspace workspace;

  DAYS_HOST_DEVICE int64_t plane() const { return int64_t{height} * width; }
  DAYS_HOST_DEVICE int64_t pixels() const { return planes * plane(); }
};

inline constexpr int kMaxRadius = 2047;  // a box's sum of bytes then fits 32 bits
// Blocks along y, of the 8 rows that most rungs have.
inline constexpr auto kHeightAlongY =
    days::at_most("height", 8 * days::kMaxGridY, [](const auto& p) { return p.height; });

inline constexpr int kUnit = 4096;  // what a Gaussian's weights add up to

// Two passes, along rows and then along columns, because a Gaussian's weight for (dx, dy) is the product of
// one for dx and one for dy. All sums of bytes stay below 2^24, so float holds each of them exactly, in
// whatever order they are added: every kernel must agree with the reference bit by bit.
template <class T>
struct Fixed;
template <>
struct Fixed<uint8_t> {
  using Between = uint16_t;  // what the first pass leaves: 16ths of a gray level, rounded, 0 to 4080
  DAYS_HOST_DEVICE static Between between(float sum) {
    return static_cast<Between>((static_cast<unsigned>(sum) + 128) >> 8);
  }
  DAYS_HOST_DEVICE static uint8_t result(float sum) {
    return static_cast<uint8_t>((static_cast<unsigned>(sum) + 32768) >> 16);
  }
};
template <>
struct Fixed<float> {
  using Between = float;
  DAYS_HOST_DEVICE static Between between(float sum) { return sum * (1.0f / kUnit); }
  DAYS_HOST_DEVICE static float result(float sum) { return sum * (1.0f / kUnit); }
};
template <class T>
using Between = typename Fixed<T>::Between;

// A box's mean, rounded to the nearest, a half upwards.
DAYS_HOST_DEVICE inline uint8_t mean(unsigned sum, unsigned count) {
  return static_cast<uint8_t>((sum + count / 2) / count);
}

// Shared memory of the rungs that stage a tile and what surrounds it: 48 KiB are there without asking.
inline constexpr int kTile = 32;  // a block's pixels along x and y
constexpr size_t box_tile_bytes(int radius) {
  return static_cast<size_t>(kTile + 2 * radius) * static_cast<size_t>(kTile + 2 * radius);
}
template <class T>
constexpr size_t gauss_tile_bytes(int radius) {
  const size_t rows = static_cast<size_t>(kTile + 2 * radius);
  return rows * rows * sizeof(T) + rows * kTile * sizeof(Between<T>);
}
inline constexpr size_t kMostShared = 48 << 10;
inline constexpr auto kBoxTileFits =
    days::needs("radius <= 94", [](const auto& p) { return box_tile_bytes(p.radius) <= kMostShared; });
static_assert(box_tile_bytes(94) <= kMostShared && box_tile_bytes(95) > kMostShared);
inline constexpr auto kGaussTileFits = days::needs("tile and halo in 48 KiB", []<class T>(const Blur<T>& p) {
  return gauss_tile_bytes<T>(p.radius) <= kMostShared;
});
inline constexpr int kMostTaps = 255;          // of a kernel that takes its weights by value
inline constexpr int kRegistersMaxRadius = 8;  // of the rung that is compiled once for each radius
inline constexpr auto kRadiusOfRegisters =
    days::at_most("radius", kRegistersMaxRadius, [](const auto& p) { return p.radius; });

// Bytes of workspace: the sums of box_running, and what gauss_separable and gauss_constant leave between their passes.
inline size_t box_running_workspace(const Blur<uint8_t>& p) {
  return sizeof(uint32_t) * static_cast<size_t>(p.pixels());
}
template <class T>
size_t gauss_separable_workspace(const Blur<T>& p) {
  return sizeof(Between<T>) * static_cast<size_t>(p.pixels());
}

template <class T>
void require_extents(const Blur<T>& p, const char* variant) {
  days::require(p.planes > 0 && p.planes <= days::kMaxGridY, variant, ": planes must be 1 to 65535, not",
                p.planes);
  days::require(p.height > 0, variant, ": height must be positive, not", p.height);
  days::require_needs(p, variant, kHeightAlongY);
  days::require(p.width > 0, variant, ": width must be positive, not", p.width);
  days::require(p.radius > 0 && p.radius <= kMaxRadius, variant, ": radius must be 1 to 2047, not", p.radius);
}

void box_direct(const Blur<uint8_t>&, cudaStream_t);
void box_shared(const Blur<uint8_t>&, cudaStream_t);
void box_running(const Blur<uint8_t>&, cudaStream_t);
void exercise(const Blur<uint8_t>&, cudaStream_t);  // yours

template <class T>
void gauss_direct(const Blur<T>&, cudaStream_t);
template <class T>
void gauss_separable(const Blur<T>&, cudaStream_t);
template <class T>
void gauss_constant(const Blur<T>&, cudaStream_t);
template <class T>
void gauss_shared(const Blur<T>&, cudaStream_t);
void gauss_registers(const Blur<uint8_t>&, cudaStream_t);

// On the CPU, host pointers: plain loops, and the same on all cores.
void box_reference(const Blur<uint8_t>&);
void box_parallel(const Blur<uint8_t>&);
template <class T>
void gauss_reference(const Blur<T>&);
template <class T>
void gauss_parallel(const Blur<T>&);

}  // namespace day04
