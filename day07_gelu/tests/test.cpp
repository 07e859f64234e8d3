// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <cmath>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day07_gelu/formulas.h"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

const char* const kLadders[] = {"gelu", "gelu_tanh", "gelu_fast"};

TEST(Day07Refuses, WhatIsNoProblem) {
  alignas(16) float x[8] = {}, y[8] = {};
  for (const char* ladder : kLadders) {
    for (const auto& variant : days::variants<Gelu<float>>(ladder)) {
      EXPECT_THROW(variant.launch({x, x + 4, 8}), std::invalid_argument) << variant.name;
      EXPECT_THROW(variant.launch({x, y, int64_t{1} << 42}), std::invalid_argument) << variant.name;
    }
  }
}

// The ladders' tolerances are absolute near 0, where a kernel that makes 0 of all small numbers would pass.
TEST(Day07, SmallNumbersKeepTheirDigits) {
  constexpr int kCount = 96;
  days::DeviceBuffer<float> x(kCount), y(kCount);
  std::vector<float> in(kCount), out(kCount);
  for (int i = 0; i < kCount; ++i) in[i] = std::ldexp(i % 2 == 0 ? 1.3f : -1.3f, -(i + 12));
  CUDA_CHECK(cudaMemcpy(x.data(), in.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  for (const char* ladder : kLadders) {
    for (const auto& variant : days::variants<Gelu<float>>(ladder)) {
      variant.launch({x.data(), y.data(), kCount});
      CUDA_CHECK(cudaMemcpy(out.data(), y.data(), kCount * sizeof(float), cudaMemcpyDeviceToHost));
      for (int i = 0; i < kCount; ++i) {
        const double want = exact_gelu(static_cast<double>(in[i]));
        EXPECT_LE(std::abs(out[i] - want), 2e-6 * std::abs(want)) << variant.name << " of " << in[i];
      }
    }
  }
}

// Far left of 0 erfc and sigmoid have the digits that the sums of erf and tanh lose, which the tolerance does not ask for.
TEST(Day07, NothingCancelsInErfcAndSigmoid) {
  constexpr int kCount = 64;
  days::DeviceBuffer<float> x(kCount), y(kCount);
  std::vector<float> in(kCount), out(kCount);
  for (int i = 0; i < kCount; ++i) in[i] = -0.1f * static_cast<float>(i + 1);
  CUDA_CHECK(cudaMemcpy(x.data(), in.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  int seen = 0;
  for (const char* ladder : kLadders) {
    for (const auto& variant : days::variants<Gelu<float>>(ladder)) {
      const bool erfc = variant.name == "erfc";
      if (!erfc && variant.name != "sigmoid") continue;
      ++seen;
      variant.launch({x.data(), y.data(), kCount});
      CUDA_CHECK(cudaMemcpy(out.data(), y.data(), kCount * sizeof(float), cudaMemcpyDeviceToHost));
      for (int i = 0; i < kCount; ++i) {
        const double want =
            erfc ? exact_gelu(static_cast<double>(in[i])) : tanh_gelu(static_cast<double>(in[i]));
        EXPECT_LE(std::abs(out[i] - want), 1e-5 * std::abs(want)) << variant.name << " of " << in[i];
      }
    }
  }
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace day07
