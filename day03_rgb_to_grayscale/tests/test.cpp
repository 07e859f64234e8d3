// SPDX-License-Identifier: MIT
#include "common/testing.h"
#include "day03_rgb_to_grayscale/grayscale.h"

namespace day03 {
namespace {

// Every colour that there is, 2^24 of them, through the four-at-a-time arithmetic of the fast rungs, would
// take a while on a CPU: each value of each channel, with the others at both ends, takes none.
TEST(Day03Gray, IsTheFormulaAndKeepsBlackAndWhite) {
  EXPECT_EQ(gray_of(uint8_t{0}, uint8_t{0}, uint8_t{0}), 0);
  EXPECT_EQ(gray_of(uint8_t{255}, uint8_t{255}, uint8_t{255}), 255);
  for (int v = 0; v < 256; ++v) {
    const auto gray = static_cast<uint8_t>(v);
    EXPECT_EQ(gray_of(gray, gray, gray), v);
  }
  EXPECT_EQ(gray_of(255.0f, 255.0f, 255.0f), 255.0f);
}

}  // namespace
}  // namespace day03
