// SPDX-License-Identifier: MIT
//
// The day's four ladders: a quarter turn and a half turn into another array, a quarter turn in place, and any angle. Host code only.
#include <cmath>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <vector>

#include "common/image.h"
#include "common/ladder.h"
#include "day58_matrix_rotation/rotation.h"
#include "day58_matrix_rotation/turn.h"

namespace day58 {
namespace {

// Every value of the type comes by: among 4 bytes all floats that there are, also NaN with whatever payload.
constexpr auto noise = [](const char* name, auto n, days::Inputs& in) { return in.uniform(name, n); };
// NaNs of one payload a pixel, quiet and signalling, of both signs: a copy through floating-point arithmetic would quiet them. Bytes count.
constexpr auto payloads = [](const char* name, auto n, days::Inputs& in) {
  return in.fill(name, n, [](size_t i) {
    return static_cast<double>((i % 2 == 0 ? 0x7f800001u : 0xffc00000u) +
                               static_cast<unsigned>(i % 0x3fffff));
  });
};
constexpr auto counted = [](const char* name, auto n, days::Inputs& in) {
  return in.fill(name, n, [](size_t i) { return static_cast<double>(i % 251); });
};

// A picture to be turned by that many quarters, both arrays some pixels past an aligned address.
template <class Pixels>
auto turned_by(int quarters, Pixels pixels, int from = 0, int to = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.height = s[0];
    p.width = s[1];
    p.quarters = quarters;
    p.in = pixels("in", s[0] * s[1], in) + from;
    p.out = (quarters == 2 ? in.output("out", s[0], s[1]) : in.output("out", s[1], s[0])) + to;
  };
}
template <class Pixels>
auto in_place_by(int quarters, Pixels pixels, int from = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.height = s[0];
    p.width = s[1];
    p.quarters = quarters;
    p.image = pixels("image", s[0] * s[1], in).as(s[0], s[1]) + from;
  };
}
// NaN payloads where a pixel has 4 bytes; where it has one, all bytes in turn.
template <class Made>
auto special(Made made) {
  return [=]<template <class> class Problem, class T>(Problem<T>& p, days::Shape s, days::Inputs& in) {
    if constexpr (sizeof(T) == 4) {
      made(payloads)(p, s, in);
    } else {
      made(counted)(p, s, in);
    }
  };
}

template <class Pixels>
auto seen_with(Border border, Pixels pixels) {
  return [=]<class T>(Turn<T>& p, days::Shape s, days::Inputs& in) {
    p.height = s[0];
    p.width = s[1];
    days::require(s[2] > 0, "degrees of a shape are 1 or more, though launchers take any, not", s[2].value());
    p.cosine = cosine_of(s[2]);
    p.sine = sine_of(s[2]);
    p.border = border;
    p.in = pixels("in", s[0] * s[1] * kChannels<T>, in);
    p.out = in.output("out", s[0], s[1], days::Extent(kChannels<T>));
  };
}
constexpr auto uniform_4_bytes_on = [](const char* name, auto n, days::Inputs& in) {
  return in.uniform(name, n) + 4;
};

// Day 03's gray, of which 4 bytes keep the colours.
double packed(const days::Image& image, size_t i, bool colour) {
  const unsigned char* rgb = image.pixels.data() + 3 * i;
  return colour ? rgb[0] + 256.0 * rgb[1] + 65536.0 * rgb[2] + 16777216.0 * 255
                : (77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) / 256;
}
template <int kQuarters>
auto picture_in() {
  return []<class T>(Rotate<T>& p, const days::Shape& s, const std::shared_ptr<const days::Image>& image,
                     days::Inputs& in) {
    turned_by(kQuarters, [&](const char* name, auto n, days::Inputs& to) {
      return to.fill(name, n, [image](size_t i) { return packed(*image, i, sizeof(T) == 4); });
    })(p, s, in);
  };
}
constexpr auto picture_size = [](const days::Image& image) { return days::Shape{image.height, image.width}; };
constexpr auto picture_out = []<class T>(const Rotate<T>& p) {
  constexpr int kColours = sizeof(T) == 4 ? 3 : 1;
  days::Image image{p.out_width(), p.out_height(), kColours, {}, {}};
  image.pixels.resize(static_cast<size_t>(p.pixels()) * kColours);
  for (size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i] = static_cast<unsigned char>(p.out[i / kColours] >> (8 * (i % kColours)));
  return image;
};

