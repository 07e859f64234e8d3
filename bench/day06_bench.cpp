// SPDX-License-Identifier: MIT
#include "common/benchmarking.h"
#include "day06_matmul_coalesced/ladder.h"

BENCH_LADDER(day06, matmul);
