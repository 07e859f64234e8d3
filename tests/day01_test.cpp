// SPDX-License-Identifier: MIT
#include "common/testing.h"
#include "day01_vector_add/ladder.h"

TEST_LADDER(day01, vector_add);
MUST_REJECT(day01, vector_add, one_short);
MUST_REJECT(day01, vector_add, past_the_end);
MUST_REJECT(day01, vector_add, drops_last_block);
MUST_REJECT(day01, vector_add, drops_tail);
MUST_REJECT(day01, vector_add, one_step);
MUST_REJECT(day01, vector_add, first_of_block);
MUST_REJECT(day01, vector_add, a_twice);
MUST_REJECT(day01, vector_add, neighbour);
MUST_REJECT(day01, vector_add, zeros);
MUST_REJECT(day01, vector_add, nothing);
MUST_REJECT(day01, vector_add, in_place);
MUST_REJECT(day01, vector_add, flushes_denormals);
MUST_REJECT(day01, vector_add, hides_nan);
MUST_REJECT(day01, vector_add, hides_infinity);
MUST_REJECT(day01, vector_add, aligns_down);
MUST_REJECT(day01, vector_add, no_barrier);

TEST_LADDER(day01, matrix_add);
MUST_REJECT(day01, matrix_add, ignores_pitch);
MUST_REJECT(day01, matrix_add, fills_padding);
MUST_REJECT(day01, matrix_add, swaps_extents);
MUST_REJECT(day01, matrix_add, flipped_guard);
MUST_REJECT(day01, matrix_add, transposes_b);
