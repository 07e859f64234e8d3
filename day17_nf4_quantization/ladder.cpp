// SPDX-License-Identifier: MIT
// The day's two ladders: from codes to numbers, and from numbers to codes. Host code only.

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "common/elementwise.h"
#include "common/ladder.h"
#include "common/scalar.h"
#include "day17_nf4_quantization/nf4_quantization.h"

namespace day17 {
namespace {

// What both ladders have in common.
template <class L>
auto sizes(const L& ladder) {
  return ladder.extents({"n"})
      .by_rows([](const auto& p) { return static_cast<size_t>(days::nf4_blocks(p.n)); },
               [](const auto& p, size_t begin, size_t end) { return some_blocks(p, begin, end); })
      // Around a vector, a block of 64, and the tiles of 256 threads.
      .shapes({{1}, {2}, {7}, {63}, {64}, {65}, {127}, {511}, {4095}, {4096}, {4097}, {16450}})
      .gpu_shapes({{(1 << 20) + 1}, {(1 << 24) + 65}})
      .bench({{1 << 28}})
      .sweep({{1 << 14}, {1 << 18}, {1000003}, {1 << 22}, {1 << 24}, {1 << 26}, {1 << 28}})
      .show({{1 << 16}})
      .tolerance(days::exact);
}

// ---- From codes ----

template <class Scales>
auto from_codes(Scales scales, int codes = 0, int y = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.block = static_cast<int64_t>(days::scalar("block", 64));
    p.codes =
        in.uniform("codes", static_cast<size_t>(days::nf4_bytes(p.n)), 0, 256) + static_cast<size_t>(codes);
    p.absmax = scales(static_cast<size_t>(days::nf4_blocks(p.n)), in);
    p.y = in.output("y", s[0]) + static_cast<size_t>(y);
  };
}
auto usual_scales() {
  return [](days::Extent n, days::Inputs& in) { return in.uniform("absmax", n, 0.5, 4); };
}

const auto dequantize =
    sizes(days::ladder<Nf4Dequantize>("nf4_dequantize").types<float, days::half, days::bf16>())
        .variant("constant", LAUNCHER(dequantize_constant))
        .variant("shared", LAUNCHER(dequantize_shared))
        .needs(kPairsOfY)
        .variant("wide", LAUNCHER(dequantize_wide))
        .needs(kAlignedY)
        .variant("shuffle", LAUNCHER(dequantize_shuffle))
        .needs(kAlignedY)
        .exercise(LAUNCHER(exercise), "two codes of a byte come back in one store", "constant", "shared",
                  {.wasted_sectors = 0.1, .conflicts = 0.1})
        .needs(kPairsOfY)
        .reference(LAUNCHER(dequantize_reference))
        .parallel(LAUNCHER(dequantize_parallel))
        .inputs(from_codes(usual_scales()))
        .hostile("special scales", from_codes([](days::Extent n, days::Inputs& in) {
                   return in.fill("absmax", n,
                                  [](size_t i) { return std::abs(days::special_value<float>(i)); });
                 }))
        .hostile("a scale for each block", from_codes([](days::Extent n, days::Inputs& in) {
                   return in.fill("absmax", n, [](size_t i) { return 1 + static_cast<double>(i); });
                 }))
        .hostile("misaligned codes", from_codes(usual_scales(), 1, 0))
        .hostile("misaligned y", from_codes(usual_scales(), 0, 1))
        .traffic([](const auto& p) {
          return days::reads(p.codes, days::nf4_bytes(p.n)) + days::reads(p.absmax, days::nf4_blocks(p.n)) +
                 days::writes(p.y, p.n);
        })
        .lesson("sixteen values stand where the weights are; a lookup costs a turn, not thirteen.");
REGISTER_LADDER(dequantize);

// ---- To codes ----

template <class Values>
auto to_codes(Values values, int x = 0, int codes = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.block = static_cast<int64_t>(days::scalar("block", 64));
    p.x = values(p, s[0], in) + static_cast<size_t>(x);
    p.codes = in.output("codes", static_cast<size_t>(days::nf4_bytes(p.n))) + static_cast<size_t>(codes);
    p.absmax = in.output("absmax", static_cast<size_t>(days::nf4_blocks(p.n)));
  };
}
auto normal() {
  return [](const auto&, days::Extent n, days::Inputs& in) { return in.normal("x", n); };
}
// value(Type<T>, i, n)
template <class F>
auto each(F value) {
  return [=](const auto& p, days::Extent n, days::Inputs& in) {
    using T = std::remove_cvref_t<decltype(*p.x)>;
    const size_t count = n;
    return in.fill("x", n, [=](size_t i) { return value(days::Type<T>{}, i, count); });
  };
}
double ordinary(size_t i) {
  return (static_cast<double>(i * 40009 % 1009) - 504) / 512;
}
template <class T>
double one_outlier(days::Type<T>, size_t i, size_t) {
  return i % 64 == i / 64 % 64 ? -std::min(1e30, days::TypeInfo<T>::kMax) : ordinary(i);
}
// The largest size is negative, and the last of its block.
template <class T>
double largest_last(days::Type<T>, size_t i, size_t n) {
  return i % 64 == 63 || i == n - 1 ? -1.75 - static_cast<double>(i / 64 % 5) : ordinary(i);
}
// Multiples of the least denormal; then sizes around 1e-38, where the scale ends (in fp16 as small as there are).
template <class T>
double denormal(days::Type<T>, size_t i, size_t) {
  return days::TypeInfo<T>::kDenormMin * (static_cast<double>(i % 13) - 6);
}
template <class T>
double around_1e38(days::Type<T>, size_t i, size_t) {
  return ordinary(i) * (i / 64 % 2 == 0 ? 0.98e-38 : 1.06e-38);
}
template <class T>
double large(days::Type<T>, size_t i, size_t) {
  return ordinary(i) * days::TypeInfo<T>::kMax;
}
// One special value a block; NaN and infinity in the first two.
template <class T>
double special(days::Type<T>, size_t i, size_t) {
  return i % 64 == 41 ? days::special_value<T>(i / 64) : i % 64 == 3 ? 0.0 : ordinary(i);
}
// Thresholds times a scale that is 1 at first and then has many bits: where a product with the reciprocal and a quotient, or > and
// >=, differ.
template <class T>
double on_thresholds(days::Type<T>, size_t i, size_t) {
  const float scale = 1 + static_cast<float>(i / 64) * 0.0137f;
  return i % 64 == 0 ? scale : days::nf4_threshold(static_cast<unsigned>(i % 15)) * scale;
}
auto equal(double value) {
  return each([=](auto, size_t, size_t) { return value; });
}

