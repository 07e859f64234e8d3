// SPDX-License-Identifier: MIT
//
// The day's ladder: who competes, on which shapes and inputs, measured against what. Host code only.

#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "common/image.h"
#include "common/ladder.h"
#include "day03_rgb_to_grayscale/grayscale.h"

namespace day03 {
namespace {

// Bytes: all eight corners of the colour cube and their neighbours come by. Floats: what rounds, overflows or
// spreads.
template <class T>
double extreme_value(size_t i) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    constexpr int values[] = {0, 255, 0, 128, 1, 254, 127};
    return values[i % std::size(values)];
  } else {
    using limits = std::numeric_limits<float>;
    constexpr double values[] = {0,     1,    -1,  limits::denorm_min(), limits::max(), -limits::max(),
                                 1e-20, 1e20, 0.5, limits::infinity(),   255,           limits::quiet_NaN(),
                                 3e38};
    return values[i % std::size(values)];
  }
}

// A maker of inputs: the picture's size from the shape, its colours from `colours(type, count, inputs)`.
template <class Colours>
auto made_of(Colours colours) {
  return [=]<class T>(Grayscale<T>& p, days::Shape s, days::Inputs& in) {
    p.height = s[0];
    p.width = s[1];
    p.rgb = colours(days::Type<T>{}, s[0] * s[1] * 3, in);
    p.gray = in.output("gray", s[0], s[1]);
  };
}

// Bytes bit for bit; floats within the rounding of three products and their sum.
struct Tolerance {
  template <class T, class Inputs>
  days::Bound operator()(days::Type<T> type, const Grayscale<T>& p, Inputs& in) const {
    if constexpr (std::is_integral_v<T>) {
      return days::exact(type, p, in);
    } else {
      return days::dot_product([](const auto&) { return 3; })(type, p, in);
    }
  }
};

const auto grayscale =
    days::ladder<Grayscale>("grayscale")
        .extents({"height", "width"})
        .types<uint8_t, float>()
        .variant("bytes", LAUNCHER(grayscale_bytes))
        .variant("shared", LAUNCHER(grayscale_shared))
        .needs(kAlignedRgb)
        .variant("words", LAUNCHER(grayscale_words))
        .needs(kAlignedWords)
        .variant("vectors", LAUNCHER(grayscale_vectors))
        .needs(kAligned)
        .variant("staged", LAUNCHER(grayscale_staged))
        .needs(kAligned)
        .variant("bulk", LAUNCHER(grayscale_bulk))
        .runs_on(days::sm_90)
        .needs(kAligned)
        .exercise(LAUNCHER(exercise), "gray from RGB bytes with 16-byte loads and stores", "bytes", "vectors",
                  {.bytes_per_request = 400, .speed = 0.85})
        .needs(kAligned)
        .baseline("NPP")
        .reference(LAUNCHER(grayscale_reference))
        .by_rows([](const auto& p) { return static_cast<size_t>(p.height); },
                 [](auto p, size_t begin, size_t end) {
                   p.height = static_cast<int>(end - begin);
                   p.rgb += 3 * begin * static_cast<size_t>(p.width);
                   p.gray += begin * static_cast<size_t>(p.width);
                   return p;
                 })
        .parallel(LAUNCHER(grayscale_parallel))
        // One pixel; around a thread's 4 and 16, a warp's 128 and 512, a block's 256, 1024, 2048 and 8192;
        // primes.
        .shapes({{1, 1},   {1, 2},   {2, 1},   {1, 3},    {1, 4},    {1, 5},    {1, 15},
                 {4, 4},   {1, 17},  {7, 9},   {1, 127},  {2, 64},   {3, 43},   {1, 255},
                 {16, 16}, {1, 257}, {7, 73},  {16, 32},  {27, 19},  {33, 31},  {32, 32},
                 {25, 41}, {23, 89}, {64, 32}, {1, 8191}, {64, 128}, {3, 2731}, {251, 509}})
        .gpu_shapes({{8191, 8209}})
        .bench({{16384, 16384}})
        .sweep(
            {{256, 256}, {480, 640}, {1080, 1920}, {2160, 3840}, {4093, 4099}, {8192, 8192}, {16384, 16384}})
        .show({{1024, 1024}})
        .inputs(made_of([](auto, auto n, days::Inputs& in) { return in.uniform("rgb", n); }))
        .hostile("extremes", made_of([]<class T>(days::Type<T>, auto n, days::Inputs& in) {
                   return in.fill("rgb", n, extreme_value<T>);
                 }))
        .hostile("misaligned rgb",
                 made_of([](auto, auto n, days::Inputs& in) { return in.uniform("rgb", n) + 1; }))
        .traffic([](const auto& p) {
          return days::reads(p.rgb, 3.0 * p.height * p.width) +
                 days::writes(p.gray, 1.0 * p.height * p.width);
        })
        .tolerance(Tolerance{})
        .picture(
            [](const days::Image& image) {
              return days::Shape{image.height, image.width};
            },
            [](auto& p, const days::Shape& s, const std::shared_ptr<const days::Image>& image,
               days::Inputs& in) {
              made_of([&](auto, auto n, days::Inputs& to) {
                return to.fill("rgb", n, [image](size_t i) { return image->pixels[i]; });
              })(p, s, in);
            },
            [](const auto& p) {
              days::Image image{p.width, p.height, 1, std::vector<unsigned char>(p.pixels()), {}};
              for (int64_t i = 0; i < p.pixels(); ++i) image.pixels[i] = days::to_pixel(p.gray[i]);
              return image;
            })
        .lesson("a warp's request should carry 512 bytes, 16 a lane: four a lane, as in words, are too few.");

REGISTER_LADDER(grayscale);

}  // namespace
}  // namespace day03
