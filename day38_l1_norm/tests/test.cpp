// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/testing.h"
#include "day38_l1_norm/l1_norm.h"

namespace day38 {
namespace {

const bool kGiven =
    days::skeleton_is_given("l1_norm", "backward, of words that nobody has written, and the sum of the block",
                            [](const days::Shape& s) {
                              return days::Given{static_cast<size_t>(s[0] * s[1] + s[0]), false};
                            });

std::vector<days::Variant<L1Norm<float>>> rungs() {
  return days::variants<L1Norm<float>>("l1_norm");
}

// The pointers are never followed: the launchers must have thrown before.
TEST(Day38Refuses, WhatIsNoProblem) {
  const auto x = reinterpret_cast<float*>(uintptr_t{1} << 40);
  const auto dx = reinterpret_cast<float*>(uintptr_t{1} << 50);
  const days::Workspace enough = {dx, size_t{1} << 50};
  for (const auto& variant : rungs()) {
    for (const days::Shape& s : {days::Shape{0, 1}, {1, 0}, {1, kMaxCols + 1}})
      EXPECT_THROW(variant.launch({x, dx, x, dx, s[0], s[1], enough}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x, dx, x, x, 2, 2, enough}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x, dx, x, x + 3, 2, 2, enough}), std::invalid_argument) << variant.name;
    if (variant.name == "again") continue;
    EXPECT_THROW(variant.launch({x, dx, x, dx, 2, 33, {dx, 31}}), std::invalid_argument) << variant.name;
  }
}

// Nothing of dx is made before dnorm is known: after a launch with another dnorm the same x has another dx. And what
// the workspace held before is in no result.
TEST(Day38, TheWorkspaceIsWrittenBeforeItIsRead) {
  constexpr int kRows = 5, kCols = 1000;
  std::vector<float> x(kRows * kCols);
  for (size_t i = 0; i < x.size(); ++i) x[i] = days::normal(1, i);
  const days::DeviceBuffer<float> device(x), norm(kRows), dx(x.size());
  const size_t bytes = 1 << 16;
  const days::DeviceBuffer<uint8_t> workspace(bytes);
  for (const auto& variant : rungs()) {
    for (const int fill : {0, 0xff}) {
      const float slope = fill == 0 ? 2.0f : -3.0f;
      const days::DeviceBuffer<float> dnorm(std::vector<float>(kRows, slope));
      ASSERT_EQ(cudaMemset(workspace.data(), fill, bytes), cudaSuccess);
      dx.poison();
      variant.launch(
          {device.data(), norm.data(), dnorm.data(), dx.data(), kRows, kCols, {workspace.data(), bytes}});
      const std::vector<float> got = dx.download();
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], std::copysign(slope, x[i] * slope)) << variant.name << " at " << i;
    }
  }
}

}  // namespace
}  // namespace day38
