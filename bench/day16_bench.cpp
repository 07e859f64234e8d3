// SPDX-License-Identifier: MIT
#include "common/benchmarking.h"
#include "day16_device_query/ladder.h"

BENCH_LADDER(day16, copy);
BENCH_LADDER(day16, fma);
