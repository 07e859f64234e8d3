// SPDX-License-Identifier: MIT
// A warp takes 32 blocks of 64 numbers. Each lane finds the scale of one of them, and a shuffle hands it to those who need it.
// Changed since fused: scales cost four requests for 32 blocks instead of four for four (in fp32 two); and a thread has eight
// words of codes under way (sixteen halves).
// Bound by: memory.
#include "common/nf4.cuh"
#include "day18_nf4_double_quantization/nf4_double_quantization.h"

namespace day18 {
namespace {

constexpr int64_t kOfWarp = days::kWarpSize * days::kNf4Block;  // numbers

template <class T>
__global__ void __launch_bounds__(kThreads) once_kernel(const uint8_t* codes,   // (bytes)
                                                        const uint8_t* codes8,  // (blocks)
                                                        const float* absmax2,   // (groups)
                                                        const float* offset,    // (1)
                                                        const float* map,       // (256)
                                                        T* y,                   // (n)
                                                        int64_t n) {
  constexpr int kEach = days::kNf4Each<T>, kWords = static_cast<int>(days::kNf4Block) / kEach;
  constexpr int kBlocks = days::kWarpSize / kWords;  // that a warp's words of one row are in
  const int lane = threadIdx.x % days::kWarpSize;
  const float value = days::nf4_value(threadIdx.x % 16);
  const int64_t warp = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / days::kWarpSize,
                begin = warp * kOfWarp;
  const int64_t block = warp * days::kWarpSize + lane;
  float scale = 0;
  if (block * days::kNf4Block < n) scale = scale_of(map[codes8[block]], absmax2[block / kGroup], *offset);
  unsigned word[kWords];
#pragma unroll
  for (int row = 0; row < kWords; ++row) {
    const int64_t at = begin + (row * days::kWarpSize + lane) * kEach;
    word[row] = at < n ? days::load_nf4<T>(codes, at, n) : 0;
  }
#pragma unroll
  for (int row = 0; row < kWords; ++row) {
    const float mine = __shfl_sync(days::kFullWarp, scale, row * kBlocks + lane / kWords);
    const days::Vec<T> v = days::decode_nf4<T>(word[row], mine, value);
    const int64_t at = begin + (row * days::kWarpSize + lane) * kEach;
    if (at < n) days::store16_up_to(y, at, n, v);
  }
}

}  // namespace

template <class T>
void dequantize_once(const DoubleDequantize<T>& p, cudaStream_t stream) {
  const unsigned grid = grid_for(p, "once", kThreads / days::kWarpSize * kOfWarp);
  once_kernel<<<grid, kThreads, 0, stream>>>(p.codes, p.codes8, p.absmax2, p.offset, p.map, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dequantize_once, DoubleDequantize, float, days::half, days::bf16);

}  // namespace day18
