// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include "common/testing.h"
#include "day42_swap/swap.h"

namespace day42 {
namespace {

TEST(Day42Refuses, SizesThatAreNotPositive) {
  float x = 0, y = 0;
  const days::Workspace room{&y, sizeof y};
  for (const int64_t n : {int64_t{0}, int64_t{-1}}) {
    for (const auto& variant : days::variants<Swap<float>>("swap")) {
      EXPECT_THROW(variant.launch({&x, &y, n, room}), std::invalid_argument) << variant.name;
    }
    for (const auto& variant : days::variants<Reverse<float>>("reverse")) {
      EXPECT_THROW(variant.launch({&x, n, room}), std::invalid_argument) << variant.name;
    }
  }
}

TEST(Day42Refuses, LessThanAWholeThirdArray) {
  uint8_t bytes[64] = {};
  const days::Workspace room{bytes, 31};
  EXPECT_THROW(swap_third<uint8_t>({bytes, bytes + 32, 32, room}, nullptr), std::invalid_argument);
  EXPECT_THROW(reverse_out_and_back<uint8_t>({bytes, 32, room}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace day42
