// SPDX-License-Identifier: MIT
// One writer a row. The tokens are sorted first, each with its place (sort_tokens), so that the rows of dy of one word are known:
// a warp has 256 columns of a word, adds up their rows in registers, in order, and writes once. The same bits in every run.
// Changed since atomic: atomic additions 0, dw written once and not cleared; launches of the sort, seven for words of 10 to 18 bits.
// Bound by: the longest row, which one warp reads from end to end.
#include "day73_embedding/embedding.h"

namespace day73 {
namespace {

constexpr int kEach = 8;  // columns of a lane, 32 apart
constexpr int kColumns = kEach * days::kWarpSize;

template <class T>
__global__ void __launch_bounds__(kThreads) sorted_kernel(const T* dy,  // (count, width)
                                                          const Places sorted,
                                                          T* dw,  // (vocab, width)
                                                          int vocab, int width) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize,
            warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  const int strips = days::ceil_div(width, kColumns);
  const int64_t strip = int64_t{blockIdx.x} * kWarps + warp, word = strip / strips;
  if (word >= vocab) return;
  const int first = static_cast<int>(strip % strips) * kColumns + lane;
  float sum[kEach] = {};
  const int end = sorted.starts[word + 1];
  for (int i = sorted.starts[word]; i < end; ++i) {
    const T* row = dy + int64_t{sorted.places[i]} * width;
#pragma unroll
    for (int c = 0; c < kEach; ++c) {
      const int col = first + c * days::kWarpSize;
      if (col < width) sum[c] += days::to_float(row[col]);
    }
  }
#pragma unroll
  for (int c = 0; c < kEach; ++c) {
    const int col = first + c * days::kWarpSize;
    if (col < width) dw[word * width + col] = days::from_float<T>(sum[c]);
  }
}

}  // namespace

template <class T>
void embedding_sorted(const EmbeddingBackward<T>& p, cudaStream_t stream) {
  char* const memory = workspace_of(p, sorted_workspace(p), "sorted");
  const Places sorted = sort_tokens(p.tokens, p.count, p.vocab, p.padding, memory, stream);
  const int64_t strips = int64_t{p.vocab} * days::ceil_div(p.width, kColumns);
  sorted_kernel<<<days::grid_of(strips, kWarps, "sorted"), kThreads, 0, stream>>>(p.dy, sorted, p.dw, p.vocab,
                                                                                  p.width);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(embedding_sorted, EmbeddingBackward, float, days::half, days::bf16);

}  // namespace day73
