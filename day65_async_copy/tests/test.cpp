// SPDX-License-Identifier: MIT
//
// The day's ladder is tested by itself, and its wrong kernels are in wrong.cu. Here is the rest.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/device.h"
#include "common/testing.h"
#include "day65_async_copy/stencil.h"

namespace day65 {

// stages.cu
void ring_stages(int* out, int parts);

namespace {

TEST(Day65Refuses, SizesThatAreNotPositive) {
  alignas(16) float in[16] = {}, out[16] = {};
  for (const auto& variant : days::variants<Stencil<float>>("stencil")) {
    EXPECT_THROW(variant.launch({in, out, 0, 4, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({in, out, 4, 0, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({in, out, -4, 4, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({in, out, 4, 4, 0}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({in, out, 4, 4, kMostBlocks + 1}), std::invalid_argument) << variant.name;
  }
}

// Places and rows are counted in 32 bits, also those that are fetched ahead.
TEST(Day65Refuses, FieldsThatAreLongerThanItCounts) {
  alignas(16) float in[16] = {};
  float* const far = reinterpret_cast<float*>(uintptr_t{1} << 62);
  for (const auto& variant : days::variants<Stencil<float>>("stencil")) {
    for (const Stencil<float>& p :
         {Stencil<float>{in, far, kMostExtent + 1, 4, 1}, Stencil<float>{in, far, 4, kMostExtent + 1, 1}}) {
      try {
        variant.launch(p);
        ADD_FAILURE() << variant.name << " takes it";
      } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("rows and cols must be at most 2147481599"),
                  std::string::npos)
            << error.what();
      }
    }
  }
}

// A row of out is stored while others that need the same row of in have yet to read it.
TEST(Day65Refuses, InPlace) {
  alignas(16) float values[64] = {};
  for (const auto& variant : days::variants<Stencil<float>>("stencil")) {
    EXPECT_THROW(variant.launch({values, values, 4, 4, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({values, values + 12, 4, 4, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({values + 12, values, 4, 4, 1}), std::invalid_argument) << variant.name;
  }
}

TEST(Day65Refuses, RowsThatAreNoWholeVectorsWithTheReason) {
  alignas(16) float in[24] = {}, out[24] = {};
  for (const auto& variant : days::variants<Stencil<float>>("stencil")) {
    if (variant.name == "direct") continue;
    const std::string reason = "needs cols % 4 == 0, 16-byte aligned in, out";
    for (const Stencil<float>& p : {Stencil<float>{in, out, 2, 5, 1}, Stencil<float>{in + 1, out, 2, 4, 1},
                                    Stencil<float>{in, out + 2, 2, 4, 1}}) {
      try {
        variant.launch(p);
        ADD_FAILURE() << variant.name << " takes it";
      } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
      }
    }
  }
}

// The parts of a field of more than 2^31 elements: every row is in one part, and nothing of it is counted in 32 bits.
TEST(Day65March, DealsOutLargeFields) {
  for (const Stencil<float>& p :
       {Stencil<float>{nullptr, nullptr, kMostExtent, 4, 1},
        Stencil<float>{nullptr, nullptr, 65536, 65536, 3},
        Stencil<float>{nullptr, nullptr, 7, kMostExtent - 3, 2}, Stencil<float>{nullptr, nullptr, 1, 1, 1}}) {
    const March march = march_of(p, kStrip, "test");
    EXPECT_EQ(march.strips, (int64_t{p.cols} + kStrip - 1) / kStrip);
    EXPECT_GE(march.rows, kLeastRows);
    const int64_t parts = march.blocks / march.strips;
    EXPECT_EQ(march.blocks, parts * march.strips);
    EXPECT_GE(parts * march.rows, p.rows);
    EXPECT_LT((parts - 1) * march.rows, p.rows);
  }
}

// Whole rounds of nine rows, in stages of three, and none that brings no row of the part.
TEST(Day65Ring, BringsNoMoreRoundsThanThePartNeeds) {
  constexpr int kParts = 64;
  const days::DeviceBuffer<int> out(kParts);
  ring_stages(out.data(), kParts);
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::vector<int> got = out.download();
  for (int rows = 1; rows <= kParts; ++rows) {
    const int needed = rows + 2 * kRadius, brought = 3 * got[static_cast<size_t>(rows) - 1];
    EXPECT_EQ(brought % 9, 0) << rows;
    EXPECT_GE(brought, needed) << rows;
    EXPECT_LT(brought, needed + 9) << rows;
  }
}

}  // namespace
}  // namespace day65
