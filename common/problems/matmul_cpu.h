// SPDX-License-Identifier: MIT
//
// Matrix multiplication on the CPU: the truth, the parallel baseline, and Freivalds' check.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <type_traits>
#include <vector>

#include "common/compare.h"
#include "common/inputs.h"
#include "common/ladder.h"
#include "common/parallel.h"
#include "common/problems/matmul.h"
#include "common/random.h"
#include "common/types.h"

namespace days {

// One element, summed in double. c = 0 for k = 0.
template <class T>
double matmul_element(const Matmul<T>& p, int row, int col) {
  double sum = 0;
  for (int i = 0; i < p.k; ++i) {
    sum += to_double(p.a[int64_t{row} * p.k + i]) * to_double(p.b[int64_t{i} * p.n + col]);
  }
  return sum;
}

// The truth.
template <class T>
void matmul_reference(const Matmul<T>& p) {
  for (int row = 0; row < p.m; ++row) {
    for (int col = 0; col < p.n; ++col)
      p.c[int64_t{row} * p.n + col] = from_double<T>(matmul_element(p, row, col));
  }
}

// What a CPU does well with a page of code: rows shared out to all cores, and per row an order of the loops
// in which the innermost runs along b and c, so that the compiler vectorises it and b comes from the cache a
// block of rows at a time. Accumulates in float (double for double).
template <class T>
void matmul_parallel(const Matmul<T>& p) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr int kRows = 4, kDepth = 64, kCols = 512;  // 64 x 512 floats of b: 128 KiB, which stay in L2
  const auto widen = [](T value) {
    if constexpr (std::is_same_v<T, double>) {
      return value;
    } else {
      return to_float(value);
    }
  };
  const auto some_rows = [&](int first, int last) {
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
              const Sum x = widen(p.a[int64_t{row0 + row} * p.k + i]);
              const T* b = p.b + int64_t{i} * p.n + col0;
              for (int col = 0; col < cols; ++col) sum[col] += x * widen(b[col]);
            }
          }
        }
        for (int row = 0; row < rows; ++row) {
          for (int col = 0; col < cols; ++col) {
            const Sum sum = sums[static_cast<size_t>(row * kCols + col)];
            p.c[int64_t{row0 + row} * p.n + col0 + col] = from_double<T>(static_cast<double>(sum));
          }
        }
      }
    }
  };
  // Below some hundred thousand operations a thread costs more than it does.
  const double work = 1.0 * p.m * p.n * p.k;
  const int most =
      static_cast<int>(std::min<double>(static_cast<double>(cpu_threads()), std::max(1.0, work / 2e5)));
  const int count = std::max(1, std::min(most, p.m));
  const auto start = [&](int i) { return static_cast<int>(int64_t{p.m} * i / count); };
  std::vector<std::thread> threads;
  for (int i = 1; i < count; ++i) threads.emplace_back(some_rows, start(i), start(i + 1));
  some_rows(0, start(1));
  for (std::thread& thread : threads) thread.join();
}

// Inputs of a shape {m, n, k}: N(0, 1), so many elements past an aligned address.
template <class T>
void matmul_inputs(Matmul<T>& p, const Shape& s, Inputs& in, size_t past_a = 0, size_t past_b = 0) {
  p.m = s[0];
  p.n = s[1];
  p.k = s[2];
  p.a = in.normal("a", s[0] * s[2]) + past_a;
  p.b = in.normal("b", s[2] * s[1]) + past_b;
  p.c = in.output("c", s[0], s[1]);
}

template <class T>
Traffic matmul_traffic(const Matmul<T>& p) {
  return reads(p.a, 1.0 * p.m * p.k) + reads(p.b, 1.0 * p.k * p.n) + writes(p.c, 1.0 * p.m * p.n);
}

template <class T>
double matmul_flops(const Matmul<T>& p) {
  return 2.0 * p.m * p.n * p.k;
}

// What a tolerance policy asks of its inputs, for inputs that are not held by an Inputs.
struct MatmulScale {
  double scale;
  template <class T>
  double rms() const {
    return scale;
  }
};