constexpr auto turn_picture_in = []<class T>(Turn<T>& p, const days::Shape& s,
                                             const std::shared_ptr<const days::Image>& image,
                                             days::Inputs& in) {
  seen_with(Border::kZero, [&](const char* name, auto n, days::Inputs& to) {
    return to.fill(name, n, [image](size_t i) -> double {
      if constexpr (sizeof(T) == 4) return packed(*image, i, false);
      return i % 4 == 3 ? 255 : image->pixels[i / 4 * 3 + i % 4];
    });
  })(p, s, in);
};
constexpr auto turn_picture_out = []<class T>(const Turn<T>& p) {
  constexpr int kColours = sizeof(T) == 4 ? 1 : 3;
  days::Image image{p.width, p.height, kColours, {}, {}};
  image.pixels.resize(static_cast<size_t>(p.pixels()) * kColours);
  for (size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i] = days::to_pixel(p.out[i / kColours * kChannels<T> + i % kColours]);
  return image;
};

// A texture's weights are whole 256ths: off by up to a 512th in either direction, and their product by another, which counts twice where
// the corners alternate. A place in float is off by some 2^-23 of the extents. Bytes are rounded here and there.
struct Blended {
  template <class T, class Inputs>
  days::Bound operator()(days::Type<T>, const Turn<T>& p, Inputs&) const {
    const double blend = 4 / 512.0 + 1e-6 * (p.height + p.width);
    return {std::is_integral_v<T> ? std::floor(255 * blend) + 1 : blend, 0};
  }
};

const auto both_once = [](const auto& p) {
  return days::reads(p.in, static_cast<double>(p.pixels())) +
         days::writes(p.out, static_cast<double>(p.pixels()));
};

// One; a row, a column; around the tiles of 32 and the blocks of 64; primes; whole squares of 4 and of 8 that are no whole block.
const std::initializer_list<days::Shape> kShapes = {{1, 1},    {2, 3},    {1, 300}, {300, 1}, {31, 33},
                                                    {32, 32},  {33, 31},  {63, 65}, {64, 64}, {61, 251},
                                                    {36, 100}, {68, 132}, {264, 8}, {8, 520}, {144, 80}};

const auto quarter =
    days::ladder<Rotate>("quarter")
        .extents({"height", "width"})
        .types<uint32_t, uint8_t>()
        .variant("scatter", LAUNCHER(quarter_scatter))
        .needs(kHeightBy8)
        .variant("gather", LAUNCHER(quarter_gather))
        .needs(kWidthBy8)
        .variant("tile", LAUNCHER(quarter_tile))
        .needs(kHeightBy32)
        .variant("vectors", LAUNCHER(quarter_vectors))
        .needs(kWholeSquares)
        .baseline("NPP")
        .needs(kTwoEachWay)
        .reference(LAUNCHER(rotate_reference))
        .by_rows(LAUNCHER(rotate_parallel))
        .parallel(LAUNCHER(rotate_parallel))
        .shapes(kShapes)
        .gpu_shapes({{524281, 1}, {1, 524281}, {2097121, 1}, {1021, 4099}, {2048, 1040}})
        .bench({{16384, 16384}, {16381, 16381}})
        .sweep({{256, 256},
                {1080, 1920},
                {1021, 1023},
                {2048, 2048},
                {4093, 4099},
                {4096, 4096},
                {16384, 16384}})
        .show({{1024, 1024}})
        .inputs(turned_by(1, noise))
        .hostile("three quarters", turned_by(3, noise))
        .hostile("NaN payloads", special([](auto pixels) { return turned_by(3, pixels); }))
        .hostile("misaligned in", turned_by(1, noise, 1, 0))
        .hostile("misaligned out", turned_by(3, noise, 0, 3))
        .traffic(both_once)
        .tolerance(days::exact)
        .picture(picture_size, picture_in<1>(), picture_out)
        .lesson("a mirror costs nothing beside a transpose: only the addresses of the stores change.");

const auto half =
    days::ladder<Rotate>("half")
        .extents({"height", "width"})
        .types<uint32_t, uint8_t>()
        .variant("half_pixels", LAUNCHER(half_pixels))
        .variant("half_pairs", LAUNCHER(half_pairs))
        .variant("half_vectors", LAUNCHER(half_vectors))
        .needs(kWholeVectors)
        .baseline("NPP")
        .reference(LAUNCHER(rotate_reference))
        .by_rows(LAUNCHER(rotate_parallel))
        .parallel(LAUNCHER(rotate_parallel))
        // Numbers of pixels below, at and above two of 256; whole vectors of either type, odd and even; primes.
        .shapes({{1, 1},
                 {1, 2},
                 {3, 1},
                 {4, 4},
                 {3, 16},
                 {5, 16},
                 {16, 16},
                 {1, 257},
                 {16, 32},
                 {19, 27},
                 {513, 1},
                 {16, 33},
                 {61, 67},
                 {65, 64}})
        .gpu_shapes({{4093, 4099}})
        .bench({{16384, 16384}})
        .sweep({{256, 256}, {1080, 1920}, {2048, 2048}, {4096, 4096}, {16384, 16384}})
        .show({{512, 512}})
        .inputs(turned_by(2, noise))
        .hostile("NaN payloads", special([](auto pixels) { return turned_by(2, pixels); }))
        .hostile("misaligned in", turned_by(2, noise, 1, 0))
        .hostile("misaligned out", turned_by(2, noise, 0, 3))
        .traffic(both_once)
        .tolerance(days::exact)
        .lesson("180 degrees reverse the array: rows stay rows, and nothing has to pass through a tile.");

