// SPDX-License-Identifier: MIT
//
// Exercise: forward keeps two bits of each x for backward, two words for each 32 elements.
// Gates: every element right for every shape; no race; at most 1.2 bytes read for each byte of input (again reads 2).
//   ./days check 38      tells how far you are        ./days hint 38      when you are stuck
#include "common/check.h"
#include "common/reduce.cuh"
#include "day38_l1_norm/l1_norm.h"
#include "day38_l1_norm/sign.cuh"
#include "day38_l1_norm/unpack_ballots.cuh"

namespace day38 {
namespace {

template <class T>
__global__ void __launch_bounds__(kBallotThreads)
    exercise_kernel(const L1Norm<T> p,
                    uint2* words) {  // (rows, cols / 32, rounded up)
  const int64_t row = blockIdx.x;
  const int lane = threadIdx.x % 32, words_a_row = (p.cols + 31) / 32;
  float sum = 0;
  // Backward is there: unpack_ballots.cuh. It wants the words of columns 32 i to 32 i + 31 in words[row * words_a_row + i].
  // 1. Go over the row, a warp's lanes side by side. All lanes must vote: what is beyond the row's end votes as 0 does.
  // 2. Add up |x|, and ask not_below(x) and not_above(x) in a ballot each.
  // 3. One lane keeps the two words.
  // your code
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) p.norm[row] = sum;
  static_cast<void>(lane), static_cast<void>(words_a_row), static_cast<void>(words);
}

}  // namespace

template <class T>
void exercise(const L1Norm<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise", l1_norm_ballots_workspace(p));
  uint2* words = static_cast<uint2*>(p.workspace.data);
  exercise_kernel<<<p.rows, kBallotThreads, 0, stream>>>(p, words);
  CUDA_CHECK_LAUNCH();
  ballots_backward_kernel<<<p.rows, kBallotThreads, 0, stream>>>(p, words);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, L1Norm, float, days::half, days::bf16);

}  // namespace day38
