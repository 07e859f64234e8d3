// SPDX-License-Identifier: MIT
#include "serve/persistent.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/check.h"
#include "common/cooperative.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "common/vector.cuh"
#include "serve/exchange.h"

namespace serve {
namespace {

using days::kFullWarp;
using days::kWarpSize;

// Warps that compute; one more fills the ring. With 16 in all a thread may have 128 registers, with 17 only 96.
constexpr int kWarps = 15, kThreads = kWarps * kWarpSize;
constexpr int kLoads = 8;  // of 16 bytes of weights that a lane holds: rows times vectors of a row
// Of a row, in a lane, where one is not enough: of a product behind a norm, which keeps the norm's vectors, too, and of another.
constexpr int kNormVectors = 2, kPlainVectors = 4;
constexpr int kMostDim = 128, kMostSplits = 16, kMostPieces = 32;
constexpr uint32_t kComputing = 1;  // the barrier of the warps that compute
template <class T>
constexpr int kElements = 16 / static_cast<int>(sizeof(T));  // of a vector

// Values that a stage hands to the next.
struct Boards {
  Word *qkv, *partial, *attended, *middle, *inner, *out;
};
// Where things begin in shared memory, in bytes. The ring begins at 0.
struct Shared {
  int full, empty;  // (pieces) mbarriers each
  int x;            // (2, width) floats: what the first and what the second norm of a layer reads
  int in;           // (the most of q_width and inner) floats: what the other products read
  int sums;         // (kWarps) float2
  int partial;      // (rows of this block, segments) floats
  int raw;          // (3, dim) floats: q, k and v
  int parts;        // (the most of kWarps and kMostSplits, dim + 2) floats
  int turns;        // (dim / 2) float2: cosine and sine
  int shapes;       // (5) Shape: divisions are slow, and this block's are those of every layer
  int layers;       // LayerOnDevice of each
  int pages;        // of the text
  int end;
};

template <class T>
struct Given {
  int layer_count, width, heads, kv_heads, dim, inner, qkv_width, vocab;
  bool rms, gated, turned, biased;
  float eps, scale;
  const T *tokens, *positions, *output, *norm, *norm_bias;
  const LayerOnDevice<T>* layers;
  const float* frequency;
  Slots slots;
  const int32_t* slot;
  int32_t* position;
  float* logits;
  Boards boards;
  uint32_t *tokens_done, *arrived;
  int most_splits, keys_of_block;
  int pieces, piece_bytes;
  Shared shared;
  unsigned pause;
  bool barriers;
  Marks* marks;
};

// A block's rows of a matrix, of k elements: `count` from `begin` on, and as many, `apart` rows behind each, of the gate's partner.
// A row's vectors lie in warps by segments of `vectors`, and groups of warps have a row each; a piece of the ring has 2^shift rows.
struct Shape {
  int k, begin, count, apart, segments, groups, vectors, shift;
};
template <class T>
struct Stage : Shape {
  const T* w;
  __device__ int rows() const { return apart > 0 ? 2 * count : count; }
  __device__ const T* row(int r) const {
    return w + int64_t{r < count ? begin + r : apart + begin + r - count} * k;
  }
};

enum class Kind { kQkv, kProj, kFirst, kDown, kOutput };

DAYS_HOST_DEVICE int splits_of(int keys, int keys_of_block, int most) {
  const int wanted = days::ceil_div(keys, keys_of_block);
  return wanted < most ? wanted : most;
}

template <class T>
struct
    Place {  // of an input's element in shared memory: the first four of each vector, then the others, so that lanes read without gaps
  __device__ static int of(int e, int k) {
    constexpr int kE = kElements<T>;
    return e % kE / 4 * (k / kE) * 4 + e / kE * 4 + e % 4;
  }
};
template <class T>
__device__ void to_floats(const uint4& bits, float (&to)[kElements<T>]) {
  const auto vec = days::from_word<T>(bits);
#pragma unroll
  for (int e = 0; e < kElements<T>; ++e) to[e] = static_cast<float>(vec[e]);
}

template <class T, bool kRing>
struct Block {
  static constexpr int kE = kElements<T>, kPair = kInWord<T>;

  const Given<T>& p;
  unsigned char* memory;
  int thread, lane, warp;
  // Of the ring: the piece that comes next to who computes.
  int slot = 0;
  uint32_t phase = 0;
  int stage_number = 0;
  float center = 0;  // the last norm's mean: sums of squares are taken from there

  template <class U>
  __device__ U* at(int offset) const {
    return reinterpret_cast<U*>(memory + offset);
  }
  __device__ const LayerOnDevice<T>& layer(int l) const {
    return at<const LayerOnDevice<T>>(p.shared.layers)[l];
  }
  __device__ uint64_t* full(int s) const { return at<uint64_t>(p.shared.full) + s; }
  __device__ uint64_t* empty(int s) const { return at<uint64_t>(p.shared.empty) + s; }
  // What the first and the second norm of a layer read.
  __device__ float* x(int norm) const { return at<float>(p.shared.x) + norm * p.width; }
  __device__ static void sync() { days::ptx::bar_sync(kComputing, kThreads); }
  __device__ void mark(long long Marks::*what) const {
    if (p.marks != nullptr && thread == 0)
      p.marks[int64_t{blockIdx.x} * (5 * p.layer_count + 1) + stage_number].*what = clock64();
  }

