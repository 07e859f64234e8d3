// SPDX-License-Identifier: MIT
// The day's two ladders: from doubly quantised codes to numbers, and from scales to codes. Host code only.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/elementwise.h"
#include "common/ladder.h"
#include "common/scalar.h"
#include "day18_nf4_double_quantization/nf4_double_quantization.h"

namespace day18 {
namespace {

auto map_of(days::Inputs& in) {
  return in.fill("map", size_t{kMap},
                 [map = dynamic_map()](size_t i) { return static_cast<double>(map[i]); });
}

// ---- From codes ----

template <class Scales>
auto from_codes(Scales scales, double offset, int codes = 0, int y = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.block = static_cast<int64_t>(days::scalar("block", 64));
    const size_t blocks = static_cast<size_t>(days::nf4_blocks(p.n)),
                 groups = days::ceil_div(blocks, size_t{kGroup});
    p.codes =
        in.uniform("codes", static_cast<size_t>(days::nf4_bytes(p.n)), 0, 256) + static_cast<size_t>(codes);
    p.codes8 = in.uniform("codes8", blocks, 0, 256);
    p.absmax2 = in.fill("absmax2", groups, scales);
    p.offset = in.fill("offset", size_t{1}, [=](size_t) { return offset; });
    p.map = map_of(in);
    p.y = in.output("y", s[0]) + static_cast<size_t>(y);
  };
}
// As weights of N(0, 1) have them.
double usual(size_t group) {
  return 1.1 + 0.07 * static_cast<double>(group % 7);
}
double of_group(size_t group) {
  return 1 + static_cast<double>(group);
}
double special(size_t group) {
  return std::abs(days::special_value<float>(group));
}
double none(size_t) {
  return 0;
}

const auto dequantize =
    days::ladder<DoubleDequantize>("double_dequantize")
        .extents({"n"})
        .types<float, days::half, days::bf16>()
        .variant("apart", LAUNCHER(dequantize_apart))
        .needs(kAligned)
        .workspace(LAUNCHER(scales_workspace))
        .variant("fused", LAUNCHER(dequantize_fused))
        .needs(kAligned)
        .variant("once", LAUNCHER(dequantize_once))
        .needs(kAligned)
        .exercise(LAUNCHER(exercise), "numbers from doubly quantised codes in one launch", "apart", "fused",
                  {.launches = 1, .workspace = 0})
        .needs(kAligned)
        .reference(LAUNCHER(dequantize_reference))
        // Around a vector, a block, a warp's 32 blocks, and a group of 256 blocks.
        .shapes({{1}, {7}, {63}, {65}, {2047}, {2049}, {16383}, {16385}, {33000}})
        .gpu_shapes({{(1 << 20) + 7}, {(1 << 24) + 65}})
        .bench({{4096 * 4096}, {1 << 28}})
        .show({{1 << 17}})
        .inputs(from_codes(usual, 2.4))
        .hostile("a scale for each group", from_codes(of_group, 0))
        .hostile("special absmax2", from_codes(special, 0.5))
        .hostile("only an offset", from_codes(none, 0.7))
        .hostile("offset 1e20", from_codes(usual, 1e20))
        .hostile("negative scales", from_codes(usual, 0.01))
        .hostile("misaligned codes", from_codes(usual, 2.4, 1, 0))
        .hostile("misaligned y", from_codes(usual, 2.4, 0, 1))
        .traffic([](const auto& p) {
          const int64_t blocks = days::nf4_blocks(p.n);
          return days::reads(p.codes, days::nf4_bytes(p.n)) + days::reads(p.codes8, blocks) +
                 days::reads(p.absmax2, days::ceil_div(blocks, kGroup)) + days::reads(p.offset, 1) +
                 days::reads(p.map, kMap) + days::writes(p.y, p.n);
        })
        .tolerance(days::exact)
        .lesson("a scale is a number like any other: decode it where it is used, and once.");
REGISTER_LADDER(dequantize);

// ---- To codes ----

template <class Values>
auto to_codes(Values values) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.b = s[0];
    p.absmax = values(s[0], in);
    p.map = map_of(in);
    p.codes8 = in.output("codes8", s[0]);
    p.absmax2 = in.output("absmax2", static_cast<size_t>(days::ceil_div(p.b, kGroup)));
    p.offset = in.output("offset", 1);
  };
}
template <class F>
auto each(F value) {
  return [=](days::Extent n, days::Inputs& in) {
    return in.fill("absmax", n, [=](size_t i) { return static_cast<double>(value(i)); });
  };
}

