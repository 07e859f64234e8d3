// SPDX-License-Identifier: MIT
#include "common/testing.h"
#include "day06_matmul_coalesced/ladder.h"

TEST_LADDER(day06, matmul);
MUST_REJECT(day06, matmul, zeros);
MUST_REJECT(day06, matmul, drops_tail);
MUST_REJECT(day06, matmul, reads_past_row);
MUST_REJECT(day06, matmul, same_float);
MUST_REJECT(day06, matmul, swaps_div_mod);
MUST_REJECT(day06, matmul, drops_columns);
MUST_REJECT(day06, matmul, aligns_down);
MUST_REJECT(day06, matmul, lane_zero_only);
MUST_REJECT(day06, matmul, half_inputs);

namespace day06 {
namespace {

TEST(Day06Refuses, SizesThatAreNotPositive) {
  float value = 0;
  for (const auto launch : {matmul_strided, matmul_coalesced, matmul_broadcast, matmul_wide}) {
    EXPECT_THROW(launch({&value, &value, &value, 0, 4, 4}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({&value, &value, &value, 4, 0, 4}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({&value, &value, &value, 4, 4, 0}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({&value, &value, &value, -4, 4, 4}, nullptr), std::invalid_argument);
  }
  EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace day06
