// SPDX-License-Identifier: MIT
//
// The harness: all of common/ that is not a header. It is compiled once and linked to every day, test and
// benchmark; a day's plain nvcc line names it beside the day's files.

#include "common/harness/fill.cuh"
#include "common/harness/inputs.h"
#include "common/harness/instance.h"
#include "common/harness/limits.cuh"
#include "common/harness/results.h"
#include "common/harness/run_day.h"
