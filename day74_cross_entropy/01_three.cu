// SPDX-License-Identifier: MIT
//
// A block a row, and three loops over it: the maximum, the sum, and the gradient, which takes the row's place. The loss falls out of
// the first two, so that no other kernel has to read the row again.
// Bound by: three reads. A row of a vocabulary is 100 KB and more: rows of several blocks do not fit into L1.
#include "day74_cross_entropy/gradient.cuh"

namespace day74 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) three_kernel(const CrossEntropy<T> p) {
  const int64_t row = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  T* const x = p.logits + row * p.cols;  // (cols)
  fill_row(x, p.classes, p.cols, 0, thread, kThreads);
  const int32_t target = p.targets[row];
  if (without_class(p, row, target, thread, kThreads)) return;
  const float x_target = days::to_float(x[target]);  // before somebody writes there

  float max = -INFINITY, sum = 0, below = 0;
  for (int col = thread; col < p.classes; col += kThreads) max = fmaxf(max, days::to_float(x[col]));
  max = days::block_reduce(max, days::Max{}, -INFINITY);
  for (int col = thread; col < p.classes; col += kThreads) sum += expf(days::to_float(x[col]) - max);
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);

  const Partial all{max, sum};
  const Gradient gradient(p, all, p.dloss[row]);
  for (int col = thread; col < p.classes; col += kThreads) {
    const float value = days::to_float(x[col]), dx = gradient.template of<T>(value);
    below += max - value;
    x[col] = days::from_float<T>(col == target ? dx - gradient.at_target : dx);
  }
  if (p.smoothing != 0) below = days::block_reduce(below, days::Sum{}, 0.0f);
  if (thread == 0) p.loss[row] = loss_of(p, all, x_target, below);
}

}  // namespace

template <class T>
void cross_entropy_three(const CrossEntropy<T>& p, cudaStream_t stream) {
  require_problem(p, "three");
  three_kernel<<<static_cast<unsigned>(p.rows), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(cross_entropy_three, CrossEntropy, float, days::half, days::bf16);

}  // namespace day74
