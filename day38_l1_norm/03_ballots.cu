// SPDX-License-Identifier: MIT
//
// Two ballots a warp: each lane answers two questions on its x, and each ballot is a word with all 32 answers. Changed
// since again: backward reads a quarter of a byte for each element where it read x. Changed since bytes: a fourth
// of what is kept. Bound by: an element a lane, so narrow requests and two votes for each. Teaches: __ballot_sync.

#include "common/check.h"
#include "common/reduce.cuh"
#include "day38_l1_norm/l1_norm.h"
#include "day38_l1_norm/sign.cuh"
#include "day38_l1_norm/unpack_ballots.cuh"

namespace day38 {
namespace {

template <class T>
__global__ void __launch_bounds__(kBallotThreads)
    ballots_forward_kernel(const L1Norm<T> p,
                           uint2* words) {  // (rows, cols / 32, rounded up)
  const int64_t row = blockIdx.x;
  const int lane = threadIdx.x % 32, words_a_row = (p.cols + 31) / 32;
  float sum = 0;
  // All lanes of a warp come round equally often, because all have to vote.
  for (int first = threadIdx.x - lane; first < p.cols; first += kBallotThreads) {
    const float x = first + lane < p.cols ? days::to_float(p.x[row * p.cols + first + lane]) : 0;
    sum += fabsf(x);
    const unsigned above = __ballot_sync(days::kFullWarp, not_below(x));
    const unsigned below = __ballot_sync(days::kFullWarp, not_above(x));
    if (lane == 0) words[row * words_a_row + first / 32] = {above, below};
  }
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) p.norm[row] = sum;
}

}  // namespace

template <class T>
void l1_norm_ballots(const L1Norm<T>& p, cudaStream_t stream) {
  require_problem(p, "ballots", l1_norm_ballots_workspace(p));
  uint2* words = static_cast<uint2*>(p.workspace.data);
  ballots_forward_kernel<<<p.rows, kBallotThreads, 0, stream>>>(p, words);
  CUDA_CHECK_LAUNCH();
  ballots_backward_kernel<<<p.rows, kBallotThreads, 0, stream>>>(p, words);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(l1_norm_ballots, L1Norm, float, days::half, days::bf16);

}  // namespace day38
