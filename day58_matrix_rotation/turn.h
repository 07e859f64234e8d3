// SPDX-License-Identifier: MIT
//
// A picture turned by any angle about its middle. A pixel has 4 bytes, so that both types move as much: red, green, blue and alpha of
// 8 bits each, or one float.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/setup.h"
#include "common/util.h"

namespace day58 {

// What a place outside the picture holds.
enum class Border {
  kZero,   // nothing: 0 in every channel, alpha too
  kClamp,  // the nearest pixel of the edge
};

template <class T>
inline constexpr int kChannels = sizeof(T) == 1 ? 4 : 1;

// `in` turned counterclockwise, in a frame of the same size.
template <class T>
struct Turn {
  const T* in;  // (height, width, channels)
  T* out;       // (height, width, channels)
  int height, width;
  float cosine, sine;  // of the angle
  Border border;
  days::Setup setup;

  DAYS_HOST_DEVICE int64_t pixels() const { return int64_t{height} * width; }
};

// Exact at whole quarters, where std::cos(pi / 2) would be 6e-17.
inline float cosine_of(int64_t degrees) {
  const int64_t around = (degrees % 360 + 360) % 360;
  constexpr double kPi = 3.14159265358979323846;
  return around == 90 || around == 270
             ? 0.0f
             : static_cast<float>(std::cos(static_cast<double>(around) * kPi / 180));
}
inline float sine_of(int64_t degrees) {
  return cosine_of(degrees - 90);
}

// The place of `in`, in pixels, that is seen at (x, y) of `out`. Pixel x lies at x exactly, so the middle of a row of `width` pixels is
// at (width - 1) / 2, which for an even width is between two.
struct Spot {
  float x, y;
};
template <class T>
DAYS_HOST_DEVICE inline Spot seen_at(const Turn<T>& p, int x, int y) {
  const float middle_x = 0.5f * static_cast<float>(p.width - 1),
              middle_y = 0.5f * static_cast<float>(p.height - 1);
  const float u = static_cast<float>(x) - middle_x, v = static_cast<float>(y) - middle_y;
  return {p.cosine * u - p.sine * v + middle_x, p.sine * u + p.cosine * v + middle_y};
}

template <class T>
void require_picture(const Turn<T>& p, const char* variant) {
  days::require(p.height > 0, variant, ": height must be positive, not", p.height);
  days::require(p.width > 0, variant, ": width must be positive, not", p.width);
  days::require(std::abs(p.cosine * p.cosine + p.sine * p.sine - 1) < 1e-5f, variant,
                ": cosine and sine must be those of one angle");
  days::require(reinterpret_cast<uintptr_t>(p.in) % 4 == 0 && reinterpret_cast<uintptr_t>(p.out) % 4 == 0,
                variant, ": in and out must be aligned to a pixel's 4 bytes");
  const uintptr_t in = reinterpret_cast<uintptr_t>(p.in), out = reinterpret_cast<uintptr_t>(p.out);
  const uintptr_t bytes = 4 * static_cast<uintptr_t>(p.pixels());
  days::require(in + bytes <= out || out + bytes <= in, variant,
                ": in and out overlap, and each pixel of out takes four of in");
}

// Places are floats, which tell a 256th of a pixel up to 65,536. A grid has at most 65,535 blocks along y.
inline constexpr auto kExtents = days::needs(
    "height, width <= 65536", [](const auto& p) { return p.height <= 65536 && p.width <= 65536; });

template <class T>
void turn_corners(const Turn<T>&, cudaStream_t);
template <class T>
void turn_patches(const Turn<T>&, cudaStream_t);
template <class T>
void turn_texture(const Turn<T>&, cudaStream_t);

// The memory that the texture unit reads, and the object that says how; needed by turn_texture.
class Texture {
 public:
  Texture(cudaArray_t array, cudaTextureObject_t object) : array_(array), object_(object) {}
  Texture(Texture&& other) noexcept : array_(other.array_), object_(other.object_) {
    other.array_ = nullptr;
    other.object_ = 0;
  }
  Texture& operator=(Texture&&) = delete;
  ~Texture();
  cudaArray_t array() const { return array_; }
  cudaTextureObject_t object() const { return object_; }

 private:
  cudaArray_t array_;
  cudaTextureObject_t object_;
};
template <class T>
Texture turn_texture_setup(const Turn<T>&, cudaStream_t);

template <class T>
void turn_reference(const Turn<T>&);
template <class T>
void turn_parallel(const Turn<T>&);

}  // namespace day58
