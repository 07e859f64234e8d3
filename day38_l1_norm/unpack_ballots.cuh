// SPDX-License-Identifier: MIT
// Backward from two words for each 32 elements of a row: bit i of the first says that element i is not below 0, bit i
// of the second that it is not above.
#pragma once

#include "common/reduce.cuh"
#include "day38_l1_norm/l1_norm.h"
#include "day38_l1_norm/sign.cuh"

namespace day38 {

inline constexpr int kBallotThreads = 256;
inline constexpr int kPairs = 16;  // pairs of words that a warp takes at once

// A lane loads a pair of words, and gives it to all others when its turn comes.
template <class T>
__global__ void __launch_bounds__(kBallotThreads)
    ballots_backward_kernel(const L1Norm<T> p,
                            const uint2* words) {  // (rows, cols / 32, rounded up)
  const int64_t row = blockIdx.x;
  const float dnorm = p.dnorm[row];
  const int lane = threadIdx.x % 32, words_a_row = (p.cols + 31) / 32;
  for (int first = threadIdx.x / 32 * kPairs; first < words_a_row; first += kBallotThreads / 32 * kPairs) {
    uint2 mine = {0, 0};
    if (lane < kPairs && first + lane < words_a_row) mine = words[row * words_a_row + first + lane];
    for (int i = 0; i < kPairs && first + i < words_a_row; ++i) {
      const unsigned above = __shfl_sync(days::kFullWarp, mine.x, i);
      const unsigned below = __shfl_sync(days::kFullWarp, mine.y, i);
      const int col = (first + i) * 32 + lane;
      if (col < p.cols)
        p.dx[row * p.cols + col] = days::from_float<T>(dx_of(above >> lane & 1, below >> lane & 1, dnorm));
    }
  }
}

}  // namespace day38
