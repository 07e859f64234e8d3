// SPDX-License-Identifier: MIT
// The day's ladders: three patterns of one kernel or two, the reaction that is climbed, and the paint. Host code only.
#include <initializer_list>
#include <limits>

#include "common/ladder.h"
#include "common/scalar.h"
#include "day33_animated_patterns/patterns.h"

namespace day33 {

// In reference.cpp: the references with their lines shared out to all cores.
void plasma_by_lines(const Plasma<float>&);
void waves_by_lines(const Waves<float>&);
void gray_scott_by_lines(const GrayScott<float>&);

namespace {

// One pixel; a row, a column; around a block's 32 x 8 and a tile's 56 x 24; primes.
const std::initializer_list<days::Shape> kPictures = {
    {1, 1}, {1, 7}, {9, 1}, {2, 2}, {7, 31}, {8, 32}, {9, 33}, {31, 67}, {64, 63}, {37, 131}, {131, 37}};

double pixels_of(const auto& p) {
  return static_cast<double>(p.width) * p.height;
}
template <class Problem>
void set_extents(Problem& p, const days::Shape& s) {
  p.height = static_cast<int>(s[0]);
  p.width = static_cast<int>(s[1]);
}

auto plasma_at(float angle) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    set_extents(p, s);
    p.angle = angle;
    p.values = in.output("values", s[0], s[1]);
  };
}
const auto plasma_ladder =
    days::ladder<Plasma>("plasma")
        .extents({"height", "width"})
        .types<float>()
        .variant("plasma", LAUNCHER(plasma))
        .reference(LAUNCHER(plasma_reference))
        .by_rows(LAUNCHER(plasma_by_lines))
        .parallel(LAUNCHER(plasma_parallel))
        .shapes(kPictures)
        .bench({{2160, 3840}})
        .show({{180, 320}})
        .inputs(plasma_at(1))
        .hostile("first frame", plasma_at(0))
        .hostile("last frame", plasma_at(6.2f))
        .traffic([](const auto& p) { return days::writes(p.values, pixels_of(p)); })
        // The angle of a sine is up to 30, and its last digit 2^-20: three of those, of sums up to 3.
        .tolerance(days::relative(1e-6, 1e-5))
        .lesson("a pixel that needs no other pixel is a thread that needs no other thread.");

// The set's whole, its border (the zoom's end), and places far outside, where all pixels are through at once.
auto mandelbrot_of(float left, float top, float across, int most) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    set_extents(p, s);
    p.left = left;
    p.top = top;
    p.step = across / static_cast<float>(s[1]);
    p.most = most;
    p.counts = in.output("counts", s[0], s[1]);
  };
}
const auto mandelbrot_ladder =
    days::ladder<Mandelbrot>("mandelbrot")
        .extents({"height", "width"})
        .types<float>()
        .variant("rows", LAUNCHER(mandelbrot_rows))
        .variant("squares", LAUNCHER(mandelbrot_squares))
        .reference(LAUNCHER(mandelbrot_reference))
        .by_rows(LAUNCHER(mandelbrot_parallel))
        .parallel(LAUNCHER(mandelbrot_parallel))
        .shapes(kPictures)
        .bench({{2160, 3840}})
        .show({{180, 320}})
        .inputs(mandelbrot_of(-2.0f, -1.1f, 3.0f, 50))
        .hostile("at the border", mandelbrot_of(-0.7446f, 0.1310f, 0.0016f, 255))
        .hostile("outside", mandelbrot_of(3, 3, 1, 9))
        .hostile("inside", mandelbrot_of(-0.1f, -0.1f, 0.1f, 5))
        .hostile("the tip, where |z| stays 2", mandelbrot_of(-2, 0, 0, 7))
        .hostile("no step", mandelbrot_of(0.5f, 0.5f, 0, 1))
        .hostile("NaN", mandelbrot_of(std::numeric_limits<float>::quiet_NaN(), 0, 1, 4))
        .traffic([](const auto& p) { return days::writes(p.counts, pixels_of(p)); })
        .tolerance(days::exact)
        .lesson("a warp takes as long as its slowest pixel: give it pixels that lie near each other.");

// One cell alone: what it does to its neighbours is seen at once. NaN spreads a cell a step, and no farther.
auto one_cell(double value) {
  return [=](const char* name, int64_t n, days::Inputs& in) {
    return in.fill(name, n, [=](size_t i) { return i == static_cast<size_t>(n) / 2 ? value : 0.0; });
  };
}
auto noise() {
  return [](const char* name, int64_t n, days::Inputs& in) { return in.uniform(name, n); };
}

template <class Values>
auto waves_of(Values values, float speed2) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    set_extents(p, s);
    p.speed2 = speed2;
    p.now = values("now", s[0] * s[1], in).as(s[0], s[1]);
    p.other = in.uniform("other", s[0] * s[1]).as(s[0], s[1]);
  };
}
const auto waves_ladder =
    days::ladder<Waves>("waves")
        .extents({"height", "width"})
        .types<float>()
        .variant("waves", LAUNCHER(waves))
        .reference(LAUNCHER(waves_reference))
        .by_rows(LAUNCHER(waves_by_lines))
        .parallel(LAUNCHER(waves_parallel))
        .shapes(kPictures)
        .bench({{2160, 3840}})
        .show({{180, 320}})
        .inputs(waves_of(noise(), 0.3f))
        .hostile("one cell", waves_of(one_cell(1), 0.5f))
        .hostile("NaN", waves_of(one_cell(std::numeric_limits<double>::quiet_NaN()), 0.25f))
        .traffic([](const auto& p) {
          return days::reads(p.now, pixels_of(p)) + days::reads(p.other, pixels_of(p)) +
                 days::writes(p.other, pixels_of(p));
        })
        // Sums of values up to 8, each rounded.
        .tolerance(days::relative(1e-6, 4e-6))
        .lesson("what one thread alone reads, it may overwrite: two arrays hold three moments.");

