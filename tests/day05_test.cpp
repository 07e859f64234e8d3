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
