// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day58_matrix_rotation/rotation.h"
#include "day58_matrix_rotation/turn.h"

namespace day58 {
namespace {

// The place of the last pixel lies beyond 2^31 where the extents alone are small; what kernels and launchers use to find it.
static_assert(index(turned(46340, 0, 46341, 46341, 1), 46341) == int64_t{46340} * 46341 + 46340);
static_assert(index(turned(0, 0, 3, 2000000000, 3), 3) == 2);
static_assert(index(turned(0, 0, 2000000000, 3, 1), 2000000000) == int64_t{4000000000});
static_assert(index(turned(0, 0, 3, 2000000000, 2), 2000000000) == int64_t{5999999999});
// Four quarters are none.
static_assert(turned(turned(2, 5, 7, 11, 1).row, turned(2, 5, 7, 11, 1).col, 11, 7, 3).row == 2);

TEST(Day58Refuses, SizesThatAreNotPositive) {
  alignas(64) uint32_t in[64] = {}, out[64] = {};
  for (const auto& [ladder, quarters] : {std::pair{"quarter", 1}, std::pair{"half", 2}}) {
    for (const auto& variant : days::variants<Rotate<uint32_t>>(ladder)) {
      EXPECT_THROW(variant.launch({in, out, 4, 4, 0}), std::invalid_argument) << variant.name;
      EXPECT_THROW(variant.launch({in, out, 4, 4, 3 - quarters}), std::invalid_argument) << variant.name;
    }
  }
  const days::Workspace room{out, sizeof out};
  for (const auto& variant : days::variants<InPlace<uint32_t>>("in_place")) {
    EXPECT_THROW(variant.launch({in, 4, 4, 2, room}), std::invalid_argument) << variant.name;
  }
  alignas(64) float from[64] = {}, to[64] = {};
  for (const auto& variant : days::variants<Turn<float>>("turn")) {
    EXPECT_THROW(variant.launch({from, to, 4, 65537, 1, 0, Border::kZero, {}}), std::invalid_argument)
        << variant.name;
    EXPECT_THROW(variant.launch({from, to, 65537, 1, 1, 0, Border::kZero, {}}), std::invalid_argument)
        << variant.name;
    EXPECT_THROW(variant.launch({from, to, 4, 4, 1, 1, Border::kZero, {}}), std::invalid_argument)
        << variant.name;
    EXPECT_THROW(variant.launch({from, from + 15, 4, 4, 1, 0, Border::kZero, {}}), std::invalid_argument)
        << variant.name;
  }
  alignas(64) uint8_t bytes[64] = {}, others[64] = {};
  for (const auto& variant : days::variants<Turn<uint8_t>>("turn"))
    EXPECT_THROW(variant.launch({bytes + 1, others, 3, 3, 1, 0, Border::kZero, {}}), std::invalid_argument)
        << variant.name;
}

TEST(Day58Refuses, ARectangleInPlaceAndSaysWhy) {
  alignas(64) uint32_t image[64] = {};
  uint32_t other[64];
  for (const auto& variant : days::variants<InPlace<uint32_t>>("in_place")) {
    try {
      variant.launch({image, 3, 5, 1, {other, sizeof other}});
      ADD_FAILURE() << variant.name;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("needs a square, as rows become columns"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Day58Refuses, PicturesThatOverlap) {
  alignas(64) uint8_t bytes[1024] = {};
  for (const auto& variant : days::variants<Rotate<uint8_t>>("quarter")) {
    EXPECT_THROW(variant.launch({bytes, bytes, 16, 16, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({bytes, bytes + 240, 16, 16, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({bytes + 240, bytes, 16, 16, 3}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : days::variants<Rotate<uint8_t>>("half"))
    EXPECT_THROW(variant.launch({bytes, bytes + 240, 16, 16, 2}), std::invalid_argument) << variant.name;
  EXPECT_THROW(half_pixels<uint8_t>({bytes, bytes, 16, 16, 2}, nullptr), std::invalid_argument);
}

// The pointers are never followed: the launchers must have thrown before.
TEST(Day58Refuses, MoreThanAGridHas) {
  const auto in = reinterpret_cast<const uint32_t*>(uintptr_t{1} << 40);
  const auto out = reinterpret_cast<uint32_t*>(uintptr_t{1} << 60);
  EXPECT_THROW(quarter_scatter<uint32_t>({in, out, 524281, 1, 1}, nullptr), std::invalid_argument);
  EXPECT_THROW(quarter_gather<uint32_t>({in, out, 1, 524281, 1}, nullptr), std::invalid_argument);
  EXPECT_THROW(quarter_tile<uint32_t>({in, out, 2097121, 1, 1}, nullptr), std::invalid_argument);
  EXPECT_THROW(quarter_vectors<uint32_t>({in, out, 4194304, 4, 1}, nullptr), std::invalid_argument);
  EXPECT_THROW(half_pixels<uint32_t>({in, out, 1 << 30, 1 << 10, 2}, nullptr), std::invalid_argument);
  EXPECT_THROW(half_pairs<uint32_t>({in, out, 1 << 30, 1 << 11, 2}, nullptr), std::invalid_argument);
  EXPECT_THROW(half_vectors<uint32_t>({in, out, 1 << 30, 1 << 13, 2}, nullptr), std::invalid_argument);
  EXPECT_THROW(tile_cycles<uint32_t>({out, 4194302, 4194302, 1, {}}, nullptr), std::invalid_argument);
  EXPECT_THROW(cycles<uint32_t>({out, 1048561, 1048561, 1, {}}, nullptr), std::invalid_argument);
}

// Where the owner of a pair loads both before it stores both, out may be in.
template <class T>
void half_turn_in_place(const char* name, int height, int width) {
  std::vector<T> image(static_cast<size_t>(height) * static_cast<size_t>(width));
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<T>(i * i + 7 * i);
  const days::DeviceBuffer<T> device(image);
  for (const auto& variant : days::variants<Rotate<T>>("half")) {
    if (variant.name != name) continue;
    variant.launch({device.data(), device.data(), height, width, 2});
    std::reverse(image.begin(), image.end());
    EXPECT_TRUE(device.download() == image) << name;
  }
}
TEST(Day58InPlace, AHalfTurn) {
  for (const int width : {1, 2, 255, 512, 1027}) half_turn_in_place<uint32_t>("half_pairs", 3, width);
  for (const int width : {16, 48, 512, 1040}) {
    half_turn_in_place<uint8_t>("half_vectors", 3, width);
    half_turn_in_place<uint32_t>("half_vectors", 1, width);
  }
}

// Whole quarters of a square need no blend: any angle's rungs by hand must then give the very pixels, and the texture unit, too.
TEST(Day58Turn, QuartersAreExact) {
  constexpr int kSide = 37;
  std::vector<float> image(kSide * kSide), expected(image.size());
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 251);
  const days::DeviceBuffer<float> in(image), out(image.size());
  for (const int quarters : {1, 2, 3}) {
    for (int row = 0; row < kSide; ++row) {
      for (int col = 0; col < kSide; ++col)
        expected[static_cast<size_t>(index(turned(row, col, kSide, kSide, quarters), kSide))] =
            image[static_cast<size_t>(index({row, col}, kSide))];
    }
    Turn<float> p{in.data(),     out.data(), kSide, kSide, cosine_of(90 * quarters), sine_of(90 * quarters),
                  Border::kZero, {}};
    turn_corners(p, nullptr);
    EXPECT_TRUE(out.download() == expected) << quarters;
    turn_patches(p, nullptr);
    EXPECT_TRUE(out.download() == expected) << quarters;
    const Texture texture = turn_texture_setup(p, nullptr);
    p.setup = days::Setup(&texture, &days::detail::kStateTag<Texture>);
    turn_texture(p, nullptr);
    EXPECT_TRUE(out.download() == expected) << quarters;
  }
}

// The ladder's tolerance has room for a texture's weights. What is blended by hand is far nearer, and the texture's result is not.
TEST(Day58Turn, ByHandIsExactToRoundingAndATextureTo256ths) {
  constexpr int kHeight = 61, kWidth = 83;
  std::vector<float> image(kHeight * kWidth), expected(image.size());
  for (size_t i = 0; i < image.size(); ++i) image[i] = i % 2 == 0 ? 1.0f : 0.0f;
  Turn<float> host{image.data(),  expected.data(), kHeight,        kWidth,
                   cosine_of(33), sine_of(33),     Border::kClamp, {}};
  turn_reference(host);
  const days::DeviceBuffer<float> in(image), out(image.size());
  Turn<float> p = host;
  p.in = in.data();
  p.out = out.data();
  const auto worst = [&] {
    const std::vector<float> got = out.download();
    float error = 0;
    for (size_t i = 0; i < got.size(); ++i) error = std::max(error, std::abs(got[i] - expected[i]));
    return error;
  };
  turn_corners(p, nullptr);
  EXPECT_LT(worst(), 5e-5f);
  turn_patches(p, nullptr);
  EXPECT_LT(worst(), 5e-5f);
  const Texture texture = turn_texture_setup(p, nullptr);
  p.setup = days::Setup(&texture, &days::detail::kStateTag<Texture>);
  turn_texture(p, nullptr);
  EXPECT_LT(worst(), 4 / 512.0f + 5e-5f);
  EXPECT_GT(worst(), 1 / 512.0f);
}

TEST(Day58Turn, CosinesOfWholeQuartersAreWhole) {
  for (const int64_t turns : {-720, -360, 0, 360, 720}) {
    EXPECT_EQ(cosine_of(turns), 1.0f);
    EXPECT_EQ(cosine_of(turns + 90), 0.0f);
    EXPECT_EQ(cosine_of(turns + 180), -1.0f);
    EXPECT_EQ(cosine_of(turns + 270), 0.0f);
    EXPECT_EQ(sine_of(turns + 90), 1.0f);
    EXPECT_EQ(sine_of(turns + 270), -1.0f);
    EXPECT_FLOAT_EQ(cosine_of(turns + 60), 0.5f);
    EXPECT_FLOAT_EQ(sine_of(turns + 30), 0.5f);
  }
}

#ifndef __SIMT__
// More than 2^31 pixels: a few that are not 0, around the places where an index of 32 bits would be wrong.
TEST(Day58Large, BeyondTwoToThe31) {
  constexpr int kSide = 46400;  // whole squares; 46,400^2 is 5,476,352 more than 2^31
  constexpr size_t kPixels = size_t{kSide} * kSide;
  const days::DeviceBuffer<uint8_t> in(kPixels), out(kPixels);
  const Place places[] = {{0, 0},         {kSide - 1, kSide - 1}, {46281, 19999},
                          {46281, 20000}, {3, kSide - 2},         {kSide - 2, 5}};
  const auto fill = [&](const days::DeviceBuffer<uint8_t>& buffer) {
    CUDA_CHECK(cudaMemset(buffer.data(), 0, kPixels));
    uint8_t value = 1;
    for (const Place& place : places) {
      CUDA_CHECK(cudaMemset(buffer.data() + index(place, kSide), value, 1));
      ++value;
    }
  };
  const auto expect_turned = [&](const days::DeviceBuffer<uint8_t>& buffer, int quarters,
                                 const std::string& name) {
    uint8_t value = 1;
    for (const Place& place : places) {
      uint8_t got = 0;
      const Place to = turned(place.row, place.col, kSide, kSide, quarters);
      CUDA_CHECK(cudaMemcpy(&got, buffer.data() + index(to, kSide), 1, cudaMemcpyDeviceToHost));
      EXPECT_EQ(got, value) << name << ": " << place.row << ", " << place.col;
      ++value;
    }
  };
  fill(in);
  for (const auto& [ladder, quarters] :
       {std::pair{"quarter", 1}, std::pair{"quarter", 3}, std::pair{"half", 2}}) {
    for (const auto& variant : days::variants<Rotate<uint8_t>>(ladder)) {
      CUDA_CHECK(cudaMemset(out.data(), 0xff, kPixels));
      variant.launch({in.data(), out.data(), kSide, kSide, quarters});
      expect_turned(out, quarters, variant.name);
    }
  }
  for (const auto& variant : days::variants<InPlace<uint8_t>>("in_place")) {
    fill(in);
    variant.launch({in.data(), kSide, kSide, 3, {out.data(), kPixels}});
    expect_turned(in, 3, variant.name);
  }
}
#endif

}  // namespace
}  // namespace day58
