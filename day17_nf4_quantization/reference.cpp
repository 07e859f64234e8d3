// SPDX-License-Identifier: MIT
// The CPU's versions. Everything is in fp32, as the format has it, so codes and scales have to agree to the bit.
#include <algorithm>
#include <cmath>

#include "common/parallel.h"
#include "day17_nf4_quantization/nf4_quantization.h"

namespace day17 {
namespace {

// The number of thresholds below: no search that a kernel has.
unsigned nearest(float scaled) {
  unsigned code = 0;
  for (unsigned i = 0; i < 15; ++i) code += scaled > days::nf4_threshold(i) ? 1 : 0;
  return code;
}

template <class P>
void by_blocks(const P& p, void (*reference)(const P&)) {
  days::parallel_ranges(static_cast<size_t>(days::nf4_blocks(p.n)), [&](size_t, size_t begin, size_t end) {
    if (begin < end) reference(some_blocks(p, begin, end));
  });
}

}  // namespace

template <class T>
void dequantize_reference(const Nf4Dequantize<T>& p) {
  for (int64_t i = 0; i < p.n; ++i) {
    const unsigned byte = p.codes[i / 2], code = i % 2 == 0 ? byte / 16 : byte % 16;
    p.y[i] = days::from_float<T>(days::nf4_value(code) * p.absmax[i / days::kNf4Block]);
  }
}

template <class T>
void quantize_reference(const Nf4Quantize<T>& p) {
  for (int64_t first = 0; first < p.n; first += days::kNf4Block) {
    const int64_t end = std::min(first + days::kNf4Block, p.n);
    float absmax = 0;
    for (int64_t i = first; i < end; ++i) {
      const float size = std::abs(days::to_float(p.x[i]));
      if (size > absmax || std::isnan(size)) absmax = size;
    }
    p.absmax[first / days::kNf4Block] = absmax;
    for (int64_t i = first; i < end; i += 2) {
      const float scale = days::nf4_scale(absmax);
      const unsigned upper = nearest(days::to_float(p.x[i]) * scale);
      const unsigned lower = i + 1 < end ? nearest(days::to_float(p.x[i + 1]) * scale) : nearest(0 * scale);
      p.codes[i / 2] = static_cast<uint8_t>(upper * 16 + lower);
    }
  }
}

template <class T>
void dequantize_parallel(const Nf4Dequantize<T>& p) {
  by_blocks(p, dequantize_reference<T>);
}
template <class T>
void quantize_parallel(const Nf4Quantize<T>& p) {
  by_blocks(p, quantize_reference<T>);
}

INSTANTIATE_REFERENCE(dequantize_reference, Nf4Dequantize, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(dequantize_parallel, Nf4Dequantize, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(quantize_reference, Nf4Quantize, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(quantize_parallel, Nf4Quantize, float, days::half, days::bf16);

}  // namespace day17
