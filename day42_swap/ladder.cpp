// SPDX-License-Identifier: MIT
// The day's two ladders: two arrays that change places, and one that is turned round. Host code only.
#include <limits>

#include "common/ladder.h"
#include "day42_swap/swap.h"

namespace day42 {
namespace {

// A swap moves bits and does no arithmetic: both zeros, denormals, infinities and NaN arrive as they are.
double special_value(size_t i) {
  using limits = std::numeric_limits<float>;
  const double values[] = {0.0,
                           -0.0,
                           limits::denorm_min(),
                           -limits::min() / 2,
                           limits::max(),
                           limits::infinity(),
                           -limits::infinity(),
                           limits::quiet_NaN(),
                           1.0};
  return values[i % 9];
}

auto random_values() {
  return [](const char* name, days::Extent n, days::Inputs& in) { return in.normal(name, n); };
}
auto special_values() {
  return [](const char* name, days::Extent n, days::Inputs& in) { return in.fill(name, n, special_value); };
}

// Arrays that begin `a` and `b` elements past an aligned address.
template <class Values>
auto two_arrays(Values values, int a = 0, int b = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.a = values("a", s[0], in) + a;
    p.b = values("b", s[0], in) + b;
  };
}
template <class Values>
auto one_array(Values values, int x = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.x = values("x", s[0], in) + x;
  };
}

const auto swap =
    days::ladder<Swap>("swap")
        .extents({"n"})
        .types<float, uint8_t>()
        .variant("third", LAUNCHER(swap_third))
        .workspace(LAUNCHER(array_bytes))
        .variant("pairs", LAUNCHER(swap_pairs))
        .variant("vectors", LAUNCHER(swap_vectors))
        .needs(kAligned)
        .baseline("Thrust")
        .reference(LAUNCHER(swap_reference))
        .by_rows(LAUNCHER(swap_parallel))
        .parallel(LAUNCHER(swap_parallel))
        // One; around a warp, a block, 16 bytes of either type; a prime; a whole number of everything.
        .shapes({{1}, {3}, {4}, {5}, {15}, {16}, {17}, {255}, {256}, {257}, {1009}, {4099}, {65536}})
        .gpu_shapes({{(1 << 26) + 3}})
        .bench({{1 << 28}})
        .sweep({{1 << 12},
                {1 << 14},
                {1 << 16},
                {1 << 18},
                {1000003},
                {1 << 20},
                {1 << 22},
                {1 << 24},
                {1 << 26},
                {100000007},
                {1 << 28}})
        .show({{1 << 18}})
        .inputs(two_arrays(random_values()))
        .hostile("special values", two_arrays(special_values()))
        .hostile("misaligned", two_arrays(random_values(), 1, 3))
        .hostile("halves of one array",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.a = in.normal("a", 2 * s[0]);
                   p.b = p.a + p.n;
                 })
        .traffic([](const auto& p) {
          return days::reads(p.a, p.n) + days::reads(p.b, p.n) + days::writes(p.a, p.n) +
                 days::writes(p.b, p.n);
        })
        .tolerance(days::exact)
        .lesson("one thread owns both places of a pair: it loads both, then stores both.");

const auto reverse =
    days::ladder<Reverse>("reverse")
        .extents({"n"})
        .types<float, uint8_t>()
        .variant("out_and_back", LAUNCHER(reverse_out_and_back))
        .workspace(LAUNCHER(array_bytes))
        .variant("ends", LAUNCHER(reverse_ends))
        .variant("vector_ends", LAUNCHER(reverse_vector_ends))
        .needs(kWholeVectors)
        .exercise(LAUNCHER(exercise), "an array reversed in place, with no second array", "out_and_back",
                  "ends", {.reads_per_input = 1, .launches = 1, .workspace = 0})
        .baseline("Thrust")
        .reference(LAUNCHER(reverse_reference))
        .by_rows(LAUNCHER(reverse_parallel))
        .parallel(LAUNCHER(reverse_parallel))
        // One, which has no pair; odd and even; around two warps and two blocks; groups of 16 bytes, odd and even.
        .shapes({{1},
                 {2},
                 {3},
                 {16},
                 {31},
                 {48},
                 {64},
                 {65},
                 {511},
                 {512},
                 {513},
                 {528},
                 {1009},
                 {4099},
                 {65552}})
        .gpu_shapes({{(1 << 26) + 3}})
        .bench({{1 << 29}})
        .sweep({{1 << 13},
                {1 << 15},
                {1 << 17},
                {1 << 19},
                {1000003},
                {1 << 21},
                {1 << 23},
                {1 << 25},
                {1 << 27},
                {100000007},
                {1 << 29}})
        .show({{1 << 18}})
        .inputs(one_array(random_values()))
        .hostile("special values", one_array(special_values()))
        .hostile("misaligned", one_array(random_values(), 1))
        .traffic([](const auto& p) { return days::reads(p.x, p.n) + days::writes(p.x, p.n); })
        .tolerance(days::exact)
        .lesson("half as many threads as elements: each owns one at the front and one at the back.");

REGISTER_LADDER(swap);
REGISTER_LADDER(reverse);

}  // namespace
}  // namespace day42
