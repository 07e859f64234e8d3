// SPDX-License-Identifier: MIT
//
// A day's executable. main.cpp is one line:
//
//   int main(int argc, char** argv) { return days::run_day({&day05::matmul}, argc, argv); }
//
// It runs every variant of the ladders, says for each whether it is right, and on a GPU how fast and how near
// to what the device can do; `--help` lists its flags.
#pragma once

#include <initializer_list>

#include "common/ladder.h"

namespace days {

// Returns the exit code: 0 good, or some skipped; 1 a wrong result, or no kernel ran; 2 an unknown flag or
// variant, a size that is no size, a shape that a named variant refuses; 3 no GPU, a driver too old, too
// large for this device's memory.
int run_day(std::initializer_list<const LadderInfo*> ladders, int argc, char** argv);

}  // namespace days
