// SPDX-License-Identifier: MIT
//
// The gradients of attention on the CPU: the truth, a plain version in the kernels' precision, which sets the
// tolerance, inputs whose o and lse a forward pass made, and a check of large problems.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/compare.h"
#include "common/inputs.h"
#include "common/ladder.h"
#include "common/parallel.h"
#include "common/problems/attention_backward.h"
#include "common/random.h"
#include "common/scalar.h"
#include "common/types.h"

namespace days {

// The gradients a row at a time, in `Number`: double for the truth. `kRounded`: the weights and dS are rounded to T
// before their products, as tensor cores want them.
template <class Number, bool kRounded>
struct AttentionGradients {
  template <class T>
  static Number number(T x) {
    return static_cast<Number>(to_double(x));
  }
  template <class T>
  static Number rounded(Number x) {
    if constexpr (kRounded) return number(from_double<T>(static_cast<double>(x)));
    return x;
  }
  template <class T>
  static Number dot(const T* a, const T* b, int dim) {
    Number sum = 0;
    for (int d = 0; d < dim; ++d) sum += number(a[d]) * number(b[d]);
    return sum;
  }

  // What query `row` of a head and a key have of each other: the weight, and dS. The query must see the key.
  struct Pair {
    Number weight, ds;
  };
  template <class T>
  static Pair pair(const AttentionBackward<T>& p, int batch, int head, int row, int key) {
    const int64_t q = p.of_q.at(batch, head, row), o = p.of_o.at(batch, head, row);
    const int64_t k = p.of_kv.at(batch, head / (p.heads / p.kv_heads), key);
    const Number lse = static_cast<Number>(p.lse[(int64_t{batch} * p.heads + head) * p.seq_q + row]);
    const Number weight = std::exp(dot(p.q + q, p.k + k, p.dim) * static_cast<Number>(p.scale) - lse);
    const Number ds = weight * (dot(p.dout + o, p.v + k, p.dim) - dot(p.dout + o, p.o + o, p.dim));
    return {rounded<T>(weight), rounded<T>(ds)};
  }

  template <class T>
  static void query(const AttentionBackward<T>& p, int batch, int head, int row, std::vector<Number>& dq) {
    dq.assign(static_cast<size_t>(p.dim), 0);
    const int keys = visible_keys(p.causal, row, p.seq_q, p.seq_k);
    for (int key = 0; key < keys; ++key) {
      const Number ds = pair(p, batch, head, row, key).ds;
      const T* k = p.k + p.of_kv.at(batch, head / (p.heads / p.kv_heads), key);
      for (int d = 0; d < p.dim; ++d) dq[static_cast<size_t>(d)] += ds * number(k[d]);
    }
    for (Number& x : dq) x *= static_cast<Number>(p.scale);
  }

  template <class T>
  static void key(const AttentionBackward<T>& p, int batch, int kv_head, int key, std::vector<Number>& dk,
                  std::vector<Number>& dv) {
    dk.assign(static_cast<size_t>(p.dim), 0);
    dv = dk;
    const int group = p.heads / p.kv_heads;
    for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
      for (int row = 0; row < p.seq_q; ++row) {
        if (key >= visible_keys(p.causal, row, p.seq_q, p.seq_k)) continue;
        const Pair of = pair(p, batch, head, row, key);
        const T* q = p.q + p.of_q.at(batch, head, row);
        const T* dout = p.dout + p.of_o.at(batch, head, row);
        for (int d = 0; d < p.dim; ++d) {
          dk[static_cast<size_t>(d)] += of.ds * number(q[d]);
          dv[static_cast<size_t>(d)] += of.weight * number(dout[d]);
        }
      }
    }
    for (Number& x : dk) x *= static_cast<Number>(p.scale);
  }

