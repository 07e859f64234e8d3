// SPDX-License-Identifier: MIT
//
// Kernels of day 50 with a bug in each, which its tests must reject. They stay inside their buffers, so that it is the
// comparison that finds them and not a fault.

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "day50_gqa/gqa.h"

namespace day50 {
namespace {

// What each kernel below has all but one of.
struct Right {
  static constexpr bool kSideBySide = true;    // the heads of a group
  static constexpr bool kOwnMaximum = true;    // of each query
  static constexpr bool kOwnSum = true;        // by which o is divided
  static constexpr bool kEndsAtLength = true;  // the keys, and not with the slice of 16
  static constexpr bool kZeroFill = true;      // keys beyond the end are not read
  static constexpr bool kTurned = true;        // 8 x 8 weights, before they meet v
};

// The query of head h in one sequence, and the keys and values that it has.
template <class Is, class T>
struct Query {
  const Decode<T>& p;
  int sequence, kv_head, length;
  const T* q;

  __device__ Query(const Decode<T>& problem, int s, int h)
      : p(problem),
        sequence(s),
        kv_head(Is::kSideBySide ? h / (p.heads / p.kv_heads) : h % p.kv_heads),
        length(p.lengths[s]),
        q(p.q + p.q_pitch.at(s, h)) {}

  __device__ const T* row(const T* cache, const T* fresh, int j) const {
    if (j == length) return fresh + p.new_pitch.at(sequence, kv_head);
    return cache + ((int64_t{sequence} * p.kv_heads + kv_head) * p.capacity + j) * p.dim;
  }
  __device__ float score(int j) const {
    if (j > length) return Is::kEndsAtLength ? -INFINITY : 0;
    const T* const k = row(p.k, p.k_new, j);
    float sum = 0;
    for (int i = 0; i < p.dim; ++i) sum = fmaf(days::to_float(q[i]), days::to_float(k[i]), sum);
    return sum * p.scale;
  }
  __device__ float most() const {
    float most = -INFINITY;
    for (int j = 0; j <= length; ++j) most = fmaxf(most, score(j));
    return most;
  }
};

// A block a query: thread d has column d of o, and all threads compute all scores.
template <class T, class Is>
__global__ void kernel(const Decode<T> p) {
  const int sequence = static_cast<int>(blockIdx.x) / p.heads, head = static_cast<int>(blockIdx.x) % p.heads;
  const int group = p.heads / p.kv_heads, first = head - head % group, d = static_cast<int>(threadIdx.x);
  const Query<Is, T> query(p, sequence, head);
  T* const o = p.o + p.o_pitch.at(sequence, head) + d;
  float* const lse = p.lse + int64_t{sequence} * p.heads + head;
  if (!days::has_room(query.length, p.capacity)) {
    *o = days::from_float<T>(NAN);
    *lse = NAN;
    return;
  }
  float most = query.most();
  for (int h = first; !Is::kOwnMaximum && h < first + group; ++h)
    most = fmaxf(most, Query<Is, T>(p, sequence, h).most());
  const int end =
      Is::kEndsAtLength && Is::kZeroFill ? query.length + 1 : days::round_up(query.length + 1, 16);
  float sum = 0, column = 0;
  for (int j = 0; j < end; ++j) {
    float weight = expf(query.score(j) - most);
    sum += weight;
    const int turned = first + j % 8, across = j - j % 8 + (head - first) % 8;  // query and key change places
    if (!Is::kTurned && turned < first + group && across <= query.length)
      weight =
          expf(Query<Is, T>(p, sequence, turned).score(across) - Query<Is, T>(p, sequence, turned).most());
    if (j <= query.length || (!Is::kZeroFill && j < p.capacity))
      column = fmaf(weight, days::to_float(query.row(p.v, p.v_new, j)[d]), column);
  }
  if (!Is::kOwnSum) {
    const Query<Is, T> next(p, sequence, first + (head - first + 1) % group);
    sum = 0;
    for (int j = 0; j < end; ++j) sum += expf(next.score(j) - next.most());
  }
  *o = days::from_float<T>(column / sum);
  if (d == 0) *lse = most + logf(sum);
  if (head > first) return;
  const int64_t added = p.new_pitch.at(sequence, head / group) + d;
  const int64_t to =
      ((int64_t{sequence} * p.kv_heads + head / group) * p.capacity + query.length) * p.dim + d;
  p.k[to] = p.k_new[added];
  p.v[to] = p.v_new[added];
}

template <class Is, class T>
void launch(const Decode<T>& p, cudaStream_t stream) {
  kernel<T, Is><<<static_cast<unsigned>(p.batch * p.heads), static_cast<unsigned>(p.dim), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// Heads of a group lie kv_heads apart: right for one kv head.
struct Apart : Right {
  static constexpr bool kSideBySide = false;
};
void heads_apart(const Decode<float>& p, cudaStream_t stream) {
  launch<Apart>(p, stream);
}
MUST_REJECT(gqa, heads_apart, "1 x 8 x 2 x 130 x 128: o[0,1,0] is");

// One maximum for all queries of a group: beside a loud one the others' weights vanish.
struct OneMaximum : Right {
  static constexpr bool kOwnMaximum = false;
};
void one_maximum(const Decode<float>& p, cudaStream_t stream) {
  launch<OneMaximum>(p, stream);
}
MUST_REJECT(gqa, one_maximum, "one loud query: o[0,0,0] is nan");

// Each query's o is divided by its neighbour's sum.
struct OtherSum : Right {
  static constexpr bool kOwnSum = false;
};
void other_sum(const Decode<float>& p, cudaStream_t stream) {
  launch<OtherSum>(p, stream);
}
MUST_REJECT(gqa, other_sum, "1 x 2 x 1 x 65 x 128: o[0,0,0] is");

// Keys are counted 16 at a time: those that are not there have scores of 0.
struct WholeSlices : Right {
  static constexpr bool kEndsAtLength = false;
};
void whole_slices(const Decode<days::half>& p, cudaStream_t stream) {
  launch<WholeSlices>(p, stream);
}
MUST_REJECT(gqa, whole_slices, "1 x 1 x 1 x 1 x 64: o[0,0,0] is");

// Keys beyond the end get a weight of 0, and 0 times NaN is NaN.
struct ReadsBehind : Right {
  static constexpr bool kZeroFill = false;
};
void reads_behind(const Decode<days::bf16>& p, cudaStream_t stream) {
  launch<ReadsBehind>(p, stream);
}
MUST_REJECT(gqa, reads_behind, "NaN behind: o[0,0,0] is nan");

// Without movmatrix: 8 x 8 weights meet v with queries and keys exchanged.
struct Unturned : Right {
  static constexpr bool kTurned = false;
};
void unturned(const Decode<days::half>& p, cudaStream_t stream) {
  launch<Unturned>(p, stream);
}
MUST_REJECT(gqa, unturned, "1 x 2 x 1 x 65 x 128: o[0,0,0] is");

}  // namespace
}  // namespace day50
