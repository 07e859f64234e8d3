// SPDX-License-Identifier: MIT
//
// The day's two ladders: who competes, on which shapes and inputs, measured against what. Host code only.

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <vector>

#include "common/image.h"
#include "common/ladder.h"
#include "day04_image_blur/blur.h"
#include "day04_image_blur/weights.h"

namespace day04 {

// In reference.cpp: the references with their lines shared out to all cores.
void box_by_lines(const Blur<uint8_t>&);
template <class T>
void gauss_by_lines(const Blur<T>&);

namespace {

enum class Filter { kBox, kGauss };

// A maker of inputs: a picture of this border, its pixels from `pixels(type, count, inputs)`.
template <Filter kFilter, class Pixels>
auto made_of(Border border, Pixels pixels) {
  return [=]<class T>(Blur<T>& p, days::Shape s, days::Inputs& in) {
    p.planes = s[0];
    p.height = s[1];
    p.width = s[2];
    p.radius = s[3];
    p.border = border;
    p.image = pixels(days::Type<T>{}, s[0] * s[1] * s[2], in);
    if constexpr (kFilter == Filter::kGauss) {
      // A radius that is none makes a problem, which launchers refuse.
      p.weights =
          in.fill("weights", 2 * s[3] + 1,
                  [weights = gaussian_weights(std::max(p.radius, 1))](size_t i) { return weights[i]; });
    } else {
      p.weights = nullptr;
    }
    p.blurred = in.output("blurred", s[0], s[1], s[2]);
  };
}

constexpr auto noise = [](auto, auto n, days::Inputs& in) { return in.uniform("image", n); };
constexpr auto white = []<class T>(days::Type<T>, auto n, days::Inputs& in) {
  return in.constant("image", n, 255);
};
// Alone on black, so that the result is the filter's own shape, and the edge of the picture is near.
constexpr auto one_white = []<class T>(days::Type<T>, auto n, days::Inputs& in) {
  return in.fill("image", n, [middle = static_cast<size_t>(int64_t{n}) / 2](size_t i) {
    return i == middle ? 255.0 : 0.0;
  });
};

template <Filter kFilter>
auto picture_in() {
  return
      [](auto& p, const days::Shape& s, const std::shared_ptr<const days::Image>& image, days::Inputs& in) {
        made_of<kFilter>(Border::kClamp, [&](auto, auto n, days::Inputs& to) {
          const size_t plane = static_cast<size_t>(image->width) * static_cast<size_t>(image->height);
          return to.fill("image", n, [=](size_t i) { return image->pixels[3 * (i % plane) + i / plane]; });
        })(p, s, in);
      };
}
days::Shape picture_size(const days::Image& image) {
  return {3, image.height, image.width};
}
constexpr auto picture_out = [](const auto& p) {
  days::Image image{
      p.width, p.height, p.planes, std::vector<unsigned char>(static_cast<size_t>(p.pixels())), {}};
  for (int64_t i = 0; i < p.pixels(); ++i)
    image.pixels[static_cast<size_t>(p.planes * (i % p.plane()) + i / p.plane())] =
        days::to_pixel(p.blurred[i]);
  return image;
};

// A library's limits are its own.
constexpr auto kNppTakes =
    days::needs("clamped border, radius <= 15 and below half of height and width", [](const auto& p) {
      return p.border == Border::kClamp && 2 * p.radius < p.height && 2 * p.radius < p.width &&
             p.radius <= 15;
    });

const auto image_traffic = [](const auto& p) {
  return days::reads(p.image, static_cast<double>(p.pixels())) +
         days::writes(p.blurred, static_cast<double>(p.pixels()));
};

// Bytes bit for bit; floats within the rounding of two sums.
struct Tolerance {
  template <class T, class Inputs>
  days::Bound operator()(days::Type<T> type, const Blur<T>& p, Inputs& in) const {
    if constexpr (std::is_integral_v<T>) {
      return days::exact(type, p, in);
    } else {
      // Nothing is negative, so nothing cancels: each of 2 (2 radius + 1) additions rounds what it adds up.
      const double roundings = 8 + 2 * std::sqrt(2.0 * p.radius + 1);
      return {days::TypeInfo<float>::kDenormMin, roundings * days::TypeInfo<float>::kEpsilon};
    }
  }
};

// One pixel; a radius larger than the picture; around a block's 8, 32, 64 and 128; three colours; primes; a
// radius that no tile fits around.
const std::initializer_list<days::Shape> kShapes = {
    {1, 1, 1, 1},    {1, 1, 7, 3},    {1, 7, 1, 2},   {3, 5, 4, 1},    {1, 2, 2, 9},
    {1, 31, 33, 4},  {1, 32, 32, 5},  {2, 33, 31, 8}, {1, 9, 129, 2},  {1, 63, 65, 7},
    {1, 3, 200, 16}, {1, 40, 36, 33}, {1, 6, 5, 100}, {3, 37, 131, 3}, {1, 140, 280, 6}};

const auto box_blur =
    days::ladder<Blur>("box_blur")
        .extents({"planes", "height", "width", "radius"})
        .types<uint8_t>()
        .variant("box_direct", LAUNCHER(box_direct))
        .needs(kHeightAlongY)
        .variant("box_shared", LAUNCHER(box_shared))
        .needs(kHeightAlongY, kBoxTileFits)
        .variant("box_running", LAUNCHER(box_running))
        .needs(kHeightAlongY)
        .workspace(LAUNCHER(box_running_workspace))
        .exercise(LAUNCHER(exercise), "a box blur that fetches a tile and its halo once", "box_direct",
                  "box_shared", {.reads_per_input = 3})
        .needs(kHeightAlongY, kBoxTileFits)
        .baseline("NPP")
        .needs(kNppTakes)
        .within(1)
        .reference(LAUNCHER(box_reference))
        .by_rows(LAUNCHER(box_by_lines))
        .parallel(LAUNCHER(box_parallel))
        .shapes(kShapes)
        .bench({{1, 8192, 8192, 7}})
        .sweep({{1, 256, 256, 7},
                {1, 1021, 1023, 7},
                {1, 2048, 2048, 7},
                {1, 4093, 4099, 7},
                {1, 8192, 8192, 7}})
        .show({{1, 256, 256, 7}})
        .inputs(made_of<Filter::kBox>(Border::kClamp, noise))
        .hostile("mirrored border", made_of<Filter::kBox>(Border::kMirror, noise))
        .hostile("wrapped border", made_of<Filter::kBox>(Border::kWrap, noise))
        .hostile("zero border", made_of<Filter::kBox>(Border::kZero, noise))
        .hostile("all white", made_of<Filter::kBox>(Border::kClamp, white))
        .hostile("one white pixel", made_of<Filter::kBox>(Border::kMirror, one_white))
        .traffic(image_traffic)
        .tolerance(Tolerance{})
        .picture(picture_size, picture_in<Filter::kBox>(), picture_out)
        .lesson("what neighbours share, fetch once; what the next window keeps, do not add again.");

const auto gaussian_blur =
    days::ladder<Blur>("gaussian_blur")
        .extents({"planes", "height", "width", "radius"})
        .types<uint8_t, float>()
        .variant("gauss_direct", LAUNCHER(gauss_direct))
        .needs(kHeightAlongY)
        .variant("gauss_separable", LAUNCHER(gauss_separable))
        .needs(kHeightAlongY)
        .workspace(LAUNCHER(gauss_separable_workspace))
        .variant("gauss_constant", LAUNCHER(gauss_constant))
        .needs(kHeightAlongY)
        .workspace(LAUNCHER(gauss_separable_workspace))
        .variant("gauss_shared", LAUNCHER(gauss_shared))
        .needs(kHeightAlongY, kGaussTileFits)
        .variant("gauss_registers", LAUNCHER(gauss_registers))
        .needs(kHeightAlongY, kRadiusOfRegisters)
        .baseline("NPP")
        .needs(kNppTakes)
        .within(1)
        .reference(LAUNCHER(gauss_reference))
        .by_rows(LAUNCHER(gauss_by_lines))
        .parallel(LAUNCHER(gauss_parallel))
        .shapes(kShapes)
        .bench({{1, 8192, 8192, 5}})
        .sweep({{1, 256, 256, 5},
                {1, 1021, 1023, 5},
                {1, 2048, 2048, 5},
                {1, 4093, 4099, 5},
                {1, 8192, 8192, 5}})
        .show({{1, 256, 256, 5}})
        .inputs(made_of<Filter::kGauss>(Border::kClamp, noise))
        .hostile("mirrored border", made_of<Filter::kGauss>(Border::kMirror, noise))
        .hostile("wrapped border", made_of<Filter::kGauss>(Border::kWrap, noise))
        .hostile("zero border", made_of<Filter::kGauss>(Border::kZero, noise))
        .hostile("all white", made_of<Filter::kGauss>(Border::kClamp, white))
        .hostile("one white pixel", made_of<Filter::kGauss>(Border::kMirror, one_white))
        .traffic(image_traffic)
        .tolerance(Tolerance{})
        .picture(picture_size, picture_in<Filter::kGauss>(), picture_out)
        .lesson(
            "two passes for one, the first one's result never leaves the chip, and each load serves 8 "
            "pixels.");

REGISTER_LADDER(gaussian_blur);
REGISTER_LADDER(box_blur);

}  // namespace
}  // namespace day04
