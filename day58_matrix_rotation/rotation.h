// SPDX-License-Identifier: MIT
//
// Day 58: a picture is turned, by quarters out of place and in place, and by any angle. The problems, where each pixel goes, and every
// kernel's launcher. Quarters only move bits, so a pixel is a number of bytes: 4 (uint32, red, green, blue and alpha; or any float) or 1.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day58 {

// `in` turned by 90 degrees counterclockwise `quarters` times: 1, 2 or 3. After one or three, rows have become columns.
template <class T>
struct Rotate {
  const T* in;  // (height, width)
  T* out;       // (width, height); after two quarters (height, width)
  int height, width;
  int quarters;

  DAYS_HOST_DEVICE int64_t pixels() const { return int64_t{height} * width; }
  int out_height() const { return quarters == 2 ? height : width; }
  int out_width() const { return quarters == 2 ? width : height; }
};

// The same in place, for one quarter or three. A picture that is not square has no room to turn in: its rows become longer or shorter.
template <class T>
struct InPlace {
  T* image;  // (height, width), height == width
  int height, width;
  int quarters;
  days::Workspace workspace;

  DAYS_HOST_DEVICE int64_t pixels() const { return int64_t{height} * width; }
};

struct Place {
  int row, col;
};
// Where the pixel at (row, col) of a picture of height x width goes.
DAYS_HOST_DEVICE constexpr Place turned(int row, int col, int height, int width, int quarters) {
  return quarters == 1   ? Place{width - 1 - col, row}
         : quarters == 2 ? Place{height - 1 - row, width - 1 - col}
                         : Place{col, height - 1 - row};
}
// The place as an index, in rows of `cols` pixels: beyond 2^31 from 46,341 x 46,341 on.
DAYS_HOST_DEVICE constexpr int64_t index(Place place, int cols) {
  return int64_t{place.row} * cols + place.col;
}

template <class T>
void require_extents(const Rotate<T>& p, const char* variant) {
  days::require(p.height > 0, variant, ": height must be positive, not", p.height);
  days::require(p.width > 0, variant, ": width must be positive, not", p.width);
}
// For what reads a pixel after another thread may have written there.
template <class T>
void require_apart(const Rotate<T>& p, const char* variant) {
  const uintptr_t in = reinterpret_cast<uintptr_t>(p.in), out = reinterpret_cast<uintptr_t>(p.out);
  const uintptr_t bytes = sizeof(T) * static_cast<uintptr_t>(p.pixels());
  days::require(
      in + bytes <= out || out + bytes <= in, variant,
      ": in and out overlap; in place there are cycles and tile_cycles, and for 180 degrees half_pairs");
}
template <class T>
void require_quarter(const Rotate<T>& p, const char* variant) {
  require_extents(p, variant);
  days::require(p.quarters == 1 || p.quarters == 3, variant, ": quarters must be 1 or 3, not", p.quarters);
  require_apart(p, variant);
}
template <class T>
void require_half(const Rotate<T>& p, const char* variant) {
  require_extents(p, variant);
  days::require(p.quarters == 2, variant, ": turns by two quarters, not", p.quarters);
}
// Rows become columns, which in place are as long as before in a square alone.
inline constexpr auto kSquare =
    days::needs("a square, as rows become columns", [](const auto& p) { return p.height == p.width; });
template <class T>
void require_square(const InPlace<T>& p, const char* variant) {
  days::require(p.height > 0, variant, ": height must be positive, not", p.height);
  days::require(p.width > 0, variant, ": width must be positive, not", p.width);
  days::require_needs(p, variant, kSquare);
  days::require(p.quarters == 1 || p.quarters == 3, variant, ": quarters must be 1 or 3, not", p.quarters);
}
template <class T>
size_t copy_bytes(const InPlace<T>& p) {
  return sizeof(T) * static_cast<size_t>(p.pixels());
}

// The square of pixels that a thread of `vectors` turns in its registers: 16 bytes a row of 4-byte pixels, 8 of bytes.
template <class T>
inline constexpr int kSide = sizeof(T) == 4 ? 4 : 8;

// What single launchers need besides. A grid has at most 65,535 blocks along y.
inline constexpr auto kHeightBy8 =
    days::at_most("height", 8 * days::kMaxGridY, [](const auto& p) { return p.height; });
inline constexpr auto kWidthBy8 =
    days::at_most("width", 8 * days::kMaxGridY, [](const auto& p) { return p.width; });
inline constexpr auto kHeightBy32 =
    days::at_most("height", 32 * days::kMaxGridY, [](const auto& p) { return p.height; });
inline constexpr auto kSideBy16 =
    days::at_most("height", 16 * days::kMaxGridY, [](const auto& p) { return p.height; });
// NPP turns no single row or column: NPP_RECTANGLE_ERROR is its answer to a picture with an extent of 1.
inline constexpr auto kTwoEachWay =
    days::needs("height, width >= 2", [](const auto& p) { return p.height >= 2 && p.width >= 2; });
inline constexpr auto kWholeSquares =
    days::needs("height, width % 4 == 0 (8 in uint8), 16-byte aligned", []<class T>(const Rotate<T>& p) {
      return p.height % kSide<T> == 0 && p.width % kSide<T> == 0 && days::aligned16(p.in, p.out) &&
             p.height <= 64 * days::kMaxGridY;
    });
inline constexpr auto kWholeVectors =
    days::needs("height x width in whole 16 bytes, 16-byte aligned", []<class T>(const Rotate<T>& p) {
      return p.pixels() * int64_t{sizeof(T)} % 16 == 0 && days::aligned16(p.in, p.out);
    });

template <class T>
void quarter_scatter(const Rotate<T>&, cudaStream_t);
template <class T>
void quarter_gather(const Rotate<T>&, cudaStream_t);
template <class T>
void quarter_tile(const Rotate<T>&, cudaStream_t);
template <class T>
void quarter_vectors(const Rotate<T>&, cudaStream_t);

// In half_pairs and half_vectors out may be in.
template <class T>
void half_pixels(const Rotate<T>&, cudaStream_t);
template <class T>
void half_pairs(const Rotate<T>&, cudaStream_t);
template <class T>
void half_vectors(const Rotate<T>&, cudaStream_t);

template <class T>
void out_and_back(const InPlace<T>&, cudaStream_t);
template <class T>
void cycles(const InPlace<T>&, cudaStream_t);
template <class T>
void tile_cycles(const InPlace<T>&, cudaStream_t);
template <class T>
void exercise(const InPlace<T>&, cudaStream_t);  // yours

// On the CPU, host pointers: plain loops, and the same on all cores.
template <class T>
void rotate_reference(const Rotate<T>&);
template <class T>
void rotate_parallel(const Rotate<T>&);
template <class T>
void in_place_reference(const InPlace<T>&);
template <class T>
void in_place_parallel(const InPlace<T>&);

}  // namespace day58
