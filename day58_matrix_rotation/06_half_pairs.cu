// SPDX-License-Identifier: MIT
//
// half_pairs: one thread owns pixel i and pixel n - 1 - i, loads both and then stores both. Changed since half_pixels: out may be in,
// and a thread has two loads on their way.
// Bound by: bytes in flight, still.
//
// half_vectors: the same with 16 bytes at each end, turned round in registers. Changed since half_pairs: a quarter of the requests (a
// sixteenth where pixels are bytes). Bound by: the memory.

#include "common/check.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day58_matrix_rotation/rotation.h"

namespace day58 {
namespace {

constexpr int kThreads = 256;

// No __restrict__: in and out may be the same memory.
template <class T>
__global__ void half_pairs_kernel(const T* in,  // (n)
                                  T* out,       // (n)
                                  int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x, other = n - 1 - i;
  if (i > other) return;  // the middle of an odd number is its own partner
  const T front = in[i], back = in[other];
  out[i] = back;
  out[other] = front;
}

template <class T>
__device__ days::Vec<T> reversed(const days::Vec<T>& group) {
  days::Vec<T> back;
#pragma unroll
  for (int i = 0; i < group.kSize; ++i) back[i] = group[group.kSize - 1 - i];
  return back;
}

template <class T>
__global__ void half_vectors_kernel(const T* in,  // (groups, 16 bytes)
                                    T* out,       // (groups, 16 bytes)
                                    int64_t groups) {
  constexpr int kEach = days::Vec<T>::kSize;
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x, other = groups - 1 - i;
  if (i > other) return;
  const days::Vec<T> front = days::load16(in + i * kEach);
  const days::Vec<T> back = days::load16(in + other * kEach);
  days::store16(out + i * kEach, reversed(back));
  days::store16(out + other * kEach, reversed(front));
}

template <class T>
void require_pairs(const Rotate<T>& p, const char* variant) {
  require_half(p, variant);
  days::require(days::same_or_apart(p.in, static_cast<const T*>(p.out), p.pixels()), variant,
                ": in and out must be the same picture or have no pixel in common");
}

}  // namespace

template <class T>
void half_pairs(const Rotate<T>& p, cudaStream_t stream) {
  require_pairs(p, "half_pairs");
  const unsigned blocks = days::grid_of(days::ceil_div(p.pixels(), 2), kThreads, "half_pairs");
  half_pairs_kernel<<<blocks, kThreads, 0, stream>>>(p.in, p.out, p.pixels());
  CUDA_CHECK_LAUNCH();
}

template <class T>
void half_vectors(const Rotate<T>& p, cudaStream_t stream) {
  require_pairs(p, "half_vectors");
  days::require_needs(p, "half_vectors", kWholeVectors);
  const int64_t groups = p.pixels() / days::Vec<T>::kSize;
  const unsigned blocks = days::grid_of(days::ceil_div(groups, 2), kThreads, "half_vectors");
  half_vectors_kernel<<<blocks, kThreads, 0, stream>>>(p.in, p.out, groups);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(half_pairs, Rotate, uint32_t, uint8_t);
INSTANTIATE_LAUNCHER(half_vectors, Rotate, uint32_t, uint8_t);

}  // namespace day58
