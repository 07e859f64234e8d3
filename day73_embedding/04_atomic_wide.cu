// SPDX-License-Identifier: MIT
// Four numbers a request: compute capability 9.0 adds 16 bytes at once. Each of the four is still added for itself in L2, so what is
// saved are requests and not additions. Teaches: red_add_v4.
// Changed since atomic: atomic requests / 4. Bound by: L2's atomic additions, hot rows.
#include "common/ptx.h"
#include "common/vector.cuh"
#include "day73_embedding/embedding.h"
#include "day73_embedding/sums.cuh"

namespace day73 {
namespace {

template <class T>
__device__ float4 load_four(const T* from) {
  days::Vec<T, 4> four;
  if constexpr (sizeof(T) == 4) {
    four = days::load16(from);
  } else {
    four = days::load8(from);
  }
  return make_float4(days::to_float(four[0]), days::to_float(four[1]), days::to_float(four[2]),
                     days::to_float(four[3]));
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    atomic_wide_kernel(const T* dy,            // (count, width)
                       const int32_t* tokens,  // (count)
                       float* sums,            // (vocab, width), 0 before
                       int64_t fours, int vocab, int width, int padding) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= fours) return;
  const int32_t token = tokens[4 * i / width];
  if (has_gradient(token, vocab, padding))
    days::ptx::red_add_v4(&sums[int64_t{token} * width + 4 * i % width], load_four(dy + 4 * i));
}

}  // namespace

template <class T>
void embedding_atomic_wide(const EmbeddingBackward<T>& p, cudaStream_t stream) {
  require_problem(p, "atomic_wide");
  days::require_needs(p, "atomic_wide", kFours);
  float* const sums = cleared_sums(p, "atomic_wide", stream);
  const int64_t fours = int64_t{p.count} * p.width / 4;
  atomic_wide_kernel<<<days::grid_of(fours, kThreads, "atomic_wide"), kThreads, 0, stream>>>(
      p.dy, p.tokens, sums, fours, p.vocab, p.width, p.padding);
  CUDA_CHECK_LAUNCH();
  round_sums(p, sums, "atomic_wide", stream);
}

INSTANTIATE_LAUNCHER(embedding_atomic_wide, EmbeddingBackward, float, days::half, days::bf16);

}  // namespace day73