  // All of them, on all cores.
  template <class T>
  static void all(const AttentionBackward<T>& p) {
    const int64_t queries = int64_t{p.batch} * p.heads * p.seq_q,
                  keys = int64_t{p.batch} * p.kv_heads * p.seq_k;
    parallel_ranges(
        static_cast<size_t>(queries + keys),
        [&](size_t, size_t begin, size_t end) {
          std::vector<Number> one, other;
          const auto store = [&](const std::vector<Number>& from, T* to) {
            for (const Number x : from) *to++ = from_double<T>(static_cast<double>(x));
          };
          for (int64_t i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
            const bool is_query = i < queries;
            const int64_t at = is_query ? i : i - queries;
            const int seq = is_query ? p.seq_q : p.seq_k, heads = is_query ? p.heads : p.kv_heads;
            const int row = static_cast<int>(at % seq), head = static_cast<int>(at / seq % heads);
            const int batch = static_cast<int>(at / seq / heads);
            if (is_query) {
              query(p, batch, head, row, one);
              store(one, p.dq + p.of_q.at(batch, head, row));
            } else {
              key(p, batch, head, row, one, other);
              store(one, p.dk + p.of_kv.at(batch, head, row));
              store(other, p.dv + p.of_kv.at(batch, head, row));
            }
          }
        },
        static_cast<size_t>(
            std::max<int64_t>(1, (int64_t{1} << 20) / (int64_t{p.dim} * (p.seq_q + p.seq_k)))));
  }
};

// The truth, from o and lse as they are given.
template <class T>
void attention_backward_reference(const AttentionBackward<T>& p) {
  AttentionGradients<double, false>::all(p);
}
template <class T>
void attention_backward_plain(const AttentionBackward<T>& p) {
  AttentionGradients<float, true>::all(p);
}

// o and lse in double, rounded as forward rounds them; p.q, p.k, p.v are the host's.
template <class T>
void attention_forward(const AttentionBackward<T>& p, T* o, float* lse) {
  std::vector<double> scores(static_cast<size_t>(p.seq_k)), mean(static_cast<size_t>(p.dim));
  for (int64_t at = 0; at < int64_t{p.batch} * p.heads * p.seq_q; ++at) {
    const int row = static_cast<int>(at % p.seq_q), head = static_cast<int>(at / p.seq_q % p.heads);
    const int batch = static_cast<int>(at / p.seq_q / p.heads), kv_head = head / (p.heads / p.kv_heads);
    const int keys = visible_keys(p.causal, row, p.seq_q, p.seq_k);
    double most = -INFINITY, sum = 0;
    for (int key = 0; key < keys; ++key) {
      scores[static_cast<size_t>(key)] =
          static_cast<double>(p.scale) *
          AttentionGradients<double, false>::dot(p.q + p.of_q.at(batch, head, row),
                                                 p.k + p.of_kv.at(batch, kv_head, key), p.dim);
      most = std::max(most, scores[static_cast<size_t>(key)]);
    }
    mean.assign(mean.size(), 0);
    for (int key = 0; key < keys; ++key) {
      const double weight = std::exp(scores[static_cast<size_t>(key)] - most);
      sum += weight;
      const T* v = p.v + p.of_kv.at(batch, kv_head, key);
      for (int d = 0; d < p.dim; ++d) mean[static_cast<size_t>(d)] += weight * to_double(v[d]);
    }
    lse[at] = static_cast<float>(most + std::log(sum));
    for (int d = 0; d < p.dim; ++d)
      o[p.of_o.at(batch, head, row) + d] = from_double<T>(keys == 0 ? 0 : mean[static_cast<size_t>(d)] / sum);
  }
}

// ---- What a ladder needs ----

// How the inputs are to be: q and k are scale_qk * N(0, 1), and v scale_v times; element(name, row, column) replaces
// N(0, 1) where it is set. `packed`: a token's heads lie side by side, k and v in one array, and q with them where there are as many
// queries as keys.
struct BackwardKind {
  bool causal = false, packed = false;
  double scale_qk = 1, scale_v = 1;
  double (*factor)(char name, int row,
                   int head) = nullptr;  // of the element's N(0, 1); head counts through all sequences
  double (*instead)(char name, int row, int column) = nullptr;
};

