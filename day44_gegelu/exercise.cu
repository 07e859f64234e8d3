// SPDX-License-Identifier: MIT
//
// Exercise: Phi-3's GeGELU with loads that take whole pairs, 16 bytes a thread, in three types, any rows and cols.
// Gates: every element right for every shape and the hostile values; no race; at most 5% of the bytes in sectors that
// nobody asked for; at least 300 bytes to each request of a warp.
//   ./days check 44      tells how far you are        ./days hint 44      when you are stuck
#include "common/vector.cuh"
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads)
    exercise_kernel(const T* x,  // (n, 2): gate, value, gate, value, ...
                    T* y,        // (n)
                    int64_t n, float limit) {
  [[maybe_unused]] constexpr int kPairs = days::Vec<T>::kSize / 2;  // in 16 bytes: 2 of floats, 4 of halves
  // 1. Which kPairs neighbouring outputs are this thread's? Compute the index of the first in 64 bits.
  // 2. All of them exist: days::load16 gives a days::Vec<T> with the pairs, v[0] the first gate, v[1] its value.
  // 3. gegelu(gate, value, limit) of gates.cuh makes an output, in fp32; days::to_float and days::from_float<T> convert.
  // 4. A days::HalfVec<T> holds kPairs outputs, 8 bytes, and days::store8(y + first, out) writes them.
  // 5. Fewer are left at the end: one by one.
  // your code
}

}  // namespace

template <class T>
void exercise(const Gegelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_pairs(p, "exercise", days::Vec<T>::kSize / 2);
  days::require_needs(p, "exercise", kAligned);
  exercise_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.rows * p.cols, p.limit);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, Gegelu, float, days::half, days::bf16);

}  // namespace day44
