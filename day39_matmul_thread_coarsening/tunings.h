// SPDX-License-Identifier: MIT
//
// Day 39: the tilings that autotuned chooses from. A row is of a compute capability, the first one of all others;
// `./days tune 39 --record` writes the row of the GPU that it measured.
#pragma once

#include "day39_matmul_thread_coarsening/tiling.h"

namespace day39 {

// For products that fill the device with large, medium or only small blocks.
struct Tunings {
  int sm;          // 90 for 9.0; 0: any
  const char* by;  // who says so
  Tiling large, medium, small;
};

// clang-format off
inline constexpr Tunings kTunings[] = {
    {0, "ranked by registers and counts", {128, 256, 16, 64, 64, 16, 8, 2}, {64, 128, 16, 32, 32, 8, 4, 2}, {64, 64, 8, 32, 32, 4, 8, 2}},
    {90, "measured on an H100, the large one", {128, 256, 32, 64, 64, 8, 16, 2}, {64, 128, 16, 32, 32, 8, 4, 2}, {64, 64, 8, 32, 32, 4, 8, 2}},
};
// clang-format on

}  // namespace day39
