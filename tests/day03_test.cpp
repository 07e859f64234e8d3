// SPDX-License-Identifier: MIT
#include "common/testing.h"
#include "day03_rgb_to_grayscale/ladder.h"

TEST_LADDER(day03, grayscale);
MUST_REJECT(day03, grayscale, zeros);
MUST_REJECT(day03, grayscale, truncates);
MUST_REJECT(day03, grayscale, bgr);
MUST_REJECT(day03, grayscale, average);
MUST_REJECT(day03, grayscale, luma_in_float);
MUST_REJECT(day03, grayscale, overflows);
MUST_REJECT(day03, grayscale, overlapping);
MUST_REJECT(day03, grayscale, planar);
MUST_REJECT(day03, grayscale, drops_tail);
MUST_REJECT(day03, grayscale, last_pixel);
MUST_REJECT(day03, grayscale, no_barrier);

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

TEST(Day03Refuses, SizesThatAreNotPositive) {
  alignas(16) uint8_t value[16] = {};
  for (const auto launch : {grayscale_bytes<uint8_t>, grayscale_shared<uint8_t>, grayscale_words,
                            grayscale_vectors<uint8_t>, grayscale_staged<uint8_t>, grayscale_bulk<uint8_t>}) {
    EXPECT_THROW(launch({value, value, 0, 1}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({value, value, 1, 0}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({value, value, -4, -4}, nullptr), std::invalid_argument);
  }
}

}  // namespace
}  // namespace day03
