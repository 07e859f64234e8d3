// SPDX-License-Identifier: MIT
//
// Kernels of day 43 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day43_flash_attention/attention.h"

namespace day43 {
namespace {

constexpr int kTile = 32;  // keys that share a maximum

enum class Bug {
  kNoRescale,     // a new maximum shrinks the sum and not o
  kOldSum,        // a new maximum shrinks o and not the sum
  kNoMaximum,     // weighs against 0: right until exp overflows or all weights vanish
  kZeroMaximum,   // the largest score so far starts at 0, not at -infinity
  kNoScale,       // scores as they come from the product
  kMaskEarly,     // a query does not see its own position
  kMaskLate,      // a query sees one position too many
  kTopLeft,       // causal masks aligned at the first key instead of the last
  kTailUnmasked,  // a short last tile counts keys that are not there as scores of 0
  kSkipsTile,     // causal skipping goes one tile too far
  kDropsTail,     // whole tiles of keys alone
  kMaskedMean,    // a query that sees no key gets the mean of all values, as exp(-inf - -inf) = 1 would
  kFirstHead,     // all heads share the first head's keys
  kLogTwo,        // lse in base 2
  kLseNoMaximum,  // lse without the maximum
  kUnnormalised,  // o is not divided by the sum
  kHalfWeights,   // weights rounded to half, where the inputs are float
};

// A block a query: thread d holds column d of o, and all threads compute all scores.
template <Bug kBug>
__global__ void wrong_kernel(const Attention<float> p) {
  const int64_t at = blockIdx.x, head = at / p.seq_q;
  const int row = static_cast<int>(at % p.seq_q), d = static_cast<int>(threadIdx.x);
  int keys = days::visible_keys(p.causal, row, kBug == Bug::kTopLeft ? p.seq_k : p.seq_q, p.seq_k);
  if (p.causal && kBug == Bug::kMaskEarly) keys = max(keys - 1, 0);
  if (p.causal && kBug == Bug::kMaskLate) keys = min(keys + 1, p.seq_k);
  if (p.causal && kBug == Bug::kSkipsTile && keys < p.seq_k) keys = keys / kTile * kTile;
  if (kBug == Bug::kDropsTail && keys > kTile) keys = keys / kTile * kTile;
  const bool nothing = keys == 0;
  if (nothing && kBug == Bug::kMaskedMean) keys = p.seq_k;
  const int counted = kBug == Bug::kTailUnmasked ? (keys + kTile - 1) / kTile * kTile : keys;
  const float* q = p.q + at * p.dim;
  const float* k = p.k + (kBug == Bug::kFirstHead ? 0 : head) * p.seq_k * p.dim;
  const float* v = p.v + head * p.seq_k * p.dim;

  float most = kBug == Bug::kZeroMaximum || kBug == Bug::kNoMaximum ? 0 : -INFINITY, sum = 0, o = 0;
  for (int first = 0; first < counted; first += kTile) {
    float scores[kTile], new_most = most;
    for (int j = 0; j < kTile; ++j) {
      scores[j] = first + j < counted ? 0 : -INFINITY;
      if (first + j < keys) {
        for (int i = 0; i < p.dim; ++i) scores[j] = fmaf(q[i], k[int64_t{first + j} * p.dim + i], scores[j]);
        if (kBug != Bug::kNoScale) scores[j] *= p.scale;
        if (nothing) scores[j] = 0;
      }
      if (kBug != Bug::kNoMaximum) new_most = fmaxf(new_most, scores[j]);
    }
    const float shrink = expf(most - new_most);
    if (kBug != Bug::kOldSum) sum *= shrink;
    if (kBug != Bug::kNoRescale) o *= shrink;
    most = new_most;
    for (int j = 0; j < kTile && first + j < counted; ++j) {
      float weight = expf(scores[j] - most);
      sum += weight;
      if (kBug == Bug::kHalfWeights) weight = __half2float(__float2half_rn(weight));
      if (first + j < keys) o += weight * v[int64_t{first + j} * p.dim + d];
    }
  }
  p.o[at * p.dim + d] = keys == 0 ? 0 : kBug == Bug::kUnnormalised ? o : o / sum;
  float lse = nothing ? -INFINITY : (kBug == Bug::kLseNoMaximum ? 0 : most) + logf(sum);
  if (kBug == Bug::kLogTwo) lse *= 1.44269504f;
  if (d == 0) p.lse[at] = lse;
}

template <Bug kBug>
void launch(const Attention<float>& p, cudaStream_t stream) {
  wrong_kernel<kBug><<<static_cast<unsigned>(p.batch * p.heads * p.seq_q), p.dim, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void no_rescale(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kNoRescale>(p, s);
}
void old_sum(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kOldSum>(p, s);
}
void no_maximum(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kNoMaximum>(p, s);
}
void zero_maximum(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kZeroMaximum>(p, s);
}
void no_scale(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kNoScale>(p, s);
}
void mask_early(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kMaskEarly>(p, s);
}
void mask_late(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kMaskLate>(p, s);
}
void top_left(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kTopLeft>(p, s);
}
void tail_unmasked(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kTailUnmasked>(p, s);
}
void skips_tile(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kSkipsTile>(p, s);
}
void drops_tail(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kDropsTail>(p, s);
}
void masked_mean(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kMaskedMean>(p, s);
}
void first_head(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kFirstHead>(p, s);
}
void log_two(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kLogTwo>(p, s);
}
void lse_no_maximum(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kLseNoMaximum>(p, s);
}
void unnormalised(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kUnnormalised>(p, s);
}
void half_weights(const Attention<float>& p, cudaStream_t s) {
  launch<Bug::kHalfWeights>(p, s);
}

}  // namespace day43
