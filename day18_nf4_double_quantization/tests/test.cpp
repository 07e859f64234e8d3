// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest: what bitsandbytes itself
// gave, scales that come back exactly, and what each rung refuses.
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day18_nf4_double_quantization/nf4_double_quantization.h"

namespace day18 {
namespace {

const bool kStoreIsGiven = days::skeleton_is_given(
    "double_dequantize", "all but the scale, so it stores zeros", [](const days::Shape& s) {
      return days::Given{static_cast<size_t>(s[0]), false};
    });

struct Coded {
  std::vector<uint8_t> codes8;
  std::vector<float> absmax2;
  float offset;
};
Coded coded(const days::Variant<DoubleQuantize<float>>& variant, const std::vector<float>& absmax) {
  const int64_t b = static_cast<int64_t>(absmax.size());
  const days::DeviceBuffer<float> in(absmax), map(dynamic_map()), offset(1);
  const days::DeviceBuffer<float> absmax2(static_cast<size_t>(days::ceil_div(b, kGroup)));
  const days::DeviceBuffer<uint8_t> codes8(absmax.size());
  const days::DeviceBuffer<unsigned char> scratch(sizeof(float) * (kMostSums + absmax.size()));
  variant.launch({in.data(), map.data(), codes8.data(), absmax2.data(), offset.data(), b,
                  days::Workspace{scratch.data(), scratch.size()}});
  return {codes8.download(), absmax2.download(), offset.download()[0]};
}
// The scales, as the numbers of blocks whose codes are all 15, which is 1.
std::vector<float> scales_by(const days::Variant<DoubleDequantize<float>>& variant, const Coded& coded) {
  const int64_t n = static_cast<int64_t>(coded.codes8.size()) * days::kNf4Block;
  const days::DeviceBuffer<uint8_t> codes(std::vector<uint8_t>(static_cast<size_t>(n / 2), 0xff)),
      codes8(coded.codes8);
  const days::DeviceBuffer<float> absmax2(coded.absmax2), offset(std::vector<float>{coded.offset}),
      map(dynamic_map()), y(static_cast<size_t>(n));
  const days::DeviceBuffer<unsigned char> scratch(sizeof(float) * coded.codes8.size());
  variant.launch({codes.data(), codes8.data(), absmax2.data(), offset.data(), map.data(), y.data(), n, 64,
                  days::Workspace{scratch.data(), scratch.size()}});
  const std::vector<float> numbers = y.download();
  std::vector<float> scales;
  for (size_t i = 0; i < numbers.size(); i += 64) scales.push_back(numbers[i]);
  return scales;
}

// quantize_blockwise(absmax - absmax.mean(), blocksize=256) of bitsandbytes 0.50.2, on a CPU, and dequantize_blockwise.
TEST(Day18, CodesAreThoseOfBitsandbytes) {
  std::vector<float> absmax(512);
  for (size_t i = 0; i < absmax.size(); ++i) absmax[i] = 2 + static_cast<float>(i * 37 % 101) / 64;
  const std::vector<uint8_t> expected = {0,  52,  218, 14, 79,  232, 28, 194, 246, 42,  208, 4,  57,  222,
                                         18, 146, 236, 33, 198, 250, 47, 212, 8,   61,  226, 23, 177, 240,
                                         37, 202, 255, 51, 216, 13,  72, 230, 27,  192, 245, 41};
  const std::vector<float> back = {0x1.00188cp+1f, 0x1.497196p+1f, 0x1.9483f6p+1f,
                                   0x1.13d7e8p+1f, 0x1.5e099ap+1f, 0x1.a84352p+1f};
  for (const auto& to : days::variants<DoubleQuantize<float>>("double_quantize")) {
    Coded got = coded(to, absmax);
    EXPECT_EQ(got.offset, 0x1.63b2p+1f) << to.name;  // each order of this sum is exact
    EXPECT_EQ(got.absmax2, (std::vector<float>{0x1.9138p-1f, 0x1.9138p-1f})) << to.name;
    for (const auto& from : days::variants<DoubleDequantize<float>>("double_dequantize")) {
      std::vector<float> scales = scales_by(from, got);
      scales.resize(back.size());
      EXPECT_EQ(scales, back) << to.name << ", " << from.name;
    }
    got.codes8.resize(expected.size());
    EXPECT_EQ(got.codes8, expected) << to.name;
  }
}

TEST(Day18, TheMapIsThatOfBitsandbytes) {
  const std::vector<float> map = dynamic_map();
  ASSERT_EQ(map.size(), size_t{kMap});
  EXPECT_EQ(map[0], -0x1.fc6666p-1f);
  EXPECT_EQ(map[1], -0x1.f53334p-1f);
  EXPECT_EQ(map[3], -0x1.e6ccccp-1f);
  EXPECT_EQ(map[127], 0.0f);
  EXPECT_EQ(map[255], 1.0f);
  for (size_t i = 1; i < map.size(); ++i) EXPECT_LT(map[i - 1], map[i]);
}

// Without a spread there is nothing to code; a mean of powers of two is exact.
TEST(Day18, EqualScalesComeBackExactly) {
  for (const auto& to : days::variants<DoubleQuantize<float>>("double_quantize"))
    for (const auto& from : days::variants<DoubleDequantize<float>>("double_dequantize"))
      for (const float scale : {0.0f, 1.75f, 0x1p-140f})
        for (const size_t blocks : {size_t{1}, size_t{256}, size_t{512}}) {
          const std::vector<float> absmax(blocks, scale);
          EXPECT_EQ(scales_by(from, coded(to, absmax)), absmax)
              << to.name << ", " << from.name << ", " << scale;
        }
}

// On a middle between two entries of the map the even one is taken. Zeros, and two scales that make the mean 0 and absmax2 1.
TEST(Day18, AMiddleTakesTheEvenEntry) {
  const std::vector<float> map = dynamic_map();
  for (const auto& variant : days::variants<DoubleQuantize<float>>("double_quantize"))
    for (size_t i = 0; i + 1 < map.size(); i += 3) {
      const float middle = (map[i] + map[i + 1]) * 0.5f;
      const Coded got = coded(variant, {middle, -middle, 1, -1});
      EXPECT_EQ(got.offset, 0.0f);
      EXPECT_EQ(got.codes8[0], i % 2 == 0 ? i : i + 1) << variant.name << ", " << i;
    }
}

TEST(Day18Refuses, WhatIsNoProblem) {
  alignas(16) float y[64] = {};
  alignas(16) uint8_t codes[32] = {};
  alignas(16) float scratch[2048] = {};
  uint8_t codes8[1] = {};
  float one[1] = {}, map[kMap] = {};
  const days::Workspace workspace{scratch, sizeof scratch};
  for (const auto& variant : days::variants<DoubleQuantize<float>>("double_quantize")) {
    for (const int64_t b : {int64_t{0}, int64_t{-1}})
      EXPECT_THROW(variant.launch({one, map, codes8, one, one, b, workspace}), std::invalid_argument)
          << variant.name;
    EXPECT_THROW(variant.launch({one, map, codes8, one, one, 1, {}}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : days::variants<DoubleDequantize<float>>("double_dequantize")) {
    for (const int64_t n : {int64_t{0}, int64_t{-1}})
      EXPECT_THROW(variant.launch({codes, codes8, one, one, map, y, n, 64, workspace}), std::invalid_argument)
          << variant.name;
    for (const int64_t block : {int64_t{0}, int64_t{32}, int64_t{128}})
      EXPECT_THROW(variant.launch({codes, codes8, one, one, map, y, 64, block, workspace}),
                   std::invalid_argument)
          << variant.name << ", blocks of " << block;
  }
  EXPECT_THROW(dequantize_apart<float>({codes, codes8, one, one, map, y, 64, 64, {}}, nullptr),
               std::invalid_argument);
}

}  // namespace
}  // namespace day18
