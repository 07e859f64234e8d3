// SPDX-License-Identifier: MIT
//
// common/scan.cuh and common/sort.cuh against loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/random.h"
#include "common/scan.cuh"
#include "common/sort.cuh"

namespace sort_test {
namespace {

using days::DeviceBuffer;

constexpr int kScanThreads = 96;

template <int kItems, class T>
void expect_scan(const std::vector<T>& rows, size_t count) {
  const DeviceBuffer<T> values(rows), totals(rows.size() / count);
  days::scan_rows_kernel<kScanThreads, kItems><<<static_cast<unsigned>(totals.size()), kScanThreads>>>(
      values.data(), totals.data(), static_cast<int64_t>(count));
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::vector<T> got = values.download(), all = totals.download();
  for (size_t row = 0; row < all.size(); ++row) {
    T before = 0;
    for (size_t i = row * count; i < (row + 1) * count; ++i) {
      ASSERT_EQ(got[i], before) << i << ", rows of " << count << ", " << kItems << " a thread";
      before += rows[i];
    }
    ASSERT_EQ(all[row], before) << row << ", rows of " << count << ", " << kItems << " a thread";
  }
}

TEST(Scan, RowsOfSeveralRounds) {
  for (const size_t count : {1u, 31u, 32u, 33u, 95u, 96u, 97u, 191u, 287u, 289u, 600u}) {
    std::vector<uint32_t> values(3 * count);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<uint32_t>(i * 2654435761u);  // sums wrap
    expect_scan<1>(values, count);
    expect_scan<3>(values, count);
  }
}

// What comes before an infinity is finite, which no scan gives that takes the element off again.
TEST(Scan, InfinityOfFloats) {
  std::vector<float> values(200);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);  // exact sums
  values[150] = std::numeric_limits<float>::infinity();
  expect_scan<1>(values, 100);
  expect_scan<2>(values, 200);
}

// Keys as a caller may have them: made of something else as they are read.
struct Given {
  const uint32_t* keys;  // (n)
  uint32_t mask;
  __device__ uint32_t key(int64_t i) const { return keys[i] & mask; }
  __device__ uint32_t value(int64_t i) const { return static_cast<uint32_t>(i); }
};

void expect_sorted(const std::vector<uint32_t>& keys, int bits) {
  const uint32_t mask = ~0u >> (32 - bits);
  const size_t n = keys.size();
  const DeviceBuffer<uint32_t> in(keys), out_keys(n), out_values(n);
  const DeviceBuffer<unsigned char> memory(days::sort_pairs_workspace(static_cast<int64_t>(n)));
  days::sort_pairs(Given{in.data(), mask}, {out_keys.data(), out_values.data()}, static_cast<int64_t>(n),
                   bits, memory.data(), nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
  std::vector<uint32_t> places(n);
  std::iota(places.begin(), places.end(), 0u);
  std::stable_sort(places.begin(), places.end(),
                   [&](uint32_t a, uint32_t b) { return (keys[a] & mask) < (keys[b] & mask); });
  ASSERT_EQ(out_values.download(), places) << n << " keys of " << bits << " bits";
  const std::vector<uint32_t> got = out_keys.download();
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], keys[places[i]] & mask) << i << " of " << n;
}

// Around a warp, a tile, and more; one pass to four, of 8 bits and of 9.
TEST(SortPairs, StableForEveryWidth) {
  for (const size_t n : {1u, 33u, 2047u, 2049u, 5000u}) {
    std::vector<uint32_t> keys(n);
    for (size_t i = 0; i < n; ++i) keys[i] = static_cast<uint32_t>(days::random_bits(n, i));
    for (const int bits : {1, 5, 8, 9, 17, 27, 32}) expect_sorted(keys, bits);
  }
}

TEST(SortPairs, EqualAndOrderedKeys) {
  constexpr size_t kKeys = 4200;
  std::vector<uint32_t> keys(kKeys, 0xabcdu);
  expect_sorted(keys, 16);
  for (size_t i = 0; i < kKeys; ++i) keys[i] = static_cast<uint32_t>(i / 3);
  expect_sorted(keys, 16);
  std::reverse(keys.begin(), keys.end());
  expect_sorted(keys, 16);
}

TEST(SortPairs, RefusesWhatItCannotSort) {
  const Given keys{nullptr, 0};
  EXPECT_THROW(days::sort_pairs(keys, {}, 0, 8, nullptr, nullptr), std::invalid_argument);
  EXPECT_THROW(days::sort_pairs(keys, {}, days::kMostSorted + 1, 8, nullptr, nullptr), std::invalid_argument);
  EXPECT_THROW(days::sort_pairs(keys, {}, 1, 0, nullptr, nullptr), std::invalid_argument);
  EXPECT_THROW(days::sort_pairs(keys, {}, 1, 33, nullptr, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace sort_test