const auto in_place =
    days::ladder<InPlace>("in_place")
        .extents({"height", "width"})
        .types<uint32_t, uint8_t>()
        .variant("out_and_back", LAUNCHER(out_and_back))
        .needs(kSquare, kHeightBy8)
        .workspace(LAUNCHER(copy_bytes))
        .variant("cycles", LAUNCHER(cycles))
        .needs(kSquare, kSideBy16)
        .variant("tile_cycles", LAUNCHER(tile_cycles))
        .needs(kSquare)
        .exercise(LAUNCHER(exercise), "a quarter turn in place, with no second array", "out_and_back",
                  "cycles", {.reads_per_input = 1, .launches = 1, .workspace = 0})
        .needs(kSquare, kHeightBy8)
        .reference(LAUNCHER(in_place_reference))
        .by_rows(LAUNCHER(in_place_parallel))
        .parallel(LAUNCHER(in_place_parallel))
        // Sides: one, which has no ring; two; odd and even; around one tile of half a side and two; primes.
        .shapes({{1, 1},
                 {2, 2},
                 {3, 3},
                 {4, 4},
                 {15, 15},
                 {16, 16},
                 {17, 17},
                 {63, 63},
                 {64, 64},
                 {65, 65},
                 {66, 66},
                 {67, 67},
                 {127, 127},
                 {131, 131}})
        .gpu_shapes({{4099, 4099}})
        .bench({{16384, 16384}, {16381, 16381}})
        .sweep({{256, 256}, {1021, 1021}, {2048, 2048}, {4096, 4096}, {16384, 16384}})
        .show({{512, 512}})
        .inputs(in_place_by(1, noise))
        .hostile("three quarters", in_place_by(3, noise))
        .hostile("NaN payloads", special([](auto pixels) { return in_place_by(3, pixels); }))
        .hostile("misaligned", in_place_by(1, noise, 1))
        .traffic([](const auto& p) {
          return days::reads(p.image, static_cast<double>(p.pixels())) +
                 days::writes(p.image, static_cast<double>(p.pixels()));
        })
        .tolerance(days::exact)
        .lesson("a ring of four has one owner, who loads all four before it stores any.");

const auto turn =
    days::ladder<Turn>("turn")
        .extents({"height", "width", "degrees"})
        .types<uint8_t, float>()
        .variant("corners", LAUNCHER(turn_corners))
        .needs(kExtents)
        .variant("patches", LAUNCHER(turn_patches))
        .needs(kExtents)
        .variant("texture", LAUNCHER(turn_texture))
        .needs(kExtents)
        .setup(LAUNCHER(turn_texture_setup))
        .reference(LAUNCHER(turn_reference))
        .by_rows(LAUNCHER(turn_parallel))
        .parallel(LAUNCHER(turn_parallel))
        // One; a row, a column; odd and even middles; around a block's 32 x 8; whole quarters, steep and flat angles, more than a turn.
        .shapes({{1, 1, 1},
                 {1, 2, 45},
                 {1, 67, 90},
                 {67, 1, 30},
                 {2, 2, 90},
                 {3, 3, 180},
                 {4, 4, 270},
                 {7, 31, 10},
                 {8, 32, 30},
                 {9, 33, 80},
                 {16, 64, 360},
                 {61, 67, 135},
                 {64, 64, 45},
                 {40, 70, 213},
                 {5, 130, 725}})
        .gpu_shapes({{4093, 4099, 33}})
        .bench({{8192, 8192, 30}, {8192, 8192, 90}})
        .sweep({{256, 256, 30}, {1080, 1920, 30}, {2048, 2048, 30}, {4096, 4096, 30}, {8192, 8192, 30}})
        .show({{256, 256, 60}})
        .inputs(seen_with(Border::kZero, noise))
        .hostile("clamped border", seen_with(Border::kClamp, noise))
        .hostile("4 bytes on", seen_with(Border::kZero, uniform_4_bytes_on))
        .traffic([](const auto& p) {
          const double numbers = 1.0 * static_cast<double>(p.pixels()) * (4.0 / sizeof(*p.in));
          return days::reads(p.in, numbers) + days::writes(p.out, numbers);
        })
        .tolerance(Blended{})
        .picture(
            [](const days::Image& image) {
              return days::Shape{image.height, image.width};
            },
            turn_picture_in, turn_picture_out)
        .lesson("whatever the angle, 32 places that lie close together in both directions share sectors.");

REGISTER_LADDER(quarter);
REGISTER_LADDER(half);
REGISTER_LADDER(in_place);
REGISTER_LADDER(turn);

}  // namespace
}  // namespace day58