  // Blocks take outputs by pairs, so that none has a part of a word.
  __device__ Shape shape_of(Kind kind) const {
    const bool norm = kind != Kind::kProj && kind != Kind::kDown;
    const int k = kind == Kind::kProj ? p.heads * p.dim : kind == Kind::kDown ? p.inner : p.width;
    const int outputs = kind == Kind::kQkv      ? p.qkv_width
                        : kind == Kind::kFirst  ? p.inner
                        : kind == Kind::kOutput ? p.vocab + p.vocab % 2
                                                : p.width;
    const auto pairs = outputs / 2, blocks = static_cast<int>(gridDim.x), b = static_cast<int>(blockIdx.x);
    const int begin = 2 * (pairs * b / blocks), end = 2 * (pairs * (b + 1) / blocks);
    const int vectors = k / kE, of_lane = is_short(k) ? 1 : norm ? kNormVectors : kPlainVectors;
    const int segments = days::ceil_div(vectors, of_lane * kWarpSize);
    return {.k = k,
            .begin = begin,
            .count = end - begin,
            .apart = kind == Kind::kFirst && p.gated ? p.inner : 0,
            .segments = segments,
            .groups = kWarps / segments,
            .vectors = days::ceil_div(vectors, segments),
            .shift = 31 - __clz(p.piece_bytes / (k * static_cast<int>(sizeof(T))))};
  }
  __device__ static bool is_short(int k) { return k <= kE * kWarpSize * kWarps; }
  __device__ Stage<T> stage_of(Kind kind, int l) const {
    const T* const w = kind == Kind::kOutput  ? p.output
                       : kind == Kind::kQkv   ? layer(l).qkv
                       : kind == Kind::kProj  ? layer(l).proj
                       : kind == Kind::kFirst ? layer(l).first
                                              : layer(l).down;
    return {at<const Shape>(p.shared.shapes)[static_cast<int>(kind)], w};
  }
  __device__ void step(int* s, uint32_t* parity) const {
    if (++*s == p.pieces) {
      *s = 0;
      *parity ^= 1;
    }
  }

  // ---- the warp that fills the ring: all weights of this block, in the order of their use ----

  __device__ void fill(const Stage<T>& s) {
    const int row_bytes = s.k * static_cast<int>(sizeof(T)), rows = s.rows(), each = 1 << s.shift;
    for (int first = 0; first < rows; first += each) {
      const int last = min(first + each, rows);
      days::ptx::mbarrier_wait(empty(slot), phase ^ 1);
      if (lane == 0) {
        days::ptx::mbarrier_arrive_expect_tx(full(slot), static_cast<uint32_t>((last - first) * row_bytes));
        unsigned char* to = memory + slot * p.piece_bytes;
        for (int r = first; r < last;) {  // twice where a piece has rows of the gate and of its partner
          const int end = r < s.count ? min(last, s.count) : last;
          const auto bytes = static_cast<uint32_t>((end - r) * row_bytes);
          days::ptx::cp_async_bulk(to, s.row(r), bytes, full(slot));
          to += bytes;
          r = end;
        }
      }
      __syncwarp();
      step(&slot, &phase);
    }
  }
  __device__ void to_l2(const T* from, int64_t begin, int count) const {
    constexpr int kLine = 128 / static_cast<int>(sizeof(T));
    for (int i = lane * kLine; i < count; i += kWarpSize * kLine)
      days::ptx::prefetch_global_l2(from + begin + i);
  }
  __device__ void fill_all(int keys) {
    for (int l = 0; l < p.layer_count; ++l) {
      // What no ring holds comes into L2 at least: these lines are nobody's since the last token.
      const LayerOnDevice<T>& of = layer(l);
      to_l2(of.norm1, 0, p.width);
      to_l2(of.norm2, 0, p.width);
      if (!p.rms) to_l2(of.norm1_bias, 0, p.width);
      if (!p.rms) to_l2(of.norm2_bias, 0, p.width);
      const Stage<T> qkv = stage_of(Kind::kQkv, l), proj = stage_of(Kind::kProj, l),
                     first = stage_of(Kind::kFirst, l), down = stage_of(Kind::kDown, l);
      if (p.biased) {
        to_l2(of.qkv_bias, qkv.begin, qkv.count);
        to_l2(of.proj_bias, proj.begin, proj.count);
        to_l2(of.first_bias, first.begin, first.count);
        to_l2(of.down_bias, down.begin, down.count);
      }
      const Task task = task_of(static_cast<int>(blockIdx.x), keys);
      if (task.head < p.heads) {
        for (int key = task.begin; key < min(task.end, keys - 1); key += kPage) {
          const int64_t begin = row_of(key, task.kv_head);
          to_l2(of.keys, begin, kPage * p.dim);
          to_l2(of.values, begin, kPage * p.dim);
        }
      }
      fill(qkv);
      fill(proj);
      fill(first);
      fill(down);
    }
    to_l2(p.norm, 0, p.width);
    if (!p.rms) to_l2(p.norm_bias, 0, p.width);
    fill(stage_of(Kind::kOutput, 0));
  }

  // ---- products ----

  // How a row of k elements lies in warps: its vectors in segments, a warp has one, and kVectors of them in a lane. Warps of a group have a
  // row, groups have rows by turns; warps that are left over have none.
  struct Cut {
    int segments, groups, segment, group, first,
        end;  // of the row's vectors, this lane's first, and the segment's end
  };
  __device__ Cut cut_of(const Shape& s) const {
    const int group = warp / s.segments, segment = warp - group * s.segments;
    return {s.segments,
            s.groups,
            segment,
            group,
            segment * s.vectors + lane,
            min(s.k / kE, (segment + 1) * s.vectors)};
  }

  // Rows base + group, base + group + groups, ... of the stage, from memory that `row` names.
  template <int kVectors, class Row>
  __device__ void load(const Cut& cut, int base, int rows, uint4 (&w)[kLoads], const Row& row) const {
#pragma unroll
    for (int j = 0; j < kLoads / kVectors; ++j) {
      const int r = base + j * cut.groups + cut.group;
      if (r >= rows || cut.group >= cut.groups) continue;  // the whole warp; multiply() leaves it out, too
      const uint4* const from = row(r);
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int vector = cut.first + v * kWarpSize;
        w[j * kVectors + v] = vector < cut.end ? from[vector] : make_uint4(0, 0, 0, 0);
      }
    }
  }
  template <int kVectors>
  __device__ void load_global(const Stage<T>& s, const Cut& cut, int base, uint4 (&w)[kLoads]) const {
    load<kVectors>(cut, base, s.rows(), w, [&](int r) { return reinterpret_cast<const uint4*>(s.row(r)); });
  }

