// SPDX-License-Identifier: MIT
#include "common/testing.h"
#include "day16_device_query/ladder.h"

TEST_LADDER(day16, copy);
MUST_REJECT(day16, copy, drops_tail);
MUST_REJECT(day16, copy, drops_last_block);
MUST_REJECT(day16, copy, shifted);
MUST_REJECT(day16, copy, flushes_denormals);
MUST_REJECT(day16, copy, loses_minus_zero);
MUST_REJECT(day16, copy, quiets_nan);

TEST_LADDER(day16, fma);
MUST_REJECT(day16, fma, one_step_short);
MUST_REJECT(day16, fma, one_step_more);
MUST_REJECT(day16, fma, drops_steps);
MUST_REJECT(day16, fma, rounds_twice);
MUST_REJECT(day16, fma, flushes_denormals);
MUST_REJECT(day16, fma, shares_chain);
MUST_REJECT(day16, fma, drops_tail);
MUST_REJECT(day16, fma, fast_forward);
