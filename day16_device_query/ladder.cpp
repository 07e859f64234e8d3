// SPDX-License-Identifier: MIT
//
// The day's two ladders: one climbs to the memory's ceiling, the other to the arithmetic's. Host code only.

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "common/ladder.h"
#include "day16_device_query/checks.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

// What arithmetic on floats would not leave alone: -0, denormals, infinities, quiet and signalling NaNs; and
// the byte that outputs are poisoned with.
uint32_t special_bits(size_t i) {
  const uint32_t bits[] = {0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x7f800000, 0xff800000, 0x7fc00000,
                           0x7f800001, 0xffc12345, 0xa5a5a5a5, 0xffffffff, 0x3f800000, 0x7f7fffff};
  return bits[i % std::size(bits)];
}

const auto copy =
    days::ladder<Copy>("copy")
        .extents({"n"})
        .types<uint32_t>()
        .variant("element", LAUNCHER(copy_element))
        .variant("vector", LAUNCHER(copy_vector))
        .needs(kAligned)
        .variant("few", LAUNCHER(copy_few))
        .needs(kAligned)
        .variant("inflight", LAUNCHER(copy_inflight))
        .needs(kAligned)
        .exercise(LAUNCHER(exercise), "a bandwidth probe: four loads before the first store", "few",
                  "inflight",
                  {.wasted_sectors = 0.02, .bytes_per_request = 400, .loads_first = 4, .speed = 0.8})
        .needs(kAligned)
        .baseline("cudaMemcpy")
        .reference(LAUNCHER(copy_reference))
        .parallel(LAUNCHER(copy_parallel))
        // One, around a vector (4), a warp (32), a block (256), a block's bytes (1024 and 4096 elements),
        // primes.
        .shapes({{1},    {2},    {3},    {4},    {5},    {31},   {32},   {33},   {255},   {256},    {257},
                 {1021}, {1023}, {1024}, {1025}, {4095}, {4096}, {4097}, {8191}, {12289}, {1000003}})
        .gpu_shapes({{4000037}})  // several rounds of the grids that stay
        .bench({{1 << 28}})
        .sweep({{1000}, {1 << 14}, {1 << 18}, {1000003}, {1 << 22}, {1 << 24}, {(1 << 26) + 5}, {1 << 28}})
        .show({{1 << 20}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.n = s[0];
          p.x = in.uniform("x", p.n);
          p.y = in.output("y", p.n);
        })
        .hostile("special bits",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.x = in.fill("x", p.n, [](size_t i) { return special_bits(i); });
                   p.y = in.output("y", p.n);
                 })
        .hostile("misaligned x",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.x = in.uniform("x", p.n) + 1;
                   p.y = in.output("y", p.n);
                 })
        .traffic([](const auto& p) { return days::reads(p.x, p.n) + days::writes(p.y, p.n); })
        .tolerance(days::exact)
        .lesson("bandwidth is bytes in flight over latency, whoever asked for them.");

// The values at which floating-point arithmetic does something out of the ordinary.
float special_value(size_t i) {
  using limits = std::numeric_limits<float>;
  const float values[] = {0.0f,
                          -0.0f,
                          limits::denorm_min(),
                          -limits::denorm_min(),
                          limits::min(),
                          limits::max(),
                          -limits::max(),
                          limits::infinity(),
                          -limits::infinity(),
                          1.0f,
                          -1.0f,
                          limits::epsilon(),
                          limits::quiet_NaN()};
  return values[i % std::size(values)];
}

// x = a * x + b with |a| just below 1 keeps every chain apart from every other one, and from the chain a step
// shorter, for thousands of steps. (An a of 0.5 would bring them all to 2 b within 24 steps: a kernel that
// mixes them up would pass.)
const auto fma =
    days::ladder<Fma>("fma")
        .extents({"n", "steps"})
        .types<float>()
        .variant("ilp1", LAUNCHER(fma_ilp1))
        .variant("ilp2", LAUNCHER(fma_ilp2))
        .variant("ilp4", LAUNCHER(fma_ilp4))
        .variant("ilp8", LAUNCHER(fma_ilp8))
        .variant("ilp1_warps8", LAUNCHER(fma_ilp1_warps8))
        .variant("ilp4_warps2", LAUNCHER(fma_ilp4_warps2))
        .reference(LAUNCHER(fma_reference))
        .parallel(LAUNCHER(fma_parallel))
        // One, around the 32 steps that are unrolled, around 8 chains of a small grid's threads; elements and
        // steps alone.
        .shapes({{1, 1},
                 {1, 31},
                 {2, 32},
                 {31, 33},
                 {33, 100},
                 {127, 1},
                 {128, 3},
                 {129, 64},
                 {257, 65},
                 {1023, 31},
                 {1025, 33},
                 {2047, 7},
                 {2049, 7},
                 {4099, 13},
                 {8193, 5},
                 {1, 10007}})
        .gpu_shapes({{300007, 33}})
        // 1,351,680 = 128 threads x 8 chains x 1,320, which 132 (H200) and 40 (T4) multiprocessors share
        // evenly.
        .bench({{1351680, 16384}})
        .show({{8192, 256}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.n = s[0];
          p.steps = s[1];
          p.a = -0.99999f;
          p.b = 0.0625f;
          p.x = in.fill("x", p.n, [](size_t i) { return std::sin(1.0 + static_cast<double>(i % 1021)); });
          p.y = in.output("y", p.n);
        })
        .hostile("overflow",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.steps = s[1];
                   p.a = 1.5f;  // beyond the largest float after some 220 steps
                   p.b = -1.0f;
                   p.x = in.normal("x", p.n);
                   p.y = in.output("y", p.n);
                 })
        .hostile("underflow",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.steps = s[1];
                   p.a = 0.75f;  // into the denormals after some 300 steps, and there to stay
                   p.b = 0.0f;
                   p.x = in.normal("x", p.n, 1e-37);
                   p.y = in.output("y", p.n);
                 })
        .hostile("special values",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.steps = s[1];
                   p.a = -1.0f;
                   p.b = 0.0f;
                   p.x = in.fill("x", p.n, [](size_t i) { return special_value(i); });
                   p.y = in.output("y", p.n);
                 })
        .traffic([](const auto& p) { return days::reads(p.x, p.n) + days::writes(p.y, p.n); })
        .flops([](const auto& p) { return 2.0 * p.n * p.steps; }, days::Rate::ffma)
        .check_large(LAUNCHER(fma_check_large))
        .tolerance(days::exact)
        .lesson("four multiply-adds in flight a scheduler, several from the same warp.");

REGISTER_LADDER(copy);
REGISTER_LADDER(fma);

}  // namespace
}  // namespace day16
