// SPDX-License-Identifier: MIT
// One thread owns 16 bytes at the front and the 16 at the back that they change places with; each group is turned round in
// registers. Since ends: a quarter of the loads and stores for floats, a sixteenth for bytes. Bound by: memory.
// Teaches: __byte_perm.
#include "common/check.h"
#include "common/util.h"
#include "day42_swap/swap.h"

namespace day42 {
namespace {

constexpr int kThreads = 256;

// A word of one float stays as it is. In a word of four bytes, byte 3 comes first: each digit of the selector, the lowest
// first, names the byte that goes to that place.
template <class T>
__device__ inline uint32_t turned(uint32_t word) {
  return sizeof(T) == 1 ? __byte_perm(word, 0, 0x0123) : word;
}
template <class T>
__device__ inline uint4 turned(uint4 group) {
  return {turned<T>(group.w), turned<T>(group.z), turned<T>(group.y), turned<T>(group.x)};
}

template <class T>
__global__ void vector_ends_kernel(uint4* x,  // (groups), 16 bytes each
                                   int64_t groups) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int64_t other = groups - 1 - i;
  if (i > other) return;  // an odd number's middle group stays, turned
  const uint4 front = x[i], back = x[other];
  x[i] = turned<T>(back);
  x[other] = turned<T>(front);
}

}  // namespace

template <class T>
void reverse_vector_ends(const Reverse<T>& p, cudaStream_t stream) {
  require_problem(p, "vector_ends");
  days::require_needs(p, "vector_ends", kWholeVectors);
  const int64_t groups = p.n * static_cast<int64_t>(sizeof(T)) / 16;
  const int64_t blocks = days::ceil_div(days::ceil_div(groups, 2), kThreads);
  days::require(blocks <= days::kMaxGridX, "vector_ends: n is too large for one grid:", p.n);
  vector_ends_kernel<T>
      <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(reinterpret_cast<uint4*>(p.x), groups);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(reverse_vector_ends, Reverse, float, uint8_t);

}  // namespace day42