  // partial[row][segment] for all of the stage's rows. w: the first rows, where they come without a ring.
  template <int kVectors>
  __device__ void multiply(const Stage<T>& s, const Cut& cut, uint4 (&w)[kLoads],
                           const float (&x)[kVectors][kE]) {
    constexpr int kRows = kLoads / kVectors;
    const int rows = s.rows(), shift = s.shift, pieces = (rows + (1 << shift) - 1) >> shift;
    const int row_bytes = s.k * static_cast<int>(sizeof(T));
    float* const partial = at<float>(p.shared.partial);
    int waited = 0, released = 0, waits_slot = slot;
    uint32_t waits_phase = phase;
    for (int base = 0; base < rows; base += kRows * cut.groups) {
      const int next = base + kRows * cut.groups;
      if constexpr (kRing) {
        for (const int last = (min(next, rows) - 1) >> shift; waited <= last; ++waited) {
          days::ptx::mbarrier_wait(full(waits_slot), waits_phase);
          step(&waits_slot, &waits_phase);
        }
        load<kVectors>(cut, base, rows, w, [&](int r) {
          int piece = slot + (r >> shift) - released;
          if (piece >= p.pieces) piece -= p.pieces;
          return reinterpret_cast<const uint4*>(memory + piece * p.piece_bytes +
                                                (r & ((1 << shift) - 1)) * row_bytes);
        });
      }
      float sum[kRows] = {};
#pragma unroll
      for (int j = 0; j < kRows; ++j) {
        if (base + j * cut.groups + cut.group >= rows)
          continue;  // the whole warp, which would multiply zeros
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          float of[kE];
          to_floats<T>(w[j * kVectors + v], of);
#pragma unroll
          for (int e = 0; e < kE; ++e) sum[j] += of[e] * x[v][e];
        }
      }
      if constexpr (kRing) {
        __syncwarp();
        for (const int left = next >= rows ? pieces : next >> shift; released < left; ++released) {
          if (lane == 0) days::ptx::mbarrier_arrive(empty(slot));
          step(&slot, &phase);
        }
      } else if (next < rows) {
        load_global<kVectors>(s, cut, next, w);
      }
      // Half of the lanes go on with half of the rows, until each row is in 32 / kRows lanes.
      int distance = kWarpSize / 2;
#pragma unroll
      for (int n = kRows / 2; n > 0; n /= 2) {
        const bool upper = (lane & distance) != 0;
#pragma unroll
        for (int j = 0; j < n; ++j) {
          const float gives = upper ? sum[j] : sum[j + n], keeps = upper ? sum[j + n] : sum[j];
          sum[j] = keeps + __shfl_xor_sync(kFullWarp, gives, distance);
        }
        distance /= 2;
      }
#pragma unroll
      for (int left = kWarpSize / kRows / 2; left > 0; left /= 2)
        sum[0] += __shfl_xor_sync(kFullWarp, sum[0], left);
      const int r = base + lane / (kWarpSize / kRows) * cut.groups + cut.group;
      if (lane % (kWarpSize / kRows) == 0 && r < rows && cut.group < cut.groups)
        partial[r * cut.segments + cut.segment] = sum[0];
    }
  }
  __device__ float row_sum(int segments, int r) const {
    const float* const partial = at<const float>(p.shared.partial) + r * segments;
    // All of them are asked for at once, in a loop whose length is known.
    float sum = 0;
#pragma unroll
    for (int s = 0; s < kWarps; ++s) sum += s < segments ? partial[s] : 0.0f;
    return sum;
  }

  // Nobody goes on before all blocks have ended the stage, the `before`-th and those of this token.
  __device__ void wait_for_all(uint32_t before) const {
    sync();
    if (thread == 0) {
      const uint32_t target = (before + static_cast<uint32_t>(stage_number) + 1) * gridDim.x;
      __threadfence();
      atomicAdd(p.arrived, 1u);
      while (static_cast<int32_t>(days::ptx::ld_acquire_gpu(p.arrived) - target) < 0) {
      }
    }
    sync();
  }

  // A product and what goes before and behind it. take(kind) puts the inputs into shared memory. kNorm: they are normalized, and take()
  // gives the thread's sums for that.
  template <int kVectors, bool kNorm, class Take>
  __device__ void product(Kind kind, const Stage<T>& s, int l, uint32_t tag, const Take& take) {
    const T *gamma = nullptr, *beta = nullptr, *bias = nullptr;
    const float* in = at<const float>(p.shared.in);
    if (kind == Kind::kOutput) {
      gamma = p.norm;
      beta = p.norm_bias;
      in = x(0);
    } else {
      const LayerOnDevice<T>& of = layer(l);
      if (kNorm) {
        gamma = kind == Kind::kQkv ? of.norm1 : of.norm2;
        beta = kind == Kind::kQkv ? of.norm1_bias : of.norm2_bias;
        in = x(kind == Kind::kQkv ? 0 : 1);
      }
      if (p.biased)
        bias = kind == Kind::kQkv     ? of.qkv_bias
               : kind == Kind::kProj  ? of.proj_bias
               : kind == Kind::kFirst ? of.first_bias
                                      : of.down_bias;
    }
    const Cut cut = cut_of(s);
    // All that is known before the inputs are there.
    uint4 w[kLoads] = {};
    if constexpr (!kRing) load_global<kVectors>(s, cut, 0, w);
    uint4 scale[kVectors], offset[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int vector = cut.first + v * kWarpSize;
      scale[v] = offset[v] = make_uint4(0, 0, 0, 0);
      if (kNorm && vector < cut.end) {
        scale[v] = reinterpret_cast<const uint4*>(gamma)[vector];
        if (!p.rms) offset[v] = reinterpret_cast<const uint4*>(beta)[vector];
      }
    }
    float of_bias[4] = {};  // of the first pair of this thread, and of its gate's partner
    if (bias != nullptr && 2 * thread < s.count) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        of_bias[i] = static_cast<float>(bias[s.begin + 2 * thread + i]);
        if (s.apart > 0) of_bias[2 + i] = static_cast<float>(bias[s.apart + s.begin + 2 * thread + i]);
      }
    }
    float input[kVectors][kE];
    float mean = 0, by = 1;
    if constexpr (kNorm) {
      float2 sums = take(kind);
#pragma unroll
      for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        sums.x += __shfl_xor_sync(kFullWarp, sums.x, distance);
        sums.y += __shfl_xor_sync(kFullWarp, sums.y, distance);
      }
      if (lane == 0) at<float2>(p.shared.sums)[warp] = sums;
      sync();
      sums = {0, 0};
