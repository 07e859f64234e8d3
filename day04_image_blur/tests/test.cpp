// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day04_image_blur/blur.h"
#include "day04_image_blur/weights.h"
#ifdef __SIMT__
#include "simt/runtime.h"
#endif

namespace day04 {
namespace {

TEST(Day04Weights, AddUpAreSymmetricAndFallOff) {
  for (const int radius : {1, 2, 3, 5, 8, 50, 127, 500, kMaxRadius}) {
    const std::vector<float> weights = gaussian_weights(radius);
    ASSERT_EQ(weights.size(), 2 * static_cast<size_t>(radius) + 1);
    EXPECT_EQ(std::accumulate(weights.begin(), weights.end(), 0.0f), kUnit) << radius;
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_EQ(weights[i], weights[weights.size() - 1 - i]) << radius << ": " << i;
      EXPECT_GE(weights[i], 0) << radius << ": " << i;
    }
    // Each is rounded, the middle one to an even number, so a neighbour may be one more.
    EXPECT_GE(weights[static_cast<size_t>(radius)] + 1, weights[static_cast<size_t>(radius) - 1]);
    EXPECT_GT(weights[static_cast<size_t>(radius)], weights[0]);
  }
  EXPECT_THROW(gaussian_weights(0), std::invalid_argument);
  EXPECT_THROW(gaussian_weights(kMaxRadius + 1), std::invalid_argument);
}

TEST(Day04Refuses, SizesThatAreNotPositive) {
  uint8_t value = 0;
  for (const char* ladder : {"box_blur", "gaussian_blur"}) {
    for (const auto& variant : days::variants<Blur<uint8_t>>(ladder)) {
      const auto expect_refusal = [&](int planes, int height, int width, int radius) {
        const Blur<uint8_t> p{&value, &value, nullptr, planes, height, width, radius, Border::kClamp, {}};
        EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
      };
      expect_refusal(0, 1, 1, 1);
      expect_refusal(1, 0, 1, 1);
      expect_refusal(1, 1, -3, 1);
      expect_refusal(1, 1, 1, 0);
      expect_refusal(1, 1, 1, kMaxRadius + 1);
      expect_refusal(1, 65535 * 8 + 1, 1, 1);
    }
  }
  EXPECT_EQ(value, 0);
}

// More rows than a grid has blocks along y: some blocks of box_running blur two of them.
TEST(Day04Tall, MoreRowsThanBlocks) {
  const int height = 65535 + 3, width = 70;  // three warps fetch what the first one adds up
  std::vector<uint8_t> image(size_t{height} * width), expected(image.size());
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint8_t>(i * i / 7);
  box_reference({image.data(), expected.data(), nullptr, 1, height, width, 1, Border::kMirror, {}});
  const days::DeviceBuffer<uint8_t> in(image), blurred(image.size());
  const days::DeviceBuffer<uint32_t> sums(image.size());
  const days::Workspace workspace = {sums.data(), sums.size() * sizeof(uint32_t)};
  box_running({in.data(), blurred.data(), nullptr, 1, height, width, 1, Border::kMirror, workspace}, nullptr);
  EXPECT_TRUE(blurred.download() == expected);
}

#ifdef __SIMT__
// A picture wider than what two blocks of box_running walk along, 1024 pixels each: none writes into another's
// part, whichever comes last.
TEST(Day04Wide, MoreThanABlockAlongARow) {
  const int height = 2, width = 2 * 1024 + 70, radius = 3;
  std::vector<uint8_t> image(size_t{height} * width), expected(image.size());
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<uint8_t>(i * i / 7);
  box_reference({image.data(), expected.data(), nullptr, 1, height, width, radius, Border::kMirror, {}});
  const days::DeviceBuffer<uint8_t> in(image), blurred(image.size());
  const days::DeviceBuffer<uint32_t> sums(image.size());
  const days::Workspace workspace = {sums.data(), sums.size() * sizeof(uint32_t)};
  for (const simt::Order order : {simt::Order::normal, simt::Order::reversed}) {
    simt::set_order(order);
    box_running({in.data(), blurred.data(), nullptr, 1, height, width, radius, Border::kMirror, workspace},
                nullptr);
    EXPECT_TRUE(blurred.download() == expected);
  }
  simt::reset_order();
}

// A picture of one row or column is no square's tile: a row that is short takes a warp and not a whole block.
TEST(Day04Narrow, TakesNoMoreThanAWarpForAPixel) {
  const auto threads = [](auto launcher, int height, int width) {
    const days::DeviceBuffer<uint8_t> image(size_t{1} << 16), blurred(size_t{1} << 16);
    const days::DeviceBuffer<uint32_t> sums(size_t{1} << 16);
    const days::Workspace workspace = {sums.data(), sums.size() * sizeof(uint32_t)};
    const uint64_t before = simt::stats().total.threads;
    launcher({image.data(), blurred.data(), nullptr, 1, height, width, 5, Border::kClamp, workspace},
             nullptr);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return simt::stats().total.threads - before;
  };
  constexpr uint64_t kPixels = 1 << 16, kWarp = 32;
  for (const auto launcher : {gauss_registers, box_running}) {
    EXPECT_LE(threads(launcher, 256, 256), kPixels);
    EXPECT_LE(threads(launcher, 1 << 16, 1),
              (kWarp + 2) * kPixels);  // 2 a pixel for the sums down its column
    EXPECT_LE(threads(launcher, 1, 1 << 16), 2 * kPixels);
  }
}
#endif

}  // namespace
}  // namespace day04