namespace detail {

// The values of all arrays as doubles that T holds.
struct BackwardValues {
  std::vector<double> q, k, v, o, dout;  // `q` holds k and v too, or `k` holds v, where they lie in one array
  std::vector<float> lse;
};

template <class P>
struct ElementOfBackward;
template <class T>
struct ElementOfBackward<AttentionBackward<T>> {
  using type = T;
};

// Multiply-adds of a forward pass up to which inputs get its o and lse.
inline constexpr double kMostForward = 1e9;

}  // namespace detail

// Sets the numbers of the problem from a shape {batch, heads, kv_heads, seq_q, seq_k, dim}, but no array.
template <class P>
void set_backward_shape(P& p, const Shape& s, const BackwardKind& kind) {
  p.batch = s[0];
  p.heads = s[1];
  p.kv_heads = s[2];
  p.seq_q = s[3];
  p.seq_k = s[4];
  p.dim = s[5];
  p.scale = static_cast<float>(scalar("scale", 1.0f / std::sqrt(static_cast<float>(p.dim))));
  p.causal = kind.causal;
  p.of_q = p.of_o = packed_rows(p.heads, p.seq_q, p.dim);
  p.of_kv = packed_rows(p.kv_heads, p.seq_k, p.dim);
  if (!kind.packed) return;
  const int64_t dim = p.dim, heads = p.heads, both = 2 * int64_t{p.kv_heads};
  const int64_t tokens = p.seq_q == p.seq_k ? (heads + both) * dim : 0;  // of q, k and v together
  p.of_q = {tokens != 0 ? tokens : heads * dim, dim, 0};
  p.of_kv = {tokens != 0 ? tokens : both * dim, dim, 0};
  p.of_o = {heads * dim, dim, 0};
  p.of_q.batch = p.of_q.token * p.seq_q;
  p.of_kv.batch = p.of_kv.token * p.seq_k;
  p.of_o.batch = p.of_o.token * p.seq_q;
}

// Sets q, k, v to arrays that `array(name, elements)` gives, or to parts of one. The same for the gradients.
template <class Element, class Array>
void set_backward_arrays(const BackwardKind& kind, const Shape& s, Element*& q, Element*& k, Element*& v,
                         const char* const (&names)[3], const Array& array) {
  const Extent of_q = s[0] * s[1] * s[3] * s[5], of_k = s[0] * s[2] * s[4] * s[5];
  const int64_t dim = s[5], heads = s[1], kv_heads = s[2];
  if (!kind.packed) {
    q = array(names[0], of_q);
    k = array(names[1], of_k);
    v = array(names[2], of_k);
  } else if (s[3] == s[4]) {
    q = array(names[0], of_q + 2 * of_k);
    k = q + heads * dim;
    v = k + kv_heads * dim;
  } else {
    q = array(names[0], of_q);
    k = array(names[1], 2 * of_k);
    v = k + kv_heads * dim;
  }
}

