// SPDX-License-Identifier: MIT
//
// Scans by one block that takes several rounds: more tiles than a round has, which is more than the shapes of the
// ladders reach on a CPU. Each round has to begin with the sum of those before it.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/digit_starts.cuh"
#include "day62_histogram_and_sort/radix_sort.h"

#ifdef __SIMT__
#include "simt/runtime.h"
#endif

namespace day62 {
namespace {

using days::DeviceBuffer;

// digit_starts.cu scans 512 tiles a round. Here are three rounds of tiles, all but the first two of them without a
// key, which costs little: where a digit of a tile without a key begins is still the sum over the tiles before.
TEST(Day62Rounds, DigitStartsOfEachTile) {
  constexpr int64_t kKeys = kTileKeys + 1000, kTiles = 1025;
  constexpr int kPass = 1;
  std::vector<uint32_t> keys(kKeys);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<uint32_t>(i) * 2654435761u;

  const DeviceBuffer<uint32_t> in(keys), scratch(kKeys + kDigits + kDigits * kTiles);
  TileScratch s({in.data(), nullptr, kKeys, {scratch.data(), scratch.size() * sizeof(uint32_t)}});
  s.tiles = kTiles;
  launch_digit_starts(in.data(), kKeys, kPass, s, nullptr);
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
