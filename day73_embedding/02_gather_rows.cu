// SPDX-License-Identifier: MIT
// A warp copies rows: a lane moves 16 bytes at a time, and a token is read once for its row. A warp has four rows at once, so that
// four loads are under way before the first store. What is written is not read again here, and leaves the caches first: L2 is for
// the rows of frequent words.
// Changed since gather: requests / 4 (16-bit types: / 8), a division less an element. Bound by: memory, which writes y.
#include <cmath>

#include "common/vector.cuh"
#include "day73_embedding/embedding.h"

namespace day73 {
namespace {

constexpr int kRows = 4;

template <class T>
__global__ void __launch_bounds__(kThreads) gather_rows_kernel(const T* w,             // (vocab, width)
                                                               const int32_t* tokens,  // (count)
                                                               T* y,                   // (count, width)
                                                               int count, int vocab, int width) {
  constexpr int kEach = days::Vec<T>::kSize;
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize,
            warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  const int64_t first = (int64_t{blockIdx.x} * kWarps + warp) * kRows;
  int32_t token[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) token[r] = first + r < count ? tokens[first + r] : -1;
  for (int col = lane * kEach; col < width; col += days::kWarpSize * kEach) {
    days::Vec<T> row[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (is_word(token[r], vocab)) {
        row[r] = days::load16(w + int64_t{token[r]} * width + col);
      } else {
#pragma unroll
        for (int i = 0; i < kEach; ++i) row[r][i] = days::from_float<T>(NAN);
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first + r < count) days::store16_streaming(y + (first + r) * width + col, row[r]);
    }
  }
}

}  // namespace

template <class T>
void embedding_gather_rows(const Embedding<T>& p, cudaStream_t stream) {
  require_problem(p, "gather_rows");
  days::require_needs(p, "gather_rows", kRowsOf16Bytes);
  const unsigned blocks = days::grid_of(p.count, kWarps * kRows, "gather_rows");
  gather_rows_kernel<<<blocks, kThreads, 0, stream>>>(p.w, p.tokens, p.y, p.count, p.vocab, p.width);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(embedding_gather_rows, Embedding, float, days::half, days::bf16);

}  // namespace day73
