// SPDX-License-Identifier: MIT
// One thread owns 16 bytes of a and the same 16 of b: 4 pairs of floats, or 16 pairs of bytes. Since pairs: a quarter of
// the loads and stores for floats, a sixteenth for bytes, and 32 bytes a thread on their way. The elements behind the
// last whole 16 bytes are swapped one by one. Bound by: memory.
// Teaches: uint4.
#include "common/check.h"
#include "common/util.h"
#include "day42_swap/swap.h"

namespace day42 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void vectors_kernel(T* a,  // (n), 16-byte aligned
                               T* b,  // (n), 16-byte aligned
                               int64_t n) {
  constexpr int kEach = 16 / sizeof(T);
  const int64_t first = kEach * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  if (first + kEach <= n) {
    const uint4 mine = *reinterpret_cast<const uint4*>(a + first);
    const uint4 other = *reinterpret_cast<const uint4*>(b + first);
    *reinterpret_cast<uint4*>(a + first) = other;
    *reinterpret_cast<uint4*>(b + first) = mine;
  } else {
    for (int64_t i = first; i < n; ++i) {  // fewer than kEach, in one thread of the grid
      const T mine = a[i], other = b[i];
      a[i] = other;
      b[i] = mine;
    }
  }
}

}  // namespace

template <class T>
void swap_vectors(const Swap<T>& p, cudaStream_t stream) {
  require_problem(p, "vectors");
  days::require_needs(p, "vectors", kAligned);
  const int64_t blocks = days::ceil_div(p.n, kThreads * static_cast<int64_t>(16 / sizeof(T)));
  days::require(blocks <= days::kMaxGridX, "vectors: n is too large for one grid:", p.n);
  vectors_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(swap_vectors, Swap, float, uint8_t);

}  // namespace day42
