// SPDX-License-Identifier: MIT
#include <numeric>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day04_image_blur/ladder.h"
#include "day04_image_blur/weights.h"

TEST_LADDER(day04, box_blur);
MUST_REJECT(day04, box_blur, zeros);
MUST_REJECT(day04, box_blur, truncates);
MUST_REJECT(day04, box_blur, narrow);
MUST_REJECT(day04, box_blur, inside_alone);
MUST_REJECT(day04, box_blur, always_clamps);
MUST_REJECT(day04, box_blur, mirror_skips_edge);
MUST_REJECT(day04, box_blur, transposed);
MUST_REJECT(day04, box_blur, one_plane);
MUST_REJECT(day04, box_blur, no_halo);
MUST_REJECT(day04, box_blur, byte_sum);

TEST_LADDER(day04, gaussian_blur);
MUST_REJECT(day04, gaussian_blur, rows_alone);
MUST_REJECT(day04, gaussian_blur, unrounded);
MUST_REJECT(day04, gaussian_blur, byte_between);
MUST_REJECT(day04, gaussian_blur, shifted_weights);
MUST_REJECT(day04, gaussian_blur, box_of_this_size);

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
  for (const auto launch :
       {box_direct, box_shared, box_running, gauss_direct<uint8_t>, gauss_separable<uint8_t>,
        gauss_constant<uint8_t>, gauss_shared<uint8_t>, gauss_registers}) {
    const auto with = [&](int planes, int height, int width, int radius) {
      launch({&value, &value, nullptr, planes, height, width, radius, Border::kClamp, {}}, nullptr);
    };
    EXPECT_THROW(with(0, 1, 1, 1), std::invalid_argument);
    EXPECT_THROW(with(1, 0, 1, 1), std::invalid_argument);
    EXPECT_THROW(with(1, 1, -3, 1), std::invalid_argument);
    EXPECT_THROW(with(1, 1, 1, 0), std::invalid_argument);
    EXPECT_THROW(with(1, 1, 1, kMaxRadius + 1), std::invalid_argument);
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

}  // namespace
}  // namespace day04
