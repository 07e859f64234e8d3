// SPDX-License-Identifier: MIT
#include <cstdint>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/testing.h"
#include "day62_histogram_and_sort/check.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/histogram.h"
#include "day62_histogram_and_sort/radix_sort.h"
#include "day62_histogram_and_sort/top_k.h"

#ifdef __SIMT__
#include "simt/runtime.h"
#endif

namespace day62 {

// digit_starts.cu
void digit_starts(const RadixSort<uint32_t>& p, int64_t tiles, int pass);

namespace {

using days::DeviceBuffer;

// Device addresses that nothing follows: the launchers must have thrown before.
template <class T>
T* nowhere(int i) {
  return reinterpret_cast<T*>((uintptr_t{1} << 40) * static_cast<uintptr_t>(i));
}

TEST(Day62Check, TakesTheSameElementsInAnyOrderAndNoOthers) {
  const std::vector<float> x = {2, -1, 3, 2, 0, 5, 2};
  const auto said = [&x](std::vector<float> y, uint32_t count) {
    return check_compaction({x.data(), y.data(), &count, 7, 1, {}}).text();
  };
  EXPECT_EQ(said({5, 2, 2, 3, 2}, 5), "");
  EXPECT_EQ(said({5, 2, 2, 2}, 4), "count is 4, expected 5");
  EXPECT_EQ(said({5, 3, 2, 3, 2}, 5), "an element 2 of x is missing in y");
  EXPECT_EQ(said({5, 1, 2, 3, 2}, 5), "y[1] is 1, once more than x has it above the threshold");
  EXPECT_EQ(said({5, 3, 3, 3, 2}, 5), "an element 2 of x is missing in y");  // 2 and 2 for 3 and 3
}

TEST(Day62Refuses, MoreKeysThanABinCounts) {
  for (const auto& variant : days::variants<Histogram<uint8_t>>("histogram")) {
    for (const int64_t n : {int64_t{0}, int64_t{-1}, int64_t{1} << 32}) {
      const Histogram<uint8_t> p{nowhere<uint8_t>(1), nowhere<uint32_t>(2), n, {}};
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << n;
    }
  }
}

TEST(Day62Refuses, MoreKeysThanOnesweepPublishes) {
  for (const auto& variant : days::variants<RadixSort<uint32_t>>("radix_sort")) {
    for (const int64_t n : {int64_t{0}, int64_t{-1}, kMaxSorted + 1}) {
      const RadixSort<uint32_t> p{
          nowhere<uint32_t>(1), nowhere<uint32_t>(2), n, {nowhere<char>(3), size_t{1} << 40}};
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << n;
    }
  }
}

TEST(Day62Refuses, MoreElementsThanACountHas) {
  for (const char* ladder : {"compaction", "compaction_stable"}) {
    for (const auto& variant : days::variants<Compaction<float>>(ladder)) {
      for (const int64_t n : {int64_t{0}, int64_t{-1}, int64_t{1} << 32}) {
        const Compaction<float> p{nowhere<float>(1),
                                  nowhere<float>(2),
                                  nowhere<uint32_t>(3),
                                  n,
                                  0,
                                  {nowhere<char>(4), size_t{1} << 40}};
        EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << n;
      }
    }
  }
}

TEST(Day62Refuses, MoreThanARowHasOrABlockSorts) {
  for (const auto& variant : days::variants<TopK<days::bf16>>("top_k")) {
    const auto refused = [&](int rows, int cols, int k) {
      const TopK<days::bf16> p{nowhere<days::bf16>(1),
                               nowhere<days::bf16>(2),
                               nowhere<int32_t>(3),
                               rows,
                               cols,
                               k,
                               {nowhere<char>(4), size_t{1} << 40}};
      EXPECT_THROW(variant.launch(p), std::invalid_argument)
          << variant.name << " " << rows << " " << cols << " " << k;
    };
    refused(0, 4, 1);
    refused(4, 0, 1);
    refused(4, 4, 0);
    refused(4, 4, -1);
    refused(4, 4, 5);
    refused(4, 1000, kMaxK + 1);
    if (variant.name == "slices") refused(1, (1 << 20) + 1, 1);
    if (variant.name == "slices") refused(65536, 4, 1);
  }
}

// ---- Scans by one block that take several rounds: more tiles than a round has, which is more than the shapes of the
// ladders reach on a CPU. Each round has to begin with the sum of those before it.

// digit_starts.cu scans 512 tiles a round. Here are three rounds of tiles, all but the first two of them without a
// key, which costs little: where a digit of a tile without a key begins is still the sum over the tiles before.
TEST(Day62Rounds, DigitStartsOfEachTile) {
  constexpr int64_t kTileKeys = 4096, kKeys = kTileKeys + 1000, kTiles = 1025;
  constexpr int kPass = 1;
  std::vector<uint32_t> keys(kKeys);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<uint32_t>(i) * 2654435761u;

  const DeviceBuffer<uint32_t> in(keys), scratch(kKeys + kDigits + kDigits * kTiles);
  digit_starts({in.data(), nullptr, kKeys, {scratch.data(), scratch.size() * sizeof(uint32_t)}}, kTiles,
               kPass);
  CUDA_CHECK(cudaDeviceSynchronize());

  const std::vector<uint32_t> got = scratch.download();
  const uint32_t* totals = got.data() + kKeys;
  const uint32_t* starts = totals + kDigits;
  for (int64_t digit = 0; digit < kDigits; ++digit) {
    uint32_t before = 0;
    for (int64_t tile = 0; tile < kTiles; ++tile) {
      ASSERT_EQ(starts[digit * kTiles + tile], before) << "digit " << digit << ", tile " << tile;
      for (int64_t i = tile * kTileKeys; i < (tile + 1) * kTileKeys && i < kKeys; ++i)
        before += digit_of(keys[static_cast<size_t>(i)], kPass) == digit;
    }
    ASSERT_EQ(totals[digit], before) << "digit " << digit;
  }
}

// 08_two_reads.cu scans 1024 tiles of 4096 elements a round.
TEST(Day62Rounds, PlacesOfEachTile) {
#ifdef __SIMT__
  if (simt::checked_build) GTEST_SKIP() << "4 million elements: the plain build compares them";
#endif
  constexpr size_t kTile = 4096, kElements = 1025 * kTile + 1;
  // Four of a tile stay, and one that lies elsewhere in each tile.
  std::vector<float> x(kElements, 0.0f), expected;
  for (size_t i = 0; i < x.size(); ++i) {
    if (i % 1024 == 3 || i % (kTile + 1) == 0) x[i] = 1.0f + static_cast<float>(i);
    if (x[i] > 0) expected.push_back(x[i]);
  }
  const DeviceBuffer<float> in(x), out(kElements);
  const DeviceBuffer<uint32_t> count(1);
  Compaction<float> p{in.data(), out.data(), count.data(), static_cast<int64_t>(kElements), 0.5f, {}};
  const DeviceBuffer<unsigned char> workspace(two_reads_workspace(p));
  p.workspace = {workspace.data(), workspace.size()};
  compaction_two_reads(p, nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());

  ASSERT_EQ(count.download()[0], expected.size());
  const std::vector<float> y = out.download();
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(y[i], expected[i]) << "y[" << i << "]";
}

}  // namespace
}  // namespace day62
