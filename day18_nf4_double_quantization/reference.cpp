// SPDX-License-Identifier: MIT
// The CPU's versions. Codes are found in fp32, as the format has it; the mean is one loop in double.
#include <cmath>

#include "common/parallel.h"
#include "day18_nf4_double_quantization/nf4_double_quantization.h"

namespace day18 {
namespace {

// How many middles between neighbours of the map are below: no search that a kernel has. A middle itself belongs to its even
// neighbour.
uint8_t nearest(const float* map, float x) {
  int code = 0;
  for (int i = 0; i + 1 < kMap; ++i) {
    const float middle = (map[i] + map[i + 1]) * 0.5f;
    code += (i % 2 == 0 ? x > middle : x >= middle) ? 1 : 0;
  }
  return static_cast<uint8_t>(code);
}

}  // namespace

void code_scales(const DoubleQuantize<float>& p, float offset) {
  days::parallel_ranges(
      static_cast<size_t>(days::ceil_div(p.b, kGroup)), [&](size_t, size_t begin, size_t end) {
        for (size_t group = begin; group < end; ++group) {
          const int64_t first = static_cast<int64_t>(group) * kGroup, last = std::min(first + kGroup, p.b);
          float largest = 0;
          for (int64_t i = first; i < last; ++i) {
            const float size = std::abs(p.absmax[i] - offset);
            if (size > largest || std::isnan(size)) largest = size;
          }
          p.absmax2[group] = largest;
          for (int64_t i = first; i < last; ++i)
            p.codes8[i] = nearest(p.map, (p.absmax[i] - offset) * (1.0f / largest));
        }
      });
}

template <class T>
void quantize_reference(const DoubleQuantize<T>& p) {
  double sum = 0;
  for (int64_t i = 0; i < p.b; ++i) sum += static_cast<double>(p.absmax[i]);
  *p.offset = static_cast<float>(sum / static_cast<double>(p.b));
  code_scales(p, *p.offset);
}

template <class T>
void dequantize_reference(const DoubleDequantize<T>& p) {
  for (int64_t i = 0; i < p.n; ++i) {
    const int64_t block = i / days::kNf4Block;
    const float scale = scale_of(p.map[p.codes8[block]], p.absmax2[block / kGroup], *p.offset);
    const unsigned byte = p.codes[i / 2], code = i % 2 == 0 ? byte / 16 : byte % 16;
    p.y[i] = days::from_float<T>(days::nf4_value(code) * scale);
  }
}

INSTANTIATE_REFERENCE(quantize_reference, DoubleQuantize, float);
INSTANTIATE_REFERENCE(dequantize_reference, DoubleDequantize, float, days::half, days::bf16);

}  // namespace day18
