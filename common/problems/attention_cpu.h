// SPDX-License-Identifier: MIT
//
// Attention on the CPU: the truth, a plain version in the kernels' precision, which sets the tolerance, the
// parallel baseline, and a check of large problems.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/inputs.h"
#include "common/ladder.h"
#include "common/parallel.h"
#include "common/problems/attention.h"
#include "common/random.h"
#include "common/scalar.h"
#include "common/types.h"

namespace days {

// Row `row` of head `head` (of batch * heads) in double. Returns the log of the sum; `weights` is scratch.
template <class T>
double attention_row(const Attention<T>& p, int64_t head, int row, std::vector<double>& weights,
                     std::vector<double>& o) {
  const int keys = visible_keys(p.causal, row, p.seq_q, p.seq_k);
  const T* q = p.q + (head * p.seq_q + row) * p.dim;
  weights.resize(static_cast<size_t>(keys));
  o.assign(static_cast<size_t>(p.dim), 0);
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int j = 0; j < keys; ++j) {
    const T* k = p.k + (head * p.seq_k + j) * p.dim;
    double score = 0;
    for (int d = 0; d < p.dim; ++d) score += to_double(q[d]) * to_double(k[d]);
    weights[static_cast<size_t>(j)] = score * static_cast<double>(p.scale);
    most = std::max(most, weights[static_cast<size_t>(j)]);
  }
  if (keys == 0) return most;
  for (double& weight : weights) sum += weight = std::exp(weight - most);
  for (int j = 0; j < keys; ++j) {
    const T* v = p.v + (head * p.seq_k + j) * p.dim;
    const double weight = weights[static_cast<size_t>(j)] / sum;
    for (int d = 0; d < p.dim; ++d) o[static_cast<size_t>(d)] += weight * to_double(v[d]);
  }
  return most + std::log(sum);
}

// The same as plain loops in float, with the weights rounded to T before they meet v, as tensor cores want
// them. An online softmax weighs against the largest score that it has met so far, which may lie below the
// row's, so no weight is a round 1: here the reference point is 2.5 below.
template <class T>
float attention_row_plain(const Attention<T>& p, int64_t head, int row, std::vector<float>& weights,
                          std::vector<float>& o) {
  const int keys = visible_keys(p.causal, row, p.seq_q, p.seq_k);
  const T* q = p.q + (head * p.seq_q + row) * p.dim;
  weights.resize(static_cast<size_t>(keys));
  o.assign(static_cast<size_t>(p.dim), 0);
  float most = -std::numeric_limits<float>::infinity(), sum = 0;
  for (int j = 0; j < keys; ++j) {
    const T* k = p.k + (head * p.seq_k + j) * p.dim;
    float score = 0;
    for (int d = 0; d < p.dim; ++d) score += to_float(q[d]) * to_float(k[d]);
    weights[static_cast<size_t>(j)] = score * p.scale;
    most = std::max(most, weights[static_cast<size_t>(j)]);
  }
  if (keys == 0) return most;
  most -= 2.5f;
  for (float& weight : weights) {
    weight = std::exp(weight - most);
    sum += weight;
    weight = to_float(from_float<T>(weight));
  }
  for (int j = 0; j < keys; ++j) {
    const T* v = p.v + (head * p.seq_k + j) * p.dim;
    for (int d = 0; d < p.dim; ++d)
      o[static_cast<size_t>(d)] += weights[static_cast<size_t>(j)] * to_float(v[d]);
  }
  for (float& value : o) value /= sum;
  return most + std::log(sum);
}

// The truth.
template <class T>
void attention_reference(const Attention<T>& p) {
  std::vector<double> weights, o;
  for (int64_t at = 0; at < int64_t{p.batch} * p.heads * p.seq_q; ++at) {
    const double lse = attention_row(p, at / p.seq_q, static_cast<int>(at % p.seq_q), weights, o);
    p.lse[at] = static_cast<float>(lse);
    for (int d = 0; d < p.dim; ++d) p.o[at * p.dim + d] = from_double<T>(o[static_cast<size_t>(d)]);
  }
}

