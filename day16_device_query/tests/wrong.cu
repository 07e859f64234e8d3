// SPDX-License-Identifier: MIT
//
// Kernels of day 16 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

constexpr int kThreads = 256;

__device__ int64_t thread_of_grid() {
  return int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// ---- Copies ----

template <void (*kKernel)(Copy<uint32_t>)>
void launch_copy(const Copy<uint32_t>& p, cudaStream_t stream) {
  kKernel<<<static_cast<unsigned>(days::ceil_div(p.n, kThreads)), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// Every element is its neighbour's.
__global__ void shifted(Copy<uint32_t> p) {
  const int64_t i = thread_of_grid();
  if (i < p.n) p.y[i] = p.x[i + 1 < p.n ? i + 1 : i];
}
MUST_REJECT(copy, launch_copy<shifted>, "2: y[0] is");

// x + 0 is no copy: -0 becomes 0.
__global__ void loses_minus_zero(Copy<uint32_t> p) {
  const int64_t i = thread_of_grid();
  if (i < p.n) p.y[i] = p.x[i] == 0x80000000u ? 0u : p.x[i];
}
MUST_REJECT(copy, launch_copy<loses_minus_zero>, "special bits: y[1] is 0, expected 2147483648");

// Arithmetic turns a signalling NaN into a quiet one.
__global__ void quiets_nan(Copy<uint32_t> p) {
  const int64_t i = thread_of_grid();
  if (i >= p.n) return;
  const uint32_t v = p.x[i];
  p.y[i] = (v & 0x7fffffffu) > 0x7f800000u ? v | 0x00400000u : v;
}
MUST_REJECT(copy, launch_copy<quiets_nan>, "special bits: y[7] is 2143289345, expected 2139095041");

// ---- Multiply-adds ----

template <void (*kKernel)(Fma<float>)>
void launch_fma(const Fma<float>& p, cudaStream_t stream) {
  kKernel<<<static_cast<unsigned>(days::ceil_div(p.n, kThreads)), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// x = a * x + b, `steps` times, each rounded once, as it should be.
__device__ float chain(float x, float a, float b, int64_t steps) {
  for (int64_t s = 0; s < steps; ++s) x = fmaf(x, a, b);
  return x;
}

// A multiplication, rounded, then an addition, rounded: no fused multiply-add.
__global__ void rounds_twice(Fma<float> p) {
  const int64_t i = thread_of_grid();
  if (i >= p.n) return;
  float v = p.x[i];
  for (int64_t s = 0; s < p.steps; ++s) v = __fadd_rn(__fmul_rn(v, p.a), p.b);
  p.y[i] = v;
}
MUST_REJECT(fma, launch_fma<rounds_twice>, "overflow: y[0] is 0.271514177, expected 0.271514237");

// Every second element gets its neighbour's chain.
__global__ void shares_chain(Fma<float> p) {
  const int64_t i = thread_of_grid();
  if (i < p.n) p.y[i] = chain(p.x[i / 2 * 2], p.a, p.b, p.steps);
}
MUST_REJECT(fma, launch_fma<shares_chain>, "2 x 32: y[1] is");

// Two steps in one, x = a*a*x + (a*b + b): the same on paper, other bits.
__global__ void fast_forward(Fma<float> p) {
  const int64_t i = thread_of_grid();
  if (i >= p.n) return;
  const float v = chain(p.x[i], p.a * p.a, fmaf(p.a, p.b, p.b), p.steps / 2);
  p.y[i] = chain(v, p.a, p.b, p.steps % 2);
}
MUST_REJECT(fma, launch_fma<fast_forward>, "1 x 31, overflow: y[0] is -331436.938, expected -331436.969");

}  // namespace
}  // namespace day16
