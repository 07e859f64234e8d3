// SPDX-License-Identifier: MIT
// What the shape of a sum's tree does to its last digits: 2^24 times 0.1 in fp32, on the CPU. No GPU is needed.
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr int kCount = 1 << 24;
constexpr double kTerm = static_cast<double>(0.1f), kTruth = kTerm * kCount;

void print(const char* shape, int depth, float sum) {
  std::printf("  %-34s %10d %12.1f  %8.5f%%\n", shape, depth, static_cast<double>(sum),
              100 * std::abs(static_cast<double>(sum) - kTruth) / kTruth);
}

// `chains` chains of equal length, whose sums meet in a tree.
float sum_of(int chains) {
  std::vector<float> sums(static_cast<size_t>(chains));
  for (int i = 0; i < kCount; ++i) sums[static_cast<size_t>(i % chains)] += 0.1f;
  for (size_t half = sums.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  return sums[0];
}
int depth_of(int chains) {
  int levels = 0;
  for (int i = chains; i > 1; i /= 2) ++levels;
  return kCount / chains - 1 + levels;
}

}  // namespace

int main() {
  std::printf("2^24 times 0.1 in fp32; the truth is %.1f\n", kTruth);
  std::printf("  %-34s %10s %12s  %9s\n", "shape", "depth", "sum", "off by");
  const float chain = sum_of(1), tree = sum_of(kCount);
  print("one chain", depth_of(1), chain);
  print("16 chains, as a CPU's vectors", depth_of(16), sum_of(16));
  print("2^17 chains, as threads that stay", depth_of(1 << 17), sum_of(1 << 17));
  print("a tree", depth_of(kCount), tree);

  const volatile float large = 16777216, one = 1;
  const float from_left = ((large + one) + one) + one, in_pairs = (large + one) + (one + one);
  std::printf("\n16777216 + 1 + 1 + 1 from the left %.0f, in pairs %.0f, the truth 16777219\n",
              static_cast<double>(from_left), static_cast<double>(in_pairs));
  const bool as_told = std::abs(static_cast<double>(chain) - kTruth) > 0.1 * kTruth &&
                       std::abs(static_cast<double>(tree) - kTruth) < 1e-6 * kTruth && from_left < in_pairs;
  if (!as_told) {
    std::printf("error: the shapes do not round as they should; was this built with reordered additions?\n");
    return 1;
  }
  std::printf("ok: the deeper, the worse\n");
  return 0;
}