template <class T>
void attention_plain(const Attention<T>& p) {
  std::vector<float> weights, o;
  for (int64_t at = 0; at < int64_t{p.batch} * p.heads * p.seq_q; ++at) {
    p.lse[at] = attention_row_plain(p, at / p.seq_q, static_cast<int>(at % p.seq_q), weights, o);
    for (int d = 0; d < p.dim; ++d) p.o[at * p.dim + d] = from_float<T>(o[static_cast<size_t>(d)]);
  }
}

namespace detail {

// What a CPU's core does well with a page of code: kRows queries against kKeys keys at a time, widened to
// float once, with loops whose innermost runs along memory, so that the compiler vectorises it.
template <class T>
class AttentionRows {
 public:
  static constexpr int kRows = 16, kKeys = 64, kMostDim = 128;

  void operator()(const Attention<T>& p, int64_t head, int first) {
    const int rows = std::min(kRows, p.seq_q - first);
    for (int i = 0; i < rows; ++i) {
      most_[i] = -std::numeric_limits<float>::infinity();
      sum_[i] = 0;
      const T* q = p.q + (head * p.seq_q + first + i) * p.dim;
      for (int d = 0; d < p.dim; ++d) {
        q_[i][d] = to_float(q[d]);
        o_[i][d] = 0;
      }
    }
    const int keys = visible_keys(p.causal, first + rows - 1, p.seq_q, p.seq_k);
    for (int j = 0; j < keys; j += kKeys) add(p, head, first, rows, j, std::min(kKeys, keys - j));
    for (int i = 0; i < rows; ++i) {
      const int64_t at = head * p.seq_q + first + i;
      p.lse[at] = most_[i] + std::log(sum_[i]);
      for (int d = 0; d < p.dim; ++d)
        p.o[at * p.dim + d] = from_float<T>(sum_[i] == 0 ? 0.0f : o_[i][d] / sum_[i]);
    }
  }

 private:
  void add(const Attention<T>& p, int64_t head, int first, int rows, int key0, int keys) {
    for (int j = 0; j < keys; ++j) {
      const int64_t at = (head * p.seq_k + key0 + j) * p.dim;
      for (int d = 0; d < p.dim; ++d) {
        k_[d][j] = to_float(p.k[at + d]);
        v_[j][d] = to_float(p.v[at + d]);
      }
    }
    for (int i = 0; i < rows; ++i) {
      const int seen = std::min(keys, visible_keys(p.causal, first + i, p.seq_q, p.seq_k) - key0);
      if (seen <= 0) continue;
      float scores[kKeys] = {};
      for (int d = 0; d < p.dim; ++d) {
        for (int j = 0; j < seen; ++j) scores[j] += q_[i][d] * k_[d][j];
      }
      float most = most_[i];
      for (int j = 0; j < seen; ++j) most = std::max(most, scores[j] *= p.scale);
      const float shrink = std::exp(most_[i] - most);
      most_[i] = most;
      sum_[i] *= shrink;
      for (int d = 0; d < p.dim; ++d) o_[i][d] *= shrink;
      for (int j = 0; j < seen; ++j) {
        const float weight = std::exp(scores[j] - most);
        sum_[i] += weight;
        for (int d = 0; d < p.dim; ++d) o_[i][d] += weight * v_[j][d];
      }
    }
  }

  float q_[kRows][kMostDim], o_[kRows][kMostDim], most_[kRows], sum_[kRows];
  float k_[kMostDim][kKeys], v_[kKeys][kMostDim];
};

}  // namespace detail

