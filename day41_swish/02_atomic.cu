// SPDX-License-Identifier: MIT
// Backward, one thread, one element: each adds what it has to dbeta with an atomic addition.
// All n additions are to one address, one after the other, and in an order that nobody has chosen: the last digits differ
// from run to run. And where all have one sign, a sum of fp32 that grows element by element takes in less and less: at 2^20
// elements it is off by a two-thousandth, and from 2^26 on it stands still. So this rung takes no more than 2^20.
// Bound by: the one address.
// Teaches: atomicAdd.
#include "day41_swish/gradient.cuh"
#include "day41_swish/swish.h"

namespace day41 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) atomic_kernel(const SwishBackward<T> p) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= p.n) return;
  const Gradient one = gradient(days::to_float(p.x[i]), days::to_float(p.dy[i]), *p.beta);
  p.dx[i] = days::from_float<T>(one.dx);
  atomicAdd(p.dbeta, one.of_beta);
}

}  // namespace

template <class T>
void swish_atomic(const SwishBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "atomic", kThreads);
  days::require_needs(p, "atomic", kFewElements);
  CUDA_CHECK(cudaMemsetAsync(p.dbeta, 0, sizeof(float), stream));
  atomic_kernel<<<blocks, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(swish_atomic, SwishBackward, float, days::half, days::bf16);

}  // namespace day41