#pragma unroll
      for (int w_ = 0; w_ < kWarps; ++w_) {
        const float2 of_warp = at<const float2>(p.shared.sums)[w_];
        sums.x += of_warp.x;
        sums.y += of_warp.y;
      }
      const float each = 1 / static_cast<float>(s.k), distance = sums.x * each;
      mean = p.rms ? 0 : center + distance;
      const float square = sums.y * each - (p.rms ? 0 : distance * distance);
      by = 1 / sqrtf((square < 0 ? 0 : square) + p.eps);  // NaN stays NaN
      center = mean;
    } else {
      take(kind);
      sync();
    }
    mark(&Marks::had);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int vector = cut.first + v * kWarpSize;
      float of_scale[kE], of_offset[kE];
      if constexpr (kNorm) {
        to_floats<T>(scale[v], of_scale);
        to_floats<T>(offset[v], of_offset);
      }
#pragma unroll
      for (int half = 0; half < kE / 4; ++half) {
        float4 four = make_float4(0, 0, 0, 0);
        if (vector < cut.end && cut.group < cut.groups)
          four = *reinterpret_cast<const float4*>(in + (half * (s.k / kE) + vector) * 4);
        const float values[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int e = half * 4 + i;
          input[v][e] = kNorm ? (values[i] - mean) * by * of_scale[e] + of_offset[e] : values[i];
        }
      }
      // Lanes beyond the row have weights of 0; what they multiply must be a number.
      if (vector >= cut.end || cut.group >= cut.groups)
