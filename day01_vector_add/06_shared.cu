// SPDX-License-Identifier: MIT
// A block stages its part of a and b in shared memory, the fast memory inside each multiprocessor, and adds
// from there. Since float4: the same 16-byte loads, then a write to shared memory, a barrier, and a read
// back. Bound by: memory, which hides the extra work. Shared memory pays where a value is read more
// than once or in another order, as on day 13; here each value is read once, so the detour saves no byte.
// Teaches: __shared__, __syncthreads.
#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 4 * kThreads;  // elements a block adds

struct Tile {
  alignas(16) float a[kTile];
  alignas(16) float b[kTile];
};

__global__ void shared_kernel(const float* a, const float* b, float* c, int64_t n) {
  __shared__ Tile tile;
  const int64_t start = int64_t{blockIdx.x} * kTile;
  const int mine = 4 * threadIdx.x;  // this thread stages elements mine .. mine + 3 of the tile
  if (start + mine + 4 <= n) {
    *reinterpret_cast<float4*>(tile.a + mine) = *reinterpret_cast<const float4*>(a + start + mine);
    *reinterpret_cast<float4*>(tile.b + mine) = *reinterpret_cast<const float4*>(b + start + mine);
  } else {
    for (int j = mine; start + j < n; ++j) {  // at most three
      tile.a[j] = a[start + j];
      tile.b[j] = b[start + j];
    }
  }
  // A thread adds every 256th element of the tile, which other threads have staged: without this barrier it
  // would read what they have not written yet. Every thread of the block must get here, those past the end of
  // the vector too.
  __syncthreads();
  for (int j = threadIdx.x; j < kTile; j += kThreads) {
    if (start + j < n) c[start + j] = tile.a[j] + tile.b[j];
  }
}

}  // namespace

void vector_add_shared(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "shared: n must be positive, not", p.n);
  days::require_needs(p, "shared", kAlignedInputs);
  const int64_t blocks = days::ceil_div(p.n, kTile);
  days::require(blocks <= days::kMaxGridX,
                "shared: a grid has at most 2^31 - 1 blocks of 1024 elements; n is", p.n);
  shared_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
