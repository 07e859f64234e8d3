// SPDX-License-Identifier: MIT
//
// Attention of one token on the CPU: the truth, a plain version in the kernels' precision, which sets the
// tolerance, the parallel baseline, and the inputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/compare.h"
#include "common/inputs.h"
#include "common/ladder.h"
#include "common/parallel.h"
#include "common/problems/decode.h"
#include "common/random.h"
#include "common/scalar.h"
#include "common/types.h"

namespace days {

// The first row of a head of k or v, counted in heads of k and v.
template <class T>
T* decode_cache(const Decode<T>& p, T* cache, int64_t sequence, int64_t kv_head) {
  return cache + (sequence * p.kv_heads + kv_head) * p.capacity * p.dim;
}

// Writes the new row of each sequence that has room for one.
template <class T>
void decode_append(const Decode<T>& p) {
  for (int b = 0; b < p.batch; ++b) {
    if (!has_room(p.lengths[b], p.capacity)) continue;
    for (int h = 0; h < p.kv_heads; ++h) {
      const int64_t to = int64_t{p.lengths[b]} * p.dim, from = p.new_pitch.at(b, h);
      std::copy_n(p.k_new + from, p.dim, decode_cache(p, p.k, b, h) + to);
      std::copy_n(p.v_new + from, p.dim, decode_cache(p, p.v, b, h) + to);
    }
  }
}

// o of one head, whose keys are all in the cache, in Real; returns the log of the sum of weights. Weights are
// taken against a score that is `below` the largest, and go through round() before they meet v.
template <class Real, class T, class Round>
Real decode_head(const Decode<T>& p, int sequence, int head, std::vector<Real>& weights, std::vector<Real>& o,
                 Real below, Round round) {
  const auto real = [](T value) {
    if constexpr (std::is_same_v<Real, double>) {
      return to_double(value);
    } else {
      return to_float(value);
    }
  };
  const int keys = p.lengths[sequence] + 1, kv_head = head / (p.heads / p.kv_heads);
  const T* q = p.q + p.q_pitch.at(sequence, head);
  const T* k = decode_cache(p, p.k, sequence, kv_head);
  const T* v = decode_cache(p, p.v, sequence, kv_head);
  weights.resize(static_cast<size_t>(keys));
  o.assign(static_cast<size_t>(p.dim), 0);
  Real most = -std::numeric_limits<Real>::infinity(), sum = 0;
  for (Real& weight : weights) {
    Real score = 0;
    for (int d = 0; d < p.dim; ++d) score += real(q[d]) * real(k[d]);
    weight = score * static_cast<Real>(p.scale);
    most = std::max(most, weight);
    k += p.dim;
  }
  most -= below;
  for (Real& weight : weights) {
    sum += weight = std::exp(weight - most);
    weight = round(weight);
    for (int d = 0; d < p.dim; ++d) o[static_cast<size_t>(d)] += weight * real(v[d]);
    v += p.dim;
  }
  for (Real& value : o) value /= sum;
  return most + std::log(sum);
}

namespace detail {

// o and lse of one head from one(sequence, head, o), which returns lse.
template <class T, class Real, class One>
void decode_write(const Decode<T>& p, int64_t row, std::vector<Real>& o, const One& one) {
  const int sequence = static_cast<int>(row / p.heads), head = static_cast<int>(row % p.heads);
  Real lse = std::numeric_limits<Real>::quiet_NaN();
  if (has_room(p.lengths[sequence], p.capacity)) {
    lse = one(sequence, head, o);
  } else {
    o.assign(static_cast<size_t>(p.dim), lse);
  }
  p.lse[row] = static_cast<float>(lse);
  for (int d = 0; d < p.dim; ++d)
    p.o[p.o_pitch.at(sequence, head) + d] = from_double<T>(static_cast<double>(o[static_cast<size_t>(d)]));
}

}  // namespace detail

// The truth.
template <class T>
void decode_reference(const Decode<T>& p) {
  decode_append(p);
  std::vector<double> weights, o;
  for (int64_t row = 0; row < int64_t{p.batch} * p.heads; ++row) {
    detail::decode_write(p, row, o, [&](int b, int h, std::vector<double>& to) {
      return decode_head<double>(p, b, h, weights, to, 0, [](double weight) { return weight; });
    });
  }
}

// Plain loops in float. With `rounds` the weights are rounded to T before they meet v, as tensor cores want
// them, and no weight is a round 1 (attention_row_plain says why).
template <class T>
void decode_plain(const Decode<T>& p, bool rounds) {
  decode_append(p);
  std::vector<float> weights, o;
  for (int64_t row = 0; row < int64_t{p.batch} * p.heads; ++row) {
    detail::decode_write(p, row, o, [&](int b, int h, std::vector<float>& to) {
      return decode_head<float>(p, b, h, weights, to, 2.5f, [&](float weight) {
        return rounds ? to_float(from_float<T>(weight)) : weight;
      });
    });
  }
}

// All cores, each with heads of its own; loops whose innermost runs along memory in sixteen sums at a time.
template <class T>
void decode_parallel(const Decode<T>& p) {
  decode_append(p);
  parallel_ranges(
      static_cast<size_t>(p.batch) * static_cast<size_t>(p.heads),
      [&](size_t, size_t begin, size_t end) {
        constexpr int kSums = 16;
        std::vector<float> weights, o;
        for (size_t row = begin; row < end; ++row) {
          detail::decode_write(p, static_cast<int64_t>(row), o, [&](int b, int h, std::vector<float>& to) {
            const int kv_head = h / (p.heads / p.kv_heads);
            const T* q = p.q + p.q_pitch.at(b, h);
            const T* k = decode_cache(p, p.k, b, kv_head);
            const T* v = decode_cache(p, p.v, b, kv_head);
            weights.resize(static_cast<size_t>(p.lengths[b]) + 1);
            to.assign(static_cast<size_t>(p.dim), 0);
            float most = -std::numeric_limits<float>::infinity(), sum = 0;
            for (float& weight : weights) {
              float sums[kSums] = {};
              for (int d = 0; d < p.dim; d += kSums)
                for (int i = 0; i < kSums; ++i) sums[i] += to_float(q[d + i]) * to_float(k[d + i]);
              weight = 0;
              for (const float part : sums) weight += part;
              most = std::max(most, weight *= p.scale);
              k += p.dim;
            }
            for (float& weight : weights) {
              sum += weight = std::exp(weight - most);
              for (int d = 0; d < p.dim; ++d) to[static_cast<size_t>(d)] += weight * to_float(v[d]);
              v += p.dim;
            }
            for (float& value : to) value /= sum;
            return most + std::log(sum);
          });
        }
      },
      1);
}

// For .by_rows(): sequences, and the problem of a few of them.
inline constexpr auto kSequences = [](const auto& p) { return static_cast<size_t>(p.batch); };
inline constexpr auto kSomeSequences = [](auto p, size_t begin, size_t end) {
  const int64_t first = static_cast<int64_t>(begin);
  const int64_t cache = first * p.kv_heads * p.capacity * p.dim;
  p.batch = static_cast<int>(end - begin);
  p.q += p.q_pitch.at(first, 0);
  p.k_new += p.new_pitch.at(first, 0);
  p.v_new += p.new_pitch.at(first, 0);
  p.k += cache;
  p.v += cache;
  p.lengths += first;
  p.o += p.o_pitch.at(first, 0);
  p.lse += first * p.heads;
  return p;
};

// ---- Inputs: shapes {batch, heads, kv_heads, capacity, dim}, or {batch, heads, capacity, dim} where each
// ---- head has its own keys ----

// lengths[b] of a sequence, from its number and the capacity.
using DecodeLengths = int (*)(int sequence, int capacity);

inline int full_cache(int, int capacity) {
  return capacity - 1;
}
// Nothing, everything, and what lies between; alone, some of it.
inline int uneven_lengths(int sequence, int capacity) {
  if (sequence % 4 == 1) return 0;
  if (sequence % 4 == 2) return capacity - 1;
  return static_cast<int>(uniform_integer(310, static_cast<uint64_t>(sequence), 0, capacity));
}
// One that has room in three, one that has none, and one that is no length.
inline int lengths_out_of_range(int sequence, int capacity) {
  return sequence % 3 == 0 ? capacity : sequence % 3 == 1 ? capacity / 2 : -1;
}

// The extents, lengths, and outputs; q, k_new, v_new, k and v are whatever fill() makes.
template <class Fill>
auto decode_arrays(DecodeLengths lengths, Fill fill) {
  return [=](auto& p, Shape s, Inputs& in) {
    const bool groups = s.size() == 5;
    p.batch = s[0];
    p.heads = s[1];
    p.kv_heads = s[groups ? 2 : 1];
    p.capacity = s[groups ? 3 : 2];
    p.dim = s[groups ? 4 : 3];
    p.scale = static_cast<float>(scalar("scale", 1.0f / std::sqrt(static_cast<float>(p.dim))));
    p.q_pitch = p.o_pitch = dense_pitch(p.heads, p.dim);
    p.new_pitch = dense_pitch(p.kv_heads, p.dim);
    fill(p, in);
    p.lengths = in.fill("lengths", p.batch, [lengths, capacity = p.capacity](size_t i) {
      return static_cast<double>(lengths(static_cast<int>(i), capacity));
    });
    p.o = in.output("o", p.batch, p.heads, p.dim);
    p.lse = in.output("lse", p.batch, p.heads);
  };
}

// N(0, scale_qk^2) in q and the keys, whose scores then have a standard deviation of scale_qk^2, and N(0, 1) in
// the values; in all of the cache, in use or not.
inline auto decode_inputs(DecodeLengths lengths = full_cache, double scale_qk = 1) {
  return decode_arrays(lengths, [=](auto& p, Inputs& in) {
    const Extent batch = p.batch, row = batch * p.kv_heads * p.dim, cache = row * p.capacity;
    p.q = in.normal("q", batch * p.heads * p.dim, scale_qk);
    p.k_new = in.normal("k_new", row, scale_qk);
    p.v_new = in.normal("v_new", row);
    p.k = in.normal("k", cache, scale_qk).as(p.batch, p.kv_heads, p.capacity, p.dim);
    p.v = in.normal("v", cache).as(p.batch, p.kv_heads, p.capacity, p.dim);
  });
}

// The same with q, k_new and v_new in the rows (heads + 2 * kv_heads, dim) in which a layer computes them.
inline auto decode_packed(DecodeLengths lengths) {
  return decode_arrays(lengths, [](auto& p, Inputs& in) {
    const Extent batch = p.batch, cache = batch * p.kv_heads * p.capacity * p.dim;
    const int64_t heads = int64_t{p.heads} + 2 * int64_t{p.kv_heads};
    p.q = in.normal("qkv", batch * heads * p.dim);
    p.k_new = p.q + int64_t{p.heads} * p.dim;
    p.v_new = p.k_new + int64_t{p.kv_heads} * p.dim;
    p.q_pitch = p.new_pitch = dense_pitch(heads, p.dim);
    p.k = in.normal("k", cache).as(p.batch, p.kv_heads, p.capacity, p.dim);
    p.v = in.normal("v", cache).as(p.batch, p.kv_heads, p.capacity, p.dim);
  });
}

// A row of k or v: row `length` is that of the new token.
struct DecodePlace {
  int sequence, head, row, length;
};

// Elements of q from q(i), of keys and values from k(place, i) and v(place, i), i counted over the cache. What
// lies beyond the new row, and in its place until it is written, is NaN.
template <class Q, class K, class V>
auto decode_elements(DecodeLengths lengths, Q q, K k, V v) {
  return decode_arrays(lengths, [=](auto& p, Inputs& in) {
    const auto place = [=, heads = p.kv_heads, capacity = p.capacity](size_t row) {
      const size_t of_head = static_cast<size_t>(capacity), all = static_cast<size_t>(heads);
      const int sequence = static_cast<int>(row / of_head / all);
      return DecodePlace{sequence, static_cast<int>(row / of_head % all), static_cast<int>(row % of_head),
                         lengths(sequence, capacity)};
    };
    const size_t dim = static_cast<size_t>(p.dim), capacity = static_cast<size_t>(p.capacity);
    const auto cached = [=](const auto& f) {
      return [=](size_t i) {
        const DecodePlace at = place(i / dim);
        return at.row < at.length ? f(at, i) : std::numeric_limits<double>::quiet_NaN();
      };
    };
    const auto added = [=](const auto& f) {
      return [=](size_t i) {
        DecodePlace at = place(i / dim * capacity);
        at.row = at.length;
        const size_t row = i / dim * capacity + static_cast<size_t>(std::max(at.length, 0));
        return f(at, row * dim + i % dim);
      };
    };
    const Extent batch = p.batch, row = batch * p.kv_heads * p.dim, cache = row * p.capacity;
    p.q = in.fill("q", batch * p.heads * p.dim, q);
    p.k_new = in.fill("k_new", row, added(k));
    p.v_new = in.fill("v_new", row, added(v));
    p.k = in.fill("k", cache, cached(k)).as(p.batch, p.kv_heads, p.capacity, p.dim);
    p.v = in.fill("v", cache, cached(v)).as(p.batch, p.kv_heads, p.capacity, p.dim);
  });
}

namespace detail {
inline double decode_normal_q(size_t i) {
  return normal(311, i);
}
inline double decode_normal_k(DecodePlace, size_t i) {
  return normal(312, i);
}
inline double decode_normal_v(DecodePlace, size_t i) {
  return normal(313, i);
}
}  // namespace detail

// N(0, 1), and NaN wherever nothing is in use.
inline auto decode_nan_behind(DecodeLengths lengths) {
  return decode_elements(lengths, detail::decode_normal_q, detail::decode_normal_k, detail::decode_normal_v);
}

// Each key outweighs those before it, so the largest score so far grows with every key.
inline auto decode_rising(DecodeLengths lengths) {
  const auto make = decode_elements(
      lengths, [](size_t) { return 0.5 / 32; },
      [](DecodePlace at, size_t i) { return (0.02 * at.row + 0.1 * normal(314, i)) / 32; },
      detail::decode_normal_v);
  return [make](auto& p, Shape s, Inputs& in) {
    make(p, s, in);
    p.scale *= 32 * 32;
  };
}

// One key in fifty is thirty times as long as the others, and takes all the weight or none; one value in
// seventy is large.
inline auto decode_outliers(DecodeLengths lengths) {
  return decode_elements(
      lengths, detail::decode_normal_q,
      [](DecodePlace at, size_t i) { return normal(312, i) * (at.row % 50 == 7 ? 30 : 1); },
      [](DecodePlace at, size_t i) { return normal(313, i) * (at.row % 70 == 69 ? 100 : 1); });
}

// All weights are the same, so o is the mean of the values.
inline auto decode_all_equal(DecodeLengths lengths) {
  return decode_elements(
      lengths, [](size_t) { return 1.0; }, [](DecodePlace, size_t) { return -2.0; },
      [](DecodePlace at, size_t) { return 1.0 + at.row % 5; });
}

// One key of one head in two has a NaN in its middle, in the cache of the first heads and among the new keys of
// the last: o of these heads is NaN, and of no other.
inline auto decode_nan_keys(DecodeLengths lengths) {
  return decode_elements(
      lengths, detail::decode_normal_q,
      [](DecodePlace at, size_t i) {
        const bool hit = at.head % 2 == 0 && at.row == (at.sequence % 2 == 0 ? at.length / 2 : at.length);
        return hit && i % 64 == 32 ? std::numeric_limits<double>::quiet_NaN() : normal(312, i);
      },
      detail::decode_normal_v);
}

// ---- What a ladder needs besides ----

// As if each cache were full: the rows in use in, and one row of each head out.
template <class T>
Traffic decode_traffic(const Decode<T>& p) {
  const double kv = 1.0 * p.batch * p.kv_heads * p.dim, heads = 1.0 * p.batch * p.heads;
  const double old = kv * (p.capacity - 1);
  return reads(p.q, heads * p.dim) + reads(p.k_new, kv) + reads(p.v_new, kv) + reads(p.k, old) +
         reads(p.v, old) + reads(p.lengths, p.batch) + writes(p.k, kv) + writes(p.v, kv) +
         writes(p.o, heads * p.dim) + writes(p.lse, heads);
}

namespace detail {

// Of rows: the root of the mean square of all numbers in them, and the length of the longest. A row with a
// number that is none has no say.
struct DecodeSizes {
  double squares = 0, count = 0, longest = 0;

