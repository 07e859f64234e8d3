// SPDX-License-Identifier: MIT
//
// Kernels of day 19 with a bug in each, which its tests must reject. They stay inside their buffers, so that it is the
// comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day19_self_attention/attention.h"
#include "day19_self_attention/elements.cuh"

namespace day19 {
namespace {

enum class Bug { kHiddenInMost, kFiniteMask, kZerosCount, kNoGuard, kScoresIn16 };

// A thread a query: what it scores, weighs and adds up is right but for one thing.
template <Bug kBug, class T>
__global__ void row_kernel(const Attention<T> p) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= int64_t{p.batch} * p.heads * p.seq_q) return;
  const int seen = days::visible_keys(p.causal, static_cast<int>(row % p.seq_q), p.seq_q, p.seq_k);
  const int keys = kBug == Bug::kZerosCount ? static_cast<int>(pitch_of(p)) : p.seq_k;
  const auto score = [&](int key) {
    if (key >= p.seq_k) return 0.0f;  // a tile of keys ends in zeros
    if (kBug == Bug::kFiniteMask && key >= seen) return -1e9f;
    const float x = score_of(p, row, key);
    return kBug == Bug::kScoresIn16 ? days::to_float(days::from_float<T>(x)) : x;
  };
  float most = -INFINITY, sum = 0;
  if constexpr (kBug == Bug::kHiddenInMost) {
    Attention<T> all = p;
    all.causal = false;
    for (int key = 0; key < keys; ++key) most = fmaxf(most, score_of(all, row, key));
  } else {
    for (int key = 0; key < keys; ++key) most = fmaxf(most, score(key));
  }
  const float from = most == -INFINITY && kBug != Bug::kNoGuard ? 0 : most;
  for (int key = 0; key < keys; ++key) {
    sum += expf(score(key) - from);
  }
  const float inverse = sum == 0 ? 0 : 1 / sum;
  for (int d = 0; d < p.dim; ++d) {
    float mean = 0;
    for (int key = 0; key < p.seq_k; ++key) {
      const T value = p.v[(row / p.seq_q * p.seq_k + key) * p.dim + d];
      mean += expf(score(key) - from) * inverse * days::to_float(value);
    }
    p.o[row * p.dim + d] = days::from_float<T>(mean);
  }
  p.lse[row] = from + logf(sum);
}
template <Bug kBug, class T>
void launch(const SelfAttention<T>& p, cudaStream_t stream) {
  constexpr int kThreads = 64;
  const int64_t rows = int64_t{p.batch} * p.heads * p.seq_q;
  row_kernel<kBug, T><<<static_cast<unsigned>(days::ceil_div(rows, kThreads)), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// Weighs against the largest score of the whole row, but adds up what the query sees: where a hidden score is far larger,
// all weights vanish.
constexpr auto hidden_in_most = launch<Bug::kHiddenInMost, float>;
MUST_REJECT(self_causal, hidden_in_most, "outliers: ");

// Hides by a large negative number: a query that sees no key gets the mean of all values.
constexpr auto finite_mask = launch<Bug::kFiniteMask, float>;
MUST_REJECT(self, finite_mask, "3 x 1 x 17 x 1 x 128, causal: o[0,0,0,0] is");

// The last tile of keys ends in zeros, whose scores of 0 count.
constexpr auto zeros_count = launch<Bug::kZerosCount, float>;
MUST_REJECT(self, zeros_count, "1 x 1 x 1 x 1 x 64: o[0,0,0,0] is");

// A row that sees no key takes -infinity from -infinity.
constexpr auto no_guard = launch<Bug::kNoGuard, float>;
MUST_REJECT(self, no_guard, "3 x 1 x 17 x 1 x 128, causal: o[0,0,0,0] is nan, expected 0");

// Scores of 16 bits: one of 50 is off by an eighth, and its weight by 13%. What the sum is of tells it first.
constexpr auto scores_in_16 = launch<Bug::kScoresIn16, days::bf16>;
MUST_REJECT(self, scores_in_16, "1 x 1 x 1 x 1 x 64: lse[0,0,0] is");

}  // namespace
}  // namespace day19
