// SPDX-License-Identifier: MIT
//
// Pixels outside the picture.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "day04_image_blur/blur.h"

namespace day04 {

// The index that stands in for `i` among n pixels; -1 for none. Most pixels are inside: one comparison, since
// a negative number is a huge one when its sign is taken for a bit.
__device__ inline int stand_in(int i, int n, Border border) {
  if (static_cast<unsigned>(i) < static_cast<unsigned>(n)) return i;
  if (border == Border::kClamp) return i < 0 ? 0 : n - 1;
  if (border == Border::kZero) return -1;
  const int64_t period = border == Border::kMirror ? 2 * int64_t{n} : n;
  int64_t at = i % period;
  if (at < 0) at += period;
  return static_cast<int>(at < n ? at : 2 * int64_t{n} - 1 - at);
}

template <class T>
__device__ inline T pixel(const T* plane, int height, int width, int y, int x, Border border) {
  const int row = stand_in(y, height, border), col = stand_in(x, width, border);
  return row < 0 || col < 0 ? T{0} : plane[int64_t{row} * width + col];
}

}  // namespace day04
