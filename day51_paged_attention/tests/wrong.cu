// SPDX-License-Identifier: MIT
//
// Attention with keys in pages, with a bug in each, which day 51's tests must reject.

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day51_paged_attention/paged_attention.h"

namespace day51 {
namespace {

enum Bug { kShift, kWholePages, kBeforeAppend, kInterleaved, kZeroForNobody };

// A block a row of o: thread d holds element d, and all threads compute all scores.
template <Bug kBug, class T>
__global__ void rows_kernel(const PagedDecode<T> p) {
  const int sequence = static_cast<int>(blockIdx.x) / p.heads, head = static_cast<int>(blockIdx.x) % p.heads;
  const int d = static_cast<int>(threadIdx.x);
  const int kv_head = kBug == kInterleaved ? head % p.kv_heads : head / (p.heads / p.kv_heads);
  const int keys = keys_of(p, sequence) - (kBug == kBeforeAppend ? 1 : 0);
  const int read = kBug == kWholePages ? days::round_up(max(keys, 0), p.page) : keys;
  const int bits = 31 - __clz(p.page);
  const T* const q = p.q + p.q_pitch.at(sequence, head);
  float most = -INFINITY, sum = 0, o = 0;
  for (int key = 0; key < read; ++key) {
    const int page = kBug == kShift ? key >> bits : key / p.page,
              in_page = kBug == kShift ? key & ((1 << bits) - 1) : key % p.page;
    const int64_t at =
        int64_t{row_in_page(p, p.table[int64_t{sequence} * p.most_pages + page], kv_head, in_page)} * p.dim;
    float score = 0;
    for (int i = 0; i < p.dim; ++i) score += days::to_float(q[i]) * days::to_float(p.k[at + i]);
    score = key < keys ? score * p.scale : -1e30f;
    const float from = fmaxf(most, score), shrink = expf(most - from),
                weight = key < keys ? expf(score - from) : 0;
    most = from;
    sum = sum * shrink + weight;
    o = o * shrink + weight * days::to_float(p.v[at + d]);
  }
  const bool none = keys_of(p, sequence) == 0;
  o = none && kBug != kZeroForNobody ? NAN : sum == 0 ? 0 : o / sum;
  p.o[p.o_pitch.at(sequence, head) + d] = days::from_float<T>(o);
  if (d == 0) p.lse[int64_t{sequence} * p.heads + head] = none ? NAN : most + logf(sum);
}

template <Bug kBug, class T>
void rows(const PagedDecode<T>& p, cudaStream_t stream) {
  days::require_paged_decode(p, "wrong");
  append(p, stream);
  rows_kernel<kBug>
      <<<static_cast<unsigned>(p.sequences * p.heads), static_cast<unsigned>(p.dim), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// A page of 12 rows is no power of two.
constexpr auto shift = rows<kShift, days::half>;
MUST_REJECT(paged_attention, shift, "3 x 3 x 1 x 49 x 12 x 64");

// The last page is read whole, and what is not in use gets a weight of 0: 0 times NaN is NaN.
constexpr auto whole_pages = rows<kWholePages, days::half>;
MUST_REJECT(paged_attention, whole_pages, "unused rows are NaN: o[0,0,0] is nan");

// The new token does not see itself.
constexpr auto before_append = rows<kBeforeAppend, days::half>;
MUST_REJECT(paged_attention, before_append, "1 x 1 x 1 x 1 x 16 x 64");

// Heads of a group lie side by side.
constexpr auto interleaved = rows<kInterleaved, days::bf16>;
MUST_REJECT(paged_attention, interleaved, "2 x 4 x 2 x 17 x 16 x 128");

// A slot without a sequence gets an answer.
constexpr auto zero_for_nobody = rows<kZeroForNobody, days::half>;
MUST_REJECT(paged_attention, zero_for_nobody, "empty slots: o[0,0,0] is 0, expected nan");

}  // namespace
}  // namespace day51
