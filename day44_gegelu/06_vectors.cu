// SPDX-License-Identifier: MIT
// One thread takes 16 bytes of pairs and makes 8 bytes of outputs: two of floats, four of halves.
// Changed since pairs: half (a quarter) of the requests, and 16 bytes of a thread on their way. 32 bytes of pairs for
// 16 bytes of outputs would be two loads whose lanes are 32 bytes apart, and each of them would waste half its sectors.
// Bound by: memory.
// Teaches: load16, store8.
#include "common/vector.cuh"
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) vectors_kernel(const T* x,  // (n, 2)
                                                           T* y,        // (n)
                                                           int64_t n, float limit) {
  constexpr int kPairs = days::Vec<T>::kSize / 2;  // in 16 bytes: 2, or 4
  const int64_t first = kPairs * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  if (first + kPairs <= n) {
    const days::Vec<T> v = days::load16(x + 2 * first);
    days::HalfVec<T> out;
#pragma unroll
    for (int i = 0; i < kPairs; ++i)
      out[i] = days::from_float<T>(gegelu(days::to_float(v[2 * i]), days::to_float(v[2 * i + 1]), limit));
    days::store8(y + first, out);
  } else {
    for (int64_t i = first; i < n; ++i)  // fewer than kPairs, in one thread of the grid
      y[i] = days::from_float<T>(gegelu(days::to_float(x[2 * i]), days::to_float(x[2 * i + 1]), limit));
  }
}

}  // namespace

template <class T>
void gegelu_vectors(const Gegelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_pairs(p, "vectors", days::Vec<T>::kSize / 2);
  days::require_needs(p, "vectors", kAligned);
  vectors_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.rows * p.cols, p.limit);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gegelu_vectors, Gegelu, float, days::half, days::bf16);

}  // namespace day44
