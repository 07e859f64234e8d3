// SPDX-License-Identifier: MIT
#include <string>

#include "common/testing.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

TEST(Day13Refuses, SizesThatAreNotPositive) {
  float in[16] = {}, out[16] = {};
  for (const auto& variant : days::variants<Transpose<float>>("transpose")) {
    EXPECT_THROW(variant.launch({in, out, 0, 4}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({in, out, 4, 0}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({in, out, -4, 4}), std::invalid_argument) << variant.name;
  }
  EXPECT_THROW(copy_element({in, out, 0, 1}, nullptr), std::invalid_argument);
}

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
TEST(Day13Refuses, MoreRowsThanTheGridHas) {
  const auto in = reinterpret_cast<const float*>(uintptr_t{1} << 40);
  const auto out = reinterpret_cast<float*>(uintptr_t{1} << 50);
  constexpr int kBlocks = 65535;
  std::string refused;
  for (const auto& variant : days::variants<Transpose<float>>("transpose")) {
    for (const int rows : {kBlocks * 8 + 8, kBlocks * 32 + 32}) {
      if (variant.takes({in, out, rows, 8})) continue;
      EXPECT_THROW(variant.launch({in, out, rows, 8}), std::invalid_argument) << variant.name;
      refused += variant.name + " ";
    }
    const int most = 2147483644;  // 2^31 - 4: whole vectors
    EXPECT_THROW(variant.launch({in, out, most, most}), std::invalid_argument) << variant.name;
  }
  EXPECT_EQ(refused, "naive naive shared padded swizzled ");
  EXPECT_THROW(copy_element({in, out, kBlocks * 8 + 1, 1}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace day13
