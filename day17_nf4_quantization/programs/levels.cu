// SPDX-License-Identifier: MIT
// What sixteen values cost weights of a normal distribution, in blocks of 64 with a scale each: NF4's table, and values at equal
// distances. And what a warp asks of the table. On the CPU; no GPU is needed.
#include <cmath>
#include <cstdio>
#include <set>
#include <vector>

#include "common/nf4.h"
#include "common/random.h"

namespace {

constexpr size_t kBlocks = 1 << 15, kBlock = static_cast<size_t>(days::kNf4Block), kCount = kBlocks * kBlock;

float nf4(float scaled) {
  return days::nf4_value(days::nf4_code(scaled));
}
// Fifteen equal steps from -1 to 1; 0 is not among the values.
float equal_steps(float scaled) {
  return std::round((scaled + 1) * 7.5f) / 7.5f - 1;
}
// Seven equal steps either way, as whole numbers of 4 bits from -7 to 7.
float whole_numbers(float scaled) {
  return std::round(scaled * 7) / 7;
}

double error_of(const std::vector<float>& x, float (*back)(float)) {
  double squares = 0;
  for (size_t block = 0; block < kBlocks; ++block) {
    float absmax = 0;
    for (size_t i = 0; i < kBlock; ++i) absmax = std::fmax(absmax, std::abs(x[block * kBlock + i]));
    for (size_t i = 0; i < kBlock; ++i) {
      const float value = x[block * kBlock + i];
      const double off = static_cast<double>(back(value * days::nf4_scale(absmax)) * absmax - value);
      squares += off * off;
    }
  }
  return std::sqrt(squares / static_cast<double>(kCount));
}

}  // namespace

int main() {
  std::vector<float> x(kCount);
  for (size_t i = 0; i < kCount; ++i) x[i] = days::normal(1, i);
  const double table = error_of(x, nf4), equal = error_of(x, equal_steps), whole = error_of(x, whole_numbers);
  std::printf("2^21 numbers of N(0, 1) in blocks of 64: what comes back is off by (rms)\n");
  std::printf("  NF4's table            %.4f\n", table);
  std::printf("  sixteen equal steps    %.4f\n", equal);
  std::printf("  whole numbers -7 to 7  %.4f\n", whole);

  double codes = 0;
  constexpr size_t kWarps = kCount / 64;
  for (size_t warp = 0; warp < kWarps; ++warp) {  // a warp has the first halves of 32 bytes: one block
    float absmax = 0;
    for (size_t i = 0; i < 64; ++i) absmax = std::fmax(absmax, std::abs(x[warp * 64 + i]));
    std::set<unsigned> different;
    for (size_t i = 0; i < 64; i += 2)
      different.insert(days::nf4_code(x[warp * 64 + i] * days::nf4_scale(absmax)));
    codes += static_cast<double>(different.size());
  }
  codes /= static_cast<double>(kWarps);
  std::printf("Different codes that the 32 lanes of a warp look up at a time: %.1f\n", codes);
  if (!(table < equal && equal < whole && codes > 12 && codes < 14)) {
    std::printf("error: the table should be the best of the three\n");
    return 1;
  }
  std::printf("ok: the values stand where the numbers are\n");
  return 0;
}
