// SPDX-License-Identifier: MIT
// The day's ladder: the candidate, and the same with one, two and all three of its faults mended. Host only.

#include <limits>

#include "common/ladder.h"
#include "day40_nsight_compute/columns.h"

namespace day40 {
namespace {

using limits = std::numeric_limits<float>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Both zeros, denormals, the largest numbers, infinities and NaN among ordinary ones.
double special_value(size_t i) {
  const double values[] = {0.0,
                           -0.0,
                           limits::denorm_min(),
                           -limits::min() / 2,
                           limits::max(),
                           -limits::max(),
                           0.125,
                           -3.0,
                           limits::quiet_NaN(),
                           kInfinity,
                           1.0};
  return values[i % 11];
}
// Denormals alone: 1 / most would be infinite, x / most is not.
double tiny_value(size_t i) {
  return limits::denorm_min() * static_cast<double>(i % 7) * (i % 2 == 0 ? 1 : -1);
}

// x filled by values(count, inputs), and the arrays so many elements past an aligned address.
template <class Values>
auto table(Values values, int x = 0, int z = 0, int most = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.samples = s[0];
    p.features = s[1];
    p.x = values(s[0] * s[1], in) + x;
    p.z = in.output("z", s[1], s[0]) + z;
    p.most = in.output("most", s[1]) + most;
  };
}
auto normal() {
  return [](days::Extent n, days::Inputs& in) { return in.normal("x", n); };
}
template <class Value>
auto filled(Value value) {
  return [=](days::Extent n, days::Inputs& in) { return in.fill("x", n, value); };
}

const auto columns =
    days::ladder<Columns>("columns")
        .extents({"samples", "features"})
        .types<float>()
        .variant("candidate", LAUNCHER(columns_candidate))
        .variant("spread", LAUNCHER(columns_spread))
        .needs(kSamples)
        .variant("turned", LAUNCHER(columns_turned))
        .needs(kSamples)
        .variant("padded", LAUNCHER(columns_padded))
        .needs(kSamples)
        .exercise(LAUNCHER(exercise), "the candidate without its three faults", "candidate", "padded",
                  {.wasted_sectors = 0.1, .conflicts = 0.1, .blocks = 64})
        .needs(kSamples)
        .reference(LAUNCHER(columns_reference))
        .by_rows(LAUNCHER(columns_parallel))
        .parallel(LAUNCHER(columns_parallel))
        // One; a row, a column; around the tile of 32 and the chunk of 128; primes; several of both; never square where a
        // mix-up of the extents could hide.
        .shapes({{1, 1},
                 {2, 3},
                 {1, 300},
                 {300, 1},
                 {31, 33},
                 {33, 31},
                 {32, 64},
                 {127, 5},
                 {128, 32},
                 {129, 65},
                 {257, 67},
                 {640, 36}})
        .gpu_shapes({{1 << 20, 3}, {8388480, 1}, {3, 100003}, {4099, 1021}})
        .bench({{65536, 1024}, {65521, 1021}})
        .sweep({{1024, 256},
                {4096, 1024},
                {16384, 1024},
                {16384, 4096},
                {262144, 256},
                {65536, 1024},
                {65521, 1021}})
        .show({{2048, 256}})
        .inputs(table(normal()))
        .hostile("special values", table(filled(special_value)))
        .hostile("denormals", table(filled(tiny_value)))
        .hostile("all zero", table(filled([](size_t) { return 0.0; })))
        .hostile("all NaN", table(filled([](size_t) { return limits::quiet_NaN(); })))
        .hostile("negative alone",
                 table(filled([](size_t i) { return -1.0 - static_cast<double>(i % 251); })))
        .hostile("misaligned x", table(normal(), 1))
        .hostile("misaligned z", table(normal(), 0, 3))
        .hostile("misaligned most", table(normal(), 0, 0, 1))
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.samples * p.features;
          return days::reads(p.x, elements) + days::writes(p.z, elements) + days::writes(p.most, p.features);
        })
        .tolerance(days::exact)
        .lesson("a profile answers one question at a time: ask, mend that, and ask again.");

REGISTER_LADDER(columns);

}  // namespace
}  // namespace day40
