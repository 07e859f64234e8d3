// SPDX-License-Identifier: MIT
//
// Maximum and sum in one loop, as in day 14: a larger number shrinks the sum so far. A number is read twice, and not three times,
// because the loop that writes the gradient needs both of the whole row.
// Changed since three: two reads for three, one barrier for four.
// Bound by: the second read, and loads of one number a lane, which put few bytes under way.
#include "day74_cross_entropy/gradient.cuh"

namespace day74 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) online_kernel(const CrossEntropy<T> p) {
  __shared__ Partial partials[kThreads / days::kWarpSize];
  const int64_t row = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  T* const x = p.logits + row * p.cols;  // (cols)
  fill_row(x, p.classes, p.cols, 0, thread, kThreads);
  const int32_t target = p.targets[row];
  if (without_class(p, row, target, thread, kThreads)) return;
  const float x_target = days::to_float(x[target]);  // before somebody writes there

  Partial mine;
  for (int col = thread; col < p.classes; col += kThreads) {
    const float value = days::to_float(x[col]);
    if (value > mine.max) {
      mine.sum *= expf(mine.max - value);
      mine.max = value;
    }
    mine.sum += expf(value - mine.max);
  }
  const Partial all = block_merge(warp_merge(mine), partials);

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
void cross_entropy_online(const CrossEntropy<T>& p, cudaStream_t stream) {
  require_problem(p, "online");
  online_kernel<<<static_cast<unsigned>(p.rows), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(cross_entropy_online, CrossEntropy, float, days::half, days::bf16);

}  // namespace day74