#pragma unroll
        for (int e = 0; e < kE; ++e) input[v][e] = 0;
    }
    multiply<kVectors>(s, cut, w, input);
    sync();
    mark(&Marks::multiplied);
    for (int pair = thread; 2 * pair < s.count; pair += kThreads) {
      if (pair >= kThreads && bias != nullptr) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          of_bias[i] = static_cast<float>(bias[s.begin + 2 * pair + i]);
          if (s.apart > 0) of_bias[2 + i] = static_cast<float>(bias[s.apart + s.begin + 2 * pair + i]);
        }
      }
      finish(kind, s, cut.segments, pair, of_bias, tag);
    }
  }
  // By as few vectors of a lane as the row's length allows.
  template <bool kNorm, class Take>
  __device__ void product_of(Kind kind, int l, uint32_t tag, const Take& take) {
    const Stage<T> s = stage_of(kind, l);
    if (is_short(s.k)) {
      product<1, kNorm>(kind, s, l, tag, take);
    } else {
      product<kNorm ? kNormVectors : kPlainVectors, kNorm>(kind, s, l, tag, take);
    }
  }
  // Sends two neighbouring values, of which one begins at an even place.
  __device__ static void send_pair(Word* board, int place, float first, float second, uint32_t tag) {
    if constexpr (kPair == 2) {
      const T both[2] = {T(first), T(second)};
      send<T>(board + place / 2, both, tag);
    } else {
      const T one[1] = {T(first)}, other[1] = {T(second)};
      send<T>(board + place, one, tag);
      send<T>(board + place + 1, other, tag);
    }
  }
  __device__ static void send_float(Word* board, int place, float value, uint32_t tag) {
    const float one[1] = {value};
    send<float>(board + place, one, tag);
  }

  // The token's row comes to x; the thread's sums for the norm are returned.
  __device__ float2 take_x(const Word* from, float* x, uint32_t tag) const {
    float2 sums = {0, 0};
    receive<kThreads, float>(from, p.width, tag, thread, p.pause, [&](int i, float value) {
      x[Place<T>::of(i, p.width)] = value;
      const float distance = value - center;
      sums.x += distance;
      sums.y += distance * distance;
    });
    return sums;
  }
  __device__ float2 embed(int32_t token, int position, float* x) const {
    float2 sums = {0, 0};
    for (int i = thread; i < p.width; i += kThreads) {
      float value = NAN;
      if (token >= 0 && token < p.vocab) {
        value = static_cast<float>(p.tokens[int64_t{token} * p.width + i]);
        if (p.positions != nullptr) value += static_cast<float>(p.positions[int64_t{position} * p.width + i]);
      }
      x[Place<T>::of(i, p.width)] = value;
      sums.x += value;
      sums.y += value * value;
    }
    return sums;
  }
  __device__ void take_in(const Word* from, int count, uint32_t tag) const {
    float* const in = at<float>(p.shared.in);
    receive<kThreads, T>(from, count / kPair, tag, thread, p.pause,
                         [&](int i, float value) { in[Place<T>::of(i, count)] = value; });
  }

  // ---- attention ----

  struct Task {
    int head, kv_head, split, begin, end;  // keys
  };
  __device__ Task task_of(int number, int keys) const {
    const int splits = splits_of(keys, p.keys_of_block, p.most_splits);
    const int each = days::round_up(days::ceil_div(keys, splits), kPage);
    const int split = number / p.heads, head = number % p.heads;
    if (split >= splits) return {p.heads, 0, 0, 0, 0};
    return {head, head / (p.heads / p.kv_heads), split, min(keys, split * each),
            min(keys, (split + 1) * each)};
  }
  __device__ int64_t row_of(int key, int kv_head) const {
    const int32_t page = at<const int32_t>(p.shared.pages)[key / kPage];
    return ((int64_t{page} * p.kv_heads + kv_head) * kPage + key % kPage) * p.dim;
  }
  // Element d of q or k, turned, as T.
  __device__ float turned(const float* raw, int d) const {
    if (!p.turned) return raw[d];
    const int half = p.dim / 2, i = d < half ? d : d - half;
    const float2 turn = at<const float2>(p.shared.turns)[i];
    const float value =
        d < half ? raw[i] * turn.x - raw[half + i] * turn.y : raw[i] * turn.y + raw[half + i] * turn.x;
    return static_cast<float>(T(value));
  }

  // Keys of a task go to groups of lanes by turns, so many that a lane has a vector of a key. Each group keeps sums relative to the greatest
  // score that it has seen.
  __device__ void attend(int l, int keys, uint32_t tag) {
    const int position = keys - 1;
    const int splits = splits_of(keys, p.keys_of_block, p.most_splits);
    int lanes = 1;
    while (lanes * kE < p.dim) lanes *= 2;
    const int groups = kWarpSize / lanes, group = lane / lanes, first = lane % lanes * kE;
    const bool mine = first < p.dim;
    const LayerOnDevice<T>& of = layer(l);
    float* const raw = at<float>(p.shared.raw);
    float* const parts = at<float>(p.shared.parts);
    const int stride = p.dim + 2, step = kWarps * groups;
    bool marked = false;
    for (int number = static_cast<int>(blockIdx.x); number < p.heads * splits;
         number += static_cast<int>(gridDim.x)) {
      const Task task = task_of(number, keys);
      // The cache is older than this token: its rows are asked for before q is there.
      constexpr int kAhead = 2;
      uint4 k[kAhead] = {}, v[kAhead] = {};
      const auto ask = [&](int key, uint4* of_key, uint4* of_value) {
        if (!mine || key >= task.end || key >= position) return;
        const int64_t row = row_of(key, task.kv_head) + first;
        *of_key = *reinterpret_cast<const uint4*>(of.keys + row);
        *of_value = *reinterpret_cast<const uint4*>(of.values + row);
      };
      const int begin = task.begin + warp * groups;
#pragma unroll
      for (int a = 0; a < kAhead; ++a) ask(begin + a * step + group, &k[a], &v[a]);
      const int q_at = task.head * p.dim, k_at = (p.heads + task.kv_head) * p.dim,
                v_at = k_at + p.kv_heads * p.dim;
      const int words = p.dim / kPair;
      // One look for all three.
      if (const int part = thread / words; part < 3) {
        const int from = part == 0 ? q_at : part == 1 ? k_at : v_at;
        receive<kMostDim, T>(
            p.boards.qkv + from / kPair + thread % words, 1, tag, 0, p.pause,
            [&](int i, float value) { raw[part * p.dim + thread % words * kPair + i] = value; });
      }
      sync();
      if (!marked) mark(&Marks::had);
      marked = true;
      float q[kE];
#pragma unroll
      for (int e = 0; e < kE; ++e) q[e] = mine ? turned(raw, first + e) * p.scale : 0.0f;
      float most = -INFINITY, total = 0, o[kE] = {};
      for (int base = begin; base < task.end; base += step) {
        const int key = base + group;
        float of_key[kE], of_value[kE];
        to_floats<T>(k[0], of_key);
        to_floats<T>(v[0], of_value);
#pragma unroll
        for (int a = 0; a + 1 < kAhead; ++a) {
          k[a] = k[a + 1];
          v[a] = v[a + 1];
        }
        ask(key + kAhead * step, &k[kAhead - 1], &v[kAhead - 1]);
        if (key == position && mine) {  // this token's own, which goes to the cache, too
          days::Vec<T> key_row, value_row;
#pragma unroll
          for (int e = 0; e < kE; ++e) {
            of_key[e] = turned(raw + p.dim, first + e);
            of_value[e] = raw[2 * p.dim + first + e];
            key_row[e] = T(of_key[e]);
            value_row[e] = T(of_value[e]);
          }
          if (task.head % (p.heads / p.kv_heads) == 0) {
            const int64_t row = row_of(key, task.kv_head) + first;
            days::store16(of.keys + row, key_row);
            days::store16(of.values + row, value_row);
          }
        }
        float score = 0;
#pragma unroll
        for (int e = 0; e < kE; ++e) score += mine ? q[e] * of_key[e] : 0.0f;
        for (int distance = lanes / 2; distance > 0; distance /= 2)
          score += __shfl_xor_sync(kFullWarp, score, distance);
        if (key >= task.end) continue;
        const float now = score > most || score != score ? score : most;
        const float shrinks = exp2f(most - now), weight = exp2f(score - now);
        total = total * shrinks + weight;
#pragma unroll
        for (int e = 0; e < kE; ++e) o[e] = o[e] * shrinks + weight * of_value[e];
        most = now;
      }
      for (int distance = lanes; distance < kWarpSize; distance *= 2) {
        const float other = __shfl_xor_sync(kFullWarp, most, distance);
        const float now = fmaxf(most, other);
        const float a = most == now ? 1.0f : exp2f(most - now), b = other == now ? 1.0f : exp2f(other - now);
        total = total * a + __shfl_xor_sync(kFullWarp, total, distance) * b;
#pragma unroll
        for (int e = 0; e < kE; ++e) o[e] = o[e] * a + __shfl_xor_sync(kFullWarp, o[e], distance) * b;
        most = now;
      }
      if (group == 0) {
#pragma unroll
        for (int e = 0; e < kE; ++e)
          if (mine) parts[warp * stride + first + e] = o[e];
        if (lane == 0) {
          parts[warp * stride + p.dim] = most;
          parts[warp * stride + p.dim + 1] = total;
        }
      }
      sync();
      if (splits == 1) {
        send_attended<kWarps>(task.head, kWarps, parts, tag);
      } else {
        Word* const to = p.boards.partial + (task.head * kMostSplits + task.split) * stride;
        if (2 * thread < p.dim) {
          const Sum sum = sum_of<kWarps>(2 * thread, kWarps, parts);
          send_float(to, 2 * thread, sum.first, tag);
          send_float(to, 2 * thread + 1, sum.second, tag);
          if (thread == 0) {
            send_float(to, p.dim, sum.most, tag);
            send_float(to, p.dim + 1, sum.total, tag);
          }
        }
      }
    }
    mark(&Marks::multiplied);
    if (splits > 1) {
      for (int head = static_cast<int>(blockIdx.x); head < p.heads; head += static_cast<int>(gridDim.x)) {
        sync();  // `parts` may be overwritten
        receive<kThreads, float>(p.boards.partial + head * kMostSplits * stride, splits * stride, tag, thread,
                                 p.pause, [&](int i, float value) { parts[i] = value; });
        sync();
        send_attended<kMostSplits>(head, splits, parts, tag);
      }
    }
  }
  struct Sum {
    float first, second, most, total;
  };
  // Elements d and d + 1 of what `count` parts come to, at most kMost. A part without keys has sums of 0.
  template <int kMost>
  __device__ Sum sum_of(int d, int count, const float* parts) const {
    const int stride = p.dim + 2;
    float most[kMost];
    Sum all = {0, 0, -INFINITY, 0};
#pragma unroll
    for (int i = 0; i < kMost; ++i) {
      most[i] = i < count ? parts[i * stride + p.dim] : -INFINITY;
      all.most = fmaxf(all.most, most[i]);
    }
#pragma unroll
    for (int i = 0; i < kMost; ++i) {
      if (i >= count) break;
      const float by = most[i] == all.most ? 1.0f : exp2f(most[i] - all.most);
      all.first += parts[i * stride + d] * by;
      all.second += parts[i * stride + d + 1] * by;
      all.total += parts[i * stride + p.dim + 1] * by;
    }
    return all;
  }
  template <int kMost>
  __device__ void send_attended(int head, int count, const float* parts, uint32_t tag) const {
    if (2 * thread >= p.dim) return;
    const Sum sum = sum_of<kMost>(2 * thread, count, parts);
    send_pair(p.boards.attended, head * p.dim + 2 * thread, sum.first / sum.total, sum.second / sum.total,
              tag);
  }

  // ---- the token ----

  // Puts a product's inputs into shared memory; of a norm's the thread's sums come back.
  __device__ float2 take(Kind kind, int l, int32_t token, int position, uint32_t tag) const {
    switch (kind) {
      case Kind::kProj:
        take_in(p.boards.attended, p.heads * p.dim, tag);
        return {0, 0};
      case Kind::kDown:
        take_in(p.boards.inner, p.inner, tag);
        return {0, 0};
      case Kind::kFirst:
        return take_x(p.boards.middle, x(1), tag);
      default:  // the last layer's
        return l == 0 ? embed(token, position, x(0)) : take_x(p.boards.out, x(0), tag - 1);
    }
  }
  // Sends two outputs of a product, the block's pair number `pair`.
  __device__ void finish(Kind kind, const Stage<T>& s, int segments, int pair, const float* bias,
                         uint32_t tag) const {
    float sum[2];
    for (int i = 0; i < 2; ++i) sum[i] = row_sum(segments, 2 * pair + i) + bias[i];
    const int row = s.begin + 2 * pair;
    switch (kind) {
      case Kind::kQkv:
        send_pair(p.boards.qkv, row, sum[0], sum[1], tag);
        return;
      case Kind::kFirst:
        for (int i = 0; i < 2; ++i) {
          const float z = sum[i];
          sum[i] = s.apart > 0
                       ? z / (1 + expf(-z)) * (row_sum(segments, s.count + 2 * pair + i) + bias[2 + i])
                       : 0.5f * z * (1 + tanhf(0.7978845608f * (z + 0.044715f * z * z * z)));
        }
        send_pair(p.boards.inner, row, sum[0], sum[1], tag);
        return;
      case Kind::kOutput:
        for (int i = 0; i < 2; ++i) p.logits[row + i] = sum[i];
        return;
      default:
        for (int i = 0; i < 2; ++i) {
          const float before = x(kind == Kind::kProj ? 0 : 1)[Place<T>::of(row + i, p.width)];
          send_float(kind == Kind::kProj ? p.boards.middle : p.boards.out, row + i, before + sum[i], tag);
        }
    }
  }

  __device__ void compute(int32_t token, int position, uint32_t done) {
    const int stages = 5 * p.layer_count;
    // One place for each kind of product, whatever it is of: the kernel is as small as can be.
    for (stage_number = 0; stage_number <= stages; ++stage_number) {
      const int l = stage_number / 5, step = stage_number % 5;
      const uint32_t tag = done * static_cast<uint32_t>(p.layer_count + 1) + static_cast<uint32_t>(l) + 1;
      mark(&Marks::began);
      const auto take_inputs = [&](Kind kind) { return take(kind, l, token, position, tag); };
      if (step == 1) {
        attend(l, position + 1, tag);
      } else if (step == 0 || step == 3) {
        const bool is_output = stage_number == stages;
        const Kind kind = is_output ? Kind::kOutput : step == 0 ? Kind::kQkv : Kind::kFirst;
        product_of<true>(kind, l, tag, take_inputs);
      } else {
        product_of<false>(step == 2 ? Kind::kProj : Kind::kDown, l, tag, take_inputs);
      }
      mark(&Marks::sent);
      if (p.barriers && stage_number < stages) wait_for_all(done * static_cast<uint32_t>(stages));
    }
    // Block 0 has values of all blocks, so all have read how many tokens there were.
    if (blockIdx.x == 0 && thread == 0) {
      days::ptx::st_relaxed_gpu(p.tokens_done, done + 1);
      *p.position = position;
    }
  }
};

