// SPDX-License-Identifier: MIT
#include "gpt/ops.h"

#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day12_layer_norm/grad_share.cuh"
#include "day73_embedding/embedding.h"
#include "gpt/layout.h"
#include "model/epilogue.cuh"

namespace gpt {
namespace {

using days::bf16;

constexpr int kThreads = 256;
constexpr int kColumns = 32,
              kWays = kThreads / kColumns;  // add_row_sums: a block's columns, and rows at a time
constexpr int kParts = 128;                 // of the rows, each a sum of its own

unsigned blocks_of(size_t n) {
  return days::grid_of(static_cast<int64_t>(n), kThreads, "gpt");
}
__device__ size_t index() {
  return size_t{blockIdx.x} * kThreads + threadIdx.x;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    add_positions_kernel(T* x, const T* positions, size_t n, size_t period) {
  const size_t i = index();
  if (i < n) x[i] = T(static_cast<float>(x[i]) + static_cast<float>(positions[i % period]));
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    split_heads_kernel(const T* qkv, T* q, T* k, T* v, int seq, int heads, size_t n) {
  const size_t i = index();  // of (batch, seq, 3, heads, 64)
  if (i >= n) return;
  const size_t d = i % kHeadDim, head = i / kHeadDim % static_cast<size_t>(heads),
               which = i / kHeadDim / static_cast<size_t>(heads) % 3,
               token = i / kHeadDim / static_cast<size_t>(heads) / 3;
  const size_t b = token / static_cast<size_t>(seq), t = token % static_cast<size_t>(seq);
  T* const to = which == 0 ? q : which == 1 ? k : v;
  to[((b * static_cast<size_t>(heads) + head) * static_cast<size_t>(seq) + t) * kHeadDim + d] = qkv[i];
}
template <class T>
__global__ void __launch_bounds__(kThreads)
    join_heads_kernel(const T* o, T* joined, int seq, int heads, size_t n) {
  const size_t i = index();  // of (batch, seq, heads, 64)
  if (i >= n) return;
  const size_t d = i % kHeadDim, head = i / kHeadDim % static_cast<size_t>(heads),
               token = i / kHeadDim / static_cast<size_t>(heads);
  const size_t b = token / static_cast<size_t>(seq), t = token % static_cast<size_t>(seq);
  joined[i] = o[((b * static_cast<size_t>(heads) + head) * static_cast<size_t>(seq) + t) * kHeadDim + d];
}

// To is T or float: y += x.
template <class To, class T>
__global__ void __launch_bounds__(kThreads) add_kernel(To* y, const T* x, size_t n) {
  const size_t i = index();
  if (i < n) y[i] = To(static_cast<float>(y[i]) + static_cast<float>(x[i]));
}

template <class T>
__global__ void __launch_bounds__(kThreads) add_bias_kernel(T* y, const T* bias, size_t n, size_t cols) {
  const size_t i = index();
  if (i < n) y[i] = T(static_cast<float>(y[i]) + static_cast<float>(bias[i % cols]));
}
template <class T>
__global__ void __launch_bounds__(kThreads) gelu_kernel(const T* z, T* y, size_t n) {
  const size_t i = index();
  if (i < n) y[i] = T(model::gelu(static_cast<float>(z[i])));
}
template <class T>
__global__ void __launch_bounds__(kThreads) times_gelu_slope_kernel(T* dy, const T* z, size_t n) {
  const size_t i = index();
  if (i < n) dy[i] = T(static_cast<float>(dy[i]) * model::gelu_slope(static_cast<float>(z[i])));
}

// Day 12's grad_registers, with a third row that is read: the residual's gradient, to which the norm's is added before it is rounded.
template <class T, int kRowThreads>
__global__ void __launch_bounds__(day12::grad_block(kRowThreads),
                                  day12::kGradResident / day12::grad_block(kRowThreads))
    norm_gradient_kernel(const day12::LayerNormBackward<T> p,
                         float* partials) {  // (blocks, 2, cols)
  using Columns = day12::GradColumns<T, kRowThreads, true>;
  using Row = typename Columns::Row;
  const int thread = static_cast<int>(threadIdx.x) % kRowThreads;
  const unsigned step = gridDim.x * Columns::kRows, rows = static_cast<unsigned>(p.rows);
  const float scale = 1 / static_cast<float>(p.cols);
  Columns columns;
  Row gamma;
  gamma.load(p.gamma, thread, p.cols);
  bool odd = false;
  for (unsigned first = blockIdx.x * Columns::kRows; first < rows; first += step) {
    const unsigned row = first + threadIdx.x / kRowThreads;
    const bool exists = row < rows;
    const int64_t start = int64_t{row} * p.cols;
    const int cols = exists ? p.cols : 0;
    Row x, dy, residual;
    x.load(p.x + start, thread, cols);
    dy.load(p.dy + start, thread, cols);
    residual.load(p.dx + start, thread, cols);
    const float mean = exists ? p.mean[row] : 0, rstd = exists ? p.rstd[row] : 0;
    float dx[day12::kGradElements];
    columns.row(gamma, x, dy, mean, rstd, scale, odd, dx);
    odd = !odd;
#pragma unroll
    for (int i = 0; i < day12::kGradElements; ++i) dx[i] += residual[i];
    Row::store(p.dx + start, dx, thread, cols);
  }
  columns.write(partials + int64_t{2} * blockIdx.x * p.cols, thread, p.cols);
}
// A block has 32 columns of both sums, a lane each. Its warps take the parts in turn, then the first adds up what they found.
constexpr int kMaxSumWarps = 32;
__global__ void __launch_bounds__(kMaxSumWarps* days::kWarpSize)
    add_norm_sums_kernel(const float* partials, float* dgamma, float* dbeta, int parts, int cols) {
  __shared__ float sums[kMaxSumWarps][days::kWarpSize];
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize,
            warp = static_cast<int>(threadIdx.x) / days::kWarpSize,
            warps = static_cast<int>(blockDim.x) / days::kWarpSize;
  const int at = static_cast<int>(blockIdx.x) * days::kWarpSize + lane;  // of (2, cols)
  float sum = 0;
  if (at < 2 * cols) {
#pragma unroll 4
    for (int part = warp; part < parts; part += warps) sum += partials[int64_t{2} * part * cols + at];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || at >= 2 * cols) return;
  for (int i = 1; i < warps; ++i) sum += sums[i][lane];
  (at < cols ? dgamma[at] : dbeta[at - cols]) += sum;
}

// partials[part][col]: the sum of the rows part, part + kParts, ... in eight ways, which are added at last.
template <class T>
__global__ void __launch_bounds__(kThreads) row_sums_kernel(const T* x, float* partials, int rows, int cols) {
  __shared__ float ways[kWays][kColumns];
  const int lane = static_cast<int>(threadIdx.x) % kColumns, way = static_cast<int>(threadIdx.x) / kColumns;
  const int col = static_cast<int>(blockIdx.x) * kColumns + lane;
  float sum = 0;
  if (col < cols)
    for (int row = static_cast<int>(blockIdx.y) * kWays + way; row < rows; row += kParts * kWays)
      sum += static_cast<float>(x[int64_t{row} * cols + col]);
  ways[way][lane] = sum;
  __syncthreads();
  if (way > 0 || col >= cols) return;
  for (int i = 1; i < kWays; ++i) sum += ways[i][lane];
  partials[int64_t{blockIdx.y} * cols + col] = sum;
}
__global__ void __launch_bounds__(kThreads)
    add_partials_kernel(float* gradient, const float* partials, int parts, int cols) {
  const size_t col = index();
  if (col >= static_cast<size_t>(cols)) return;
  float sum = 0;
  for (int part = 0; part < parts; ++part) sum += partials[int64_t{part} * cols + static_cast<int64_t>(col)];
  gradient[col] += sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    position_gradient_kernel(float* gradient, const T* dx, int batch, size_t period) {
  const size_t i = index();
  if (i >= period) return;
  float sum = 0;
  for (int b = 0; b < batch; ++b) sum += static_cast<float>(dx[static_cast<size_t>(b) * period + i]);
  gradient[i] += sum;
}

// A block a word: its threads take the columns, and its places one after the other.
template <class T>
__global__ void __launch_bounds__(kThreads)
    token_gradient_kernel(float* gradient, const T* dx, const day73::Places places, int width) {
  const int32_t begin = places.starts[blockIdx.x], end = places.starts[blockIdx.x + 1];
  if (begin == end) return;
  for (int col = static_cast<int>(threadIdx.x); col < width; col += kThreads) {
    float sum = 0;
    for (int32_t i = begin; i < end; ++i)
      sum += static_cast<float>(dx[int64_t{places.places[i]} * width + col]);
    gradient[int64_t{blockIdx.x} * width + col] += sum;
  }
}

__global__ void __launch_bounds__(kThreads) round_kernel(const float* w, bf16* copy, size_t n) {
  const size_t i = index();
  if (i < n) copy[i] = bf16(w[i]);
}

__global__ void __launch_bounds__(kThreads) fill_kernel(float* to, float value, size_t n) {
  const size_t i = index();
  if (i < n) to[i] = value;
}
// One block: these are some thousand numbers.
__global__ void __launch_bounds__(kThreads) add_sum_kernel(double* total, const float* x, size_t n) {
  __shared__ double sums[kThreads];
  double sum = 0;
  for (size_t i = threadIdx.x; i < n; i += kThreads) sum += static_cast<double>(x[i]);
  sums[threadIdx.x] = sum;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *total += sums[0];
}

}  // namespace

template <class T>
void add_positions(T* x, const T* positions, int batch, int seq, int width, cudaStream_t stream) {
  const size_t period = static_cast<size_t>(seq) * static_cast<size_t>(width),
               n = static_cast<size_t>(batch) * period;
  add_positions_kernel<<<blocks_of(n), kThreads, 0, stream>>>(x, positions, n, period);
  CUDA_CHECK_LAUNCH();
}

template <class T>
void split_heads(const T* qkv, T* q, T* k, T* v, int batch, int seq, int heads, cudaStream_t stream) {
  const size_t n = size_t{3} * static_cast<size_t>(batch) * static_cast<size_t>(seq) *
                   static_cast<size_t>(heads) * kHeadDim;
  split_heads_kernel<<<blocks_of(n), kThreads, 0, stream>>>(qkv, q, k, v, seq, heads, n);
  CUDA_CHECK_LAUNCH();
}
template <class T>
void join_heads(const T* o, T* joined, int batch, int seq, int heads, cudaStream_t stream) {
  const size_t n =
      static_cast<size_t>(batch) * static_cast<size_t>(seq) * static_cast<size_t>(heads) * kHeadDim;
  join_heads_kernel<<<blocks_of(n), kThreads, 0, stream>>>(o, joined, seq, heads, n);
  CUDA_CHECK_LAUNCH();
}

template <class T>
void add_to(T* y, const T* x, size_t n, cudaStream_t stream) {
  add_kernel<<<blocks_of(n), kThreads, 0, stream>>>(y, x, n);
  CUDA_CHECK_LAUNCH();
}
template <class T>
void add_bias(T* y, const T* bias, int rows, int cols, cudaStream_t stream) {
  const size_t n = static_cast<size_t>(rows) * static_cast<size_t>(cols);
  add_bias_kernel<<<blocks_of(n), kThreads, 0, stream>>>(y, bias, n, static_cast<size_t>(cols));
  CUDA_CHECK_LAUNCH();
}
template <class T>
void gelu(const T* z, T* y, size_t n, cudaStream_t stream) {
  gelu_kernel<<<blocks_of(n), kThreads, 0, stream>>>(z, y, n);
  CUDA_CHECK_LAUNCH();
}
template <class T>
void times_gelu_slope(T* dy, const T* z, size_t n, cudaStream_t stream) {
  times_gelu_slope_kernel<<<blocks_of(n), kThreads, 0, stream>>>(dy, z, n);
  CUDA_CHECK_LAUNCH();
}

template <class T>
void add_norm_gradient(const day12::LayerNormBackward<T>& p, float* dgamma, float* dbeta,
                       cudaStream_t stream) {
  constexpr const char* kWho = "add_norm_gradient";
  day12::require_problem(p, kWho);
  days::require(day12::whole_vectors<T>(p.cols, p.x, p.dy, p.gamma, p.dx), kWho,
                ": rows are whole vectors of 16 bytes; elements of one are", p.cols);
  days::require(p.dx != p.x && p.dx != p.dy, kWho, ": dx is added to, and is not x or dy; rows are", p.rows);
  float* const partials = day12::grad_lines(p, kWho);
  const int blocks = day12::grad_blocks(p.rows, p.cols);
  day12::for_grad_threads(p.cols, true, [&](auto threads, auto wide) {
    if constexpr (wide) {
      norm_gradient_kernel<T, threads><<<blocks, day12::grad_block(threads), 0, stream>>>(p, partials);
      CUDA_CHECK_LAUNCH();
    }
  });
  const int warps = std::min(kMaxSumWarps, days::ceil_div(blocks, 2));
  add_norm_sums_kernel<<<days::ceil_div(2 * p.cols, days::kWarpSize), warps * days::kWarpSize, 0, stream>>>(
      partials, dgamma, dbeta, blocks, p.cols);
  CUDA_CHECK_LAUNCH();
}

template <class T>
void add_gradient(float* gradient, const T* x, size_t n, cudaStream_t stream) {
  add_kernel<<<blocks_of(n), kThreads, 0, stream>>>(gradient, x, n);
  CUDA_CHECK_LAUNCH();
}

size_t row_sums_workspace(int cols) {
  return sizeof(float) * kParts * static_cast<size_t>(cols);
}
template <class T>
void add_row_sums(float* gradient, const T* x, int rows, int cols, void* workspace, cudaStream_t stream) {
  const auto partials = static_cast<float*>(workspace);
  const int parts = std::min(kParts, days::ceil_div(rows, kWays));
  const dim3 grid(static_cast<unsigned>(days::ceil_div(cols, kColumns)), static_cast<unsigned>(parts));
  row_sums_kernel<<<grid, kThreads, 0, stream>>>(x, partials, rows, cols);
  CUDA_CHECK_LAUNCH();
  add_partials_kernel<<<blocks_of(static_cast<size_t>(cols)), kThreads, 0, stream>>>(gradient, partials,
                                                                                     parts, cols);
  CUDA_CHECK_LAUNCH();
}

template <class T>
void add_position_gradient(float* gradient, const T* dx, int batch, int seq, int width, cudaStream_t stream) {
  const size_t period = static_cast<size_t>(seq) * static_cast<size_t>(width);
  position_gradient_kernel<<<blocks_of(period), kThreads, 0, stream>>>(gradient, dx, batch, period);
  CUDA_CHECK_LAUNCH();
}

size_t token_gradient_workspace(int count, int vocab) {
  return day73::places_workspace(count, vocab);
}
template <class T>
void add_token_gradient(float* gradient, const T* dx, const int32_t* tokens, int count, int vocab, int width,
                        void* workspace, cudaStream_t stream) {
  const day73::Places places = day73::sort_tokens(tokens, count, vocab, -1, workspace, stream);
  token_gradient_kernel<<<static_cast<unsigned>(vocab), kThreads, 0, stream>>>(gradient, dx, places, width);
  CUDA_CHECK_LAUNCH();
}

void fill(float* to, float value, size_t n, cudaStream_t stream) {
  fill_kernel<<<blocks_of(n), kThreads, 0, stream>>>(to, value, n);
  CUDA_CHECK_LAUNCH();
}
void add_sum(double* sum, const float* x, size_t n, cudaStream_t stream) {
  add_sum_kernel<<<1, kThreads, 0, stream>>>(sum, x, n);
  CUDA_CHECK_LAUNCH();
}

void round_weights(const float* w, bf16* copy, size_t n, cudaStream_t stream) {
  round_kernel<<<blocks_of(n), kThreads, 0, stream>>>(w, copy, n);
  CUDA_CHECK_LAUNCH();
}

#define GPT_OPS(T)                                                                                   \
  template void add_positions(T*, const T*, int, int, int, cudaStream_t);                            \
  template void split_heads(const T*, T*, T*, T*, int, int, int, cudaStream_t);                      \
  template void join_heads(const T*, T*, int, int, int, cudaStream_t);                               \
  template void add_to(T*, const T*, size_t, cudaStream_t);                                          \
  template void add_bias(T*, const T*, int, int, cudaStream_t);                                      \
  template void gelu(const T*, T*, size_t, cudaStream_t);                                            \
  template void times_gelu_slope(T*, const T*, size_t, cudaStream_t);                                \
  template void add_norm_gradient(const day12::LayerNormBackward<T>&, float*, float*, cudaStream_t); \
  template void add_gradient(float*, const T*, size_t, cudaStream_t);                                \
  template void add_row_sums(float*, const T*, int, int, void*, cudaStream_t);                       \
  template void add_position_gradient(float*, const T*, int, int, int, cudaStream_t);                \
  template void add_token_gradient(float*, const T*, const int32_t*, int, int, int, void*, cudaStream_t)
GPT_OPS(float);
GPT_OPS(bf16);

}  // namespace gpt
