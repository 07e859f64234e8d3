// SPDX-License-Identifier: MIT
// The CPU's versions: obvious loops, and what a CPU does with all its cores.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "common/parallel.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/histogram.h"
#include "day62_histogram_and_sort/radix_sort.h"
#include "day62_histogram_and_sort/top_k.h"

namespace day62 {

void histogram_reference(const Histogram<uint8_t>& p) {
  std::fill_n(p.counts, kBins, 0u);
  for (int64_t i = 0; i < p.n; ++i) ++p.counts[p.keys[i]];
}

void histogram_parallel(const Histogram<uint8_t>& p) {
  std::vector<std::array<uint32_t, kBins>> mine(days::cpu_threads());
  const size_t parts =
      days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t part, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) ++mine[part][p.keys[i]];
      });
  std::fill_n(p.counts, kBins, 0u);
  for (size_t part = 0; part < parts; ++part)
    for (size_t bin = 0; bin < kBins; ++bin) p.counts[bin] += mine[part][bin];
}

void compaction_reference(const Compaction<float>& p) {
  uint32_t count = 0;
  for (int64_t i = 0; i < p.n; ++i)
    if (p.x[i] > p.threshold) p.y[count++] = p.x[i];
  *p.count = count;
}

// The two calls of parallel_ranges cut [0, n) alike.
void compaction_parallel(const Compaction<float>& p) {
  std::vector<uint32_t> first(days::cpu_threads() + 1);
  const size_t parts =
      days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t part, size_t begin, size_t end) {
        uint32_t count = 0;
        for (size_t i = begin; i < end; ++i) count += p.x[i] > p.threshold;
        first[part + 1] = count;
      });
  std::partial_sum(first.begin(), first.end(), first.begin());
  days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t part, size_t begin, size_t end) {
    uint32_t place = first[part];
    for (size_t i = begin; i < end; ++i)
      if (p.x[i] > p.threshold) p.y[place++] = p.x[i];
  });
  *p.count = first[parts];
}

void radix_sort_reference(const RadixSort<uint32_t>& p) {
  std::copy(p.in, p.in + p.n, p.out);
  std::stable_sort(p.out, p.out + p.n);
}

// One pass for each digit, as on the GPU: a part's keys with a digit begin behind all smaller digits and the
// same digit in earlier parts.
void radix_sort_parallel(const RadixSort<uint32_t>& p) {
  std::vector<uint32_t> scratch(static_cast<size_t>(p.n));
  std::vector<std::array<uint32_t, kDigits>> place(days::cpu_threads());
  const uint32_t* from = p.in;
  for (int pass = 0; pass < kPasses; ++pass) {
    uint32_t* to = pass % 2 == 0 ? scratch.data() : p.out;
    const size_t parts =
        days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t part, size_t begin, size_t end) {
          place[part].fill(0);
          for (size_t i = begin; i < end; ++i) ++place[part][digit_of(from[i], pass)];
        });
    uint32_t before = 0;
    for (size_t digit = 0; digit < kDigits; ++digit) {
      for (size_t part = 0; part < parts; ++part) {
        const uint32_t count = place[part][digit];
        place[part][digit] = before;
        before += count;
      }
    }
    days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t part, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) to[place[part][digit_of(from[i], pass)]++] = from[i];
    });
    from = to;
  }
}

namespace {

// NaN above all numbers; of equals the first.
template <class T>
struct Larger {
  const T* x;
  bool operator()(int32_t a, int32_t b) const {
    const float left = days::to_float(x[a]), right = days::to_float(x[b]);
    if (std::isnan(left) != std::isnan(right)) return std::isnan(left);
    if (left > right || left < right) return left > right;
    return a < b;
  }
};

// sort(first, middle, last, larger) leaves the largest of a row's columns in order in [first, middle).
template <class T, class Sort>
void top_k_of_row(const TopK<T>& p, int64_t row, std::vector<int32_t>& columns, const Sort& sort) {
  const T* x = p.x + row * p.cols;
  columns.resize(static_cast<size_t>(p.cols));
  std::iota(columns.begin(), columns.end(), 0);
  sort(columns.begin(), columns.begin() + p.k, columns.end(), Larger<T>{x});
  for (int i = 0; i < p.k; ++i) {
    p.indices[row * p.k + i] = columns[static_cast<size_t>(i)];
    p.values[row * p.k + i] = x[columns[static_cast<size_t>(i)]];
  }
}

}  // namespace

template <class T>
void top_k_reference(const TopK<T>& p) {
  std::vector<int32_t> columns;
  for (int64_t row = 0; row < p.rows; ++row) {
    top_k_of_row(p, row, columns,
                 [](auto first, auto, auto last, auto larger) { std::stable_sort(first, last, larger); });
  }
}

template <class T>
void top_k_parallel(const TopK<T>& p) {
  const int columns_a_thread = 1 << 14;
  days::parallel_ranges(
      static_cast<size_t>(p.rows),
      [&p](size_t, size_t begin, size_t end) {
        std::vector<int32_t> columns;
        for (size_t row = begin; row < end; ++row) {
          top_k_of_row(p, static_cast<int64_t>(row), columns,
                       [](auto first, auto middle, auto last, auto larger) {
                         std::partial_sort(first, middle, last, larger);
                       });
        }
      },
      static_cast<size_t>(std::max(1, columns_a_thread / p.cols)));
}

#define INSTANTIATE(T)                           \
  template void top_k_reference(const TopK<T>&); \
  template void top_k_parallel(const TopK<T>&)
INSTANTIATE(float);
INSTANTIATE(days::bf16);

}  // namespace day62