// All cores, each with its own rows.
template <class T>
void attention_parallel(const Attention<T>& p) {
  using Rows = detail::AttentionRows<T>;
  const int64_t blocks = ceil_div(p.seq_q, Rows::kRows);
  const double work = 4.0 * Rows::kRows * p.seq_k * p.dim;  // of one of them
  parallel_ranges(
      static_cast<size_t>(blocks * p.batch * p.heads),
      [&](size_t, size_t begin, size_t end) {
        const auto rows = std::make_unique<Rows>();
        for (size_t i = begin; i < end; ++i) {
          const int64_t at = static_cast<int64_t>(i);
          (*rows)(p, at / blocks, static_cast<int>(at % blocks) * Rows::kRows);
        }
      },
      static_cast<size_t>(std::max(1.0, 5e5 / work)));  // below, a thread costs more than it does
}

// ---- What a ladder needs ----

// Inputs of a shape {batch, heads, seq_q, seq_k, dim}. `scale_qk` multiplies q and k: the scores then have a
// standard deviation of scale_qk^2.
inline auto attention_inputs(bool causal, double scale_qk = 1) {
  return [=](auto& p, Shape s, Inputs& in) {
    p.batch = s[0];
    p.heads = s[1];
    p.seq_q = s[2];
    p.seq_k = s[3];
    p.dim = s[4];
    p.scale = static_cast<float>(scalar("scale", 1.0f / std::sqrt(static_cast<float>(p.dim))));
    p.causal = causal;
    p.q = in.normal("q", s[0] * s[1] * s[2] * s[4], scale_qk);
    p.k = in.normal("k", s[0] * s[1] * s[3] * s[4], scale_qk);
    p.v = in.normal("v", s[0] * s[1] * s[3] * s[4]);
    p.o = in.output("o", s[0], s[1], s[2], s[4]);
    p.lse = in.output("lse", s[0], s[1], s[2]);
  };
}

// The same, with element (row, column) of q, k and v from functions of both, rows counted within a head.
template <class Q, class K, class V>
auto attention_elements(bool causal, Q q, K k, V v) {
  return [=](auto& p, Shape s, Inputs& in) {
    Inputs nowhere(Inputs::Where::kNowhere);
    attention_inputs(causal)(p, s, nowhere);
    const auto by_row = [&](const auto& function, int rows) {
      return [function, rows, dim = p.dim](size_t i) {
        const size_t width = static_cast<size_t>(dim);
        return function(static_cast<int>(i / width % static_cast<size_t>(rows)), i);
      };
    };
    p.q = in.fill("q", s[0] * s[1] * s[2] * s[4], by_row(q, p.seq_q));
    p.k = in.fill("k", s[0] * s[1] * s[3] * s[4], by_row(k, p.seq_k));
    p.v = in.fill("v", s[0] * s[1] * s[3] * s[4], by_row(v, p.seq_k));
    p.o = in.output("o", s[0], s[1], s[2], s[4]);
    p.lse = in.output("lse", s[0], s[1], s[2]);
  };
}

// One key in fifty is thirty times as long as the others, and takes all the weight or none; one value in seventy is large.
inline auto attention_outliers(bool causal) {
  return attention_elements(
      causal, [](int, size_t i) { return normal(303, i); },
      [](int row, size_t i) { return normal(304, i) * (row % 50 == 7 ? 30 : 1); },
      [](int row, size_t i) { return normal(305, i) * (row % 70 == 69 ? 100 : 1); });
}

// All weights are the same, so a row of o is the mean of the values that it sees.
inline auto attention_all_equal(bool causal) {
  return attention_elements(
      causal, [](int, size_t) { return 1.0; }, [](int, size_t) { return -2.0; },
      [](int row, size_t) { return 1.0 + row % 5; });
}

template <class T>
Traffic attention_traffic(const Attention<T>& p) {
  const double heads = 1.0 * p.batch * p.heads;
  return reads(p.q, heads * p.seq_q * p.dim) + reads(p.k, heads * p.seq_k * p.dim) +
         reads(p.v, heads * p.seq_k * p.dim) + writes(p.o, heads * p.seq_q * p.dim) +
         writes(p.lse, heads * p.seq_q);
}

