// SPDX-License-Identifier: MIT
//
// A layer of a network in two launches: grouped's product, rounded to T, and a kernel that adds the bias and cuts off
// what is negative. Bound by: the product, and then by c, which is read and written once more.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace day66 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) bias_kernel(const Linear<T> p) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= int64_t{p.m} * p.n) return;
  const float x = days::to_float(p.c[i]) + days::to_float(p.bias[i % p.n]);
  p.c[i] = days::from_float<T>(x < 0 ? 0 : x);  // NaN stays NaN, which fmaxf would lose
}

}  // namespace

template <class T>
requires Half<T>
void linear_apart(const Linear<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "apart");
  const int64_t blocks = days::ceil_div(int64_t{p.m} * p.n, int64_t{kThreads});
  days::require(blocks < int64_t{1} << 31, "apart: a grid has at most 2147483647 blocks; elements of c want",
                blocks);
  matmul_grouped<T>(p, stream);
  bias_kernel<T><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(linear_apart, Linear, days::half, days::bf16);

}  // namespace day66
