// SPDX-License-Identifier: MIT
//
// Exercise: two codes of a byte come back as two numbers, in one store.
// Gates: right for every n, type and kind of input; no race; at most 10% wasted sectors; no bank conflicts.
//   ./days check 17      tells how far you are        ./days hint 17      when you are stuck
#include "day17_nf4_quantization/nf4_quantization.h"
#include "day17_nf4_quantization/pair.cuh"

namespace day17 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const uint8_t* codes,  // (bytes)
                                                            const float* absmax,   // (blocks)
                                                            T* y,                  // (n)
                                                            int64_t n) {
  __shared__ float values[16];  // the table
  if (threadIdx.x < 16) values[threadIdx.x] = days::nf4_value(threadIdx.x);
  __syncthreads();
  const int64_t byte = int64_t{blockIdx.x} * kThreads + threadIdx.x, i = 2 * byte;
  if (i >= n) return;
  [[maybe_unused]] const unsigned both = codes[byte];
  [[maybe_unused]] const float scale = absmax[i / days::kNf4Block];
  // 1. Which half of the byte `both` is element i's code? Fill a Pair<T> with elements i and i + 1, by the table, in fp32;
  //    days::from_float<T>(...) rounds.
  // 2. store_pair(y + i, pair) stores both in one go. The last element of an odd n is stored alone.
  // your code
}

}  // namespace

template <class T>
void exercise(const Nf4Dequantize<T>& p, cudaStream_t stream) {
  const unsigned blocks = grid_for(p, "exercise", 2 * kThreads);
  days::require_needs(p, "exercise", kPairsOfY);
  exercise_kernel<<<blocks, kThreads, 0, stream>>>(p.codes, p.absmax, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, Nf4Dequantize, float, days::half, days::bf16);

}  // namespace day17
