// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace day66 {
namespace {

// The pointers are never followed: the launchers must have thrown before.
template <class Problem>
void expect_refused(const char* ladder, Problem good) {
  for (const auto& variant : days::variants<Problem>(ladder)) {
    for (int Problem::*extent : {&Problem::m, &Problem::n, &Problem::k}) {
      for (const int size : {0, -8}) {
        Problem p = good;
        p.*extent = size;
        EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
      }
    }
    Problem p = good;  // more tiles than a grid has blocks, whatever a tile is
    p.m = p.n = (1 << 30) + 8;
    EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
  }
}

TEST(Day66Refuses, SizesThatAreNotPositiveAndTilesThatAreTooMany) {
  alignas(16) days::half h[64] = {};
  alignas(16) float f[64] = {};
  expect_refused<Matmul<days::half>>("half", {h, h, h, 8, 8, 8});
  expect_refused<Matmul<float>>("tf32", {f, f, f, 8, 8, 8});
  expect_refused<Matmul<float>>("fp32", {f, f, f, 8, 8, 8});
  Linear<days::half> linear;
  static_cast<Matmul<days::half>&>(linear) = {h, h, h, 8, 8, 8};
  linear.bias = h;
  expect_refused<Linear<days::half>>("linear", linear);
}

// Seventeen rows of tiles are a whole group and one row more, two tiles across: each tile has one block, and only one.
TEST(Day66Grouped, TakesEveryTileOfSeveralGroups) {
  const int m = 2057, n = 264, k = 8;
  const size_t rows = 2057, cols = 264, depth = 8;
  std::vector<days::half> a(rows * depth), b(depth * cols), c(rows * cols);
  const auto number = [](size_t i) { return static_cast<float>(i % 7) - 3; };
  for (size_t i = 0; i < a.size(); ++i) a[i] = days::from_float<days::half>(number(i * 5 / 3));
  for (size_t i = 0; i < b.size(); ++i) b[i] = days::from_float<days::half>(number(i * 11 / 2));
  const days::DeviceBuffer<days::half> device_a(a), device_b(b), device_c(c.size());
  matmul_grouped(Matmul<days::half>{device_a.data(), device_b.data(), device_c.data(), m, n, k}, nullptr);
  c = device_c.download();
  size_t wrong = 0;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t col = 0; col < cols; ++col) {
      float sum = 0;
      for (size_t i = 0; i < depth; ++i)
        sum += days::to_float(a[row * depth + i]) * days::to_float(b[i * cols + col]);
      wrong += days::to_float(c[row * cols + col]) == sum ? 0 : 1;
    }
  }
  EXPECT_EQ(wrong, 0u);
}

// 2^-25 lies halfway between 0 and the least half and is rounded to 0, the even one. Anything more that k's end brought, were it
// the product of two least halves, would make it the other.
TEST(Day66Half, AddsNothingFromBeyondTheEndOfK) {
  constexpr int kSize = 8;  // of an extent: a chunk, so that most of a tile lies beyond
  std::vector<days::half> a(kSize), b(kSize * kSize, days::from_float<days::half>(0.5f));
  a[0] = days::from_float<days::half>(0x1p-24f);
  const days::DeviceBuffer<days::half> device_a(a), device_b(b), device_c(kSize);
  for (const auto& variant : days::variants<Matmul<days::half>>("half")) {
    if (!variant.runs_here) continue;
    variant.launch({device_a.data(), device_b.data(), device_c.data(), 1, kSize, kSize});
    for (const days::half c : device_c.download()) EXPECT_EQ(days::to_float(c), 0) << variant.name;
  }
}

// c by a rung of floats, where that runs here; else nothing.
std::vector<float> product_of_floats(const char* ladder, const std::vector<float>& a,
                                     const std::vector<float>& b, int m, int n, int k) {
  const days::DeviceBuffer<float> device_a(a), device_b(b),
      device_c(static_cast<size_t>(m) * static_cast<size_t>(n));
  for (const auto& variant : days::variants<Matmul<float>>(ladder)) {
    if (!variant.runs_here) continue;
    variant.launch({device_a.data(), device_b.data(), device_c.data(), m, n, k});
    return device_c.download();
  }
  return {};
}

// Three quarters of the way from 1 to the next tf32: mma would cut off what is not rounded. 64 rows and columns are all that a
// thread has to round.
TEST(Day66Tf32, RoundsEveryOperandToTheNearest) {
  constexpr int kSize = 64, kDepth = 16;
  const std::vector<float> ones(kSize * kDepth, 1.0f), between(kSize * kDepth, 1 + 0x1.8p-11f);
  for (const float c : product_of_floats("tf32", between, ones, kSize, kSize, kDepth))
    ASSERT_EQ(c, kDepth * (1 + 0x1p-10f)) << "of a";
  for (const float c : product_of_floats("tf32", ones, between, kSize, kSize, kDepth))
    ASSERT_EQ(c, kDepth * (1 + 0x1p-10f)) << "of b";
}

// The nearest tf32 of the largest float is infinity.
TEST(Day66Three, TakesTheLargestFloat) {
  constexpr int kSize = 4;
  const std::vector<float> a(kSize, std::numeric_limits<float>::min());
  std::vector<float> b(kSize * kSize);
  for (size_t col = 0; col < kSize; ++col) b[col] = std::numeric_limits<float>::max();
  for (const float c : product_of_floats("fp32", a, b, 1, kSize, kSize)) EXPECT_EQ(c, a[0] * b[0]);
}

// Beside 2^24 a float has no room for 1: ones come through only where they meet before they are added to it. Eight do, and
// the first seven stand beside it from the start.
TEST(Day66Three, AddsUpEightProductsBeforeTheLongSum) {
  constexpr int kCols = 4, kDepth = 64;
  std::vector<float> a(kDepth, 1.0f), b(kDepth * kCols, 1.0f);
  a[0] = 0x1p24f;
  for (const float c : product_of_floats("fp32", a, b, 1, kCols, kDepth)) {
    EXPECT_GE(c, 0x1p24f + 56);
    EXPECT_LE(c, 0x1p24f + 64);
  }
}

// The NaN that a GPU's arithmetic makes has all fraction bits set: rounded as an integer it would overflow into -0.
TEST(Day66Floats, NaNOfOnesStaysNaN) {
  constexpr int kSize = 8, kRow = 3;
  std::vector<float> a(kSize * kSize, 1.0f), b(kSize * kSize, 2.0f);
  for (const uint32_t bits : {0x7fffffffu, 0xffffffffu}) {
    std::memcpy(&a[kRow * kSize + 5], &bits, sizeof bits);
    const days::DeviceBuffer<float> device_a(a), device_b(b), device_c(a.size());
    for (const char* ladder : {"tf32", "fp32"}) {
      for (const auto& variant : days::variants<Matmul<float>>(ladder)) {
        if (!variant.runs_here) continue;
        variant.launch({device_a.data(), device_b.data(), device_c.data(), kSize, kSize, kSize});
        const std::vector<float> c = device_c.download();
        for (size_t i = 0; i < c.size(); ++i) {
          if (i / kSize == kRow) {
            EXPECT_TRUE(std::isnan(c[i])) << variant.name << " " << i << " " << bits;
          } else {
            EXPECT_EQ(c[i], 16) << variant.name << " " << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace day66
