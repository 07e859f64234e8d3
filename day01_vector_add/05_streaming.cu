// SPDX-License-Identifier: MIT
// Each thread asks for all its loads, several times 16 bytes from a and from b, before it adds the first
// pair: more bytes are on their way while it waits. Since float4: more loads in flight for each thread, fewer
// blocks to start, and hints that nothing is used again (__ldcs, __stcs: "cache streaming", first to be
// evicted). Bound by: memory alone; this is the device's own limit for two reads and a write.
#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 256;
constexpr int kVectors = 4;                     // 16-byte vectors a thread takes from each input
constexpr int kTile = 4 * kVectors * kThreads;  // elements a block adds

__global__ void streaming_kernel(const float* a, const float* b, float* c, int64_t n) {
  const int64_t start = int64_t{blockIdx.x} * kTile;
  if (start + kTile <= n) {
    // Neighbouring threads take neighbouring vectors; a thread's own vectors are kThreads apart.
    const float4* a4 = reinterpret_cast<const float4*>(a + start) + threadIdx.x;
    const float4* b4 = reinterpret_cast<const float4*>(b + start) + threadIdx.x;
    float4* c4 = reinterpret_cast<float4*>(c + start) + threadIdx.x;
    float4 x[kVectors], y[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      x[v] = __ldcs(a4 + v * kThreads);
      y[v] = __ldcs(b4 + v * kThreads);
    }
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      __stcs(c4 + v * kThreads,
             make_float4(x[v].x + y[v].x, x[v].y + y[v].y, x[v].z + y[v].z, x[v].w + y[v].w));
    }
  } else {
    for (int64_t i = start + threadIdx.x; i < n; i += kThreads) c[i] = a[i] + b[i];  // the last block only
  }
}

}  // namespace

void vector_add_streaming(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "streaming: n must be positive, not", p.n);
  days::require(days::aligned16(p.a, p.b, p.c), "streaming: a, b and c must be aligned to 16 bytes");
  const int64_t blocks = days::ceil_div(p.n, kTile);
  days::require(blocks <= days::kMaxGridX,
                "streaming: a grid has at most 2^31 - 1 blocks of 4096 elements; n is", p.n);
  streaming_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
