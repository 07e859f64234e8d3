// SPDX-License-Identifier: MIT
// One thread takes a byte, which has two codes, and looks both up in constant memory.
// Bound by: constant memory, which gives a warp one word at a time. Its lanes ask for as many as they have different codes.
#include "day17_nf4_quantization/nf4_quantization.h"

namespace day17 {
namespace {

__constant__ float constant_values[16] = {
    days::nf4_value(0),  days::nf4_value(1),  days::nf4_value(2),  days::nf4_value(3),
    days::nf4_value(4),  days::nf4_value(5),  days::nf4_value(6),  days::nf4_value(7),
    days::nf4_value(8),  days::nf4_value(9),  days::nf4_value(10), days::nf4_value(11),
    days::nf4_value(12), days::nf4_value(13), days::nf4_value(14), days::nf4_value(15),
};

template <class T>
__global__ void __launch_bounds__(kThreads) constant_kernel(const uint8_t* codes,  // (bytes)
                                                            const float* absmax,   // (blocks)
                                                            T* y,                  // (n)
                                                            int64_t n) {
  const int64_t byte = int64_t{blockIdx.x} * kThreads + threadIdx.x, i = 2 * byte;
  if (i >= n) return;
  const unsigned pair = codes[byte];
  const float scale = absmax[i / days::kNf4Block];
  y[i] = days::from_float<T>(constant_values[pair >> 4] * scale);
  if (i + 1 < n) y[i + 1] = days::from_float<T>(constant_values[pair & 15] * scale);
}

}  // namespace

template <class T>
void dequantize_constant(const Nf4Dequantize<T>& p, cudaStream_t stream) {
  const unsigned blocks = grid_for(p, "constant", 2 * kThreads);
  constant_kernel<<<blocks, kThreads, 0, stream>>>(p.codes, p.absmax, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dequantize_constant, Nf4Dequantize, float, days::half, days::bf16);

}  // namespace day17
