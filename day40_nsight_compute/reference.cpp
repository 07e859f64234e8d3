// SPDX-License-Identifier: MIT
// The CPU's versions. The parallel one goes through tiles, so that a line of its cache that is fetched for one sample is
// still there for the next ones.
#include <algorithm>
#include <cmath>

#include "common/parallel.h"
#include "day40_nsight_compute/columns.h"

namespace day40 {
namespace {

// A quotient of floats, rounded once, as on the GPU.
template <class T>
T scaled(T value, T largest) {
  return largest > 0 ? value / largest : value;
}

}  // namespace

template <class T>
void columns_reference(const Columns<T>& p) {
  for (int64_t feature = 0; feature < p.features; ++feature) {
    T largest = 0;
    for (int64_t sample = 0; sample < p.samples; ++sample)
      largest = std::fmax(largest, std::fabs(p.x[sample * p.features + feature]));
    p.most[feature] = largest;
    for (int64_t sample = 0; sample < p.samples; ++sample)
      p.z[feature * p.samples + sample] = scaled(p.x[sample * p.features + feature], largest);
  }
}

template <class T>
void columns_parallel(const Columns<T>& p) {
  constexpr int64_t kSide = 64;
  const auto some_features = [&p](size_t, size_t begin, size_t end) {
    for (int64_t first = static_cast<int64_t>(begin); first < static_cast<int64_t>(end); first += kSide) {
      const int64_t last = std::min(first + kSide, static_cast<int64_t>(end));
      std::fill(p.most + first, p.most + last, T{0});
      for (int64_t sample = 0; sample < p.samples; ++sample)
        for (int64_t feature = first; feature < last; ++feature)
          p.most[feature] = std::fmax(p.most[feature], std::fabs(p.x[sample * p.features + feature]));
      for (int64_t from = 0; from < p.samples; from += kSide) {
        const int64_t to = std::min(from + kSide, static_cast<int64_t>(p.samples));
        for (int64_t feature = first; feature < last; ++feature)
          for (int64_t sample = from; sample < to; ++sample)
            p.z[feature * p.samples + sample] = scaled(p.x[sample * p.features + feature], p.most[feature]);
      }
    }
  };
  const int elements_a_thread = 1 << 18;
  days::parallel_ranges(static_cast<size_t>(p.features), some_features,
                        static_cast<size_t>(std::max(1, elements_a_thread / p.samples)));
}

INSTANTIATE_REFERENCE(columns_reference, Columns, float);
INSTANTIATE_REFERENCE(columns_parallel, Columns, float);

}  // namespace day40
