// SPDX-License-Identifier: MIT
//
// Exercise: the gradient with one writer a row. The tokens are sorted for you; atomic adds each element to memory.
// Gates: dw right for every shape, type and kind of tokens; no race; no atomic addition; at most 10% wasted sectors.
//   ./days check 73      tells how far you are        ./days hint 73      when you are stuck
#include "day73_embedding/embedding.h"

namespace day73 {
namespace {

constexpr int kEach = 8;  // columns of a lane, 32 apart
constexpr int kColumns = kEach * days::kWarpSize;

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const T* dy,  // (count, width)
                                                            const Places sorted,
                                                            T* dw,  // (vocab, width)
                                                            int vocab, int width) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize,
            warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  const int strips = days::ceil_div(width, kColumns);
  const int64_t strip = int64_t{blockIdx.x} * kWarps + warp, word = strip / strips;
  if (word >= vocab) return;
  const int first = static_cast<int>(strip % strips) * kColumns + lane;  // this lane's first column
  float sum[kEach] = {};
  // 1. Which rows of dy are the word's? sorted.starts says where they begin and end in sorted.places.
  // 2. Add up this lane's columns of each, in sum[c] column first + 32 c. Those from width on are not there.
  // your code
#pragma unroll
  for (int c = 0; c < kEach; ++c) {
    const int col = first + c * days::kWarpSize;
    if (col < width) dw[word * width + col] = days::from_float<T>(sum[c]);
  }
}

}  // namespace

template <class T>
void exercise(const EmbeddingBackward<T>& p, cudaStream_t stream) {
  char* const memory = workspace_of(p, sorted_workspace(p), "exercise");
  const Places sorted = sort_tokens(p.tokens, p.count, p.vocab, p.padding, memory, stream);
  const int64_t strips = int64_t{p.vocab} * days::ceil_div(p.width, kColumns);
  exercise_kernel<<<days::grid_of(strips, kWarps, "exercise"), kThreads, 0, stream>>>(p.dy, sorted, p.dw,
                                                                                      p.vocab, p.width);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, EmbeddingBackward, float, days::half, days::bf16);

}  // namespace day73
