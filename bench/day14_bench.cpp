// SPDX-License-Identifier: MIT
#include "common/benchmarking.h"
#include "day14_softmax/ladder.h"

BENCH_LADDER(day14, softmax);
BENCH_LADDER(day14, softmax_backward);