// Inputs of a kind. Those of large problems are N(0, 1) without a forward pass: then lse is about what one would
// give, and o is a mean of that many values.
inline auto attention_backward_inputs(BackwardKind kind) {
  return [=](auto& p, Shape s, Inputs& in) {
    using T = typename detail::ElementOfBackward<std::remove_cvref_t<decltype(p)>>::type;
    set_backward_shape(p, s, kind);
    const Extent rows = s[0] * s[1] * s[3];
    const auto outputs = [&] {
      if (!kind.packed) {
        p.dq = in.output("dq", s[0], s[1], s[3], s[5]);
        p.dk = in.output("dk", s[0], s[2], s[4], s[5]);
        p.dv = in.output("dv", s[0], s[2], s[4], s[5]);
        return;
      }
      set_backward_arrays(kind, s, p.dq, p.dk, p.dv, {"dq", "dk", "dv"},
                          [&](const char* name, Extent n) -> T* { return in.output(name, n); });
    };
    const double work =
        2.0 * static_cast<double>(rows) * static_cast<double>(s[4]) * static_cast<double>(s[5]);
    const bool some_head_has_no_keys =
        p.kv_heads <= 0 || p.heads % p.kv_heads != 0;  // only sizes are asked for
    if (in.given() || work > detail::kMostForward || some_head_has_no_keys) {
      set_backward_arrays(kind, s, p.q, p.k, p.v, {"q", "k", "v"},
                          [&](const char* name, Extent n) -> const T* { return in.normal(name, n); });
      p.o = in.normal("o", rows * s[5], 1 / std::sqrt(static_cast<double>(s[4])));
      p.dout = in.normal("dout", rows * s[5]);
      p.lse = in.fill("lse", rows, [causal = p.causal, seq_q = p.seq_q, seq_k = p.seq_k](size_t i) {
        return std::log(
                   visible_keys(causal, static_cast<int>(i % static_cast<size_t>(seq_q)), seq_q, seq_k)) +
               0.5;
      });
      return outputs();
    }
    const auto problem = p;
    const detail::BackwardValues& values = in.structure([&](uint64_t seed) {
      detail::BackwardValues made;
      std::vector<std::vector<T>> arrays;
      arrays.reserve(4);
      auto host = problem;
      const auto array = [&](const char*, Extent n) -> const T* {
        return arrays.emplace_back(static_cast<size_t>(n)).data();
      };
      set_backward_arrays(kind, s, host.q, host.k, host.v, {"q", "k", "v"}, array);
      host.dout = array("dout", rows * s[5]);
      std::vector<T> o(arrays.back().size());
      const auto fill = [&](char name, const T* to, const Pitches& at, int heads, int seq, double scale) {
        size_t i = 0;
        for (int batch = 0; batch < host.batch; ++batch) {
          for (int head = 0; head < heads; ++head) {
            for (int row = 0; row < seq; ++row) {
              const double factor =
                  scale * (kind.factor == nullptr ? 1.0 : kind.factor(name, row, batch * heads + head));
              for (int d = 0; d < host.dim; ++d) {
                const double x = kind.instead != nullptr
                                     ? kind.instead(name, row, d)
                                     : normal(seed + static_cast<uint64_t>(name) * 1000, i);
                const_cast<T*>(to)[at.at(batch, head, row) + d] = from_double<T>(factor * x);
                ++i;
              }
            }
          }
        }
      };
      fill('q', host.q, host.of_q, host.heads, host.seq_q, kind.scale_qk);
      fill('k', host.k, host.of_kv, host.kv_heads, host.seq_k, kind.scale_qk);
      fill('v', host.v, host.of_kv, host.kv_heads, host.seq_k, kind.scale_v);
      fill('d', host.dout, host.of_o, host.heads, host.seq_q, 1);
      made.lse.resize(static_cast<size_t>(rows));
      attention_forward(host, o.data(), made.lse.data());
      const auto doubles = [](const std::vector<T>& from) {
        std::vector<double> to;
        to.reserve(from.size());
        for (const T x : from) to.push_back(to_double(x));
        return to;
      };
      made.o = doubles(o);
      made.dout = doubles(arrays.back());
      made.q = doubles(arrays[0]);
      if (arrays.size() > 2) made.k = doubles(arrays[1]);
      if (arrays.size() > 3) made.v = doubles(arrays[2]);
      return made;
    });
    set_backward_arrays(kind, s, p.q, p.k, p.v, {"q", "k", "v"}, [&](const char* name, Extent) -> const T* {
      return in.values(name, *name == 'q' ? values.q : *name == 'k' ? values.k : values.v);
    });
    p.o = in.values("o", values.o);
    p.dout = in.values("dout", values.dout);
    p.lse = in.values("lse", values.lse);
    outputs();
  };
}

template <class T>
Traffic attention_backward_traffic(const AttentionBackward<T>& p) {
  const double queries = 1.0 * p.batch * p.heads * p.seq_q, keys = 1.0 * p.batch * p.kv_heads * p.seq_k;
  return reads(p.q, 3 * queries * p.dim) + reads(p.k, 2 * keys * p.dim) + reads(p.lse, queries) +
         writes(p.dq, queries * p.dim) + writes(p.dk, 2 * keys * p.dim);
}

