// SPDX-License-Identifier: MIT
#include "serve/pack.h"

#include <algorithm>
#include <cmath>

#include "common/types.h"
#include "common/util.h"

namespace serve {
namespace {

constexpr int kRows = 8, kLanes = 32;

// The greatest size of elements [begin, end), or NaN where one is none.
float most_of(const float* begin, const float* end) {
  float most = 0;
  for (; begin != end; ++begin)
    most = std::isnan(*begin) ? *begin : std::max(most, std::isnan(most) ? most : std::abs(*begin));
  return most;
}
// The multiple of the scale that is nearest.
int code_of(float value, float scale, int least, int most) {
  if (!(scale > 0) || !std::isfinite(scale) || !std::isfinite(value)) return 0;
  return std::clamp(static_cast<int>(std::lround(value / scale)), least, most);
}

}  // namespace

template <class T>
Packed pack4(const std::vector<float>& w, int out, int in, bool gate) {
  constexpr int kGroup = 128;
  const int groups = days::ceil_div(in, kGroup), half = gate ? out / 2 : out,
            columns = gate ? kRows / 2 : kRows;
  const int tiles = days::ceil_div(half, columns);
  const auto at = [](int64_t i) { return static_cast<size_t>(i); };
  Packed packed;
  packed.words.assign(at(int64_t{tiles} * groups * kLanes * 4), 0x88888888u);  // eight zeros
  packed.scales.assign(at(int64_t{tiles} * groups * kRows), 0.0f);
  packed.values.resize(w.size());
  for (int tile = 0; tile < tiles; ++tile) {
    for (int g = 0; g < kRows; ++g) {
      const int up = g / columns, row = up * half + tile * columns + g % columns;
      if (tile * columns + g % columns >= half) continue;
      for (int group = 0; group < groups; ++group) {
        const int begin = group * kGroup, end = std::min(in, begin + kGroup);
        const float* const from = w.data() + int64_t{row} * in;
        const auto scale = static_cast<float>(T(most_of(from + begin, from + end) / 7));
        const int64_t unit = int64_t{tile} * groups + group;
        packed.scales[at(unit * kRows + g)] = scale;
        for (int col = begin; col < end; ++col) {
          const int code = code_of(from[col], scale, -8, 7);
          packed.values[at(int64_t{row} * in + col)] = static_cast<float>(code) * scale;
          // Lane 4 g + t has the elements from 8 t on of each 32, a word for these; the pairs of a word lie 16 bits apart (day 75's magic).
          const int of_group = col - begin, chunk = of_group / 32, t = of_group % 32 / 8, e = of_group % 8;
          uint32_t& word = packed.words[at((unit * kLanes + 4 * g + t) * 4 + chunk)];
          const int shift = e / 2 * 4 + e % 2 * 16;
          word = (word & ~(0xfu << shift)) | static_cast<uint32_t>(code + 8) << shift;
        }
      }
    }
  }
  return packed;
}
template Packed pack4<float>(const std::vector<float>&, int, int, bool);
template Packed pack4<days::half>(const std::vector<float>&, int, int, bool);
template Packed pack4<days::bf16>(const std::vector<float>&, int, int, bool);

Packed pack8(const std::vector<float>& w, int out, int in) {
  constexpr int kUnit = 64;
  const int units = days::ceil_div(in, kUnit), tiles = days::ceil_div(out, kRows);
  const auto at = [](int64_t i) { return static_cast<size_t>(i); };
  Packed packed;
  packed.words.assign(at(int64_t{tiles} * units * kLanes * 4), 0);
  packed.scales.assign(at(int64_t{tiles} * kRows), 0.0f);
  packed.values.resize(w.size());
  for (int row = 0; row < out; ++row) {
    const float* const from = w.data() + int64_t{row} * in;
    const float scale = most_of(from, from + in) / 127;
    packed.scales[at(row)] = scale;
    for (int col = 0; col < in; ++col) {
      const int code = code_of(from[col], scale, -127, 127);
      packed.values[at(int64_t{row} * in + col)] = static_cast<float>(code) * scale;
      const int of_unit = col % kUnit, t = of_unit % 32 / 8, e = of_unit % 8;
      const int64_t lane = (int64_t{row / kRows} * units + col / kUnit) * kLanes + row % kRows * 4 + t;
      packed.words[at(lane * 4 + of_unit / 32 * 2 + e / 4)] |= (static_cast<uint32_t>(code) & 0xff)
                                                               << e % 4 * 8;
    }
  }
  return packed;
}

}  // namespace serve
