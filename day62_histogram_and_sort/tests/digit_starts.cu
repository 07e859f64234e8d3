// SPDX-License-Identifier: MIT
//
// The two kernels before scatter and staged, by themselves: test.cpp looks at what they leave in the workspace.

#include <cstdint>

#include "day62_histogram_and_sort/digit_starts.cuh"
#include "day62_histogram_and_sort/radix_sort.h"

namespace day62 {

// With as many tiles as asked for, of which those past the end have no key.
void digit_starts(const RadixSort<uint32_t>& p, int64_t tiles, int pass) {
  TileScratch s(p);
  s.tiles = tiles;
  launch_digit_starts(p.in, p.n, pass, s, nullptr);
}

}  // namespace day62
