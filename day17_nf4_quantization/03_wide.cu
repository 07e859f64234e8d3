// SPDX-License-Identifier: MIT
// A thread fills one store of 16 bytes: eight elements of 16 bits, from one word of codes, or four of fp32.
// Changed since shared: a quarter of the requests (half in fp32), and the scale is asked for once for all of them.
// Bound by: memory, if two instructions for a code's place in the table are not too many.
#include "common/nf4.cuh"
#include "day17_nf4_quantization/nf4_quantization.h"

namespace day17 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) wide_kernel(const uint8_t* codes,  // (bytes)
                                                        const float* absmax,   // (blocks)
                                                        T* y,                  // (n)
                                                        int64_t n) {
  __shared__ float values[16];
  if (threadIdx.x < 16) values[threadIdx.x] = days::nf4_value(threadIdx.x);
  __syncthreads();
  const int64_t first = days::kNf4Each<T> * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  if (first >= n) return;
  const unsigned word = days::load_nf4<T>(codes, first, n);
  const float scale = absmax[first / days::kNf4Block];
  days::Vec<T> v;
#pragma unroll
  for (int i = 0; i < days::kNf4Each<T>; ++i)
    v[i] = days::from_float<T>(values[word >> days::nf4_shift(i) & 15] * scale);
  days::store16_up_to(y, first, n, v);
}

}  // namespace

template <class T>
void dequantize_wide(const Nf4Dequantize<T>& p, cudaStream_t stream) {
  const unsigned blocks = grid_for(p, "wide", int64_t{kThreads} * days::kNf4Each<T>);
  days::require_needs(p, "wide", kAlignedY);
  wide_kernel<<<blocks, kThreads, 0, stream>>>(p.codes, p.absmax, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dequantize_wide, Nf4Dequantize, float, days::half, days::bf16);

}  // namespace day17
