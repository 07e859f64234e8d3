// SPDX-License-Identifier: MIT
// A pattern over time: arrays on a GPU or on the CPU, and what leads from one frame to the next.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/animation.h"
#include "common/buffer.h"
#include "day33_animated_patterns/patterns.h"
#include "day33_animated_patterns/request.h"

namespace day33 {

// The two machines that a scene runs on: kernels on the device, plain loops on all cores.
struct Gpu {
  template <class T>
  using Array = days::DeviceBuffer<T>;
  static void run(const Plasma<float>& p) { plasma(p, nullptr); }
  static void run(const Mandelbrot<float>& p) { mandelbrot_squares(p, nullptr); }
  static void run(const Waves<float>& p) { waves(p, nullptr); }
  static void run(const GrayScott<float>& p) { gray_scott_steps(p, nullptr); }
  static void run(const Paint<float>& p) { paint(p, nullptr); }
};
struct Cpu {
  template <class T>
  using Array = std::vector<T>;
  static void run(const Plasma<float>& p) { plasma_parallel(p); }
  static void run(const Mandelbrot<float>& p) { mandelbrot_parallel(p); }
  static void run(const Waves<float>& p) { waves_parallel(p); }
  static void run(const GrayScott<float>& p) { gray_scott_parallel(p); }
  static void run(const Paint<float>& p) { paint_parallel(p); }
};

inline constexpr int kWavesOfFrame = 4;   // steps from one frame to the next
inline constexpr int kStepsOfFrame = 24;  // of the reaction
inline constexpr int kMostCounts = 255;   // of z^2 + c: as many as the palette has entries, less one
inline constexpr float kFarthest =
    3.0f;  // the zoom's first width, and its last, where floats still tell pixels apart
inline constexpr float kNearest = 0.0016f;

// Where it begins: drops on the pond, pieces of the second substance in the first. As many as the picture has room for.
std::vector<float> first_surface(int width, int height);
std::pair<std::vector<float>, std::vector<float>> first_substances(int width, int height);
days::Palette palette_of(const std::string& pattern);
// Frame `number`'s part of the plane.
Mandelbrot<float> zoom(const Request& request, int number);

template <class Machine>
class Scene {
 public:
  explicit Scene(const Request& request)
      : request_(request), pixels_(count()), values_(std::vector<float>(count(), 0.0f)) {
    if (request.pattern == "waves") {
      const std::vector<float> surface = first_surface(request.width, request.height);
      surfaces_ = {Floats(surface), Floats(surface)};
    } else if (request.pattern == "gray_scott") {
      const auto [u, v] = first_substances(request.width, request.height);
      u_ = {Floats(u), Floats(u)};
      v_ = {Floats(v), Floats(v)};
      workspace_ = Floats(std::vector<float>(2 * count()));
    }
  }

  // Frames are asked for in order, 0 first: each starts from the one before.
  void make(int number) {
    const int width = request_.width, height = request_.height;
    Paint<float> paint{values_.data(), pixels_.data(), static_cast<int64_t>(count()), -3, 3};
    if (request_.pattern == "plasma") {
      const double turn = 6.283185307179586 * number / request_.frames;
      Machine::run(Plasma<float>{values_.data(), width, height, static_cast<float>(turn)});
    } else if (request_.pattern == "mandelbrot") {
      Mandelbrot<float> frame = zoom(request_, number);
      frame.counts = values_.data();
      Machine::run(frame);
      paint.low = 0;
      paint.high = kMostCounts;
    } else if (request_.pattern == "waves") {
      for (int step = 0; step < kWavesOfFrame && number > 0; ++step) {
        Machine::run(Waves<float>{surfaces_[0].data(), surfaces_[1].data(), width, height, 0.25f});
        std::swap(surfaces_[0], surfaces_[1]);  // pointers: the new surface is now the one to read
      }
      paint.values = surfaces_[0].data();
      paint.low = -0.6f;
      paint.high = 0.6f;
    } else {
      if (number > 0) {
        Machine::run(GrayScott<float>{u_[0].data(),
                                      v_[0].data(),
                                      u_[1].data(),
                                      v_[1].data(),
                                      width,
                                      height,
                                      kStepsOfFrame,
                                      0.037f,
                                      0.06f,
                                      {workspace_.data(), 2 * count() * sizeof(float)}});
        std::swap(u_[0], u_[1]);
        std::swap(v_[0], v_[1]);
      }
      paint.values = v_[0].data();
      paint.low = 0;
      paint.high = 0.4f;
    }
    Machine::run(paint);
  }

  const typename Machine::template Array<uint8_t>& pixels() const { return pixels_; }

 private:
  using Floats = typename Machine::template Array<float>;

  size_t count() const { return static_cast<size_t>(request_.width) * static_cast<size_t>(request_.height); }

  Request request_;
  typename Machine::template Array<uint8_t> pixels_;
  Floats values_, workspace_;
  std::array<Floats, 2> surfaces_, u_, v_;
};

}  // namespace day33
