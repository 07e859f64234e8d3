// SPDX-License-Identifier: MIT
// The truth that every kernel is compared with: plain loops. Then the same on all cores, so that the ratio of a GPU to a CPU
// means something.
#include <algorithm>

#include "common/instantiate.h"
#include "common/parallel.h"
#include "day42_swap/swap.h"

namespace day42 {

template <class T>
void swap_reference(const Swap<T>& p) {
  for (int64_t i = 0; i < p.n; ++i) std::swap(p.a[i], p.b[i]);
}

template <class T>
void swap_parallel(const Swap<T>& p) {
  days::parallel_ranges(static_cast<size_t>(p.n), [&p](size_t, size_t begin, size_t end) {
    std::swap_ranges(p.a + begin, p.a + end, p.b + begin);
  });
}

template <class T>
void reverse_reference(const Reverse<T>& p) {
  for (int64_t i = 0; i < p.n / 2; ++i) std::swap(p.x[i], p.x[p.n - 1 - i]);
}

template <class T>
void reverse_parallel(const Reverse<T>& p) {
  days::parallel_ranges(static_cast<size_t>(p.n / 2), [&p](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) std::swap(p.x[i], p.x[static_cast<size_t>(p.n) - 1 - i]);
  });
}

INSTANTIATE_REFERENCE(swap_reference, Swap, float, uint8_t);
INSTANTIATE_REFERENCE(swap_parallel, Swap, float, uint8_t);
INSTANTIATE_REFERENCE(reverse_reference, Reverse, float, uint8_t);
INSTANTIATE_REFERENCE(reverse_parallel, Reverse, float, uint8_t);

}  // namespace day42
