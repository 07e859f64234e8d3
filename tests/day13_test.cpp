// SPDX-License-Identifier: MIT
#include "common/testing.h"
#include "day13_transpose/ladder.h"

TEST_LADDER(day13, transpose);
TEST_LADDER(day13, copy);
MUST_REJECT(day13, transpose, zeros);
MUST_REJECT(day13, transpose, copies);
MUST_REJECT(day13, transpose, drops_last_tiles);
MUST_REJECT(day13, transpose, no_barrier);
MUST_REJECT(day13, transpose, swaps_extents);
MUST_REJECT(day13, transpose, pitch_cols);
MUST_REJECT(day13, transpose, tile_stays);
MUST_REJECT(day13, transpose, turns_twice);
MUST_REJECT(day13, transpose, half_swizzled);
MUST_REJECT(day13, transpose, in_place);
MUST_REJECT(day13, transpose, vector_tail);
MUST_REJECT(day13, transpose, flushes);
MUST_REJECT(day13, copy, copy_transposes);

namespace day13 {
namespace {

template <class T>
std::vector<void (*)(const Transpose<T>&, cudaStream_t)> launchers() {
  return {transpose_naive<T>,    transpose_shared<T>,     transpose_padded<T>,
          transpose_swizzled<T>, transpose_several<T>,    transpose_down<T>,
          transpose_aligned<T>,  transpose_vectorised<T>, transpose_bulk<T>};
}

TEST(Day13Refuses, SizesThatAreNotPositive) {
  float in[16] = {}, out[16] = {};
  for (const auto launch : launchers<float>()) {
    EXPECT_THROW(launch({in, out, 0, 4}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({in, out, 4, 0}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({in, out, -4, 4}, nullptr), std::invalid_argument);
  }
  EXPECT_THROW(copy_element({in, out, 0, 1}, nullptr), std::invalid_argument);
}

// Blocks run in no order: one would read what another has written. Overlapping by one element is enough.
TEST(Day13Refuses, InPlace) {
  alignas(64) uint8_t bytes[1024] = {};
  for (const auto launch : launchers<uint8_t>()) {
    EXPECT_THROW(launch({bytes, bytes, 16, 16}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({bytes, bytes + 240, 16, 16}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({bytes + 240, bytes, 16, 16}, nullptr), std::invalid_argument);
  }
}

// The pointers are never followed: the launchers must have thrown before.
TEST(Day13Refuses, MoreRowsThanTheGridHas) {
  const auto in = reinterpret_cast<const float*>(uintptr_t{1} << 40);
  const auto out = reinterpret_cast<float*>(uintptr_t{1} << 50);
  EXPECT_THROW(transpose_naive<float>({in, out, kMaxRowsNaive + 1, 1}, nullptr), std::invalid_argument);
  EXPECT_THROW(copy_element({in, out, kMaxRowsNaive + 1, 1}, nullptr), std::invalid_argument);
  for (const auto launch : {transpose_shared<float>, transpose_padded<float>, transpose_swizzled<float>})
    EXPECT_THROW(launch({in, out, kMaxRowsTiled + 1, 1}, nullptr), std::invalid_argument);
  const int most = 2147483644;  // 2^31 - 4: whole vectors
  for (const auto launch : {transpose_several<float>, transpose_down<float>, transpose_aligned<float>,
                            transpose_vectorised<float>, transpose_bulk<float>})
    EXPECT_THROW(launch({in, out, most, most}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace day13
