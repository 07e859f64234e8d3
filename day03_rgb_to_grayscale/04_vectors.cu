// SPDX-License-Identifier: MIT
//
// Sixteen pixels a thread (four of float): three 16-byte loads, one 16-byte store, the widest that there are.
// Since words: a quarter of the requests for the same bytes. Neighbouring lanes read 48 bytes apart, so a
// request touches 32 sectors and uses half of each; the other half waits in the L1 cache for the next load.
// Bound by: memory, if L1 keeps up with moving every sector twice.

#include "common/check.h"
#include "common/util.h"
#include "day03_rgb_to_grayscale/quad.cuh"

namespace day03 {
namespace {

constexpr int kThreads = 128;

template <class T>
__global__ void vectors_kernel(const T* rgb,  // (n, 3)
                               T* gray,       // (n)
                               int64_t n) {
  const int64_t first = kQuad<T> * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (first + kQuad<T> <= n) {
    const Four<T>* from = reinterpret_cast<const Four<T>*>(rgb + 3 * first);
    *reinterpret_cast<Four<T>*>(gray + first) = gray_of_48_bytes(from[0], from[1], from[2]);
  } else {
    gray_of_rest(rgb, gray, first, n);
  }
}

}  // namespace

template <class T>
void grayscale_vectors(const Grayscale<T>& p, cudaStream_t stream) {
  require_extents(p, "vectors");
  days::require_needs(p, "vectors", kAligned);
  const int64_t n = p.pixels(), blocks = days::ceil_div(n, kQuad<T> * kThreads);
  days::require(blocks <= days::kMaxGridX, "vectors: too many pixels for one grid:", n);
  vectors_kernel<T><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.rgb, p.gray, n);
  CUDA_CHECK_LAUNCH();
}
INSTANTIATE_LAUNCHER(grayscale_vectors, Grayscale, uint8_t, float);

}  // namespace day03
