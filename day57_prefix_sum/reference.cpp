// SPDX-License-Identifier: MIT
// The CPU's versions: one loop in double, or in whole numbers that wrap, and what a CPU does with all its cores.
#include <cstdint>
#include <type_traits>
#include <vector>

#include "common/parallel.h"
#include "day57_prefix_sum/prefix_sum.h"

namespace day57 {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, uint32_t, double>;
template <class T>
Wide<T> wide(T x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<uint32_t>(x);
  } else {
    return days::to_double(x);
  }
}
template <class T>
T narrow(Wide<T> sum) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(sum);
  } else {
    return days::from_double<T>(sum);
  }
}

// Elements [begin, end), where those before add up to `sum`.
template <class T>
void scan_from(const Scan<T>& p, size_t begin, size_t end, Wide<T> sum) {
  for (size_t i = begin; i < end; ++i) {
    const Wide<T> before = sum;
    sum += wide(p.x[i]);
    p.y[i] = narrow<T>(p.exclusive ? before : sum);
  }
}

}  // namespace

template <class T>
void scan_reference(const Scan<T>& p) {
  scan_from(p, 0, static_cast<size_t>(p.n), 0);
}

// Both calls of parallel_ranges cut [0, n) alike.
template <class T>
void scan_parallel(const Scan<T>& p) {
  std::vector<Wide<T>> sums(days::cpu_threads());
  const size_t parts =
      days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t part, size_t begin, size_t end) {
        Wide<T> sum = 0;
        for (size_t i = begin; i < end; ++i) sum += wide(p.x[i]);
        sums[part] = sum;
      });
  Wide<T> before = 0;
  for (size_t part = 0; part < parts; ++part) {
    const Wide<T> sum = sums[part];
    sums[part] = before;
    before += sum;
  }
  days::parallel_ranges(static_cast<size_t>(p.n),
                        [&](size_t part, size_t begin, size_t end) { scan_from(p, begin, end, sums[part]); });
}

template <class T>
void segmented_reference(const SegmentedScan<T>& p) {
  Wide<T> sum = 0;
  for (int64_t i = 0; i < p.n; ++i) {
    sum = p.head[i] != 0 ? wide(p.x[i]) : sum + wide(p.x[i]);
    p.y[i] = narrow<T>(sum);
  }
}

INSTANTIATE_REFERENCE(scan_reference, Scan, float, days::half, days::bf16, int32_t);
INSTANTIATE_REFERENCE(scan_parallel, Scan, float, days::half, days::bf16, int32_t);
INSTANTIATE_REFERENCE(segmented_reference, SegmentedScan, float, days::half, days::bf16, int32_t);

}  // namespace day57
