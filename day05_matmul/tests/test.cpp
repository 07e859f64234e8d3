// SPDX-License-Identifier: MIT
#include "common/testing.h"
#include "day05_matmul/matmul.h"

namespace day05 {
namespace {

TEST(Day05Refuses, SizesThatAreNotPositive) {
  float value = 0;
  for (const auto& variant : days::variants<Matmul<float>>("matmul")) {
    EXPECT_THROW(variant.launch({&value, &value, &value, 0, 1, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({&value, &value, &value, 1, 0, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({&value, &value, &value, 1, 1, 0}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({&value, &value, &value, -1, 4, 4}), std::invalid_argument) << variant.name;
  }
  EXPECT_EQ(value, 0);
}

// The pointers are never followed: the launchers must have thrown before.
TEST(Day05Refuses, MoreBlocksThanTheGridHas) {
  const auto in = reinterpret_cast<const float*>(uintptr_t{1} << 40);
  const auto out = reinterpret_cast<float*>(uintptr_t{1} << 50);
  constexpr int kMost = 65535 * 8;
  for (const auto& variant : days::variants<Matmul<float>>("matmul")) {
    int refused = 0;
    for (const Matmul<float>& p :
         {Matmul<float>{in, in, out, kMost + 4, 4, 4}, {in, in, out, 4, kMost + 4, 4}}) {
      if (variant.takes(p)) continue;
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
      ++refused;
    }
    EXPECT_EQ(refused, 1) << variant.name << ": m or n runs along the grid's y";
  }
}

}  // namespace
}  // namespace day05
