// SPDX-License-Identifier: MIT
// The table stands in shared memory: sixteen words in sixteen banks, so lanes either want different banks or the same word.
// Changed since constant: a lookup takes one turn for thirteen, and a thread's two elements leave in one store.
// Bound by: requests. A thread brings one byte and takes along two elements.
#include "day17_nf4_quantization/nf4_quantization.h"
#include "day17_nf4_quantization/pair.cuh"

namespace day17 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) shared_kernel(const uint8_t* codes,  // (bytes)
                                                          const float* absmax,   // (blocks)
                                                          T* y,                  // (n)
                                                          int64_t n) {
  __shared__ float values[16];
  if (threadIdx.x < 16) values[threadIdx.x] = days::nf4_value(threadIdx.x);
  __syncthreads();
  const int64_t byte = int64_t{blockIdx.x} * kThreads + threadIdx.x, i = 2 * byte;
  if (i >= n) return;
  const unsigned both = codes[byte];
  const float scale = absmax[i / days::kNf4Block];
  Pair<T> pair;
  pair[0] = days::from_float<T>(values[both >> 4] * scale);
  pair[1] = days::from_float<T>(values[both & 15] * scale);
  if (i + 1 < n) {
    store_pair(y + i, pair);
  } else {
    y[i] = pair[0];
  }
}

}  // namespace

template <class T>
void dequantize_shared(const Nf4Dequantize<T>& p, cudaStream_t stream) {
  const unsigned blocks = grid_for(p, "shared", 2 * kThreads);
  days::require_needs(p, "shared", kPairsOfY);
  shared_kernel<<<blocks, kThreads, 0, stream>>>(p.codes, p.absmax, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dequantize_shared, Nf4Dequantize, float, days::half, days::bf16);

}  // namespace day17