// Two products of 2 * dim operations for each key that a query sees: of n queries and n keys, with `causal`,
// (n + 1) / 2n of them all. The softmax counts nothing, as is the custom.
template <class T>
double attention_flops(const Attention<T>& p) {
  double seen = 1.0 * p.seq_q * p.seq_k;
  if (p.causal) {
    const double last = p.seq_k, first = std::max(1.0, last + 1 - p.seq_q);
    seen = (first + last) / 2 * (last - first + 1);
  }
  return 4.0 * p.batch * p.heads * p.dim * seen;
}

namespace detail {

template <class T>
double attention_rms(const T* data, double count) {
  const size_t n = static_cast<size_t>(count), step = n < 4096 ? 1 : 97;
  double sum = 0;
  for (size_t i = 0; i < n; i += step) sum += to_double(data[i]) * to_double(data[i]);
  return std::sqrt(sum / static_cast<double>(ceil_div(n, step)));
}

// The error that any order of summation in float may make in a score of typical rows, as DotProduct has it.
template <class T>
double attention_score_rounding(const Attention<T>& p) {
  const double heads = 1.0 * p.batch * p.heads;
  const double rms_q_k =
      attention_rms(p.q, heads * p.seq_q * p.dim) * attention_rms(p.k, heads * p.seq_k * p.dim);
  const double n = p.dim, typical = static_cast<double>(p.scale) * std::sqrt(n) * rms_q_k;
  return 4 * (TypeInfo<float>::kEpsilon / 2) * (std::sqrt(n) * typical + 1);
}
// The same in an element of o, against which a plain version may look too good by luck where there are few of
// them: a score that is wrong by x makes a weight, and so o, wrong by that share.
template <class T>
double attention_rounding(const Attention<T>& p) {
  const double values = 1.0 * p.batch * p.heads * p.seq_k * p.dim;
  return attention_score_rounding(p) * std::max(1.0, attention_rms(p.v, values));
}

}  // namespace detail

// At most twice the error of the plain version, and what the order of a float sum may change.
struct AttentionTolerance {
  template <class T>
  Bound operator()(Type<T> type, const Attention<T>& p, Inputs& inputs) const {
    Bound bound = at_most_twice([](const auto& q) { attention_plain(q); })(type, p, inputs);
    bound.absolute += detail::attention_rounding(p);
    return bound;
  }
};

// lse is a float whatever T is: its error is that of the score that outweighs the others, so of the longest
// rows of q and k, and its own rounding.
struct AttentionLseTolerance {
  template <class T>
  Bound operator()(Type<T>, const Attention<T>& p, Inputs&) const {
    const auto longest = [&](const T* data, int seq) {
      double most = 0;
      for (int64_t row = 0; row < int64_t{p.batch} * p.heads * seq; ++row) {
        double squares = 0;
        for (int d = 0; d < p.dim; ++d) squares += std::pow(to_double(data[row * p.dim + d]), 2);
        most = std::max(most, squares);
      }
      return std::sqrt(most);
    };
    const double score = static_cast<double>(p.scale) * longest(p.q, p.seq_q) * longest(p.k, p.seq_k);
    return {4 * (TypeInfo<float>::kEpsilon / 2) * (score + 1), 2 * TypeInfo<float>::kEpsilon};
  }
};

