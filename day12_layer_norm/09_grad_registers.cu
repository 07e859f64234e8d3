// SPDX-License-Identifier: MIT
//
// One kernel for all three gradients: as many blocks as the GPU holds take row after row. A thread has the same
// eight columns of each, so their dgamma and dbeta add up in its registers, and a block leaves one line of partial
// sums, however many rows it had. Changed since grad_partials: x and dy are read once, 16 bytes a load. Takes
// cols <= 8192. Bound by: the memory, and a pause between a row's last load and the next row's first.

#include "common/check.h"
#include "common/util.h"
#include "day12_layer_norm/grad_share.cuh"
#include "day12_layer_norm/layer_norm.h"

namespace day12 {
namespace {

template <class T, int kThreads, bool kWide>
__global__ void __launch_bounds__(grad_block(kThreads), kGradResident / grad_block(kThreads))
    grad_registers_kernel(const LayerNormBackward<T> p,
                          float* partials) {  // (blocks, 2, cols)
  using Columns = GradColumns<T, kThreads, kWide>;
  using Row = typename Columns::Row;
  const int thread = threadIdx.x % kThreads;
  const unsigned step = gridDim.x * Columns::kRows;
  const unsigned rows = static_cast<unsigned>(p.rows);
  const float scale = 1 / static_cast<float>(p.cols);
  Columns columns;
  Row gamma;
  gamma.load(p.gamma, thread, p.cols);

  bool odd = false;
  for (unsigned first = blockIdx.x * Columns::kRows; first < rows; first += step) {
    const unsigned row = first + threadIdx.x / kThreads;
    const bool exists = row < rows;
    const int64_t start = int64_t{row} * p.cols;
    const int cols = exists ? p.cols : 0;
    Row x, dy;
    x.load(p.x + start, thread, cols);
    dy.load(p.dy + start, thread, cols);
    const float mean = exists ? p.mean[row] : 0, rstd = exists ? p.rstd[row] : 0;
    float dx[kGradElements];
    columns.row(gamma, x, dy, mean, rstd, scale, odd, dx);
    odd = !odd;
    Row::store(p.dx + start, dx, thread, cols);
  }
  columns.write(partials + int64_t{2} * blockIdx.x * p.cols, thread, p.cols);
}

}  // namespace

size_t grad_workspace(int rows, int cols) {
  return size_t{2} * sizeof(float) * static_cast<size_t>(grad_blocks(rows, cols)) * static_cast<size_t>(cols);
}

template <class T>
void layer_norm_grad_registers(const LayerNormBackward<T>& p, cudaStream_t stream) {
  require_problem(p, "grad_registers");
  float* partials = grad_lines(p, "grad_registers");
  const int blocks = grad_blocks(p.rows, p.cols);
  for_grad_threads(p.cols, whole_vectors<T>(p.cols, p.x, p.dy, p.gamma, p.dx), [&](auto threads, auto wide) {
    grad_registers_kernel<T, threads, wide><<<blocks, grad_block(threads), 0, stream>>>(p, partials);
    CUDA_CHECK_LAUNCH();
  });
  days::sum_partials(partials, p.dgamma, p.dbeta, blocks, p.cols, stream);
}

INSTANTIATE_LAUNCHER(layer_norm_grad_registers, LayerNormBackward, float, days::half, days::bf16);

}  // namespace day12
