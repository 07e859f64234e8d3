// SPDX-License-Identifier: MIT
// A lane loads 16 bytes, so eight lanes take a block of 64 (sixteen in fp32), and a warp four.
// Changed since warp: a quarter of the requests (half in fp32), and three shuffles serve four blocks for five that served one.
// Bound by: instructions, those of the search.
#include "common/nf4.cuh"
#include "day17_nf4_quantization/nf4_quantization.h"

namespace day17 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) vectors_kernel(const T* x,      // (n)
                                                           uint8_t* codes,  // (bytes)
                                                           float* absmax,   // (blocks)
                                                           int64_t n) {
  constexpr int kLanes = static_cast<int>(days::kNf4Block) / days::kNf4Each<T>;
  const int64_t first = days::kNf4Each<T> * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  const days::Vec<T> v = days::load16_up_to(x, first, n);
  float largest = 0;
#pragma unroll
  for (int i = 0; i < days::kNf4Each<T>; ++i) largest = days::Max{}(largest, fabsf(days::to_float(v[i])));
  largest = days::warp_reduce<kLanes>(largest, days::Max{});
  if (first >= n) return;
  if (threadIdx.x % kLanes == 0) absmax[first / days::kNf4Block] = largest;
  const float scale = days::nf4_scale(largest);
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < days::kNf4Each<T>; ++i)
    word |= days::nf4_code(days::to_float(v[i]) * scale) << days::nf4_shift(i);
  days::store_nf4<T>(codes, first, n, word);
}

}  // namespace

template <class T>
void quantize_vectors(const Nf4Quantize<T>& p, cudaStream_t stream) {
  const unsigned blocks = grid_for(p, "vectors", int64_t{kThreads} * days::kNf4Each<T>);
  days::require_needs(p, "vectors", kAlignedX);
  vectors_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.codes, p.absmax, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(quantize_vectors, Nf4Quantize, float, days::half, days::bf16);

}  // namespace day17