// Checks a large problem without computing all of it: every element of o must be a weighted mean of its
// column of v, so between its least and its largest value, and 512 rows, the first and last ones among them,
// are held against the reference by the same tolerance.
template <class T>
Report attention_check_large(const Attention<T>& p) {
  constexpr size_t kSampled = 512;
  const size_t dim = static_cast<size_t>(p.dim);
  const int64_t heads = int64_t{p.batch} * p.heads;
  std::vector<T> got(kSampled * dim), want(got);
  std::vector<float> got_lse(kSampled), want_lse(kSampled);
  std::vector<double> worst(cpu_threads(), 0.0);
  std::vector<int64_t> where(kSampled);
  for (size_t i = 0; i < kSampled; ++i) {
    const int64_t head = i < 4 ? (i / 2 == 0 ? 0 : heads - 1) : uniform_integer(201, i, 0, heads);
    const int64_t row = i < 4 ? (i % 2 == 0 ? 0 : p.seq_q - 1) : uniform_integer(202, i, 0, p.seq_q);
    where[i] = head * p.seq_q + row;
  }
  parallel_ranges(
      kSampled,
      [&](size_t part, size_t begin, size_t end) {
        std::vector<double> weights, o;
        std::vector<float> plain_weights, plain;
        for (size_t i = begin; i < end; ++i) {
          const int64_t head = where[i] / p.seq_q;
          const int row = static_cast<int>(where[i] % p.seq_q);
          const float lse = static_cast<float>(attention_row(p, head, row, weights, o));
          attention_row_plain(p, head, row, plain_weights, plain);
          got_lse[i] = p.lse[where[i]];
          want_lse[i] = lse;
          for (size_t d = 0; d < dim; ++d) {
            got[i * dim + d] = p.o[where[i] * p.dim + static_cast<int64_t>(d)];
            want[i * dim + d] = from_double<T>(o[d]);
            worst[part] = std::max(
                worst[part], error_of(to_double(from_float<T>(plain[d])), to_double(want[i * dim + d])));
          }
        }
      },
      1);
  const Bound bound{2 * *std::max_element(worst.begin(), worst.end()) + detail::attention_rounding(p),
                    TypeInfo<T>::kEpsilon};
  Report o = compare(got.data(), want.data(), got.size(), bound);
  o.name = "o";
  o.dims = {p.batch, p.heads, p.seq_q, p.dim};
  const auto element = [&](size_t at) { return static_cast<size_t>(where[at / dim]) * dim + at % dim; };
  for (Mismatch& m : o.first) m.index = element(m.index);
  o.worst_at = element(o.worst_at);
  Inputs none(Inputs::Where::kNowhere);
  Report lse =
      compare(got_lse.data(), want_lse.data(), kSampled, AttentionLseTolerance{}(Type<T>{}, p, none));
  lse.name = "lse";
  lse.dims = {p.batch, p.heads, p.seq_q};
  for (Mismatch& m : lse.first) m.index = static_cast<size_t>(where[m.index]);
  lse.worst_at = static_cast<size_t>(where[lse.worst_at]);
  Report report;
  report.add(o);
  report.add(lse);

  std::vector<std::string> outside(static_cast<size_t>(heads));
  parallel_ranges(
      static_cast<size_t>(heads),
      [&](size_t, size_t begin, size_t end) {
        for (size_t head = begin; head < end; ++head) {
          std::vector<double> least(dim, p.causal && p.seq_q > p.seq_k ? 0.0 : 1e300), most(dim, -least[0]);
          const T* v = p.v + head * static_cast<size_t>(p.seq_k) * dim;
          for (size_t i = 0; i < static_cast<size_t>(p.seq_k) * dim; ++i) {
            least[i % dim] = std::min(least[i % dim], to_double(v[i]));
            most[i % dim] = std::max(most[i % dim], to_double(v[i]));
          }
          const T* o = p.o + head * static_cast<size_t>(p.seq_q) * dim;
          for (size_t i = 0; i < static_cast<size_t>(p.seq_q) * dim; ++i) {
            const double value = to_double(o[i]), slack = bound.absolute + bound.relative * std::abs(value);
            if (value >= least[i % dim] - slack && value <= most[i % dim] + slack) continue;
            outside[head] = "head " + std::to_string(head) + ", query " + std::to_string(i / dim) +
                            ", column " + std::to_string(i % dim) + " is " + Report::number(value) +
                            ", beyond all of v's column";
            break;
          }
        }
      },
      1);
  for (const std::string& text : outside) {
    if (!text.empty() && report.notes.size() < Report::kShown) report.notes.push_back(text);
  }
  return report;
}

}  // namespace days
