// SPDX-License-Identifier: MIT
// One kernel: each thread finds its scale itself, where it needs it.
// Changed since apart: one launch for three, and no scale in fp32 anywhere.
// Bound by: requests. Four of a warp's six serve the scales, which are a hundredth of its bytes.
#include "common/nf4.cuh"
#include "day18_nf4_double_quantization/nf4_double_quantization.h"

namespace day18 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) fused_kernel(const uint8_t* codes,   // (bytes)
                                                         const uint8_t* codes8,  // (blocks)
                                                         const float* absmax2,   // (groups)
                                                         const float* offset,    // (1)
                                                         const float* map,       // (256)
                                                         T* y,                   // (n)
                                                         int64_t n) {
  const float value = days::nf4_value(threadIdx.x % 16);
  const int64_t first = days::kNf4Each<T> * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  unsigned word = 0;
  float scale = 0;
  if (first < n) {
    const int64_t block = first / days::kNf4Block;
    word = days::load_nf4<T>(codes, first, n);
    scale = scale_of(map[codes8[block]], absmax2[block / kGroup], *offset);
  }
  const days::Vec<T> v = days::decode_nf4<T>(word, scale, value);
  if (first < n) days::store16_up_to(y, first, n, v);
}

}  // namespace

template <class T>
void dequantize_fused(const DoubleDequantize<T>& p, cudaStream_t stream) {
  const unsigned grid = grid_for(p, "fused", int64_t{kThreads} * days::kNf4Each<T>);
  fused_kernel<<<grid, kThreads, 0, stream>>>(p.codes, p.codes8, p.absmax2, p.offset, p.map, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dequantize_fused, DoubleDequantize, float, days::half, days::bf16);

}  // namespace day18
