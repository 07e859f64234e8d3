// SPDX-License-Identifier: MIT
#include "common/testing.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

TEST(Day01Refuses, SizesThatAreNotPositive) {
  alignas(16) float value[4] = {};
  for (const auto& variant : days::variants<VectorAdd<float>>("vector_add")) {
    EXPECT_THROW(variant.launch({value, value, value, 0}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({value, value, value, -4}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : days::variants<MatrixAdd<float>>("matrix_add")) {
    EXPECT_THROW(variant.launch({value, value, value, 0, 1, 4}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({value, value, value, 1, 0, 4}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({value, value, value, -1, -1, 4}), std::invalid_argument) << variant.name;
  }
}

// The pointers are never followed: the launchers must have thrown before.
TEST(Day01Refuses, MoreRowsOrColumnsThanTheGridHas) {
  const auto in = reinterpret_cast<const float*>(uintptr_t{1} << 40);
  const auto out = reinterpret_cast<float*>(uintptr_t{1} << 50);
  constexpr int kMost = 65535 * 8;
  int refused = 0;
  for (const auto& variant : days::variants<MatrixAdd<float>>("matrix_add")) {
    for (const MatrixAdd<float>& p :
         {MatrixAdd<float>{in, in, out, kMost + 1, 1, 4}, {in, in, out, 1, kMost + 1, kMost + 8}}) {
      if (variant.takes(p)) continue;
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
      ++refused;
    }
  }
  EXPECT_EQ(refused, 2);
}

}  // namespace
}  // namespace day01
