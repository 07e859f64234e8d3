// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day67_hopper_matmul/matmul.h"
#include "day67_hopper_matmul/other_types.h"

namespace day67 {
namespace {

// The pointers are never followed: the launchers must have thrown before.
template <class Problem, class T>
void expect_refused(const char* ladder, T* h) {
  for (const auto& variant : days::variants<Problem>(ladder)) {
    Problem good;
    good.a = good.b = h;
    if constexpr (requires { good.c = h; }) {
      good.c = h;
    } else {
      good.c = reinterpret_cast<days::bf16*>(h);
    }
    if constexpr (requires { good.workspace; }) good.workspace = {h, size_t{1} << 50};
    good.m = good.n = good.k = 16;
    for (int Problem::*extent : {&Problem::m, &Problem::n, &Problem::k}) {
      for (const int size : {0, -16}) {
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

TEST(Day67Refuses, SizesThatAreNotPositiveAndTilesThatAreTooMany) {
  alignas(16) days::half h[64] = {};
  alignas(16) float f[64] = {};
  alignas(16) unsigned char bytes[64] = {};
  expect_refused<Product<days::half>>("half", h);
  expect_refused<ByteMatmul<days::fp8_e4m3>>("fp8", reinterpret_cast<days::fp8_e4m3*>(bytes));
  expect_refused<WideMatmul<float>>("fp32", f);
}

// Seventeen rows of tiles, and of pairs of tiles, are a whole group and one row more: each tile has one block, and only one.
TEST(Day67Walk, TakesEveryTileOfSeveralGroups) {
  const int m = 17 * 256 - 100, n = 264, k = 8;
  const auto rows = static_cast<size_t>(m), cols = static_cast<size_t>(n), depth = static_cast<size_t>(k);
  std::vector<days::half> a(rows * depth), b(depth * cols);
  const auto number = [](size_t i) { return static_cast<float>(i % 7) - 3; };
  for (size_t i = 0; i < a.size(); ++i) a[i] = days::from_float<days::half>(number(i * 5 / 3));
  for (size_t i = 0; i < b.size(); ++i) b[i] = days::from_float<days::half>(number(i * 11 / 2));
  const days::DeviceBuffer<days::half> device_a(a), device_b(b), device_c(rows * cols);
  for (const auto& variant : days::variants<Product<days::half>>("half")) {
    const std::string name = variant.name;
    if (!variant.runs_here || (name != "persistent" && name != "clusters")) continue;
    Product<days::half> p;
    static_cast<Matmul<days::half>&>(p) = {device_a.data(), device_b.data(), device_c.data(), m, n, k};
    variant.launch(p);
    const std::vector<days::half> c = device_c.download();
    size_t wrong = 0;
    for (size_t row = 0; row < rows; ++row) {
      for (size_t col = 0; col < cols; ++col) {
        float sum = 0;
        for (size_t i = 0; i < depth; ++i)
          sum += days::to_float(a[row * depth + i]) * days::to_float(b[i * cols + col]);
        wrong += days::to_float(c[row * cols + col]) == sum ? 0 : 1;
      }
    }
    EXPECT_EQ(wrong, 0u) << name;
  }
}

// As TakesEveryTileOfSeveralGroups: of 8-bit floats, whose sums of small integers are exact in bf16, and of floats.
template <class Problem, class T, class Out>
void expect_every_tile(const char* ladder, int m, int n) {
  const int k = 16;
  const auto rows = static_cast<size_t>(m), cols = static_cast<size_t>(n), depth = static_cast<size_t>(k);
  std::vector<T> a(rows * depth), b(depth * cols);
  const auto number = [](size_t i) { return static_cast<float>(i % 3) - 1; };
  for (size_t i = 0; i < a.size(); ++i) a[i] = days::from_float<T>(number(i * 5 / 3));
  for (size_t i = 0; i < b.size(); ++i) b[i] = days::from_float<T>(number(i * 11 / 2));
  constexpr bool kByColumns = sizeof(T) == 1;
  const days::DeviceBuffer<T> device_a(a), device_b(b);
  const days::DeviceBuffer<Out> device_c(rows * cols);
  const days::DeviceBuffer<float> parts(2 * b.size());
  for (const auto& variant : days::variants<Problem>(ladder)) {
    if (!variant.runs_here) continue;
    Problem p;
    p.a = device_a.data();
    p.b = device_b.data();
    p.c = device_c.data();
    p.m = m;
    p.n = n;
    p.k = k;
    if constexpr (requires { p.workspace; }) p.workspace = {parts.data(), 8 * b.size()};
    variant.launch(p);
    const std::vector<Out> c = device_c.download();
    size_t wrong = 0;
    for (size_t row = 0; row < rows; ++row) {
      for (size_t col = 0; col < cols; ++col) {
        float sum = 0;
        for (size_t i = 0; i < depth; ++i)
          sum += days::to_float(a[row * depth + i]) *
                 days::to_float(b[kByColumns ? col * depth + i : i * cols + col]);
        wrong += days::to_float(c[row * cols + col]) == sum ? 0 : 1;
      }
    }
    EXPECT_EQ(wrong, 0u) << variant.name;
  }
}
TEST(Day67Walk, OfOtherTypesTakesEveryTileOfSeveralGroups) {
  using Byte = days::fp8_e4m3;
  expect_every_tile<ByteMatmul<Byte>, Byte, days::bf16>("fp8", 17 * 128 - 100, 264);
  expect_every_tile<WideMatmul<float>, float, float>("fp32", 17 * 128 - 100, 136);
}

// c by three, where it runs here; else nothing.
std::vector<float> product_of_three(const std::vector<float>& a, const std::vector<float>& b, int m, int n,
                                    int k) {
  const days::DeviceBuffer<float> device_a(a), device_b(b), parts(2 * b.size()),
      device_c(static_cast<size_t>(m) * static_cast<size_t>(n));
  for (const auto& variant : days::variants<WideMatmul<float>>("fp32")) {
    if (!variant.runs_here) continue;
    WideMatmul<float> p;
    static_cast<Matmul<float>&>(p) = {device_a.data(), device_b.data(), device_c.data(), m, n, k};
    p.workspace = {parts.data(), 8 * b.size()};
    variant.launch(p);
    return device_c.download();
  }
  return {};
}

// The nearest tf32 of the largest float is infinity: every sum is made again, wherever a thread has it.
TEST(Day67Three, TakesTheLargestFloat) {
  constexpr int kM = 70, kN = 136, kDepth = 4;
  std::vector<float> a(kM * kDepth), b(kDepth * kN, std::numeric_limits<float>::max());
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::ldexp(1.0f, -126 + static_cast<int>(i / kDepth % 7));
  for (size_t i = 0; i < b.size(); ++i) b[i] = i % 3 == 0 ? b[i] / 2 : b[i];
  const std::vector<float> c = product_of_three(a, b, kM, kN, kDepth);
  for (size_t i = 0; i < c.size(); ++i) {
    float sum = 0;
    for (size_t j = 0; j < kDepth; ++j) sum += a[i / kN * kDepth + j] * b[j * kN + i % kN];
    EXPECT_EQ(c[i], sum) << i;
  }
}

// Beside 2^24 a float has no room for 1: ones come through only where they meet before they are added to it. A stage's do.
TEST(Day67Three, AddsUpAStageBeforeTheLongSum) {
  constexpr int kCols = 4, kDepth = 64;
  std::vector<float> a(kDepth, 1.0f), b(kDepth * kCols, 1.0f);
  a[0] = 0x1p24f;
  for (const float c : product_of_three(a, b, 1, kCols, kDepth)) {
    EXPECT_GE(c, 0x1p24f + 56);
    EXPECT_LE(c, 0x1p24f + 64);
  }
}

TEST(Day67Three, RefusesASmallWorkspace) {
  alignas(16) float f[64] = {};
  for (const auto& variant : days::variants<WideMatmul<float>>("fp32")) {
    WideMatmul<float> p;
    static_cast<Matmul<float>&>(p) = {f, f, f, 4, 4, 4};
    p.workspace = {f, 2 * 16 * sizeof(float) - 1};
    EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
    p.workspace = {f + 1, 2 * 16 * sizeof(float)};
    EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
  }
}

}  // namespace
}  // namespace day67