// Five products of 2 * dim operations for each key that a query sees, however often a kernel computes them.
template <class T>
double attention_backward_flops(const AttentionBackward<T>& p) {
  Attention<T> forward{};
  forward.batch = p.batch;
  forward.heads = p.heads;
  forward.seq_q = p.seq_q;
  forward.seq_k = p.seq_k;
  forward.dim = p.dim;
  forward.causal = p.causal;
  return 2.5 * attention_flops(forward);
}

namespace detail {

template <class T>
double backward_rms(const T* data, const Pitches& at, int batches, int heads, int seq, int dim) {
  double sum = 0;
  for (int batch = 0; batch < batches; ++batch) {
    for (int head = 0; head < heads; ++head) {
      for (int row = 0; row < seq; row += seq < 512 ? 1 : 61) {
        double squares = 0;
        for (int d = 0; d < dim; ++d) squares += std::pow(to_double(data[at.at(batch, head, row) + d]), 2);
        if (std::isfinite(squares)) sum = std::max(sum, squares / dim);
      }
    }
  }
  return std::sqrt(sum);
}

// What any order of summation in float may be off by in a row of dq, or in one of dk or dv with as many weights as such
// rows have on average: a score that is wrong by x makes a weight wrong by that share, and dP - D is wrong by what
// its sums are.
template <class T>
double backward_rounding(const AttentionBackward<T>& p) {
  const double q = backward_rms(p.q, p.of_q, p.batch, p.heads, p.seq_q, p.dim);
  const double k = backward_rms(p.k, p.of_kv, p.batch, p.kv_heads, p.seq_k, p.dim);
  const double v = backward_rms(p.v, p.of_kv, p.batch, p.kv_heads, p.seq_k, p.dim);
  const double dout = backward_rms(p.dout, p.of_o, p.batch, p.heads, p.seq_q, p.dim);
  const double n = p.dim, scale = static_cast<double>(p.scale), score = scale * std::sqrt(n) * q * k;
  const double error = 4 * (TypeInfo<float>::kEpsilon / 2) * (std::sqrt(n) * score + 1);
  const double ds = (error + 4 * (TypeInfo<float>::kEpsilon / 2) * std::sqrt(n)) * std::sqrt(n) * dout * v;
  const double weights = 1 + 1.0 * p.heads / p.kv_heads * p.seq_q / p.seq_k;
  return std::max(ds * scale * k, weights * std::max(ds * scale * q, error * dout));
}

}  // namespace detail

// At most twice the error of the plain version, and what the order of a float sum may change.
struct AttentionBackwardTolerance {
  template <class T>
  Bound operator()(Type<T> type, const AttentionBackward<T>& p, Inputs& inputs) const {
    Bound bound = at_most_twice([](const auto& q) { attention_backward_plain(q); })(type, p, inputs);
    if (!std::isfinite(bound.absolute)) bound.absolute = 0;  // where a number that is no NaN came out as one
    bound.absolute += detail::backward_rounding(p);
    return bound;
  }
};

