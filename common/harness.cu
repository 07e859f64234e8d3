// SPDX-License-Identifier: MIT
//
// The harness: all of common/ that is not a header. It is compiled once and linked to every day, test and
// benchmark; a day's plain nvcc line names it beside the day's files, and has its main() from here.

#include "common/harness/fill.cuh"
#include "common/harness/limits.cuh"

// The CPU backend compiles these by themselves: no checker has to watch what never runs in a kernel.
#ifndef __SIMT__
#include "common/harness/check.cpp"
#include "common/harness/instance.cpp"
#include "common/harness/main.cpp"
#include "common/harness/progress.cpp"
#include "common/harness/run_day.cpp"
#include "common/harness/scalar.cpp"
#endif
