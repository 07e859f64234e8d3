// SPDX-License-Identifier: MIT
//
// Two stages with strips: 16 bytes a load, four rows under way in each thread, and eight rows of a block at once, whose sums
// meet in shared memory before one row of sums a block is written.
// Changed since grad_partials: a quarter (an eighth) of the requests, and tanh and its slope from one power: with
// e = e^(-2|v|) and s = 1 / (1 + e), |tanh(v)| = (1 - e) * s and 1 - tanh(v)^2 = 4 e s^2, without a difference near 0.
// Bound by: memory.

#include "common/ptx.h"
#include "common/reduce.cuh"
#include "common/sum_partials.cuh"
#include "day36_dyt/dyt.h"
#include "day36_dyt/strip.cuh"

namespace day36 {
namespace {

constexpr int kAhead = 4;  // rows of a thread that are loaded before the first is worked on

template <bool kWide, class T>
__global__ void __launch_bounds__(kStripThreads, 2) wide_kernel(const DytBackward<T> p,
                                                                float* lines,   // (parts, 2, cols)
                                                                float* alphas,  // (parts, blocks of columns)
                                                                int lanes) {
  constexpr int kCols = kWidth<T, kWide>;
  using Strip = days::Vec<T, kCols>;
  __shared__ float sums[2][kStripThreads * kCols];
  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes, groups = kStripThreads / lanes;
  const int64_t first = int64_t{blockIdx.x} * lanes * kCols, col = first + lane * kCols;
  const int64_t step = int64_t{gridDim.y} * groups;
  const float alpha = *p.alpha;
  float dgamma[kCols] = {}, dbeta[kCols] = {}, dalpha = 0;
  if (col < p.cols) {
    const Strip gamma = load<kWide>(p.gamma + col);
    for (int64_t row = int64_t{blockIdx.y} * groups + group; row < p.rows; row += kAhead * step) {
      Strip x[kAhead], dy[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (row + k * step >= p.rows) continue;
        x[k] = load<kWide>(p.x + (row + k * step) * p.cols + col);
        dy[k] = load<kWide>(p.dy + (row + k * step) * p.cols + col);
      }
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        if (row + k * step >= p.rows) continue;
        Strip dx;
#pragma unroll
        for (int i = 0; i < kCols; ++i) {
          constexpr float kTwiceLog2e = 2.88539008f;  // e^(-2|v|) = 2^(-2|v| * log2 e), at most 1
          const float x_i = days::to_float(x[k][i]), dy_i = days::to_float(dy[k][i]), v = alpha * x_i;
          const float power = days::ptx::ex2_approx_ftz(-kTwiceLog2e * fabsf(v));
          const float s = days::ptx::rcp_approx_ftz(1 + power), t = copysignf((1 - power) * s, v);
          const float bent = dy_i * days::to_float(gamma[i]) * (4 * power * s * s);
          dx[i] = days::from_float<T>(bent * alpha);
          dgamma[i] = fmaf(dy_i, t, dgamma[i]);
          dbeta[i] += dy_i;
          dalpha = fmaf(bent, x_i, dalpha);
        }
        store<kWide>(p.dx + (row + k * step) * p.cols + col, dx);
      }
    }
  }
  // A tile's columns, row group after row group; beyond the last column are zeros.
#pragma unroll
  for (int i = 0; i < kCols; ++i) {
    sums[0][threadIdx.x * kCols + i] = dgamma[i];
    sums[1][threadIdx.x * kCols + i] = dbeta[i];
  }
  __syncthreads();
  const int tile = lanes * kCols;
  for (int i = threadIdx.x; i < 2 * tile; i += kStripThreads) {
    const int which = i >= tile, of_tile = i - which * tile;
    if (first + of_tile >= p.cols) continue;
    float sum = 0;
    for (int k = 0; k < groups; ++k) sum += sums[which][k * tile + of_tile];
    lines[(int64_t{2} * blockIdx.y + which) * p.cols + first + of_tile] = sum;
  }
  dalpha = days::block_reduce(dalpha, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) alphas[int64_t{blockIdx.y} * gridDim.x + blockIdx.x] = dalpha;
}

// One block: the sums of all others, in a fixed order.
__global__ void __launch_bounds__(kStripThreads)
    sum_alphas_kernel(const float* alphas, float* dalpha, int64_t count) {
  float sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += kStripThreads) sum += alphas[i];
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) *dalpha = sum;
}

}  // namespace

template <class T>
void dyt_grad_wide(const DytBackward<T>& p, cudaStream_t stream) {
  const bool some =
      p.rows > 0 && p.cols > 0;  // else there is nothing to divide by, and the next line says so
  float* lines = require_problem(p, some ? wide_workspace(p.rows, p.cols) : 0, "grad_wide");
  const bool wide = whole_vectors<T>(p.cols, p.x, p.dy, p.gamma, p.dx);
  const int width = wide ? kWidth<T, true> : 1, lanes = lanes_of(p.cols, width);
  const int parts = wide_parts(p.rows, p.cols), blocks = days::ceil_div(p.cols, lanes * width);
  float* alphas = lines + int64_t{2} * parts * p.cols;
  const auto kernel = wide ? wide_kernel<true, T> : wide_kernel<false, T>;
  kernel<<<dim3(blocks, parts), kStripThreads, 0, stream>>>(p, lines, alphas, lanes);
  CUDA_CHECK_LAUNCH();
  days::sum_partials(lines, p.dgamma, p.dbeta, parts, p.cols, stream);
  sum_alphas_kernel<<<1, kStripThreads, 0, stream>>>(alphas, p.dalpha, int64_t{parts} * blocks);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dyt_grad_wide, DytBackward, float, days::half, days::bf16);

}  // namespace day36
