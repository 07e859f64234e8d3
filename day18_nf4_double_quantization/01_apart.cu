// SPDX-License-Identifier: MIT
// As libraries do it: scales come back first, then their offset is added, then day 17's kernel makes numbers of codes.
// Bound by: launches. Three of them, and scales are written twice and read twice in between.
#include "common/nf4.cuh"
#include "day18_nf4_double_quantization/nf4_double_quantization.h"

namespace day18 {
namespace {

__global__ void __launch_bounds__(kThreads) scales_kernel(const uint8_t* codes8,  // (blocks)
                                                          const float* absmax2,   // (groups)
                                                          const float* map,       // (256)
                                                          float* absmax,          // (blocks)
                                                          int64_t blocks) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < blocks) absmax[i] = map[codes8[i]] * absmax2[i / kGroup];
}

__global__ void __launch_bounds__(kThreads) offset_kernel(float* absmax,        // (blocks)
                                                          const float* offset,  // (1)
                                                          int64_t blocks) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < blocks) absmax[i] += *offset;
}

template <class T>
__global__ void __launch_bounds__(kThreads) numbers_kernel(const uint8_t* codes,  // (bytes)
                                                           const float* absmax,   // (blocks)
                                                           T* y,                  // (n)
                                                           int64_t n) {
  const float value = days::nf4_value(threadIdx.x % 16);
  const int64_t first = days::kNf4Each<T> * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  const unsigned word = first < n ? days::load_nf4<T>(codes, first, n) : 0;
  const float scale = first < n ? absmax[first / days::kNf4Block] : 0;
  const days::Vec<T> v = days::decode_nf4<T>(word, scale, value);
  if (first < n) days::store16_up_to(y, first, n, v);
}

}  // namespace

template <class T>
void dequantize_apart(const DoubleDequantize<T>& p, cudaStream_t stream) {
  const unsigned grid = grid_for(p, "apart", int64_t{kThreads} * days::kNf4Each<T>);
  const size_t bytes = scales_workspace(p);
  days::require(p.workspace.bytes >= bytes, "apart: needs a workspace of bytes:", bytes);
  float* absmax = static_cast<float*>(p.workspace.data);
  const int64_t blocks = days::nf4_blocks(p.n);
  const unsigned of_scales = days::grid_of(blocks, kThreads, "apart");
  scales_kernel<<<of_scales, kThreads, 0, stream>>>(p.codes8, p.absmax2, p.map, absmax, blocks);
  CUDA_CHECK_LAUNCH();
  offset_kernel<<<of_scales, kThreads, 0, stream>>>(absmax, p.offset, blocks);
  CUDA_CHECK_LAUNCH();
  numbers_kernel<<<grid, kThreads, 0, stream>>>(p.codes, absmax, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dequantize_apart, DoubleDequantize, float, days::half, days::bf16);

}  // namespace day18
