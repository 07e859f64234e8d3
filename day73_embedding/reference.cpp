// SPDX-License-Identifier: MIT
// The CPU's versions: loops with sums in double, and what a CPU does with all its cores.
#include <algorithm>
#include <limits>
#include <vector>

#include "common/parallel.h"
#include "day73_embedding/embedding.h"

namespace day73 {
namespace {

template <class T>
void rows(const Embedding<T>& p, size_t begin, size_t end) {
  const auto width = static_cast<size_t>(p.width);
  for (size_t t = begin; t < end; ++t) {
    const int32_t token = p.tokens[t];
    for (size_t col = 0; col < width; ++col)
      p.y[t * width + col] = is_word(token, p.vocab)
                                 ? p.w[static_cast<size_t>(token) * width + col]
                                 : days::from_double<T>(std::numeric_limits<double>::quiet_NaN());
  }
}

// The words from `begin` to `end`.
template <class T>
void words(const EmbeddingBackward<T>& p, size_t begin, size_t end) {
  const auto width = static_cast<size_t>(p.width);
  std::vector<double> sums((end - begin) * width);
  for (size_t t = 0; t < static_cast<size_t>(p.count); ++t) {
    if (!has_gradient(p.tokens[t], p.vocab, p.padding)) continue;
    const auto word = static_cast<size_t>(p.tokens[t]);
    if (word < begin || word >= end) continue;
    for (size_t col = 0; col < width; ++col)
      sums[(word - begin) * width + col] += days::to_double(p.dy[t * width + col]);
  }
  for (size_t i = 0; i < sums.size(); ++i) p.dw[begin * width + i] = days::from_double<T>(sums[i]);
}

}  // namespace

template <class T>
void embedding_reference(const Embedding<T>& p) {
  rows(p, 0, static_cast<size_t>(p.count));
}

template <class T>
void embedding_parallel(const Embedding<T>& p) {
  days::parallel_ranges(static_cast<size_t>(p.count),
                        [&](size_t, size_t begin, size_t end) { rows(p, begin, end); });
}

template <class T>
void backward_reference(const EmbeddingBackward<T>& p) {
  words(p, 0, static_cast<size_t>(p.vocab));
}

template <class T>
void backward_parallel(const EmbeddingBackward<T>& p) {
  days::parallel_ranges(
      static_cast<size_t>(p.vocab), [&](size_t, size_t begin, size_t end) { words(p, begin, end); },
      size_t{1} << 10);
}

int longest_row(const int32_t* tokens, int count, int vocab, int padding) {
  std::vector<int> times(static_cast<size_t>(vocab));
  for (int t = 0; t < count; ++t)
    if (has_gradient(tokens[t], vocab, padding)) ++times[static_cast<size_t>(tokens[t])];
  return *std::max_element(times.begin(), times.end());
}

INSTANTIATE_REFERENCE(embedding_reference, Embedding, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(embedding_parallel, Embedding, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(backward_reference, EmbeddingBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(backward_parallel, EmbeddingBackward, float, days::half, days::bf16);

}  // namespace day73
