// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest: what each rung
// refuses, and whose dbeta is the same on every run.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/setup.h"
#include "common/testing.h"
#include "day41_swish/formulas.h"
#include "day41_swish/swish.h"

namespace day41 {
namespace {

TEST(Day41Refuses, WhatIsNoProblem) {
  alignas(16) float x[8] = {}, y[8] = {}, beta = 1, dbeta = 0;
  for (const auto& variant : days::variants<Swish<float>>("swish")) {
    EXPECT_THROW(variant.launch({x, &beta, x + 4, 8}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x, &beta, y, int64_t{1} << 43}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : days::variants<SwishBackward<float>>("swish_backward")) {
    EXPECT_THROW(variant.launch({x, y, &beta, x + 4, &dbeta, 8, {}, {}}), std::invalid_argument)
        << variant.name;
    EXPECT_THROW(variant.launch({x, y, &beta, y + 4, &dbeta, 8, {}, {}}), std::invalid_argument)
        << variant.name;
  }
}

TEST(Day41Refuses, ScratchThatIsMissing) {
  alignas(16) float x[8] = {}, y[8] = {}, z[8] = {}, scratch[8] = {}, beta = 1, dbeta = 0;
  const SwishBackward<float> none = {x, y, &beta, z, &dbeta, 8, {}, {}};
  EXPECT_THROW(swish_stages(none, nullptr), std::invalid_argument);
  EXPECT_THROW(swish_ticket(none, nullptr), std::invalid_argument);
  EXPECT_THROW(swish_ticket_setup(none, nullptr), std::invalid_argument);
  const SwishBackward<float> not_set_up = {x, y, &beta, z, &dbeta, 8, {scratch, sizeof scratch}, {}};
  EXPECT_THROW(swish_ticket(not_set_up, nullptr), std::invalid_argument);
}

// dbeta of stages and of ticket, whose last block is another on every run: the same bits, each time, from both. And the ticket
// that a launch leaves is the one that the next one needs.
TEST(Day41, AFixedOrderGivesTheSameBits) {
  constexpr int kCount = 100003, kRuns = 8;
  days::DeviceBuffer<float> x(kCount), dy(kCount), dx(kCount), beta(1), dbeta(1), scratch(64);
  std::vector<float> of_x(kCount), of_dy(kCount);
  double truth = 0;
  for (int i = 0; i < kCount; ++i) {
    of_x[i] = static_cast<float>(i % 1009) / 101 - 5;
    of_dy[i] = static_cast<float>(i % 517) / 301 - 0.4f;
    truth += static_cast<double>(of_dy[i]) * Exact(static_cast<double>(of_x[i]), 1.5).by_beta;
  }
  const float factor = 1.5f;
  CUDA_CHECK(cudaMemcpy(x.data(), of_x.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(dy.data(), of_dy.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(beta.data(), &factor, sizeof(float), cudaMemcpyHostToDevice));
  SwishBackward<float> p = {
      x.data(), dy.data(), beta.data(), dx.data(), dbeta.data(), kCount, {scratch.data(), 64 * sizeof(float)},
      {}};
  const auto result = [&](auto launch) {
    launch(p, nullptr);
    float sum = 0;
    CUDA_CHECK(cudaMemcpy(&sum, dbeta.data(), sizeof(float), cudaMemcpyDeviceToHost));
    return sum;
  };
  const float first = result(swish_stages<float>);
  EXPECT_NEAR(first, truth, 1e-5 * std::abs(truth));
  for (int run = 0; run < kRuns; ++run)
    EXPECT_EQ(result(swish_stages<float>), first) << "stages, run " << run;
  const Ticket made = swish_ticket_setup(p, nullptr);
  p.setup = days::Setup(&made, &days::detail::kStateTag<Ticket>);
  for (int run = 0; run < kRuns; ++run)
    EXPECT_EQ(result(swish_ticket<float>), first) << "ticket, run " << run;
}

}  // namespace
}  // namespace day41