// Where there are no bulk copies the ring's kernel is empty, and never launched.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr bool kHasRing = false;
#else
constexpr bool kHasRing = true;
#endif

template <class T, bool kRing>
__device__ void run_token(const Given<T>& p) {
  extern __shared__ __align__(128) unsigned char memory[];
  const int32_t slot = *p.slot;
  if (slot < 0) return;
  const int thread = static_cast<int>(threadIdx.x);
  Block<T, kRing> block{p, memory, thread, thread % kWarpSize, thread / kWarpSize};
  const int32_t token = p.slots.last[slot], position = p.slots.lengths[slot];
  const uint32_t done = days::ptx::ld_relaxed_gpu(p.tokens_done);
  if (thread < 5)
    block.template at<Shape>(p.shared.shapes)[thread] = block.shape_of(static_cast<Kind>(thread));
  for (int i = thread; i < p.layer_count; i += kThreads)
    block.template at<LayerOnDevice<T>>(p.shared.layers)[i] = p.layers[i];
  for (int i = thread; i < days::ceil_div(position + 1, kPage); i += kThreads)
    block.template at<int32_t>(p.shared.pages)[i] = p.slots.table[int64_t{slot} * p.slots.most_pages + i];
  if (p.turned) {
    for (int i = thread; i < p.dim / 2; i += kThreads) {
      const float angle = static_cast<float>(position) * p.frequency[i];
      block.template at<float2>(p.shared.turns)[i] = make_float2(cosf(angle), sinf(angle));
    }
  }
  if constexpr (kRing) {
    if (thread < p.pieces) {
      days::ptx::mbarrier_init(block.full(thread), 1);
      days::ptx::mbarrier_init(block.empty(thread), kWarps);
    }
    days::ptx::fence_proxy_async_shared();
  }
  __syncthreads();
  if (kRing && thread >= kThreads) {
    block.fill_all(position + 1);
  } else {
    block.compute(token, position, done);
  }
}
template <class T, bool kRing>
__global__ void __launch_bounds__(kThreads + (kRing ? kWarpSize : 0), 1) token_kernel(const Given<T> p) {
  if constexpr (!kRing || kHasRing) run_token<T, kRing>(p);
}

