// SPDX-License-Identifier: MIT
#include "common/benchmarking.h"
#include "day13_transpose/ladder.h"

BENCH_LADDER(day13, transpose);
BENCH_LADDER(day13, copy);
