// SPDX-License-Identifier: MIT
// The float4 kernel with two changes that cost nothing: blocks of 1024 threads, so fewer of them to start,
// and stores that say "nobody reads this again" (st.global.cs, "cache streaming"), so that the level-2 cache
// hands them on to memory early. Bound by: memory alone.
// Teaches: __stcs.
#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 1024;
constexpr int kTile = 4 * kThreads;  // elements a block adds

__global__ void __launch_bounds__(kThreads)
    streaming_kernel(const float* a, const float* b, float* c, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * kTile + 4 * threadIdx.x;
  if (first + 4 <= n) {
    const float4 x = *reinterpret_cast<const float4*>(a + first);
    const float4 y = *reinterpret_cast<const float4*>(b + first);
    __stcs(reinterpret_cast<float4*>(c + first), make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w));
  } else {
    for (int64_t i = first; i < n; ++i) c[i] = a[i] + b[i];  // at most three, in one thread of the grid
  }
}

}  // namespace

void vector_add_streaming(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "streaming: n must be positive, not", p.n);
  days::require_needs(p, "streaming", kAligned);
  const int64_t blocks = days::ceil_div(p.n, kTile);
  days::require(blocks <= days::kMaxGridX,
                "streaming: a grid has at most 2^31 - 1 blocks of 4096 elements; n is", p.n);
  streaming_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
