// SPDX-License-Identifier: MIT
//
// The harness: all that days with ladders need of common/ beside its headers and core.cpp. It is compiled once and linked
// to every such day, test and benchmark; a day's plain nvcc line names both beside the day's files, and has its main() from here.

#include "common/harness/fill.cuh"
#include "common/harness/limits.cuh"

// The CPU backend compiles these by themselves: no checker has to watch what never runs in a kernel.
#ifndef __SIMT__
#include "common/harness/instance.cpp"
#include "common/harness/main.cpp"
#include "common/harness/run_day.cpp"
#include "common/harness/scalar.cpp"
#endif
