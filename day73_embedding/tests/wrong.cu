// SPDX-License-Identifier: MIT
//
// Gradients with a bug in each, which day 73's tests must reject.

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day73_embedding/embedding.h"

namespace day73 {
namespace {

enum Bug { kInItsType, kNotCleared, kPaddingToo };

// A thread a column, which adds one token after the other to dw.
template <Bug kBug, class T>
__global__ void columns_kernel(const EmbeddingBackward<T> p) {
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (col >= p.width) return;
  if (kBug != kNotCleared)
    for (int64_t word = 0; word < p.vocab; ++word) p.dw[word * p.width + col] = days::from_float<T>(0);
  const int padding = kBug == kPaddingToo ? -1 : p.padding;
  for (int64_t t = 0; t < p.count; ++t) {
    if (!has_gradient(p.tokens[t], p.vocab, padding)) continue;
    T& to = p.dw[int64_t{p.tokens[t]} * p.width + col];
    to = days::from_float<T>(days::to_float(to) + days::to_float(p.dy[t * p.width + col]));
  }
}

template <Bug kBug, class T>
void columns(const EmbeddingBackward<T>& p, cudaStream_t stream) {
  columns_kernel<kBug><<<days::grid_of(p.width, kThreads, "wrong"), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// A lane a token: equal tokens of a warp read the same sum, and one addition is left.
__global__ void lost_kernel(const EmbeddingBackward<float> p) {
  for (int first = 0; first < p.count; first += days::kWarpSize) {
    const int t = first + static_cast<int>(threadIdx.x);
    const bool counts = t < p.count && has_gradient(p.tokens[t], p.vocab, p.padding);
    float* const to = counts ? &p.dw[int64_t{p.tokens[t]} * p.width + blockIdx.x] : nullptr;
    const float before = counts ? *to : 0;
    __syncwarp();
    if (counts) *to = before + p.dy[int64_t{t} * p.width + blockIdx.x];
    __syncwarp();
  }
}

// A block a word, whose threads have 64 tokens each: all that find the word write its row.
__global__ void all_write_kernel(const EmbeddingBackward<float> p) {
  const auto word = static_cast<int32_t>(blockIdx.x);
  const int begin = static_cast<int>(threadIdx.x) * kPiece, end = min(begin + kPiece, p.count);
  if (word == p.padding) return;
  for (int col = 0; col < p.width; ++col) {
    float sum = 0;
    bool any = false;
    for (int t = begin; t < end; ++t) {
      if (p.tokens[t] != word) continue;
      sum += p.dy[int64_t{t} * p.width + col];
      any = true;
    }
    if (any) p.dw[int64_t{word} * p.width + col] = sum;
  }
}

void clear(const EmbeddingBackward<float>& p, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(
      p.dw, 0, sizeof(float) * static_cast<size_t>(p.vocab) * static_cast<size_t>(p.width), stream));
}

}  // namespace

void in_its_type(const EmbeddingBackward<days::bf16>& p, cudaStream_t stream) {
  columns<kInItsType>(p, stream);
}
MUST_REJECT(embedding_backward, in_its_type, "dw[");

void not_cleared(const EmbeddingBackward<float>& p, cudaStream_t stream) {
  columns<kNotCleared>(p, stream);
}
MUST_REJECT(embedding_backward, not_cleared, "dw[|simt-uninit");

void padding_too(const EmbeddingBackward<float>& p, cudaStream_t stream) {
  columns<kPaddingToo>(p, stream);
}
MUST_REJECT(embedding_backward, padding_too, "padding among them: dw[");

void lost(const EmbeddingBackward<float>& p, cudaStream_t stream) {
  clear(p, stream);
  lost_kernel<<<static_cast<unsigned>(p.width), days::kWarpSize, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(embedding_backward, lost, "dw[|simt-race-global");

void all_write(const EmbeddingBackward<float>& p, cudaStream_t stream) {
  clear(p, stream);
  all_write_kernel<<<static_cast<unsigned>(p.vocab), static_cast<unsigned>(days::ceil_div(p.count, kPiece)),
                     0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(embedding_backward, all_write, "dw[|simt-race-global");

}  // namespace day73
