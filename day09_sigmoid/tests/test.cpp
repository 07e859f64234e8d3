// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day09_sigmoid/formulas.h"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

TEST(Day09Refuses, WhatIsNoProblem) {
  alignas(16) float x[8] = {}, y[8] = {};
  for (const char* ladder : {"sigmoid", "sigmoid_fast", "sigmoid_tanh"}) {
    for (const auto& variant : days::variants<Sigmoid<float>>(ladder)) {
      EXPECT_THROW(variant.launch({x, x + 4, 8}), std::invalid_argument) << variant.name;
      EXPECT_THROW(variant.launch({x, y, int64_t{1} << 42}), std::invalid_argument) << variant.name;
    }
  }
  for (const auto& variant : days::variants<SigmoidBackward<float>>("sigmoid_backward")) {
    EXPECT_THROW(variant.launch({x, y, x + 4, 8}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x, y, y + 4, 8}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : days::variants<SigmoidBackwardY<float>>("sigmoid_backward_y")) {
    EXPECT_THROW(variant.launch({x, y, x + 4, 8}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x, y, y + 4, 8}), std::invalid_argument) << variant.name;
  }
}

std::vector<float> results(const days::Variant<Sigmoid<float>>& variant, const std::vector<float>& in) {
  days::DeviceBuffer<float> x(in.size()), y(in.size());
  std::vector<float> out(in.size());
  CUDA_CHECK(cudaMemcpy(x.data(), in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
  variant.launch({x.data(), y.data(), static_cast<int64_t>(in.size())});
  CUDA_CHECK(cudaMemcpy(out.data(), y.data(), in.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return out;
}

// Where forward may give 0, in fp32, tails has the denormals that there are.
TEST(Day09, TailsHasDenormals) {
  std::vector<float> in;
  for (float x = -87; x > -104; x -= 0.25f) in.push_back(x);
  int seen = 0;
  for (const auto& variant : days::variants<Sigmoid<float>>("sigmoid")) {
    if (variant.name != "tails") continue;
    ++seen;
    const std::vector<float> out = results(variant, in);
    for (size_t i = 0; i < in.size(); ++i) {
      const double want = exact_sigmoid(static_cast<double>(in[i]));
      EXPECT_NEAR(out[i], want, 1e-6 * want + 3 * std::ldexp(1.0, -149)) << "of " << in[i];
    }
  }
  EXPECT_EQ(seen, 1);
}

// What is worst about fast mathematics is a promise, too: beyond the least normal number nothing but 0, and NaN stays NaN.
TEST(Day09, FastFlushesDenormals) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const auto& variant : days::variants<Sigmoid<float>>("sigmoid_fast")) {
    const std::vector<float> out =
        results(variant, {-87.5f, -88.0f, -100.0f, -inf, inf, std::nanf(""), 100.0f, 0.0f});
    for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], 0) << variant.name << ", " << i;
    EXPECT_EQ(out[4], 1) << variant.name;
    EXPECT_TRUE(std::isnan(out[5])) << variant.name;
    EXPECT_EQ(out[6], 1) << variant.name;
    EXPECT_EQ(out[7], 0.5f) << variant.name;
  }
}

// s(x) + s(-x) is 1, and nothing is outside of 0 to 1.
TEST(Day09, StaysBetween0And1) {
  std::vector<float> in;
  for (int i = -400; i <= 400; ++i) in.push_back(static_cast<float>(i) / 16);
  for (const char* ladder : {"sigmoid", "sigmoid_fast", "sigmoid_tanh"}) {
    for (const auto& variant : days::variants<Sigmoid<float>>(ladder)) {
      const std::vector<float> out = results(variant, in);
      for (size_t i = 0; i < in.size(); ++i) {
        EXPECT_GE(out[i], 0) << variant.name << " of " << in[i];
        EXPECT_LE(out[i], 1) << variant.name << " of " << in[i];
        EXPECT_NEAR(out[i] + out[in.size() - 1 - i], 1, 6e-4) << variant.name << " of " << in[i];
      }
    }
  }
}

}  // namespace
}  // namespace day09
