// SPDX-License-Identifier: MIT
#include "common/benchmarking.h"
#include "day43_flash_attention/ladder.h"

BENCH_LADDER(day43, attention);
BENCH_LADDER(day43, causal);
