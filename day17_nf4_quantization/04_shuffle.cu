// SPDX-License-Identifier: MIT
// The table stands in the lanes of a warp, one value each, and a shuffle by the code reads it. A shuffle looks at the lowest five
// bits of a lane's number alone, and the table stands there twice, so the bits above a code need not be cleared.
// Changed since wide: no shared memory and no barrier, one instruction for a code's place instead of two; and a thread asks for
// four words of codes and their scales before it uses the first.
// Bound by: memory.
// Teaches: __shfl_sync.
#include "common/nf4.cuh"
#include "day17_nf4_quantization/nf4_quantization.h"

namespace day17 {
namespace {

constexpr int kAhead = 4;

template <class T>
__global__ void __launch_bounds__(kThreads) shuffle_kernel(const uint8_t* codes,  // (bytes)
                                                           const float* absmax,   // (blocks)
                                                           T* y,                  // (n)
                                                           int64_t n) {
  const float value = days::nf4_value(threadIdx.x % 16);
  const int64_t first = days::kNf4Each<T> * (int64_t{blockIdx.x} * kThreads * kAhead + threadIdx.x);
  unsigned word[kAhead];
  float scale[kAhead];
#pragma unroll
  for (int ahead = 0; ahead < kAhead; ++ahead) {
    const int64_t at = first + ahead * kThreads * days::kNf4Each<T>;
    word[ahead] = at < n ? days::load_nf4<T>(codes, at, n) : 0;
    scale[ahead] = at < n ? absmax[at / days::kNf4Block] : 0;
  }
#pragma unroll
  for (int ahead = 0; ahead < kAhead; ++ahead) {
    days::Vec<T> v;
#pragma unroll
    for (int i = 0; i < days::kNf4Each<T>; ++i) {  // all lanes take part, those beyond n, too
      const float mine =
          __shfl_sync(days::kFullWarp, value, static_cast<int>(word[ahead] >> days::nf4_shift(i)));
      v[i] = days::from_float<T>(mine * scale[ahead]);
    }
    const int64_t at = first + ahead * kThreads * days::kNf4Each<T>;
    if (at < n) days::store16_up_to(y, at, n, v);
  }
}

}  // namespace

template <class T>
void dequantize_shuffle(const Nf4Dequantize<T>& p, cudaStream_t stream) {
  const unsigned blocks = grid_for(p, "shuffle", int64_t{kThreads} * kAhead * days::kNf4Each<T>);
  days::require_needs(p, "shuffle", kAlignedY);
  shuffle_kernel<<<blocks, kThreads, 0, stream>>>(p.codes, p.absmax, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dequantize_shuffle, Nf4Dequantize, float, days::half, days::bf16);

}  // namespace day17
