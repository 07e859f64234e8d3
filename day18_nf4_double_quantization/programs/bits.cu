// SPDX-License-Identifier: MIT
// What scales of 8 bits save and cost: weights of N(0, 1) in NF4, with exact scales, with scales by bitsandbytes' map with and
// without an offset, and by 256 equal steps. On the CPU; no GPU is needed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/nf4.h"
#include "common/random.h"
#include "day18_nf4_double_quantization/nf4_double_quantization.h"

namespace {

constexpr size_t kBlocks = 1 << 15, kOf = static_cast<size_t>(days::kNf4Block),
                 kEvery = static_cast<size_t>(day18::kGroup);

double rms(double squares, size_t count) {
  return std::sqrt(squares / static_cast<double>(count));
}

// The scales as they come back: of each group the nearest value of `values`, times the group's largest, plus offset.
std::vector<float> back(const std::vector<float>& absmax, const std::vector<float>& values, float offset) {
  std::vector<float> scales(absmax.size());
  for (size_t first = 0; first < absmax.size(); first += kEvery) {
    float largest = 0;
    for (size_t i = first; i < first + kEvery; ++i)
      largest = std::fmax(largest, std::abs(absmax[i] - offset));
    for (size_t i = first; i < first + kEvery; ++i) {
      const float x = (absmax[i] - offset) / largest;
      const auto above = std::lower_bound(values.begin() + 1, values.end() - 1, x);
      const float nearest = *above - x < x - *(above - 1) ? *above : *(above - 1);
      scales[i] = nearest * largest + offset;
    }
  }
  return scales;
}

}  // namespace

int main() {
  std::vector<float> x(kBlocks * kOf), absmax(kBlocks);
  double mean = 0;
  for (size_t i = 0; i < x.size(); ++i) x[i] = days::normal(1, i);
  for (size_t i = 0; i < x.size(); ++i) absmax[i / kOf] = std::fmax(absmax[i / kOf], std::abs(x[i]));
  for (const float scale : absmax) mean += static_cast<double>(scale) / kBlocks;
  const float offset = static_cast<float>(mean);
  std::vector<float> steps;
  for (int i = 0; i < 256; ++i) steps.push_back(static_cast<float>(i - 127.5) / 127.5f);
  struct Way {
    const char* name;
    double bits;
    std::vector<float> scales;
    double of_scale, of_x;
  };
  const double eight = 4 + 8.0 / 64 + 32.0 / (64 * 256);
  std::vector<Way> ways = {
      {"fp32", 4 + 32.0 / 64, absmax, 0, 0},
      {"8 bits, the map, offset", eight, back(absmax, day18::dynamic_map(), offset), 0, 0},
      {"8 bits, the map, no offset", eight, back(absmax, day18::dynamic_map(), 0), 0, 0},
      {"8 bits, equal steps, offset", eight, back(absmax, steps, offset), 0, 0}};
  std::printf("scales                        bits a weight   scales off by   weights off by (rms)\n");
  for (Way& way : ways) {
    for (size_t i = 0; i < kBlocks; ++i)
      way.of_scale += std::pow(static_cast<double>(way.scales[i] / absmax[i] - 1), 2);
    for (size_t i = 0; i < x.size(); ++i) {
      const unsigned code = days::nf4_code(x[i] * days::nf4_scale(absmax[i / kOf]));
      way.of_x += std::pow(static_cast<double>(days::nf4_value(code) * way.scales[i / kOf] - x[i]), 2);
    }
    way.of_scale = rms(way.of_scale, kBlocks), way.of_x = rms(way.of_x, x.size());
    std::printf("%-28s %14.3f %14.2f%% %16.5f\n", way.name, way.bits, 100 * way.of_scale, way.of_x);
  }
  if (!(ways[1].of_scale < ways[2].of_scale && ways[3].of_scale < ways[1].of_scale &&
        ways[1].of_x < 1.001 * ways[0].of_x)) {
    std::printf("error: an offset should help, and the price be small\n");
    return 1;
  }
  std::printf("ok: half a bit becomes an eighth, for nearly nothing\n");
  return 0;
}