  template <class T>
  void add(const T* row, int dim) {
    double sum = 0;
    for (int d = 0; d < dim; ++d) sum += to_double(row[d]) * to_double(row[d]);
    if (!std::isfinite(sum)) return;
    squares += sum;
    count += dim;
    longest = std::max(longest, std::sqrt(sum));
  }
  double rms() const { return count == 0 ? 0 : std::sqrt(squares / count); }
};
template <class T>
DecodeSizes decode_q_sizes(const Decode<T>& p) {
  DecodeSizes sizes;
  for (int b = 0; b < p.batch; ++b)
    for (int h = 0; h < p.heads; ++h) sizes.add(p.q + p.q_pitch.at(b, h), p.dim);
  return sizes;
}
// Of the rows that are in use after the call.
template <class T>
DecodeSizes decode_cache_sizes(const Decode<T>& p, T* cache) {
  DecodeSizes sizes;
  for (int b = 0; b < p.batch; ++b) {
    if (!has_room(p.lengths[b], p.capacity)) continue;
    for (int h = 0; h < p.kv_heads; ++h) {
      for (int64_t row = 0; row <= p.lengths[b]; ++row)
        sizes.add(decode_cache(p, cache, b, h) + row * p.dim, p.dim);
    }
  }
  return sizes;
}
// What the order of a float sum may change in an element of o, by scores of typical rows.
template <class T>
double decode_rounding(const Decode<T>& p) {
  const double n = p.dim, typical = static_cast<double>(p.scale) * std::sqrt(n) * decode_q_sizes(p).rms() *
                                    decode_cache_sizes(p, p.k).rms();
  return 4 * (TypeInfo<float>::kEpsilon / 2) * (std::sqrt(n) * typical + 1) *
         std::max(1.0, decode_cache_sizes(p, p.v).rms());
}

}  // namespace detail

// Of o: at most twice the error of the plain version, and what the order of a float sum may change in scores of
// typical rows (as AttentionTolerance). `rounds`: where weights may be rounded to T.
struct DecodeTolerance {
  bool rounds = false;

  template <class T>
  Bound operator()(Type<T> type, const Decode<T>& p, Inputs& inputs) const {
    const bool rounded = rounds;
    Bound bound = at_most_twice([=](const auto& q) { decode_plain(q, rounded); })(type, p, inputs);
    bound.absolute += detail::decode_rounding(p);
    return bound;
  }
};

// Of lse, a float whatever T is: the error of the score that outweighs the others, so of the longest rows of q
// and k, and its own rounding.
struct DecodeLseTolerance {
  template <class T>
  Bound operator()(Type<T>, const Decode<T>& p, Inputs&) const {
    const double score = static_cast<double>(p.scale) * detail::decode_q_sizes(p).longest *
                         detail::decode_cache_sizes(p, p.k).longest;
    return {4 * (TypeInfo<float>::kEpsilon / 2) * (score + 1), 2 * TypeInfo<float>::kEpsilon};
  }
};

}  // namespace days
