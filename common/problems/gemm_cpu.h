// SPDX-License-Identifier: MIT
//
// General matrix multiplication on the CPU: the truth, the parallel baseline, inputs, tolerance, and a check for large
// problems.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

#include "common/compare.h"
#include "common/inputs.h"
#include "common/ladder.h"
#include "common/parallel.h"
#include "common/problems/gemm.h"
#include "common/random.h"
#include "common/types.h"

namespace days {

// One element of op(a) * op(b), summed in double.
template <class In, class Out, class Sum>
double gemm_product(const BasicGemm<In, Out, Sum>& p, int row, int col) {
  double sum = 0;
  for (int i = 0; i < p.k; ++i) sum += to_double(p.a[p.at_a(row, i)]) * to_double(p.b[p.at_b(i, col)]);
  return sum;
}

// The truth.
template <class In, class Out, class Sum>
void gemm_reference(const BasicGemm<In, Out, Sum>& p) {
  for (int row = 0; row < p.m; ++row) {
    for (int col = 0; col < p.n; ++col) {
      double value = static_cast<double>(p.alpha) * gemm_product(p, row, col);
      Out& c = p.c[p.at_c(row, col)];
      if (p.beta != Sum{0}) value += static_cast<double>(p.beta) * to_double(c);
      c = from_double<Out>(value);
    }
  }
}

// What a CPU does well with a page of code: rows shared out to all cores, and per row an order of the loops in which
// the innermost runs along b and c, so that the compiler vectorises it and b comes from the cache a block of rows at
// a time. A b that is stored transposed is first copied the other way round. Accumulates in Sum.
template <class In, class Out, class Sum>
void gemm_parallel(const BasicGemm<In, Out, Sum>& p) {
  constexpr int kRows = 4, kDepth = 64, kCols = 512;  // 64 x 512 floats of b: 128 KiB, which stay in L2
  const auto widen = [](In value) {
    if constexpr (std::is_same_v<Sum, float>) {
      return to_float(value);
    } else {
      return static_cast<Sum>(value);
    }
  };
  // Below some hundred thousand operations a thread costs more than it does.
  const double work = 1.0 * p.m * p.n * p.k;
  const int most =
      static_cast<int>(std::min<double>(static_cast<double>(cpu_threads()), std::max(1.0, work / 2e5)));
  const int count = std::max(1, std::min(most, p.m));
  const auto on_threads = [&](int size, const auto& body) {  // body(first, last) of [0, size) on each thread
    const auto start = [&](int i) { return static_cast<int>(int64_t{size} * i / count); };
    std::vector<std::thread> threads;
    for (int i = 1; i < count; ++i) threads.emplace_back(body, start(i), start(i + 1));
    body(0, start(1));
    for (std::thread& thread : threads) thread.join();
  };

  const In* b = p.b;
  int64_t ldb = p.ldb;
  std::vector<In> turned;
  if (p.op_b == Op::kT) {
    constexpr int kTile = 32;
    turned.resize(static_cast<size_t>(p.k) * static_cast<size_t>(p.n));
    on_threads(p.k, [&](int first, int last) {
      for (int i0 = first; i0 < last; i0 += kTile) {
        for (int col = 0; col < p.n; ++col) {
          for (int i = i0; i < std::min(i0 + kTile, last); ++i)
            turned[static_cast<size_t>(int64_t{i} * p.n + col)] = p.b[p.at_b(i, col)];
        }
      }
    });
    b = turned.data();
    ldb = p.n;
  }

  on_threads(p.m, [&](int first, int last) {
    std::vector<Sum> sums(static_cast<size_t>(kRows) * kCols);
    for (int row0 = first; row0 < last; row0 += kRows) {
      const int rows = std::min(kRows, last - row0);
      for (int col0 = 0; col0 < p.n; col0 += kCols) {
        const int cols = std::min(kCols, p.n - col0);
        for (int row = 0; row < rows; ++row) std::fill_n(sums.data() + row * kCols, cols, Sum{0});
        for (int k0 = 0; k0 < p.k; k0 += kDepth) {
          for (int row = 0; row < rows; ++row) {
            Sum* sum = sums.data() + row * kCols;
            for (int i = k0; i < std::min(k0 + kDepth, p.k); ++i) {
              const Sum x = widen(p.a[p.at_a(row0 + row, i)]);
              const In* y = b + int64_t{i} * ldb + col0;
              for (int col = 0; col < cols; ++col) sum[col] += x * widen(y[col]);
            }
          }
        }
        for (int row = 0; row < rows; ++row) {
          for (int col = 0; col < cols; ++col) {
            double value = static_cast<double>(p.alpha) *
                           static_cast<double>(sums[static_cast<size_t>(row * kCols + col)]);
            Out& c = p.c[p.at_c(row0 + row, col0 + col)];
            if (p.beta != Sum{0}) value += static_cast<double>(p.beta) * to_double(c);
            c = from_double<Out>(value);
          }
        }
      }
    }
  });
}

template <class In, class Out, class Sum>
Traffic gemm_traffic(const BasicGemm<In, Out, Sum>& p) {
  const double c = 1.0 * p.m * p.n;
  return reads(p.a, 1.0 * p.m * p.k) + reads(p.b, 1.0 * p.k * p.n) + reads(p.c, p.beta != Sum{0} ? c : 0) +
         writes(p.c, c);
}

template <class In, class Out, class Sum>
double gemm_flops(const BasicGemm<In, Out, Sum>& p) {
  return 2.0 * p.m * p.n * p.k;
}

// ---- Inputs ----

// A ladder's shape is {m, n, k}, or {m, n, k, form}: 1 is NN, a and b as they are used; 2 NT, b transposed; 3 TN; 4 TT.
inline void set_form(const Shape& s, Op& op_a, Op& op_b) {
  const int form = s.size() > 3 ? static_cast<int>(s[3]) : 1;
  require(form >= 1 && form <= 4, "form is 1 (NN), 2 (NT), 3 (TN) or 4 (TT), not", form);
  op_a = form > 2 ? Op::kT : Op::kN;
  op_b = form % 2 == 0 ? Op::kT : Op::kN;
}

// How a problem differs from the plainest of its shape.
struct GemmInputs {
  double alpha = 1, beta = 0;
  size_t past_a = 0, past_b = 0, past_c = 0;  // elements past an aligned address
  int gap = 0;            // elements between the rows of a; of b twice, of c three times as many
  bool nan_in_c = false;  // c holds NaN before (with integers a large number)
  Function<double(size_t)> a = {}, b = {};  // of an element's index; else N(0, scale^2), integers uniform
  double scale_a = 1, scale_b = 1, scale_c = 1;
};

template <class In, class Out, class Sum>
void gemm_inputs(BasicGemm<In, Out, Sum>& p, const Shape& s, Inputs& in, const GemmInputs& how = {}) {
  p.m = s[0];
  p.n = s[1];
  p.k = s[2];
  set_form(s, p.op_a, p.op_b);
  const int rows_a = p.op_a == Op::kN ? p.m : p.k, cols_a = p.op_a == Op::kN ? p.k : p.m;
  const int rows_b = p.op_b == Op::kN ? p.k : p.n, cols_b = p.op_b == Op::kN ? p.n : p.k;
  p.lda = int64_t{cols_a} + how.gap;
  p.ldb = int64_t{cols_b} + 2 * how.gap;
  p.ldc = int64_t{p.n} + 3 * how.gap;
  p.alpha = static_cast<Sum>(how.alpha);
  p.beta = static_cast<Sum>(how.beta);
  const auto values = [&](const char* name, int rows, int64_t pitch, const Function<double(size_t)>& f,
                          double scale) {
    const Extent count = Extent(rows) * pitch;
    if (f) return in.fill(name, count, f);
    return TypeInfo<In>::kFloating ? in.normal(name, count, scale) : in.uniform(name, count);
  };
  p.a = values("a", rows_a, p.lda, how.a, how.scale_a) + how.past_a;
  p.b = values("b", rows_b, p.ldb, how.b, how.scale_b) + how.past_b;
  if (p.beta == Sum{0} && how.gap == 0 && !how.nan_in_c) {
    p.c = in.output("c", s[0], s[1]) + how.past_c;  // nobody may read what is in it
    return;
  }
  const double scale = how.scale_c;
  const double before = !how.nan_in_c              ? 0
                        : TypeInfo<Out>::kFloating ? std::numeric_limits<double>::quiet_NaN()
                                                   : 12345.0;
  Function<double(size_t)> f = [scale](size_t i) { return scale * static_cast<double>(normal(311, i)); };
  if (!TypeInfo<Out>::kFloating) f = [](size_t i) { return static_cast<double>(i * 31 % 2001) - 1000; };
  if (how.nan_in_c) f = [before](size_t) { return before; };
  p.c = (in.fill("c", Extent(p.m) * p.ldc, f) + how.past_c).as(p.m, p.ldc);
}

// ---- When a result is right ----

namespace detail {
// What a tolerance policy asks of its inputs, for inputs that are not held by an Inputs.
struct GemmScale {
  double scale;
  template <class T>
  double rms() const {
    return scale;
  }
};

template <class In, class Out, class Sum>
Bound gemm_bound(const BasicGemm<In, Out, Sum>& p, double rms_a, double rms_b, double rms_c) {
  if (!TypeInfo<Out>::kFloating) return {};
  const double alpha = std::abs(static_cast<double>(p.alpha)), beta = std::abs(static_cast<double>(p.beta));
  GemmScale scale{rms_a * rms_b};
  Bound bound = dot_product([](const auto& q) { return q.k; })(Type<Out>{}, p, scale);
  // beta * c is rounded once, and so is the sum with it: some elements of c are five times as large as most.
  bound.absolute =
      bound.absolute * std::max(alpha, 1e-30) +
      (beta == 0 ? 0 : 8 * std::max(TypeInfo<Sum>::kEpsilon, TypeInfo<double>::kEpsilon) * beta * rms_c);
  return bound;
}
}  // namespace detail

// As dot_product (compare.h), times alpha, and the rounding of beta * c.
struct GemmTolerance {
  template <class T, class Problem, class Inputs>
  Bound operator()(Type<T>, const Problem& p, Inputs& inputs) const {
    return detail::gemm_bound(p, inputs.rms("a"), inputs.rms("b"), p.beta != 0 ? inputs.rms("c") : 0);
  }
};

// Checks a large product in O(mn + mk + kn) instead of O(mnk); beta has to be 0, for what c held is no longer there.
//
// First Freivalds' check (Rusins Freivalds, "Probabilistic Machines Can Use Less Running Time", 1977), three
// times: for a vector r of random signs, c * r must equal a * (b * r) in every row. Whatever the errors of a row's elements
// are, equal ones too, sums of them with random signs exceed eight times the root of the sum of their squares once in 10^13
// (Hoeffding's inequality), so that much of what the tolerance allows each element is allowed the row. One wrong element of c
// changes a row's sum by its own error, so every row is looked at, and what is not seen is an error below that noise. Then a sample of
// elements, the corners among them, against the reference with an element's own tolerance, which sees an
// error that is small and everywhere, as of a lower precision.
//
// A row of op(a) or a column of op(b) that holds a NaN or an infinity makes a row or a column of c of the like, and a sum
// with one of these says nothing of the others in it. So Freivalds' check leaves such rows and columns of c out, and all of
// their elements are compared with the reference; where they are so many that this would take minutes, every so manieth is.
//
// allowed_of(rms of a times rms of b): the tolerance of an element.
template <class In, class Out, class Sum, class Allowed>
Report gemm_check_large(const BasicGemm<In, Out, Sum>& p, const Allowed& allowed_of) {
  require(p.beta == Sum{0}, "gemm_check_large: beta must be 0: c's first values are gone");
  const int64_t rows_a = p.op_a == Op::kN ? p.m : p.k, rows_b = p.op_b == Op::kN ? p.k : p.n;
  const auto rms = [](const In* data, int64_t count) {
    double sum = 0, finite = 0;
    for (int64_t i = 0; i < count; i += 97) {
      const double value = to_double(data[i]);
      if (!std::isfinite(value)) continue;
      sum += value * value;
      ++finite;
    }
    return std::sqrt(sum / std::max(finite, 1.0));
  };
  const double scale = rms(p.a, rows_a * p.lda) * rms(p.b, rows_b * p.ldb);
  const double alpha = static_cast<double>(p.alpha);
  const Bound bound = allowed_of(scale);

  Report report;
  const auto on_cores = [](int64_t n, const auto& body) {  // a matrix is some gigabytes
    parallel_ranges(static_cast<size_t>(n) << 18, [&](size_t, size_t begin, size_t end) {
      for (size_t i = (begin + (1u << 18) - 1) >> 18; i < (end + (1u << 18) - 1) >> 18; ++i)
        body(static_cast<int>(i));
    });
  };
  // Which of `count` rows of op(a) or columns of op(b) hold numbers alone; element(i, j) is the j-th of the i-th.
  const auto finite_of = [&](int count, const auto& element) {
    std::vector<char> finite(static_cast<size_t>(count), 1);
    on_cores(count, [&](int i) {
      for (int j = 0; j < p.k && finite[static_cast<size_t>(i)] != 0; ++j)
        finite[static_cast<size_t>(i)] = std::isfinite(to_double(element(i, j))) ? 1 : 0;
    });
    return finite;
  };
  const std::vector<char> row_finite = finite_of(p.m, [&](int row, int i) { return p.a[p.at_a(row, i)]; }),
                          col_finite = finite_of(p.n, [&](int col, int i) { return p.b[p.at_b(i, col)]; });

  for (uint64_t round = 0; round < 3; ++round) {
    // Of columns that are left out 0.
    std::vector<double> signs(static_cast<size_t>(p.n)), b_times(static_cast<size_t>(p.k));
    for (size_t col = 0; col < signs.size(); ++col)
      signs[col] = col_finite[col] == 0 ? 0.0 : (random_bits(round, col) & 1) != 0 ? 1.0 : -1.0;
    // The sum of `count` elements with these signs; infinity times 0 would be no number.
    const auto with_signs = [&](const auto& element) {
      double sum = 0;
      for (int col = 0; col < p.n; ++col) {
        const double sign = signs[static_cast<size_t>(col)];
        if (sign != 0) sum += to_double(element(col)) * sign;
      }
      return sum;
    };
    on_cores(p.k, [&](int i) {
      b_times[static_cast<size_t>(i)] = with_signs([&](int col) { return p.b[p.at_b(i, col)]; });
    });
    std::vector<double> got(static_cast<size_t>(p.m)), want(static_cast<size_t>(p.m)),
        allowed(static_cast<size_t>(p.m));
    on_cores(p.m, [&](int row) {
      if (row_finite[static_cast<size_t>(row)] == 0) return;
      double right = 0;
      for (int i = 0; i < p.k; ++i) right += to_double(p.a[p.at_a(row, i)]) * b_times[static_cast<size_t>(i)];
      got[static_cast<size_t>(row)] = with_signs([&](int col) { return p.c[p.at_c(row, col)]; });
      want[static_cast<size_t>(row)] = alpha * right;
      double squares = 0;
      for (int col = 0; col < p.n; ++col) {
        if (signs[static_cast<size_t>(col)] == 0) continue;
        const double element = bound.absolute + bound.relative * std::abs(to_double(p.c[p.at_c(row, col)]));
        squares += element * element;
      }
      allowed[static_cast<size_t>(row)] = 8 * std::sqrt(squares);
    });
    for (int row = 0; row < p.m; ++row) {
      const size_t i = static_cast<size_t>(row);
      if (std::isfinite(got[i]) && std::abs(got[i] - want[i]) <= allowed[i]) continue;
      char text[160];
      std::snprintf(text, sizeof text, "row %d: its elements with random signs add up to %.9g, expected %.9g",
                    row, got[i], want[i]);
      report.notes.push_back(text);
      if (report.notes.size() >= Report::kShown) return report;
    }
  }

  // Elements (row, col) to be compared: the corners, others at random, and those of rows and columns that were left out.
  struct Place {
    int row, col;
  };
  constexpr int kSampled = 4096;
  std::vector<Place> places = {{0, 0}, {p.m - 1, 0}, {0, p.n - 1}, {p.m - 1, p.n - 1}};
  for (size_t i = places.size(); i < kSampled; ++i) {
    places.push_back({static_cast<int>(uniform_integer(101, i, 0, p.m)),
                      static_cast<int>(uniform_integer(102, i, 0, p.n))});
  }
  const int64_t rows_out = std::count(row_finite.begin(), row_finite.end(), 0),
                cols_out = std::count(col_finite.begin(), col_finite.end(), 0);
  const double elements = static_cast<double>(rows_out * p.n + cols_out * p.m);
  constexpr double kMostProducts = 4e9, kMostElements = 1 << 26;  // seconds of some cores; half a gigabyte
  const int every =
      static_cast<int>(std::ceil(std::max({1.0, elements * p.k / kMostProducts, elements / kMostElements})));
  for (int row = 0; row < p.m; ++row) {
    for (int col = row_finite[static_cast<size_t>(row)] != 0 ? p.n : row % every; col < p.n; col += every)
      places.push_back({row, col});
  }
  for (int col = 0; col < p.n; ++col) {
    for (int row = col_finite[static_cast<size_t>(col)] != 0 ? p.m : col % every; row < p.m; row += every)
      if (row_finite[static_cast<size_t>(row)] != 0) places.push_back({row, col});
  }
  std::vector<Out> got(places.size()), want(places.size());
  on_cores(static_cast<int64_t>(places.size()), [&](int i) {
    const auto [row, col] = places[static_cast<size_t>(i)];
    got[static_cast<size_t>(i)] = p.c[p.at_c(row, col)];
    want[static_cast<size_t>(i)] = from_double<Out>(alpha * gemm_product(p, row, col));
  });
  const auto where = [&](size_t i) {
    return static_cast<size_t>(places[i].row) * static_cast<size_t>(p.n) + static_cast<size_t>(places[i].col);
  };
  Report sampled = compare(got.data(), want.data(), places.size(), bound);
  sampled.name = "c";
  sampled.dims = {p.m, p.n};
  sampled.worst_at = where(sampled.worst_at);
  for (Mismatch& mismatch : sampled.first) mismatch.index = where(mismatch.index);
  sampled.merge(report);
  return sampled;
}
// With the tolerance of GemmTolerance.
template <class In, class Out, class Sum>
Report gemm_check_large(const BasicGemm<In, Out, Sum>& p) {
  return gemm_check_large(p, [&](double scale) { return detail::gemm_bound(p, scale, 1, 0); });
}

}  // namespace days