// Checks a large product in O(mn + mk + kn) instead of O(mnk).
//
// First Freivalds' check (Rusins Freivalds, "Probabilistic Machines Can Use Less Running Time", 1977), three
// times: for a vector r of random signs, c * r must equal a * (b * r) in every row. Rounding makes them
// differ by about the root of n times an element's error; one wrong element of c changes a row's sum by its
// own error, so every row is looked at, and what is not seen is an error below that noise. Then a sample of
// elements, the corners among them, against the reference with an element's own tolerance, which sees an
// error that is small and everywhere, as of a lower precision.
template <class T>
Report matmul_check_large(const Matmul<T>& p) {
  const auto rms = [](const T* data, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i += 97) sum += to_double(data[i]) * to_double(data[i]);
    return std::sqrt(sum / static_cast<double>((count + 96) / 97));
  };
  const double scale = rms(p.a, static_cast<size_t>(p.m) * p.k) * rms(p.b, static_cast<size_t>(p.k) * p.n);
  MatmulScale facts{scale};
  const Bound bound = dot_product([](const auto& q) { return q.k; })(Type<T>{}, p, facts);

  Report report;
  for (uint64_t round = 0; round < 3; ++round) {
    const auto sign = [&](int col) {
      return (random_bits(round, static_cast<uint64_t>(col)) & 1) != 0 ? 1.0 : -1.0;
    };
    std::vector<double> signs(static_cast<size_t>(p.n)), b_times(static_cast<size_t>(p.k));
    for (int col = 0; col < p.n; ++col) signs[static_cast<size_t>(col)] = sign(col);
    const auto times = [](const T* row, const std::vector<double>& v) {
      double sum = 0;
      for (size_t i = 0; i < v.size(); ++i) sum += to_double(row[i]) * v[i];
      return sum;
    };
    const auto rows = [](int n, const auto& body) {  // on all cores: a matrix is some gigabytes
      parallel_ranges(static_cast<size_t>(n) << 18, [&](size_t, size_t begin, size_t end) {
        for (size_t row = (begin + (1u << 18) - 1) >> 18; row < (end + (1u << 18) - 1) >> 18; ++row)
          body(row);
      });
    };
    rows(p.k, [&](size_t i) { b_times[i] = times(p.b + i * static_cast<size_t>(p.n), signs); });
    std::vector<double> got(static_cast<size_t>(p.m)), want(static_cast<size_t>(p.m));
    rows(p.m, [&](size_t row) {
      got[row] = times(p.c + row * static_cast<size_t>(p.n), signs);
      want[row] = times(p.a + row * static_cast<size_t>(p.k), b_times);
    });
    // An element is about sqrt(k) * scale; eight times the root of the sum of n such errors, squared.
    const double element = bound.absolute + bound.relative * std::sqrt(static_cast<double>(p.k)) * scale;
    const double tolerance = 8 * element * std::sqrt(static_cast<double>(p.n));
    for (int row = 0; row < p.m; ++row) {
      const size_t i = static_cast<size_t>(row);
      if (std::abs(got[i] - want[i]) <= tolerance) continue;
      char text[160];
      std::snprintf(text, sizeof text, "row %d: its elements with random signs add up to %.9g, expected %.9g",
                    row, got[i], want[i]);
      report.notes.push_back(text);
      if (report.notes.size() >= Report::kShown) return report;
    }
  }

  constexpr size_t kSampled = 4096;
  std::vector<T> got(kSampled), want(kSampled);
  std::vector<size_t> where(kSampled);
  parallel_ranges(kSampled << 18, [&](size_t, size_t begin, size_t end) {
    for (size_t i = (begin + (1u << 18) - 1) >> 18; i < (end + (1u << 18) - 1) >> 18; ++i) {
      int row = static_cast<int>(uniform_integer(101, i, 0, p.m)),
          col = static_cast<int>(uniform_integer(102, i, 0, p.n));
      if (i < 4) {
        row = i % 2 == 0 ? 0 : p.m - 1;
        col = i / 2 == 0 ? 0 : p.n - 1;
      }
      where[i] = static_cast<size_t>(row) * static_cast<size_t>(p.n) + static_cast<size_t>(col);
      got[i] = p.c[where[i]];
      want[i] = from_double<T>(matmul_element(p, row, col));
    }
  });
  Report sampled = compare(got.data(), want.data(), kSampled, bound);
  sampled.name = "c";
  sampled.dims = {p.m, p.n};
  sampled.worst_at = where[sampled.worst_at];
  for (Mismatch& mismatch : sampled.first) mismatch.index = where[mismatch.index];
  sampled.merge(report);
  return sampled;
}

}  // namespace days
