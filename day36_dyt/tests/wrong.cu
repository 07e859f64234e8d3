// SPDX-License-Identifier: MIT
//
// Kernels of day 36 with a bug each, which its tests must reject. They stay inside their buffers, so that it is the
// comparison that finds them and not a fault.

#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "day36_dyt/dyt.h"

namespace day36 {
namespace {

constexpr int kThreads = 128;

// ---- Forward, an element a thread: f(alpha, x, gamma, beta) ----

template <class T, class F>
__global__ void forward_kernel(const Dyt<T> p, F f) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= int64_t{p.rows} * p.cols) return;
  const int64_t col = i % p.cols;
  p.y[i] = days::from_float<T>(
      f(*p.alpha, days::to_float(p.x[i]), days::to_float(p.gamma[col]), days::to_float(p.beta[col])));
}
template <class F, class T>
void launch(const Dyt<T>& p, cudaStream_t stream) {
  forward_kernel<<<days::grid_of(int64_t{p.rows} * p.cols, kThreads, "wrong"), kThreads, 0, stream>>>(p, F{});
  CUDA_CHECK_LAUNCH();
}

// (e^2v - 1) / (e^2v + 1) is inf / inf from v = 44 on.
struct Quotient {
  __device__ float operator()(float alpha, float x, float gamma, float beta) const {
    const float power = expf(2 * alpha * x);
    return gamma * ((power - 1) / (power + 1)) + beta;
  }
};
void quotient(const Dyt<days::bf16>& p, cudaStream_t stream) {
  launch<Quotient>(p, stream);
}
MUST_REJECT(dyt, quotient, "is nan, expected");

// tanh clamped to its argument, which drops a NaN.
struct Clamped {
  __device__ float operator()(float alpha, float x, float gamma, float beta) const {
    return gamma * tanhf(fminf(fmaxf(alpha * x, -9), 9)) + beta;
  }
};
void clamped(const Dyt<days::half>& p, cudaStream_t stream) {
  launch<Clamped>(p, stream);
}
MUST_REJECT(dyt, clamped, "expected nan");

// ---- Backward, a thread a column and then one thread for alpha ----

// What each kernel below has all but one of.
struct Right {
  static constexpr bool kBend = true, kAlpha = true, kGamma = true, kAllRows = true, kInType = false;
};

template <class T, class Bug>
__global__ void backward_kernel(const DytBackward<T> p) {
  const int64_t col = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (col >= p.cols) return;
  float dgamma = 0, dbeta = 0;
  const float alpha = *p.alpha, gamma = days::to_float(p.gamma[col]);
  for (int64_t row = 0; row < p.rows; ++row) {
    const int64_t i = row * p.cols + col;
    const float dy = days::to_float(p.dy[i]), t = tanhf(alpha * days::to_float(p.x[i]));
    p.dx[i] =
        days::from_float<T>(dy * gamma * (Bug::kBend ? 1 - t * t : 1.0f) * (Bug::kAlpha ? alpha : 1.0f));
    if (!Bug::kAllRows && row > 0 && row + 1 == p.rows) continue;
    dgamma += dy * t;
    dbeta += dy;
    if (Bug::kInType) dgamma = days::to_float(days::from_float<T>(dgamma));
  }
  p.dgamma[col] = days::from_float<T>(dgamma);
  p.dbeta[col] = days::from_float<T>(dbeta);
}
template <class T, class Bug>
__global__ void dalpha_kernel(const DytBackward<T> p) {
  float sum = 0;
  for (int64_t i = threadIdx.x; i < int64_t{p.rows} * p.cols; i += kThreads) {
    const float x = days::to_float(p.x[i]), t = tanhf(*p.alpha * x);
    sum += days::to_float(p.dy[i]) * (Bug::kGamma ? days::to_float(p.gamma[i % p.cols]) : 1.0f) *
           (1 - t * t) * x;
  }
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) *p.dalpha = sum;
}
template <class Bug, class T>
void launch(const DytBackward<T>& p, cudaStream_t stream) {
  backward_kernel<T, Bug><<<days::ceil_div(p.cols, kThreads), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
  dalpha_kernel<T, Bug><<<1, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

struct NoBend : Right {
  static constexpr bool kBend = false;
};
void no_bend(const DytBackward<days::bf16>& p, cudaStream_t stream) {
  launch<NoBend>(p, stream);
}
MUST_REJECT(dyt_backward, no_bend, "dx[0,0] is");

struct LastRow : Right {
  static constexpr bool kAllRows = false;
};
void last_row(const DytBackward<days::half>& p, cudaStream_t stream) {
  launch<LastRow>(p, stream);
}
MUST_REJECT(dyt_backward, last_row, "dgamma[0] is");

// The sum is rounded to bf16 after each row: beyond 256 rows a 1 is lost in it.
struct InType : Right {
  static constexpr bool kInType = true;
};
void in_type(const DytBackward<days::bf16>& p, cudaStream_t stream) {
  launch<InType>(p, stream);
}
MUST_REJECT(dyt_backward, in_type, "dgamma[");

// Each block overwrites what the others have found: right where a single one has all rows.
__global__ void overwrites_kernel(const DytBackward<float> p) {
  float dgamma = 0, dbeta = 0;
  const int64_t col = threadIdx.x;
  for (int64_t row = blockIdx.x; row < p.rows && col < p.cols; row += gridDim.x) {
    dgamma += p.dy[row * p.cols + col] * tanhf(*p.alpha * p.x[row * p.cols + col]);
    dbeta += p.dy[row * p.cols + col];
  }
  if (col < p.cols && blockIdx.x + 1 == gridDim.x) {
    p.dgamma[col] = dgamma;
    p.dbeta[col] = dbeta;
  }
}
void overwrites(const DytBackward<float>& p, cudaStream_t stream) {
  launch<Right>(p, stream);
  if (p.cols > kThreads) return;
  overwrites_kernel<<<2, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(dyt_backward, overwrites, "dgamma[0] is");

}  // namespace
}  // namespace day36
