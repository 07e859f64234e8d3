// SPDX-License-Identifier: MIT
//
// Forward keeps the code of each x in a byte, and backward reads that. Changed since again: in fp32 10 bytes an element
// for 12, and nobody has to keep x. In 16 bits 6 for 6, so there it gains nothing. Bound by: memory, and requests of a
// byte a lane.

#include "common/check.h"
#include "common/reduce.cuh"
#include "day38_l1_norm/l1_norm.h"
#include "day38_l1_norm/sign.cuh"

namespace day38 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) bytes_forward_kernel(const L1Norm<T> p,
                                                                 uint8_t* codes) {  // (rows, cols)
  const int64_t start = int64_t{blockIdx.x} * p.cols;
  float sum = 0;
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    const float x = days::to_float(p.x[start + col]);
    sum += fabsf(x);
    codes[start + col] = static_cast<uint8_t>((not_below(x) ? 1 : 0) + (not_above(x) ? 2 : 0));
  }
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  if (threadIdx.x == 0) p.norm[blockIdx.x] = sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads) bytes_backward_kernel(const L1Norm<T> p,
                                                                  const uint8_t* codes) {  // (rows, cols)
  const int64_t start = int64_t{blockIdx.x} * p.cols;
  const float dnorm = p.dnorm[blockIdx.x];
  for (int col = threadIdx.x; col < p.cols; col += kThreads) {
    const int code = codes[start + col];
    p.dx[start + col] = days::from_float<T>(dx_of(code & 1, code & 2, dnorm));
  }
}

}  // namespace

template <class T>
void l1_norm_bytes(const L1Norm<T>& p, cudaStream_t stream) {
  require_problem(p, "bytes", l1_norm_bytes_workspace(p));
  uint8_t* codes = static_cast<uint8_t*>(p.workspace.data);
  bytes_forward_kernel<<<p.rows, kThreads, 0, stream>>>(p, codes);
  CUDA_CHECK_LAUNCH();
  bytes_backward_kernel<<<p.rows, kThreads, 0, stream>>>(p, codes);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(l1_norm_bytes, L1Norm, float, days::half, days::bf16);

}  // namespace day38
