// SPDX-License-Identifier: MIT
// One load takes a whole pair: 8 bytes of two floats, 4 of two halves.
// Changed since strided: one load where there were two, whose lanes ask for all bytes of their sectors. The type of what
// is loaded does it; the addresses are the same.
// Bound by: its threads, one for an output, and in fp32 memory, too: as strided.
// Teaches: Word.
#include <cstring>
#include <type_traits>

#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) pairs_kernel(const T* x,  // (n, 2)
                                                         T* y,        // (n)
                                                         int64_t n, float limit) {
  using Word = std::conditional_t<sizeof(T) == 4, uint2, uint32_t>;  // as long as a pair
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const Word word = reinterpret_cast<const Word*>(x)[i];
  T pair[2];
  memcpy(static_cast<void*>(pair), &word, sizeof word);
  y[i] = days::from_float<T>(gegelu(days::to_float(pair[0]), days::to_float(pair[1]), limit));
}

}  // namespace

template <class T>
void gegelu_pairs(const Gegelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_pairs(p, "pairs", 1);
  days::require_needs(p, "pairs", kAlignedPairs);
  pairs_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.rows * p.cols, p.limit);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gegelu_pairs, Gegelu, float, days::half, days::bf16);

}  // namespace day44