// Vectors of a row that a lane has, as product_of() takes them.
template <class T>
int vectors_of(int k, bool norm) {
  if (k <= kElements<T> * kWarpSize * kWarps) return 1;
  return norm ? kNormVectors : kPlainVectors;
}
template <class T>
int segments_of(int k, bool norm) {
  return days::ceil_div(k / kElements<T>, vectors_of<T>(k, norm) * kWarpSize);
}

template <class T>
auto* kernel_of(bool ring) {
  return ring ? token_kernel<T, true> : token_kernel<T, false>;
}
int threads_of(bool ring) {
  return kThreads + (ring ? kWarpSize : 0);
}

// All arrays of Boards in one, in words.
struct BoardSizes {
  size_t qkv, partial, attended, middle, inner, out;
  size_t all() const { return qkv + partial + attended + middle + inner + out; }
};
BoardSizes board_sizes(const Config& c) {
  const auto n = [](int rows, int cols) { return static_cast<size_t>(rows) * static_cast<size_t>(cols); };
  return {n(1, c.qkv_width()), n(c.heads * kMostSplits, c.head_dim + 2),
          n(1, c.q_width()),   n(1, c.width),
          n(1, c.inner),       n(1, c.width)};
}

}  // namespace

template <class T>
Persistent<T>::Persistent(const Config& config, const ModelOnDevice<T>& model, const Slots& slots,
                          const PersistentOptions& options)
    : config_(config), model_(model), slots_(slots), options_(options) {
  require_config(config);
  const Config& c = config_;
  using Ahead = PersistentOptions::Ahead;
  const bool can = days::device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9 && [] {
    cudaFuncAttributes attributes;
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, token_kernel<T, true>));
    return attributes.ptxVersion >= 90;  // compiled for less, it would copy nothing
  }();
  days::require(options.ahead != Ahead::kRing || can,
                "persistent: a ring needs sm_90, and code compiled for it");
  ring_ = options.ahead == Ahead::kRing || (options.ahead == Ahead::kAutomatic && can);
  days::require(std::ssize(model.layers) == c.layers,
                "persistent: the model has so many layers:", model.layers.size());
  days::require(
      options.blocks >= 0 && options.pieces >= 0 && options.piece_bytes >= 0 && options.keys_of_block > 0,
      "persistent: blocks, pieces and their bytes are not negative, and a block has a key at least");
  const auto fits = [](const char* what, int k, bool norm) {
    days::require(segments_of<T>(k, norm) <= kWarps, "persistent: the ", what, " is at most",
                  kElements<T> * (norm ? kNormVectors : kPlainVectors) * kWarpSize * kWarps, ", not", k);
  };
  fits("width", c.width, true);
  fits("width of all heads", c.q_width(), false);
  fits("inner width", c.inner, false);

  // Every block sends something in every stage: so nobody is a layer ahead of another, and a word's last value has been read.
  const int pairs = std::min({c.width, c.inner, c.qkv_width(), c.vocab + c.vocab % 2}) / 2;
  blocks_ = std::min(options.blocks > 0 ? options.blocks : days::multiprocessors(), pairs);
  days::require(options.blocks <= pairs, "persistent: this model is enough for at most", pairs,
                " blocks, not", options.blocks);
  most_splits_ = std::clamp(blocks_ / c.heads, 1, kMostSplits);

  int most_partial = 0, most_span = 0;
  const int row_of_piece = static_cast<int>(sizeof(T)) * std::max({c.width, c.q_width(), c.inner});
  const int piece_bytes = static_cast<int>(days::round_up(std::max(options.piece_bytes, row_of_piece), 128));
  options_.piece_bytes = piece_bytes;
  const auto look = [&](int k, int outputs, int parts, bool norm) {
    const int rows = parts * 2 * days::ceil_div(outputs / 2, blocks_), segments = segments_of<T>(k, norm);
    most_partial = std::max(most_partial, rows * segments);
    const int batch = std::min(rows, kLoads / vectors_of<T>(k, norm) * (kWarps / segments));
    const int of_piece = static_cast<int>(
        std::bit_floor(static_cast<unsigned>(piece_bytes) / (static_cast<unsigned>(k) * sizeof(T))));
    most_span = std::max(most_span, days::ceil_div(batch, of_piece) + 1);
  };
  look(c.width, c.qkv_width(), 1, true);
  look(c.q_width(), c.width, 1, false);
  look(c.width, c.inner, c.inner_kind == Inner::kSwiGlu ? 2 : 1, true);
  look(c.inner, c.width, 1, false);
  look(c.width, c.vocab + c.vocab % 2, 1, true);

  const auto layout = [&](int pieces) {
    Shared s{};
    int used = pieces * piece_bytes;
    const auto take = [&](int n, size_t bytes) {
      const int at = used;
      used += days::round_up(n * static_cast<int>(bytes), 16);
      return at;
    };
    s.full = take(pieces, 8);
    s.empty = take(pieces, 8);
    s.x = take(2 * c.width, 4);
    s.in = take(std::max(c.q_width(), c.inner), 4);
    s.sums = take(kWarps, 8);
    s.partial = take(most_partial, 4);
    s.raw = take(3 * c.head_dim, 4);
    s.parts = take(std::max(kWarps, kMostSplits) * (c.head_dim + 2), 4);
    s.turns = take(c.head_dim / 2, 8);
    s.shapes = take(5, sizeof(Shape));
    s.layers = take(c.layers, sizeof(LayerOnDevice<T>));
    s.pages = take(slots.most_pages, 4);
    s.end = used;
    return s;
  };
  const int most = days::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  days::require(layout(0).end <= most,
                "persistent: this model needs more shared memory than the device has:", layout(0).end);
  pieces_ = 0;
  if (ring_) {
    const int fit = std::min(kMostPieces, (most - layout(0).end) / (piece_bytes + 16));
    pieces_ = options.pieces > 0 ? options.pieces : fit;
    days::require(pieces_ <= fit && pieces_ >= most_span, "persistent: the ring has", most_span, " to", fit,
                  " pieces for this model, not", pieces_);
  }
  const Shared shared = layout(pieces_);
  shared_ = static_cast<size_t>(shared.end);
  const int resident = days::resident_blocks(kernel_of<T>(ring_), threads_of(ring_), shared_);
  days::require(resident >= blocks_,
                "persistent: blocks that wait for each other must all be on the device, which holds",
                resident, " of these, not", blocks_);

  const size_t of_layers = sizeof(LayerOnDevice<T>) * model.layers.size();
  memory_ = days::DeviceMemory(
      256 + days::round_up(of_layers, size_t{256}) + sizeof(Word) * board_sizes(c).all(), 0);
  CUDA_CHECK(cudaMemcpy(static_cast<char*>(memory_.data()) + 256, model.layers.data(), of_layers,
                        cudaMemcpyHostToDevice));
  shared_layout_ = [&] {
    static_assert(sizeof(Shared) == sizeof shared_layout_);
    return std::bit_cast<decltype(shared_layout_)>(shared);
  }();
}

