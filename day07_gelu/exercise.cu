// SPDX-License-Identifier: MIT
//
// Exercise: GELU with 16-byte loads and stores in three types, any n.
// Gates: every element right for every n and the hostile values; no race; at least 400 bytes to each request of a warp
// (its 32 lanes with a float each ask for 128, with a half each for 64).
//   ./days check 7      tells how far you are        ./days hint 7      when you are stuck
#include "common/vector.cuh"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const T* x,  // (n)
                                                            T* y,        // (n)
                                                            int64_t n) {
  [[maybe_unused]] constexpr int kEach = days::Vec<T>::kSize;  // elements of 16 bytes: 4 floats, 8 halves
  // 1. GELU of one element in fp32: x / 2 * (1 + erf(x / sqrt(2))), with erff and kHalfRoot.
  // 2. Which kEach neighbouring elements are this thread's? Compute the index of the first in 64 bits.
  // 3. All of them exist: days::load16(x + first) gives a days::Vec<T>, v[i] are its elements, days::to_float and
  //    days::from_float<T> convert, days::store16(y + first, v) writes it.
  // 4. Fewer are left at the end: one by one.
  // your code
}

}  // namespace

template <class T>
void exercise(const Gelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "exercise");
  exercise_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, Gelu, float, days::half, days::bf16);

}  // namespace day07