// What codes8 and absmax2 have to be depends on the offset's last bit, which any order of the sum may change: they are compared with
// those of the offset that the run itself has given.
struct Expected {
  std::vector<uint8_t> codes8;
  std::vector<float> absmax2;
};
Expected expected_of(const DoubleQuantize<float>& p) {
  Expected expected{std::vector<uint8_t>(static_cast<size_t>(p.b)),
                    std::vector<float>(static_cast<size_t>(days::ceil_div(p.b, kGroup)))};
  DoubleQuantize<float> own = p;
  own.codes8 = expected.codes8.data();
  own.absmax2 = expected.absmax2.data();
  code_scales(own, *p.offset);
  return expected;
}
days::Report check_codes8(const DoubleQuantize<float>& p) {
  const Expected expected = expected_of(p);
  for (size_t i = 0; i < expected.codes8.size(); ++i)
    if (p.codes8[i] != expected.codes8[i])
      return days::Report::failed("codes8[" + std::to_string(i) + "] is " + std::to_string(p.codes8[i]) +
                                  ", expected " + std::to_string(expected.codes8[i]) + " with this offset");
  return {};
}
days::Report check_absmax2(const DoubleQuantize<float>& p) {
  const Expected expected = expected_of(p);
  for (size_t i = 0; i < expected.absmax2.size(); ++i) {
    const float got = p.absmax2[i], want = expected.absmax2[i];
    if (got != want && !(std::isnan(got) && std::isnan(want)))
      return days::Report::failed("absmax2[" + std::to_string(i) + "] is " + std::to_string(got) +
                                  ", expected " + std::to_string(want) + " with this offset");
  }
  return {};
}

const auto quantize =
    days::ladder<DoubleQuantize>("double_quantize")
        .extents({"b"})
        .types<float>()
        .variant("three", LAUNCHER(quantize_three))
        .workspace(LAUNCHER(three_workspace))
        .variant("two", LAUNCHER(quantize_two))
        .workspace(LAUNCHER(two_workspace))
        .reference(LAUNCHER(quantize_reference))
        .shapes({{1}, {2}, {31}, {255}, {256}, {257}, {1025}, {4097}})
        .gpu_shapes({{(1 << 20) + 7}})
        .bench({{1 << 18}, {1 << 22}})
        .show({{1 << 13}})
        .inputs(to_codes([](days::Extent n, days::Inputs& in) { return in.uniform("absmax", n, 1.5, 4); }))
        .hostile("one of 1e20 among 1e-3", to_codes(each([](size_t i) { return i == 0 ? 1e20 : 1e-3; })))
        .hostile("all equal", to_codes(each([](size_t) { return 1.75; })))
        .hostile("all 0", to_codes(each([](size_t) { return 0; })))
        .hostile("denormal", to_codes(each([](size_t i) { return 1e-42 * static_cast<double>(i % 11); })))
        .hostile("whole numbers", to_codes(each([](size_t i) { return 2 + i % 3; })))
        .hostile("a NaN", to_codes(each([](size_t i) {
                   return i == 0 ? std::numeric_limits<double>::quiet_NaN() : 1 + static_cast<double>(i % 5);
                 })))
        .hostile("an infinity", to_codes(each([](size_t i) {
                   return i == 0 ? std::numeric_limits<double>::infinity() : 1 + static_cast<double>(i % 5);
                 })))
        .traffic([](const auto& p) {
          return days::reads(p.absmax, p.b) + days::reads(p.map, kMap) + days::writes(p.codes8, p.b) +
                 days::writes(p.absmax2, days::ceil_div(p.b, kGroup)) + days::writes(p.offset, 1);
        })
        .tolerance("offset", days::dot_product([](const auto& p) { return p.b; }))
        .check("codes8", LAUNCHER(check_codes8))
        .check("absmax2", LAUNCHER(check_absmax2))
        .lesson("what lies far from 0 is centred first, and the mean must be known before the first code.");
REGISTER_LADDER(quantize);

}  // namespace
}  // namespace day18
