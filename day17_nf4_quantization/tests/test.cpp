// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest: codes that bitsandbytes
// itself gave, what the format promises, what each rung refuses, and what `cells` takes for granted.
#include <cmath>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day17_nf4_quantization/cells.h"
#include "day17_nf4_quantization/nf4_quantization.h"

namespace day17 {
namespace {

struct Coded {
  std::vector<uint8_t> codes;
  std::vector<float> absmax;
};
template <class T>
Coded coded(const days::Variant<Nf4Quantize<T>>& variant, const std::vector<T>& x) {
  const int64_t n = static_cast<int64_t>(x.size());
  const days::DeviceBuffer<T> in(x);
  const days::DeviceBuffer<uint8_t> codes(static_cast<size_t>(days::nf4_bytes(n)));
  const days::DeviceBuffer<float> absmax(static_cast<size_t>(days::nf4_blocks(n)));
  variant.launch({in.data(), codes.data(), absmax.data(), n, 64});
  return {codes.download(), absmax.download()};
}
template <class T>
std::vector<T> decoded(const days::Variant<Nf4Dequantize<T>>& variant, const Coded& coded, int64_t n) {
  const days::DeviceBuffer<uint8_t> codes(coded.codes);
  const days::DeviceBuffer<float> absmax(coded.absmax);
  const days::DeviceBuffer<T> y(static_cast<size_t>(n));
  variant.launch({codes.data(), absmax.data(), y.data(), n, 64});
  return y.download();
}

// quantize_4bit(x, blocksize=64, quant_type="nf4") of bitsandbytes 0.50.2, on a CPU.
TEST(Day17, CodesAreThoseOfBitsandbytes) {
  std::vector<float> x(128);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = (static_cast<float>(i * 37 % 101) - 50) / (i < 64 ? 16.0f : 1024.0f);
  const std::vector<uint8_t> expected = {4,   193, 110, 41,  243, 176, 93,  23,  226, 159, 60,  5,   209,
                                         142, 42,  244, 193, 110, 24,  227, 176, 93,  23,  226, 159, 59,
                                         5,   209, 142, 42,  244, 193, 109, 24,  227, 176, 76,  23,  226,
                                         159, 59,  5,   209, 126, 42,  244, 192, 109, 24,  226, 160, 76,
                                         22,  226, 159, 59,  5,   209, 126, 41,  243, 192, 93,  24};
  for (const auto& variant : days::variants<Nf4Quantize<float>>("nf4_quantize")) {
    const Coded got = coded(variant, x);
    EXPECT_EQ(got.codes, expected) << variant.name;
    EXPECT_EQ(got.absmax, (std::vector<float>{3.125f, 0.048828125f})) << variant.name;
    EXPECT_EQ(coded(variant, {0.5f, -1.0f, 0.25f, 0.0f}).codes, (std::vector<uint8_t>{0xc0, 0xa7}));
    EXPECT_EQ(coded(variant, std::vector<float>(3)).codes, (std::vector<uint8_t>{0x77, 0x77})) << "zeros";
  }
  for (const auto& variant : days::variants<Nf4Dequantize<float>>("nf4_dequantize")) {
    const std::vector<float> y = decoded(variant, {{4, 193}, {3.125f}}, 4);
    EXPECT_EQ(y, (std::vector<float>{-3.125f, -0.8888792991638184f, 1.377218246459961f, -2.175602436065674f}))
        << variant.name;
  }
}

// What comes back is coded as itself: the table times any scale is its own nearest.
TEST(Day17, TheTableTimesAScaleComesBackExactly) {
  std::vector<float> x;
  for (int block = 0; block < 65; ++block)
    for (unsigned i = 0; i < 64; ++i)
      x.push_back(days::nf4_value((i * 7 + static_cast<unsigned>(block)) % 16) *
                  (0.001f + 1.37f * static_cast<float>(block)));
  for (const auto& to : days::variants<Nf4Quantize<float>>("nf4_quantize"))
    for (const auto& from : days::variants<Nf4Dequantize<float>>("nf4_dequantize"))
      EXPECT_EQ(decoded(from, coded(to, x), static_cast<int64_t>(x.size())), x)
          << to.name << ", " << from.name;
}

TEST(Day17, FourComparisonsFindWhatFifteenDo) {
  for (unsigned i = 0; i < 15; ++i) {
    const float threshold = days::nf4_threshold(i);
    EXPECT_GT(threshold, days::nf4_value(i));
    EXPECT_LT(threshold, days::nf4_value(i + 1));
    EXPECT_EQ(days::nf4_code(std::nextafter(threshold, -2.0f)), i);
    EXPECT_EQ(days::nf4_code(threshold), i) << "a tie keeps the lower code";
    EXPECT_EQ(days::nf4_code(std::nextafter(threshold, 2.0f)), i + 1);
  }
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(days::nf4_code(days::nf4_value(i)), i);
  EXPECT_EQ(days::nf4_code(std::nanf("")), 0u);
}

// A cell has one threshold at most, which is farther from the cell's edges than any rounding of `cells` moves a number.
TEST(Day17, ACellHasOneThreshold) {
  std::vector<int> thresholds(2 * kCells + 1);
  for (unsigned i = 0; i < 15; ++i) {
    const double at = kCells * static_cast<double>(days::nf4_threshold(i));
    ++thresholds[static_cast<size_t>(cell_of(days::nf4_threshold(i)) + kCells)];
    EXPECT_LT(std::abs(at - std::round(at)), 0.49) << i;
  }
  for (const int count : thresholds) EXPECT_LE(count, 1);
}

TEST(Day17Refuses, WhatIsNoProblem) {
  alignas(16) float x[64] = {};
  alignas(16) uint8_t codes[32] = {};
  float absmax[1] = {};
  const auto expect_refused = [](const auto& variant, auto p) {
    for (const int64_t n : {int64_t{0}, int64_t{-1}}) {
      p.n = n;
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << n;
    }
    p.n = 64;
    for (const int64_t block : {int64_t{0}, int64_t{32}, int64_t{128}, int64_t{4096}}) {
      p.block = block;
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << ", blocks of " << block;
    }
  };
  for (const auto& variant : days::variants<Nf4Quantize<float>>("nf4_quantize"))
    expect_refused(variant, Nf4Quantize<float>{x, codes, absmax, 64, 64});
  for (const auto& variant : days::variants<Nf4Dequantize<float>>("nf4_dequantize"))
    expect_refused(variant, Nf4Dequantize<float>{codes, absmax, x, 64, 64});
}

// Indices beyond 2^31: all 0 but the last element, there and back.
TEST(Day17, MoreElementsThanAnIntCounts) {
#ifdef __SIMT__
  GTEST_SKIP() << "2^31 elements: the GPU's tests have them";
#else
  constexpr int64_t kCount = (int64_t{1} << 31) + 65;
  const days::DeviceBuffer<days::half> x(kCount);
  const days::DeviceBuffer<uint8_t> codes(days::nf4_bytes(kCount));
  const days::DeviceBuffer<float> absmax(days::nf4_blocks(kCount));
  const days::half one = days::from_float<days::half>(-1);
  for (const auto& to : days::variants<Nf4Quantize<days::half>>("nf4_quantize")) {
    for (const auto& from : days::variants<Nf4Dequantize<days::half>>("nf4_dequantize")) {
      CUDA_CHECK(cudaMemset(x.data(), 0, sizeof(days::half) * kCount));
      CUDA_CHECK(cudaMemcpy(x.data() + kCount - 1, &one, sizeof one, cudaMemcpyHostToDevice));
      to.launch({x.data(), codes.data(), absmax.data(), kCount, 64});
      from.launch({codes.data(), absmax.data(), x.data(), kCount, 64});
      days::half last[2];
      CUDA_CHECK(cudaMemcpy(last, x.data() + kCount - 2, sizeof last, cudaMemcpyDeviceToHost));
      EXPECT_EQ(days::to_float(last[0]), 0.0f) << to.name << ", " << from.name;
      EXPECT_EQ(days::to_float(last[1]), -1.0f) << to.name << ", " << from.name;
    }
  }
#endif
}

}  // namespace
}  // namespace day17
