// SPDX-License-Identifier: MIT
//
// The day's ladder is tested by itself, and its wrong kernels are in wrong.cu. Here is the rest.
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day40_nsight_compute/columns.h"

namespace day40 {
namespace {

// atomicMax keeps what was there before: here the maxima of another x, which were larger.
TEST(Day40, NothingIsLeftOfTheRunBefore) {
  constexpr int kSamples = 300, kFeatures = 40;
  const std::vector<float> large(kSamples * kFeatures, 8.0f), small(kSamples * kFeatures, 2.0f);
  for (const auto& variant : days::variants<Columns<float>>("columns")) {
    const days::DeviceBuffer<float> first(large), second(small), z(large.size()), most(kFeatures);
    variant.launch({first.data(), z.data(), most.data(), kSamples, kFeatures});
    variant.launch({second.data(), z.data(), most.data(), kSamples, kFeatures});
    CUDA_CHECK(cudaDeviceSynchronize());
    EXPECT_EQ(most.download(), std::vector<float>(kFeatures, 2.0f)) << variant.name;
    EXPECT_EQ(z.download(), std::vector<float>(small.size(), 1.0f)) << variant.name;
  }
}

}  // namespace
}  // namespace day40
