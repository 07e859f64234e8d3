// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/device.h"
#include "common/random.h"
#include "common/testing.h"
#include "day57_prefix_sum/prefix_sum.h"

#ifdef __SIMT__
#include "simt/runtime.h"
#endif

namespace day57 {

void no_order(const Scan<float>&, cudaStream_t);  // wrong.cu

namespace {

using days::DeviceBuffer;

// Device addresses that nothing follows: the launchers must have thrown before.
template <class T>
T* nowhere(int i) {
  return reinterpret_cast<T*>((uintptr_t{1} << 40) * static_cast<uintptr_t>(i));
}

TEST(Day57Refuses, MoreTilesThanAGridHas) {
  const days::Workspace enough{nowhere<char>(3), size_t{1} << 60};
  constexpr int64_t kSize = int64_t{1} << 56;
  for (const auto& variant : days::variants<Scan<float>>("scan"))
    EXPECT_THROW(variant.launch({nowhere<float>(1), nowhere<float>(2), kSize, false, enough}),
                 std::invalid_argument)
        << variant.name;
  EXPECT_THROW(scan_segmented<float>(
                   {nowhere<float>(1), nowhere<uint8_t>(4), nowhere<float>(2), kSize, enough}, nullptr),
               std::invalid_argument);
}

// A tile that is written while others still read there: wrong by luck of the order.
TEST(Day57Refuses, ArraysThatOverlapInPart) {
  alignas(16) float values[64] = {};
  const days::Workspace enough{nowhere<char>(3), size_t{1} << 30};
  for (const auto& variant : days::variants<Scan<float>>("scan")) {
    EXPECT_THROW(variant.launch({values, values + 4, 32, false, enough}), std::invalid_argument)
        << variant.name;
    EXPECT_THROW(variant.launch({values + 31, values, 32, false, enough}), std::invalid_argument)
        << variant.name;
  }
  const uint8_t head[32] = {};
  EXPECT_THROW(scan_segmented<float>({values, head, values + 4, 32, enough}, nullptr), std::invalid_argument);
}

// More tiles than the block that scans their sums takes at a time.
TEST(Day57TileSums, MoreThanOneRound) {
  constexpr int64_t kTiles = 1100, kSize = kTiles * kTileOfSweeps - 7;
  std::vector<int32_t> values(kSize);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i % 1021);
  const DeviceBuffer<int32_t> x(values);
  const DeviceBuffer<uint32_t> sums(kTiles + 1);
  sums_before_tiles<kTileOfSweeps, int32_t>({x.data(), nullptr, kSize, false, {}}, sums.data(), nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::vector<uint32_t> got = sums.download();
  uint32_t want = 0;
  for (size_t tile = 0; tile < got.size(); ++tile) {
    ASSERT_EQ(got[tile], want) << "tile " << tile;
    for (size_t i = tile * kTileOfSweeps; i < std::min((tile + 1) * kTileOfSweeps, values.size()); ++i)
      want += static_cast<uint32_t>(values[i]);
  }
}

// What look_ahead adds up does not depend on who came first: the same bits in 20 runs, on a CPU in three orders.
TEST(Day57LookAhead, SameBitsInEveryRun) {
  if (!days::sm_90.met(days::current_device()))
    GTEST_SKIP() << "no bulk copies before compute capability 9.0";
  constexpr int64_t kSize = 70 * kTile<float> + 5;
  std::vector<float> values(kSize);
  for (size_t i = 0; i < values.size(); ++i) values[i] = days::normal(57, i);
  const DeviceBuffer<float> x(values), y(kSize);
  const DeviceBuffer<uint8_t> memory(1 << 16);
  std::vector<float> first;
  for (int run = 0; run < days::kRunsInOrder; ++run) {
    const days::InOrder order(run);
    scan_look_ahead<float>({x.data(), y.data(), kSize, false, {memory.data(), 1 << 16}}, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    const std::vector<float> got = y.download();
    if (first.empty()) first = got;
    ASSERT_EQ(std::memcmp(first.data(), got.data(), got.size() * sizeof(float)), 0) << "run " << run;
  }
}

TEST(Day57Races, FlagAndSumWithoutAnOrder) {
#ifdef __SIMT__
  if (!simt::checked_build) GTEST_SKIP() << "checked builds report this";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    const DeviceBuffer<float> x(std::vector<float>(2048, 1.0f)), y(2048);
    const DeviceBuffer<uint8_t> memory(4096);
    no_order({x.data(), y.data(), 2048, false, {memory.data(), 4096}}, nullptr);
    static_cast<void>(cudaDeviceSynchronize());
    std::_Exit(0);
  };
  EXPECT_EXIT(
      run(), [](int) { return true; }, "simt-race-global");
#else
  GTEST_SKIP() << "no tool of a GPU's finds this";
#endif
}

}  // namespace
}  // namespace day57
