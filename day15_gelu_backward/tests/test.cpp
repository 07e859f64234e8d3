// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest: what is
// refused, and gradients against finite differences, which know nothing of the formula for the slope.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day15_gelu_backward/formulas.h"
#include "day15_gelu_backward/gelu_backward.h"

namespace day15 {
namespace {

// Never followed: the launchers throw before.
const float* const kX = reinterpret_cast<const float*>(uintptr_t{1} << 40);
const float* const kDy = reinterpret_cast<const float*>(uintptr_t{2} << 40);
float* const kY = reinterpret_cast<float*>(uintptr_t{3} << 40);
float* const kDx = reinterpret_cast<float*>(uintptr_t{4} << 40);

TEST(Day15Refuses, WhatIsNoProblem) {
  for (const auto& variant : days::variants<GeluBackward<float>>("gelu_backward")) {
    const auto refused = [&](const GeluBackward<float>& p) {
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << p.n;
    };
    refused({kX, kDy, kDx, int64_t{1} << 42});
    refused({kX, kDy, const_cast<float*>(kX) + 4, 8});
    refused({kX, kDy, const_cast<float*>(kDy) + 4, 8});
  }
  const days::Workspace enough = {kDx + 1024, size_t{1} << 50};
  for (const char* ladder : {"gelu_step", "gelu_step_byte"}) {
    for (const auto& variant : days::variants<GeluStep<float>>(ladder)) {
      const auto refused = [&](const GeluStep<float>& p) {
        EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << p.n;
      };
      refused({kX, kDy, kY, kDx, int64_t{1} << 42, enough});
      refused(
          {kX, kDy, const_cast<float*>(kX), kDx, 8, enough});  // y takes the place of x, which backward wants
      refused({kX, kDy, kY, const_cast<float*>(kX), 8, enough});
      refused({kX, kDy, const_cast<float*>(kDy), kDx, 8, enough});
      refused({kX, kDy, kY, kY, 8, enough});
      refused({kX, kDy, kY, kY + 4, 8, enough});
      refused({kX, kDy, kY, const_cast<float*>(kDy) + 4, 8, enough});
    }
  }
}

// The change of y over a small step either way, in double. Off by the third derivative, which is at most 1.2 here, times a
// sixth of the step's square (2e-11), and by the rounding of y, at most 8 * 2^-53, over the step (1e-10).
double difference(double x) {
  constexpr double kStep = 1e-5;
  return (gelu(x + kStep) - gelu(x - kStep)) / (2 * kStep);
}
constexpr double kDifferenceError = 2e-10;

// x from -8 to 8, not at round numbers.
std::vector<float> some_x() {
  std::vector<float> x;
  for (int i = 0; i < 1023; ++i) x.push_back(-8 + static_cast<float>(i) * 0.015639f);
  return x;
}

TEST(Day15, TheReferenceIsTheSlope) {
  for (const float x : some_x())
    EXPECT_NEAR(slope(static_cast<double>(x)), difference(static_cast<double>(x)), kDifferenceError) << x;
}

// dx for dy = 1, of each rung: within what its tolerance allows, and not of the reference.
void expect_differences(
    const std::string& name, double allowed,
    const std::function<void(const float* x, const float* dy, float* dx, int64_t n)>& launch) {
  const std::vector<float> from = some_x();
  const days::DeviceBuffer<float> x(from), dy(std::vector<float>(from.size(), 1.0f));
  days::DeviceBuffer<float> dx(from.size());
  dx.poison();
  launch(x.data(), dy.data(), dx.data(), static_cast<int64_t>(from.size()));
  const std::vector<float> got = dx.download();
  for (size_t i = 0; i < from.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), difference(static_cast<double>(from[i])),
                allowed + kDifferenceError)
        << name << " at x = " << from[i];
}

TEST(Day15, RungsAgreeWithFiniteDifferences) {
  constexpr double kFp32 = 5e-7;
  int seen = 0;
  for (const auto& variant : days::variants<GeluBackward<float>>("gelu_backward")) {
    ++seen;
    expect_differences(variant.name, kFp32, [&](const float* x, const float* dy, float* dx, int64_t n) {
      variant.launch({x, dy, dx, n});
    });
  }
  for (const char* ladder : {"gelu_step", "gelu_step_byte"}) {
    for (const auto& variant : days::variants<GeluStep<float>>(ladder)) {
      ++seen;
      const double allowed = variant.name == "byte" ? 0.5 / kSteps + kFp32 : kFp32;
      expect_differences(variant.name, allowed, [&](const float* x, const float* dy, float* dx, int64_t n) {
        days::DeviceBuffer<float> y(static_cast<size_t>(n));
        const days::DeviceBuffer<uint8_t> kept(sizeof(float) * static_cast<size_t>(n));
        variant.launch({x, dy, y.data(), dx, n, {kept.data(), kept.size()}});
        CUDA_CHECK(cudaDeviceSynchronize());
      });
    }
  }
  EXPECT_EQ(seen, 7);
}

// Far out, where a slope has come to its end, a byte still says exactly 0 and 1: a dead element gets no gradient at all.
TEST(Day15, AByteKnowsZeroAndOne) {
  const std::vector<float> from = {-30, -8, -5, 5, 8, 30}, of_dy = {3, -7, 1e6f, 1e6f, -7, 3};
  const days::DeviceBuffer<float> x(from), dy(of_dy);
  days::DeviceBuffer<float> y(6), dx(6);
  const days::DeviceBuffer<uint8_t> kept(6);
  gelu_step_byte(GeluStep<float>{x.data(), dy.data(), y.data(), dx.data(), 6, {kept.data(), 6}}, nullptr);
  const std::vector<float> got = dx.download();
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(got[i], 0) << from[i];
    EXPECT_EQ(got[i + 3], of_dy[i + 3]) << from[i + 3];
  }
}

// dx may take the place of x, where backward stands alone. (The tolerance needs dy, the ladder's own inputs have it there.)
TEST(Day15, InPlaceOfX) {
  const std::vector<float> from = some_x();
  for (const auto& variant : days::variants<GeluBackward<float>>("gelu_backward")) {
    days::DeviceBuffer<float> x(from), dx(from.size());
    const days::DeviceBuffer<float> dy(std::vector<float>(from.size(), 0.7f));
    const int64_t n = static_cast<int64_t>(from.size());
    variant.launch({x.data(), dy.data(), dx.data(), n});
    const std::vector<float> apart = dx.download();
    variant.launch({x.data(), dy.data(), x.data(), n});
    EXPECT_EQ(x.download(), apart) << variant.name;
  }
}

}  // namespace
}  // namespace day15
