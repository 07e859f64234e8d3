// SPDX-License-Identifier: MIT
//
// A step's products by themselves, against double loops: rows that are longer than what a warp holds, and all ways to keep a matrix.
#include "serve/step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "common/buffer.h"
#include "common/random.h"
#include "model/product.h"
#include "serve/pack.h"

namespace {

using days::half;
using serve::FewRows;

std::vector<float> normals(int64_t n, uint64_t seed, float size) {
  std::vector<float> values;
  for (uint64_t i = 0; i < static_cast<uint64_t>(n); ++i)
    values.push_back(static_cast<float>(half(size * days::normal(seed, i))));
  return values;
}
days::DeviceBuffer<half> on_device(const std::vector<float>& values) {
  std::vector<half> halves;
  for (const float value : values) halves.push_back(half(value));
  return days::DeviceBuffer<half>(halves);
}
// Of row `row` of x: normalized, times row `of` of w.
double expected(const std::vector<float>& x, const std::vector<float>& gamma, const std::vector<float>& beta,
                const std::vector<float>& w, int row, int of, int k) {
  const auto at = [](const std::vector<float>& values, int64_t i) {
    return static_cast<double>(values[static_cast<size_t>(i)]);
  };
  double mean = 0, squares = 0, sum = 0;
  for (int i = 0; i < k; ++i) mean += beta.empty() ? 0 : at(x, int64_t{row} * k + i) / k;
  for (int i = 0; i < k; ++i) squares += std::pow(at(x, int64_t{row} * k + i) - mean, 2) / k;
  for (int i = 0; i < k; ++i) {
    const double normal = (at(x, int64_t{row} * k + i) - mean) / std::sqrt(squares + 1e-5) * at(gamma, i);
    sum += (normal + (beta.empty() ? 0 : at(beta, i))) * at(w, int64_t{of} * k + i);
  }
  return sum;
}

// n = 21: the last tile of 8 is not full, nor are the last units of k.
void normalized_product(int bits, bool mean, int m, int k) {
  constexpr int kN = 21;
  const std::vector<float> x = normals(int64_t{m} * k, 1, 2), gamma = normals(k, 2, 1),
                           beta = mean ? normals(k, 3, 1) : std::vector<float>(),
                           w = normals(int64_t{kN} * k, 4, 0.1f);
  serve::Packed packed{{}, {}, w};
  if (bits == 4) packed = serve::pack4<half>(w, kN, k, false);
  if (bits == 8) packed = serve::pack8(w, kN, k);
  const auto of_x = on_device(x), of_gamma = on_device(gamma), of_beta = on_device(beta), of_w = on_device(w),
             of_scales = on_device(packed.scales);
  const days::DeviceBuffer<uint32_t> words(packed.words);
  const days::DeviceBuffer<float> scales(packed.scales), y(static_cast<size_t>(m) * kN);
  FewRows<half> p{
      .x = of_x.data(), .gamma = of_gamma.data(), .beta = mean ? of_beta.data() : nullptr, .eps = 1e-5f};
  p.w = {of_w.data(), nullptr, 16};
  if (bits == 4) p.w = {words.data(), of_scales.data(), 4};
  if (bits == 8) p.w = {words.data(), scales.data(), 8};
  p.logits = y.data();
  p.m = m, p.n = kN, p.k = k;
  serve::multiply_few(p, false, nullptr);
  const std::vector<float> got = y.download();
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < kN; ++col)
      ASSERT_NEAR(static_cast<double>(got[static_cast<size_t>(row * kN + col)]),
                  expected(x, gamma, beta, packed.values, row, col, k), 2e-2)
          << bits << " bits, k = " << k << ", row " << row << ", column " << col;
}

TEST(serve_step, ProductsBehindANorm) {
  if (model::target_here().sm < 80) GTEST_SKIP() << "needs sm_80";
  for (const int bits : {16, 4, 8}) {
    normalized_product(bits, true, 1, 72);
    normalized_product(bits, false, 18, 1000);  // beyond 768 elements of a row
  }
}

TEST(serve_step, WhatIsNoProductIsRefused) {
  FewRows<half> p;
  p.m = p.n = 1, p.k = 12;
  EXPECT_THROW(serve::multiply_few(p, false, nullptr), std::invalid_argument);
  p.k = 8, p.w.bits = 8;
  EXPECT_THROW(serve::multiply_few(p, false, nullptr), std::invalid_argument) << "8 bits without a norm";
  const half one(1.0f);
  p.gamma = &one, p.k = serve::kMostNormal + 8;
  EXPECT_THROW(serve::multiply_few(p, false, nullptr), std::invalid_argument);
}

}  // namespace
