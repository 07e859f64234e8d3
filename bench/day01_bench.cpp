// SPDX-License-Identifier: MIT
#include "common/benchmarking.h"
#include "day01_vector_add/ladder.h"

BENCH_LADDER(day01, vector_add);
BENCH_LADDER(day01, matrix_add);
