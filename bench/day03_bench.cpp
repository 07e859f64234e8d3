// SPDX-License-Identifier: MIT
#include "common/benchmarking.h"
#include "day03_rgb_to_grayscale/ladder.h"

BENCH_LADDER(day03, grayscale);
