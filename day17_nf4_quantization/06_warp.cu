// SPDX-License-Identifier: MIT
// A warp takes a block of 64, two neighbours a lane, which become a byte; five shuffles find the largest size.
// Changed since block: a request touches four sectors for 32 (in fp32 eight), and each element is read once.
// Bound by: instructions. Five shuffles serve 64 elements, and a search takes some twenty for each.
#include "common/reduce.cuh"
#include "day17_nf4_quantization/nf4_quantization.h"
#include "day17_nf4_quantization/pair.cuh"

namespace day17 {
namespace {

constexpr int kWarps = kThreads / days::kWarpSize;

template <class T>
__global__ void __launch_bounds__(kThreads) warp_kernel(const T* x,      // (n)
                                                        uint8_t* codes,  // (bytes)
                                                        float* absmax,   // (blocks)
                                                        int64_t n) {
  const int lane = threadIdx.x % days::kWarpSize;
  const int64_t block = int64_t{blockIdx.x} * kWarps + threadIdx.x / days::kWarpSize;
  const int64_t i = block * days::kNf4Block + 2 * lane;
  float first = 0, second = 0;
  if (i + 1 < n) {
    const Pair<T> pair = load_pair(x + i);
    first = days::to_float(pair[0]);
    second = days::to_float(pair[1]);
  } else if (i < n) {
    first = days::to_float(x[i]);
  }
  const float largest = days::warp_reduce(days::Max{}(fabsf(first), fabsf(second)), days::Max{});
  if (i >= n) return;
  if (lane == 0) absmax[block] = largest;
  const float scale = days::nf4_scale(largest);
  codes[i / 2] = static_cast<uint8_t>(days::nf4_code(first * scale) << 4 | days::nf4_code(second * scale));
}

}  // namespace

template <class T>
void quantize_warp(const Nf4Quantize<T>& p, cudaStream_t stream) {
  const unsigned blocks = grid_for(p, "warp", kWarps * days::kNf4Block);
  days::require_needs(p, "warp", kPairsOfX);
  warp_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.codes, p.absmax, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(quantize_warp, Nf4Quantize, float, days::half, days::bf16);

}  // namespace day17
