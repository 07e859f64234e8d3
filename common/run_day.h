// SPDX-License-Identifier: MIT
//
// A day's executable. It runs every variant of the ladders, says for each whether it is right, and on a GPU
// how fast and how near to what the device can do; `--help` lists its flags. Its main() is
// harness/main.cpp's.
#pragma once

#include <vector>

#include "common/ladder.h"

namespace days {

// Runs the ladders, by default those that the program has registered. Returns the exit code: 0 good, or some
// skipped; 1 a wrong result, or no kernel ran; 2 an unknown flag or variant, a size that is no size, a shape
// that a named variant refuses; 3 no GPU, a driver too old, too large for this device's memory.
int run_day(int argc, char** argv, const std::vector<const LadderInfo*>& ladders = registered_ladders());

}  // namespace days
