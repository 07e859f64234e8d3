// SPDX-License-Identifier: MIT
#include "common/benchmarking.h"
#include "day05_matmul/ladder.h"

BENCH_LADDER(day05, matmul);