const auto quantize =
    sizes(days::ladder<Nf4Quantize>("nf4_quantize").types<float, days::half, days::bf16>())
        .variant("block", LAUNCHER(quantize_block))
        .variant("warp", LAUNCHER(quantize_warp))
        .needs(kPairsOfX)
        .variant("vectors", LAUNCHER(quantize_vectors))
        .needs(kAlignedX)
        .variant("cells", LAUNCHER(quantize_cells))
        .needs(kAlignedX)
        .reference(LAUNCHER(quantize_reference))
        .parallel(LAUNCHER(quantize_parallel))
        .inputs(to_codes(normal()))
        .hostile("one outlier in each block", to_codes(each(LAUNCHER(one_outlier))))
        .hostile("the largest is negative and last", to_codes(each(LAUNCHER(largest_last))))
        .hostile("all 0", to_codes(equal(0)))
        .hostile("all equal", to_codes(equal(-0.3)))
        .hostile("denormals", to_codes(each(LAUNCHER(denormal))))
        .hostile("around 1e-38", to_codes(each(LAUNCHER(around_1e38))))
        .hostile("up to the largest", to_codes(each(LAUNCHER(large))))
        .hostile("special values", to_codes(each(LAUNCHER(special))))
        .hostile("on the thresholds", to_codes(each(LAUNCHER(on_thresholds))))
        .hostile("misaligned x", to_codes(normal(), 1, 0))
        .hostile("misaligned codes", to_codes(normal(), 0, 1))
        .traffic([](const auto& p) {
          return days::reads(p.x, p.n) + days::writes(p.codes, days::nf4_bytes(p.n)) +
                 days::writes(p.absmax, days::nf4_blocks(p.n));
        })
        .lesson("one scale for 64 neighbours, and no search where one comparison is enough.");
REGISTER_LADDER(quantize);

}  // namespace
}  // namespace day17
