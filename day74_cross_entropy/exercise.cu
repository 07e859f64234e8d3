// SPDX-License-Identifier: MIT
//
// Exercise: loss and gradient in two reads of the logits. three makes three: the maximum, the sum, the gradient.
// Gates: loss and logits right for every shape, type and kind of rows; no race; at most 2.1 reads; at most 10% wasted sectors.
//   ./days check 74      tells how far you are        ./days hint 74      when you are stuck
#include "day74_cross_entropy/gradient.cuh"

namespace day74 {
namespace {

constexpr int kThreads = 256;  // a block has a row

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const CrossEntropy<T> p) {
  __shared__ Partial partials[kThreads / days::kWarpSize];
  const int64_t row = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  T* const x = p.logits + row * p.cols;  // (cols)
  fill_row(x, p.classes, p.cols, 0, thread, kThreads);
  const int32_t target = p.targets[row];
  if (without_class(p, row, target, thread, kThreads)) return;
  const float x_target = days::to_float(x[target]);  // before somebody writes there

  Partial mine;  // max: the largest number so far; sum: of e^(number - max), over those so far
  // 1. One loop over this thread's columns below p.classes, which keeps mine.max and mine.sum as they should be.
  // 2. A number is larger than mine.max: what becomes of the sum so far?
  // your code
  const Partial all = block_merge(warp_merge(mine), partials);  // of the whole row, in every thread

  const Gradient gradient(p, all, p.dloss[row]);
  float below = 0;
  for (int col = thread; col < p.classes; col += kThreads) {
    const float value = days::to_float(x[col]), dx = gradient.template of<T>(value);
    below += all.max - value;
    x[col] = days::from_float<T>(col == target ? dx - gradient.at_target : dx);
  }
  if (p.smoothing != 0) below = days::block_reduce(below, days::Sum{}, 0.0f);
  if (thread == 0) p.loss[row] = loss_of(p, all, x_target, below);
}

}  // namespace

template <class T>
void exercise(const CrossEntropy<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  exercise_kernel<<<static_cast<unsigned>(p.rows), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, CrossEntropy, float, days::half, days::bf16);

}  // namespace day74
