// SPDX-License-Identifier: MIT
// From -1 to 1 there are 31 cells, each a fifteenth wide and around a multiple of a fifteenth. So narrow is none of the table's
// gaps, so a cell has at most one threshold: what lies in it has one of two codes.
#pragma once

#include "day17_nf4_quantization/nf4_quantization.h"

namespace day17 {

inline constexpr int kCells = 15;  // on either side of the cell around 0

struct Cell {
  float threshold;  // in this cell; where it has none, 2, which nothing is above
  unsigned code;    // up to the threshold; above it one more
};

// The cell of a number from -1 to 1: the nearest multiple of a fifteenth, ties aside. No threshold is so near an edge that a
// rounding of the product could bring it into the next cell (tests/test.cpp).
constexpr int cell_of(float scaled) {
  const double at = kCells * static_cast<double>(scaled);
  return static_cast<int>(at < 0 ? at - 0.5 : at + 0.5);
}

// The cells as the lanes of a warp have them: cell -1 in lane 31.
struct Cells {
  Cell of_lane[32];
};
constexpr Cells make_cells() {
  Cells cells{};
  for (int lane = 0; lane < 32; ++lane) {
    const int cell = lane < 16 ? lane : lane - 32;
    Cell& mine = cells.of_lane[lane];
    mine.threshold = 2;
    for (unsigned i = 0; i < 15; ++i) {
      const int has = cell_of(days::nf4_threshold(i));
      if (has < cell) mine.code = i + 1;
      if (has == cell) mine.threshold = days::nf4_threshold(i);
    }
  }
  return cells;
}

}  // namespace day17