template <class Values>
auto gray_scott_of(Values values) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    set_extents(p, s);
    p.steps = static_cast<int>(s[2]);
    p.feed = static_cast<float>(days::scalar("feed", 0.037));
    p.kill = static_cast<float>(days::scalar("kill", 0.06));
    p.u = in.uniform("u", s[0] * s[1]).as(s[0], s[1]);
    p.v = values("v", s[0] * s[1], in).as(s[0], s[1]);
    p.u_after = in.output("u_after", s[0], s[1]);
    p.v_after = in.output("v_after", s[0], s[1]);
  };
}
const auto gray_scott_ladder =
    days::ladder<GrayScott>("gray_scott")
        .extents({"height", "width", "steps"})
        .types<float>()
        .variant("copy", LAUNCHER(gray_scott_copy))
        .workspace(LAUNCHER(pair_bytes))
        .variant("swap", LAUNCHER(gray_scott_swap))
        .workspace(LAUNCHER(pair_bytes))
        .variant("tile", LAUNCHER(gray_scott_tile))
        .workspace(LAUNCHER(pair_bytes))
        .variant("steps", LAUNCHER(gray_scott_steps))
        .workspace(LAUNCHER(pair_bytes))
        .exercise(LAUNCHER(exercise), "as many steps as are asked for, one launch each and no copy", "copy",
                  "swap", {.launches = 8})
        .workspace(LAUNCHER(pair_bytes))
        .reference(LAUNCHER(gray_scott_reference))
        .by_rows(LAUNCHER(gray_scott_by_lines))
        .parallel(LAUNCHER(gray_scott_parallel))
        // One cell; pictures smaller than a halo; around a block's 32 x 8 and a tile's 56 x 24; 1 to 9 steps.
        .shapes({{1, 1, 1},
                 {1, 1, 4},
                 {1, 5, 3},
                 {3, 1, 2},
                 {2, 3, 9},
                 {8, 32, 1},
                 {9, 33, 2},
                 {7, 31, 5},
                 {24, 56, 4},
                 {25, 57, 8},
                 {23, 55, 6},
                 {37, 131, 7}})
        .bench({{4096, 4096, 16}})
        .sweep({{256, 256, 16},
                {512, 512, 16},
                {1021, 1023, 16},
                {2048, 2048, 16},
                {4096, 4096, 16},
                {8192, 8192, 16}})
        .show({{128, 256, 8}})
        .inputs(gray_scott_of(noise()))
        .hostile("one cell", gray_scott_of(one_cell(1)))
        .hostile("NaN", gray_scott_of(one_cell(std::numeric_limits<double>::quiet_NaN())))
        .traffic([](const auto& p) {
          const double n = pixels_of(p);
          return days::reads(p.u, n) + days::reads(p.v, n) + days::writes(p.u_after, n) +
                 days::writes(p.v_after, n);
        })
        .flops([](const auto& p) { return kFlopsOfStep * pixels_of(p) * p.steps; }, days::Rate::ffma)
        // Values stay near 1, and each step rounds a sum of some terms.
        .tolerance(days::relative(1e-5, 1e-6))
        .lesson("one launch a step, two buffers; then several steps a launch, and two buffers on the chip.");

const auto paint_ladder = days::ladder<Paint>("paint")
                              .extents({"n"})
                              .types<float>()
                              .variant("paint", LAUNCHER(paint))
                              .reference(LAUNCHER(paint_reference))
                              .by_rows(LAUNCHER(paint_parallel))
                              .parallel(LAUNCHER(paint_parallel))
                              .shapes({{1}, {255}, {256}, {257}, {1009}})
                              .bench({{2160 * 3840}})
                              .show({{180 * 320}})
                              .inputs([](auto& p, days::Shape s, days::Inputs& in) {
                                p.n = s[0];
                                p.low = static_cast<float>(days::scalar("low", -1));
                                p.high = static_cast<float>(days::scalar("high", 2));
                                p.values = in.normal("values", s[0]);
                                p.pixels = in.output("pixels", s[0]);
                              })
                              .hostile("at the ends",
                                       [](auto& p, days::Shape s, days::Inputs& in) {
                                         p.n = s[0];
                                         p.low = 0;
                                         p.high = 255;
                                         p.values = in.fill("values", s[0], [](size_t i) {
                                           using limits = std::numeric_limits<float>;
                                           const double values[] = {0.0,
                                                                    -0.0,
                                                                    1.0,
                                                                    254.0,
                                                                    254.5,
                                                                    255.0,
                                                                    255.5,
                                                                    256.0,
                                                                    -1.0,
                                                                    limits::quiet_NaN(),
                                                                    limits::infinity(),
                                                                    -limits::infinity(),
                                                                    0.9999,
                                                                    limits::denorm_min()};
                                           return values[i % 14];
                                         });
                                         p.pixels = in.output("pixels", s[0]);
                                       })
                              .traffic([](const auto& p) {
                                return days::reads(p.values, static_cast<double>(p.n)) +
                                       days::writes(p.pixels, static_cast<double>(p.n));
                              })
                              .tolerance(days::exact)
                              .lesson("a palette makes a byte of a pixel, and a GIF wants no more.");

REGISTER_LADDER(gray_scott_ladder);
REGISTER_LADDER(plasma_ladder);
REGISTER_LADDER(mandelbrot_ladder);
REGISTER_LADDER(waves_ladder);
REGISTER_LADDER(paint_ladder);

}  // namespace
}  // namespace day33
