// SPDX-License-Identifier: MIT
// Day 65's ladder: who competes, on which shapes and inputs, measured against what. Host code only.

#include <limits>

#include "common/ladder.h"
#include "day65_async_copy/stencil.h"

namespace day65 {

void stencil_by_rows(const Stencil<float>&);  // in reference.cpp: the reference with its rows shared out

namespace {

// A field whose values are those of values(count, inputs); in and out begin some elements past an aligned address.
template <class Values>
auto field(Values values, int from = 0, int to = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = static_cast<int>(s[0]);
    p.cols = static_cast<int>(s[1]);
    p.blocks = static_cast<int>(s[2]);
    p.in = values(s[0] * s[1], in) + from;
    p.out = in.output("out", s[0], s[1]) + to;
  };
}
auto random_values() {
  return [](days::Extent n, days::Inputs& in) { return in.normal("in", n); };
}
auto filled(double (*value)(size_t)) {
  return [=](days::Extent n, days::Inputs& in) { return in.fill("in", n, value); };
}

// Few and far between: each may reach its 17 elements and no other.
double sparse_special(size_t i) {
  using limits = std::numeric_limits<float>;
  if (i % 101 != 50) return static_cast<double>(i % 7) - 3;
  const double values[] = {limits::quiet_NaN(), limits::infinity(), -limits::infinity(), 1e30};
  return values[i / 101 % 4];
}
double denormal(size_t i) {
  return (static_cast<double>(i % 13) - 6) * 64 * std::numeric_limits<float>::denorm_min();
}

const auto stencil =
    days::ladder<Stencil>("stencil")
        .extents({"rows", "cols", "blocks"})
        .types<float>()
        .variant("direct", LAUNCHER(stencil_direct))
        .variant("plain", LAUNCHER(stencil_plain))
        .needs(kWholeVectors)
        .variant("prefetch", LAUNCHER(stencil_prefetch))
        .needs(kWholeVectors)
        .variant("stages4", LAUNCHER(stencil_stages4))
        .runs_on(days::sm_80)
        .needs(kWholeVectors)
        .variant("stages9", LAUNCHER(stencil_stages9))
        .runs_on(days::sm_80)
        .needs(kWholeVectors)
        .variant("mbarrier", LAUNCHER(stencil_mbarrier))
        .runs_on(days::sm_80)
        .needs(kWholeVectors)
        .variant("tensor", LAUNCHER(stencil_tensor))
        .runs_on(days::sm_90)
        .needs(kWholeVectors)
        .exercise(LAUNCHER(exercise), "a stencil with three rows under way while it adds a fourth", "plain",
                  "stages4", {.reads_per_input = 1.3, .under_way = 12000})
        .needs(kWholeVectors)
        .reference(LAUNCHER(stencil_reference))
        .by_rows(LAUNCHER(stencil_by_rows))
        .parallel(LAUNCHER(stencil_parallel))
        // One; a row, a column; primes; around the radius (4), the margin (8), the least part (16), the strip (1,024) and the tile
        // (1,040); several strips and parts, one and more blocks a multiprocessor; parts that are no whole rounds of nine rows, and
        // more rounds of the ring than its phase has bits; a last strip that lies in the margin of the one before; whole lines.
        .shapes({{1, 1, 1},     {1, 4, 1},     {3, 7, 2},     {300, 1, 1},  {4, 4, 1},
                 {5, 8, 3},     {17, 1020, 1}, {16, 1024, 2}, {9, 1028, 1}, {33, 1032, 1},
                 {37, 1036, 3}, {8, 1040, 1},  {13, 1009, 1}, {67, 251, 1}, {211, 12, 1},
                 {21, 2048, 1}, {50, 2052, 2}, {18, 3104, 3}, {1, 32, 1},   {131, 64, 3}})
        .gpu_shapes({{1021, 4100, 2}, {4099, 2052, 1}, {1, 524288, 3}, {262144, 4, 3}})
        .bench({{16384, 16384, 1}, {16384, 16384, 2}, {16384, 16384, 3}})
        .sweep({{16384, 16384, 1}, {16384, 16384, 2}, {16384, 16384, 3}}, {.over = "blocks"})
        .show({{256, 2048, 1}})
        .inputs(field(random_values()))
        .hostile("NaN, infinity, 1e30", field(filled(sparse_special)))
        .hostile("denormals", field(filled(denormal)))
        .hostile("misaligned in", field(random_values(), 1, 0))
        .hostile("misaligned out", field(random_values(), 0, 3))
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.in, elements) + days::writes(p.out, elements);
        })
        .tolerance(days::dot_product([](const auto&) { return 4 * kRadius + 1; }))
        .lesson("ask early, use late: what is under way decides, not how many threads wait for it.");

REGISTER_LADDER(stencil);

}  // namespace
}  // namespace day65
