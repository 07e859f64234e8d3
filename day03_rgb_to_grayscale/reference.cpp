// SPDX-License-Identifier: MIT
//
// The CPU's versions.
#include <type_traits>

#include "common/parallel.h"
#include "day03_rgb_to_grayscale/grayscale.h"

namespace day03 {
namespace {

// The formula of the note, not the kernels' function: whole numbers for bytes, double for float.
template <class T>
T formula(const T* rgb) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    const int sum = 77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2];
    return static_cast<T>((sum + 128) / 256);
  } else {
    return static_cast<T>((77.0 * rgb[0] + 150.0 * rgb[1] + 29.0 * rgb[2]) / 256);
  }
}

}  // namespace

template <class T>
void grayscale_reference(const Grayscale<T>& p) {
  for (int64_t i = 0; i < p.pixels(); ++i) p.gray[i] = formula(p.rgb + 3 * i);
}

template <class T>
void grayscale_parallel(const Grayscale<T>& p) {
  days::parallel_ranges(static_cast<size_t>(p.pixels()), [&p](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      p.gray[i] = gray_of(p.rgb[3 * i], p.rgb[3 * i + 1], p.rgb[3 * i + 2]);
  });
}

INSTANTIATE_REFERENCE(grayscale_reference, Grayscale, uint8_t, float);
INSTANTIATE_REFERENCE(grayscale_parallel, Grayscale, uint8_t, float);

}  // namespace day03
