// SPDX-License-Identifier: MIT
// The day's five problems: three patterns of a formula's kind, one of chemistry's, and the paint. Each kernel gives a pixel
// to a thread, and each launcher makes one frame, or some steps towards one.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day33 {

inline constexpr int kMostSide = 65535;  // of a picture: what a GIF can say, and blocks enough along y

// values[y, x] = the sum of three waves, -3 to 3. `angle` goes from 0 to 2 pi in an animation: its last frame leads to its
// first. Places are measured in the longer side, from the middle: -0.5 to 0.5.
template <class T>
struct Plasma {
  T* values;  // (height, width)
  int width, height;
  float angle;
};

// How often z -> z^2 + c may be repeated, from z = 0 on, until |z| > 2; `most` where it never is. Pixel (0, 0) has
// c = left + top i, its right neighbour left + step, the one below top + step.
template <class T>
struct Mandelbrot {
  T* counts;  // (height, width)
  int width, height;
  float left, top, step;
  int most;
};

// The surface of a pond, a step later: other = 2 now - other + speed2 * (the four neighbours of now - 4 now). At first
// `other` is the surface a step before; it is replaced. Outside the pond the surface is 0: a wall.
template <class T>
struct Waves {
  const T* now;  // (height, width)
  T* other;      // (height, width)
  int width, height;
  float speed2;  // at most 0.5, or the waves grow without end
};

// Two substances on a torus, `steps` steps later: v eats u and makes more v, u is fed, v is removed, both spread
// (Gray and Scott 1984, Pearson 1993).
template <class T>
struct GrayScott {
  const T* u;  // (height, width), likewise all others
  const T* v;
  T* u_after;
  T* v_after;
  int width, height, steps;
  float feed, kill;
  days::Workspace workspace;

  DAYS_HOST_DEVICE int64_t cells() const { return int64_t{width} * height; }
};

// pixels = the palette's entry for a value: low and below are 0, high and above 255.
template <class T>
struct Paint {
  const T* values;  // (n)
  uint8_t* pixels;  // (n)
  int64_t n;
  float low, high;
};

inline constexpr float kSpreadU = 0.16f, kSpreadV = 0.08f;  // of Gray and Scott's substances, in a step
inline constexpr double kFlopsOfStep = 28;  // of a cell: two sums of five, the reaction, two new values

template <class Problem>
void require_picture(const Problem& p, const char* variant) {
  days::require(p.width > 0 && p.width <= kMostSide, variant, ": width must be 1 to 65535, not", p.width);
  days::require(p.height > 0 && p.height <= kMostSide, variant, ": height must be 1 to 65535, not", p.height);
}

// Of the rungs that keep a second u and v.
template <class T>
size_t pair_bytes(const GrayScott<T>& p) {
  return 2 * sizeof(T) * static_cast<size_t>(p.cells());
}
template <class T>
void require_steps(const GrayScott<T>& p, const char* variant) {
  require_picture(p, variant);
  days::require(p.steps > 0, variant, ": steps must be positive, not", p.steps);
  days::require(p.workspace.bytes >= pair_bytes(p), variant, ": needs a workspace of", pair_bytes(p),
                " bytes, not", p.workspace.bytes);
}

// A pixel a thread: blocks of 32 x 8, and as many as cover the picture.
inline constexpr int kBlockX = 32, kBlockY = 8;
template <class Problem>
dim3 grid_of(const Problem& p) {
  return {static_cast<unsigned>(days::ceil_div(p.width, kBlockX)),
          static_cast<unsigned>(days::ceil_div(p.height, kBlockY))};
}

void plasma(const Plasma<float>&, cudaStream_t);
void mandelbrot_rows(const Mandelbrot<float>&, cudaStream_t);
void mandelbrot_squares(const Mandelbrot<float>&, cudaStream_t);
void waves(const Waves<float>&, cudaStream_t);
void gray_scott_copy(const GrayScott<float>&, cudaStream_t);
void gray_scott_swap(const GrayScott<float>&, cudaStream_t);
void gray_scott_tile(const GrayScott<float>&, cudaStream_t);
void gray_scott_steps(const GrayScott<float>&, cudaStream_t);
void exercise(const GrayScott<float>&, cudaStream_t);  // yours
void paint(const Paint<float>&, cudaStream_t);

// On the CPU, host pointers: plain loops in double, and loops in float on all cores.
void plasma_reference(const Plasma<float>&);
void plasma_parallel(const Plasma<float>&);
void mandelbrot_reference(const Mandelbrot<float>&);
void mandelbrot_parallel(const Mandelbrot<float>&);
void waves_reference(const Waves<float>&);
void waves_parallel(const Waves<float>&);
void gray_scott_reference(const GrayScott<float>&);
void gray_scott_parallel(const GrayScott<float>&);
void paint_reference(const Paint<float>&);
void paint_parallel(const Paint<float>&);

}  // namespace day33