template <class T>
void Persistent<T>::queue(const int32_t* slot, float* logits, int32_t* position, cudaStream_t stream,
                          Marks* marks) const {
  const Config& c = config_;
  auto* const base = static_cast<char*>(memory_.data());
  const size_t of_layers = days::round_up(sizeof(LayerOnDevice<T>) * model_.layers.size(), size_t{256});
  const BoardSizes sizes = board_sizes(c);
  Boards boards{};
  auto* word = reinterpret_cast<Word*>(base + 256 + of_layers);
  const auto take = [&](size_t n) {
    Word* const at = word;
    word += n;
    return at;
  };
  boards.qkv = take(sizes.qkv);
  boards.partial = take(sizes.partial);
  boards.attended = take(sizes.attended);
  boards.middle = take(sizes.middle);
  boards.inner = take(sizes.inner);
  boards.out = take(sizes.out);
  const float scale = static_cast<float>(1 / std::sqrt(static_cast<double>(c.head_dim)) / std::log(2.0));
  const Given<T> given{.layer_count = c.layers,
                       .width = c.width,
                       .heads = c.heads,
                       .kv_heads = c.kv_heads,
                       .dim = c.head_dim,
                       .inner = c.inner,
                       .qkv_width = c.qkv_width(),
                       .vocab = c.vocab,
                       .rms = c.norm == Norm::kRms,
                       .gated = c.inner_kind == Inner::kSwiGlu,
                       .turned = c.places == Places::kTurned,
                       .biased = c.has_biases,
                       .eps = c.eps,
                       .scale = scale,
                       .tokens = model_.tokens,
                       .positions = c.places == Places::kTable ? model_.positions : nullptr,
                       .output = model_.output,
                       .norm = model_.norm,
                       .norm_bias = model_.norm_bias,
                       .layers = reinterpret_cast<const LayerOnDevice<T>*>(base + 256),
                       .frequency = model_.frequency,
                       .slots = slots_,
                       .slot = slot,
                       .position = position,
                       .logits = logits,
                       .boards = boards,
                       .tokens_done = reinterpret_cast<uint32_t*>(base),
                       .arrived = reinterpret_cast<uint32_t*>(base + 128),
                       .most_splits = most_splits_,
                       .keys_of_block = options_.keys_of_block,
                       .pieces = pieces_,
                       .piece_bytes = options_.piece_bytes,
                       .shared = std::bit_cast<Shared>(shared_layout_),
                       .pause = options_.pause,
                       .barriers = options_.barriers,
                       .marks = marks};
  days::launch_cooperative("persistent", kernel_of<T>(ring_), blocks_, threads_of(ring_), shared_, stream,
                           given);
}

template <class T>
const char* Persistent<T>::stage_name(int stage) const {
  constexpr const char* kNames[] = {"qkv", "attention", "proj", "first", "down"};
  return stage == 5 * config_.layers ? "output" : kNames[stage % 5];
}
template <class T>
int Persistent<T>::splits(int position) const {
  return splits_of(position + 1, options_.keys_of_block, most_splits_);
}
template <class T>
int Persistent<T>::waits(int position) const {
  // The embedding is everybody's own; where keys are split, a head's block waits for the others.
  return config_.layers * (splits(position) > 1 ? 6 : 5);
}
template <class T>
size_t Persistent<T>::bytes(int position) const {
  const Config& c = config_;
  const auto area = [](int rows, int cols) { return static_cast<size_t>(rows) * static_cast<size_t>(cols); };
  const size_t of_layer = area(c.qkv_width(), c.width) + area(c.width, c.q_width()) +
                          area(c.first_width(), c.width) + area(c.width, c.inner) +
                          2 * area(position, c.kv_heads * c.head_dim);
  return sizeof(T) * (static_cast<size_t>(c.layers) * of_layer + area(c.vocab, c.width));
}
template <class T>
size_t Persistent<T>::bytes_ahead() const {
  const size_t of_block = ring_ ? static_cast<size_t>(pieces_) * static_cast<size_t>(options_.piece_bytes)
                                : size_t{16} * kLoads * kThreads;
  return of_block * static_cast<size_t>(blocks_);
}

template class Persistent<float>;
template class Persistent<days::half>;
template class Persistent<days::bf16>;

}  // namespace serve