// Checks a large problem without computing all of it: some rows of each gradient, from all over it, are held against
// the reference by the same tolerance, and all others must be finite and no longer than 16 times the longest of those.
template <class T>
Report attention_backward_check_large(const AttentionBackward<T>& p) {
  Report report;
  const double rounding = detail::backward_rounding(p);
  const auto check = [&](const char* name, const T* all, const Pitches& at, int heads, int seq,
                         const auto& row_of, const auto& plain_row_of) {
    const int64_t rows = int64_t{p.batch} * heads * seq;
    const size_t dim = static_cast<size_t>(p.dim),
                 sampled = static_cast<size_t>(std::min<int64_t>(rows, 1024));
    std::vector<T> got(sampled * dim), want(got);
    std::vector<double> worst(cpu_threads(), 0.0);
    const auto row_at = [&](size_t i) {  // the first, the last, and one of each stretch between them
      const int64_t begin = static_cast<int64_t>(i) * rows / static_cast<int64_t>(sampled);
      const int64_t end = static_cast<int64_t>(i + 1) * rows / static_cast<int64_t>(sampled);
      return i == 0 ? 0 : i + 1 == sampled ? rows - 1 : uniform_integer(203, i, begin, end);
    };
    const auto place = [&](int64_t row) { return at.at(row / seq / heads, row / seq % heads, row % seq); };
    parallel_ranges(
        sampled,
        [&](size_t part, size_t begin, size_t end) {
          std::vector<double> one;
          std::vector<float> plain;
          for (size_t i = begin; i < end; ++i) {
            const int64_t row = row_at(i);
            const int batch = static_cast<int>(row / seq / heads), head = static_cast<int>(row / seq % heads);
            row_of(batch, head, static_cast<int>(row % seq), one);
            plain_row_of(batch, head, static_cast<int>(row % seq), plain);
            for (size_t d = 0; d < dim; ++d) {
              got[i * dim + d] = all[place(row) + static_cast<int64_t>(d)];
              want[i * dim + d] = from_double<T>(one[d]);
              worst[part] = std::max(
                  worst[part], error_of(to_double(from_float<T>(plain[d])), to_double(want[i * dim + d])));
            }
          }
        },
        1);
    const Bound bound{2 * *std::max_element(worst.begin(), worst.end()) + rounding, TypeInfo<T>::kEpsilon};
    Report one = compare(got.data(), want.data(), got.size(), bound);
    one.name = name;
    one.dims = {p.batch, heads, seq, p.dim};
    const auto element = [&](size_t i) { return static_cast<size_t>(row_at(i / dim)) * dim + i % dim; };
    for (Mismatch& m : one.first) m.index = element(m.index);
    one.worst_at = element(one.worst_at);
    double most = 0;
    for (const T x : want) most = std::max(most, std::abs(to_double(x)));
    std::vector<int64_t> beyond(static_cast<size_t>(p.batch * heads), -1);
    parallel_ranges(
        beyond.size(),
        [&](size_t, size_t begin, size_t end) {
          for (size_t head = begin; head < end; ++head) {
            for (int64_t i = static_cast<int64_t>(head) * seq; i < static_cast<int64_t>(head + 1) * seq;
                 ++i) {
              for (int d = 0; d < p.dim; ++d) {
                if (std::abs(to_double(all[place(i) + d])) <= 16 * most + bound.absolute) continue;
                beyond[head] = i;
              }
            }
          }
        },
        1);
    for (const int64_t row : beyond) {
      if (row >= 0 && one.notes.size() < Report::kShown)
        one.notes.push_back(std::string(name) + ": a number of row " + std::to_string(row) +
                            " is not finite, or far beyond all others");
    }
    report.add(one);
  };
  using Truth = AttentionGradients<double, false>;
  using Plain = AttentionGradients<float, true>;
  check(
      "dq", p.dq, p.of_q, p.heads, p.seq_q,
      [&](int batch, int head, int row, auto& to) { Truth::query(p, batch, head, row, to); },
      [&](int batch, int head, int row, auto& to) { Plain::query(p, batch, head, row, to); });
  check(
      "dk", p.dk, p.of_kv, p.kv_heads, p.seq_k,
      [&](int batch, int head, int row, auto& to) {
        std::vector<double> dv;
        Truth::key(p, batch, head, row, to, dv);
      },
      [&](int batch, int head, int row, auto& to) {
        std::vector<float> dv;
        Plain::key(p, batch, head, row, to, dv);
      });
  check(
      "dv", p.dv, p.of_kv, p.kv_heads, p.seq_k,
      [&](int batch, int head, int row, auto& to) {
        std::vector<double> dk;
        Truth::key(p, batch, head, row, dk, to);
      },
      [&](int batch, int head, int row, auto& to) {
        std::vector<float> dk;
        Plain::key(p, batch, head, row, dk, to);
      });
  return report;
}

}  // namespace days
