// SPDX-License-Identifier: MIT
//
// Exercise: numbers from doubly quantised codes in one kernel. Each thread finds its scale itself; apart has two launches for that.
// Gates: right for every n, type and kind of input; no race; one launch; no workspace.
//   ./days check 18      tells how far you are        ./days hint 18      when you are stuck
#include "common/nf4.cuh"
#include "day18_nf4_double_quantization/nf4_double_quantization.h"

namespace day18 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const uint8_t* codes,   // (bytes)
                                                            const uint8_t* codes8,  // (blocks)
                                                            const float* absmax2,   // (groups)
                                                            const float* offset,    // (1)
                                                            const float* map,       // (256)
                                                            T* y,                   // (n)
                                                            int64_t n) {
  const float value = days::nf4_value(threadIdx.x % 16);
  const int64_t first = days::kNf4Each<T> * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  unsigned word = 0;
  float scale = 0;
  if (first < n) {
    word = days::load_nf4<T>(codes, first, n);
    // Which block of 64 is element `first` in, and in which group of 256 is that? From the block's code8, the map, the group's
    // absmax2 and the offset comes its scale: scale_of(entry, absmax2, offset) rounds as the format does.
    // your code
  }
  const days::Vec<T> v = days::decode_nf4<T>(word, scale, value);
  if (first < n) days::store16_up_to(y, first, n, v);
}

}  // namespace

template <class T>
void exercise(const DoubleDequantize<T>& p, cudaStream_t stream) {
  const unsigned grid = grid_for(p, "exercise", int64_t{kThreads} * days::kNf4Each<T>);
  exercise_kernel<<<grid, kThreads, 0, stream>>>(p.codes, p.codes8, p.absmax2, p.offset, p.map, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, DoubleDequantize, float, days::half, days::bf16);

}  // namespace day18
