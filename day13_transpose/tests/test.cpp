// SPDX-License-Identifier: MIT
#include "common/testing.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

// Blocks run in no order: one would read what another has written. Overlapping by one element is enough.
TEST(Day13Refuses, InPlace) {
  alignas(64) uint8_t bytes[1024] = {};
  for (const auto& variant : days::variants<Transpose<uint8_t>>("transpose")) {
    EXPECT_THROW(variant.launch({bytes, bytes, 16, 16}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({bytes, bytes + 240, 16, 16}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({bytes + 240, bytes, 16, 16}), std::invalid_argument) << variant.name;
  }
}

// The pointers are never followed: the launchers must have thrown before.
TEST(Day13Refuses, MoreBlocksThanAGridHas) {
  const auto in = reinterpret_cast<const float*>(uintptr_t{1} << 40);
  const auto out = reinterpret_cast<float*>(uintptr_t{1} << 50);
  const int most = 2147483644;  // 2^31 - 4: whole vectors
  for (const auto& variant : days::variants<Transpose<float>>("transpose"))
    EXPECT_THROW(variant.launch({in, out, most, most}), std::invalid_argument) << variant.name;
  EXPECT_THROW(copy_element({in, out, 65535 * 8 + 1, 1}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace day13
