// SPDX-License-Identifier: MIT
#include "common/benchmarking.h"
#include "day04_image_blur/ladder.h"

BENCH_LADDER(day04, gaussian_blur);
BENCH_LADDER(day04, box_blur);
