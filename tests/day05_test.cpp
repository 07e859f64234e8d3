// SPDX-License-Identifier: MIT
#include "common/testing.h"
#include "day05_matmul/ladder.h"

TEST_LADDER(day05, matmul);
MUST_REJECT(day05, matmul, zeros);
MUST_REJECT(day05, matmul, short_k);
MUST_REJECT(day05, matmul, drops_tail);
MUST_REJECT(day05, matmul, stale_sum);
MUST_REJECT(day05, matmul, transposed_b);
MUST_REJECT(day05, matmul, transposed_c);
MUST_REJECT(day05, matmul, pitch_m);
MUST_REJECT(day05, matmul, shifted_column);
MUST_REJECT(day05, matmul, flipped_guard);
MUST_REJECT(day05, matmul, flushes);
MUST_REJECT(day05, matmul, hides_nan);
MUST_REJECT(day05, matmul, half_inputs);

namespace day05 {
namespace {

// A product with k = 0 is a matrix of zeros on paper; here a size of 0 is taken for a mistake, as everywhere
// in the course.
TEST(Day05Refuses, SizesThatAreNotPositive) {
  float value = 0;
  for (const auto launch : {matmul_rows, matmul_columns}) {
    EXPECT_THROW(launch({&value, &value, &value, 0, 1, 1}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({&value, &value, &value, 1, 0, 1}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({&value, &value, &value, 1, 1, 0}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({&value, &value, &value, -1, 4, 4}, nullptr), std::invalid_argument);
  }
  EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace day05
