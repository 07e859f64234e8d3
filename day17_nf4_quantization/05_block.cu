// SPDX-License-Identifier: MIT
// One thread takes a block of 64: its largest size, then its codes.
// Bound by: L1. The lanes of a warp read elements that are 64 apart, so a request touches 32 sectors.
#include "common/reduce.cuh"
#include "day17_nf4_quantization/nf4_quantization.h"

namespace day17 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) block_kernel(const T* x,      // (n)
                                                         uint8_t* codes,  // (bytes)
                                                         float* absmax,   // (blocks)
                                                         int64_t n) {
  const int64_t block = int64_t{blockIdx.x} * kThreads + threadIdx.x, begin = block * days::kNf4Block;
  if (begin >= n) return;
  const int64_t end = begin + days::kNf4Block < n ? begin + days::kNf4Block : n;
  float largest = 0;
  for (int64_t i = begin; i < end; ++i) largest = days::Max{}(largest, fabsf(days::to_float(x[i])));
  absmax[block] = largest;
  const float scale = days::nf4_scale(largest);
  for (int64_t i = begin; i < end; i += 2) {
    const float second = i + 1 < end ? days::to_float(x[i + 1]) : 0;
    codes[i / 2] = static_cast<uint8_t>(days::nf4_code(days::to_float(x[i]) * scale) << 4 |
                                        days::nf4_code(second * scale));
  }
}

}  // namespace

template <class T>
void quantize_block(const Nf4Quantize<T>& p, cudaStream_t stream) {
  const unsigned blocks = grid_for(p, "block", kThreads * days::kNf4Block);
  block_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.codes, p.absmax, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(quantize_block, Nf4Quantize, float, days::half, days::bf16);

}  // namespace day17
