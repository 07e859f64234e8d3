// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/graph.h"
#include "common/problems/decode_case.h"
#include "common/stream.h"
#include "common/testing.h"
#include "day50_gqa/gqa.h"

namespace day50 {
namespace {

using days::half;
using Case = days::DecodeCase<half>;

auto on_device(Case& c) {
  return days::DecodeOnDevice(c, gqa_workspace(c.problem()),
                              [](const Decode<half>& p) { return gqa_tickets(p, nullptr); });
}

void expect_near(const Case& got, const Case& want, const std::string& what) {
  EXPECT_TRUE(days::same_bits(got.k, want.k)) << what;
  EXPECT_TRUE(days::same_bits(got.v, want.v)) << what;
  for (size_t i = 0; i < got.o.size(); ++i) {
    const float x = days::to_float(got.o[i]), right = days::to_float(want.o[i]);
    EXPECT_TRUE(std::isnan(right) ? std::isnan(x) : std::abs(x - right) <= 2e-3f)
        << what << ": o[" << i << "] is " << x << ", not " << right;
  }
}

// What a sequence gets depends on nobody else in the batch, on no order of blocks, and on no launch before: to the bit. Nor
// does a query's depend on the group: with its kv head alone it has the bits that it has beside the other.
TEST(Day50, ASequenceAloneHasTheBitsThatItHasInABatch) {
  for (const auto& variant : days::variants<Decode<half>>("gqa")) {
    if (!variant.runs_here) continue;
    const Case start(3, 10, 2, 1100, 64, {1099, 0, 600});
    Case batch = start;
    auto device = on_device(batch);
    variant.launch(device.p);
    device.download();
    for (int b = 0; b < 3; ++b) {
      const days::InOrder order(b);
      Case alone = start.alone(b);
      auto by_itself = on_device(alone);
      variant.launch(by_itself.p);
      by_itself.download();
      const Case want = batch.alone(b);
      EXPECT_TRUE(days::same_bits(alone.o, want.o)) << variant.name << ", sequence " << b;
      EXPECT_TRUE(days::same_bits(alone.lse, want.lse)) << variant.name << ", sequence " << b;
    }
  }
}

// A NaN in one query reaches its own o, and no bit of another's: nothing leaks between the columns of a tile.
TEST(Day50, AQueryOfNaNLeavesTheOthersTheirBits) {
  for (const auto& variant : days::variants<Decode<half>>("gqa")) {
    if (!variant.runs_here) continue;
    const Case start(1, 16, 1, 40, 64, {39});
    Case good = start, bad = start;
    auto good_device = on_device(good);
    variant.launch(good_device.p);
    good_device.download();
    for (const size_t h : {size_t{0}, size_t{7}, size_t{8}, size_t{13}}) {
      bad = start;
      bad.q[h * 64 + 5] = days::from_float<half>(NAN);
      auto device = on_device(bad);
      variant.launch(device.p);
      device.download();
      for (size_t i = 0; i < bad.o.size(); ++i) {
        if (i / 64 == h) {
          EXPECT_TRUE(std::isnan(days::to_float(bad.o[i]))) << variant.name << ": o[" << i << "]";
        } else {
          EXPECT_EQ(days::to_float(bad.o[i]), days::to_float(good.o[i]))
              << variant.name << ": o[" << i << "]";
        }
      }
      EXPECT_TRUE(std::isnan(bad.lse[h])) << variant.name;
    }
  }
}

// A graph is captured once; the lengths that it finds on the device when it runs are what counts.
TEST(Day50, ACapturedGraphServesEveryLength) {
  for (const auto& variant : days::variants<Decode<half>>("gqa")) {
    if (!variant.runs_here) continue;
    Case c(2, 7, 1, 600, 64, {1, 1});
    auto device = on_device(c);
    const days::Stream stream;
    const days::Graph graph(stream, [&] { variant.launch(device.p, stream); });
    for (const std::vector<int32_t>& lengths :
         {std::vector<int32_t>{0, 599}, std::vector<int32_t>{512, 511}, std::vector<int32_t>{600, 40}}) {
      c = Case(2, 7, 1, 600, 64, lengths);
      device.upload();
      CUDA_CHECK(cudaDeviceSynchronize());
      graph.launch(stream);
      Case want = c;
      days::decode_reference(want.problem());
      device.download();
      expect_near(c, want, variant.name);
    }
  }
}

// Twenty steps, each of which finds what those before have left in the cache.
TEST(Day50, AStepFindsWhatTheStepsBeforeHaveLeft) {
  constexpr int kSteps = 20, kDim = 64;
  for (const auto& variant : days::variants<Decode<half>>("gqa")) {
    if (!variant.runs_here) continue;
    Case c(1, 8, 2, kSteps, kDim, {kSteps - 1});
    Case want = c;
    days::decode_reference(want.problem());
    const Case tokens = c;
    std::fill(c.k.begin(), c.k.end(), days::from_float<half>(NAN));
    std::fill(c.v.begin(), c.v.end(), days::from_float<half>(NAN));
    for (int step = 0; step < kSteps; ++step) {
      c.lengths = {step};
      for (size_t h = 0; h < 2; ++h) {
        const size_t row = (h * kSteps + static_cast<size_t>(step)) * kDim;
        const bool last = step == kSteps - 1;
        std::copy_n((last ? tokens.k_new.data() + h * kDim : tokens.k.data() + row), kDim,
                    c.k_new.data() + h * kDim);
        std::copy_n((last ? tokens.v_new.data() + h * kDim : tokens.v.data() + row), kDim,
                    c.v_new.data() + h * kDim);
      }
      auto device = on_device(c);
      variant.launch(device.p);
      device.download();
    }
    expect_near(c, want, variant.name);
  }
}

// o may have gaps, which stay as they are.
TEST(Day50, GapsInO) {
  for (const auto& variant : days::variants<Decode<half>>("gqa")) {
    if (!variant.runs_here) continue;
    Case c(2, 6, 2, 70, 128, {69, 17}), want = c;
    days::decode_reference(want.problem());
    c.o.assign(2 * 6 * 192, days::from_float<half>(7));
    auto device = on_device(c);
    device.p.o_pitch = {6 * 192, 192};
    variant.launch(device.p);
    device.download();
    for (size_t i = 0; i < c.o.size(); ++i) {
      const float right = i % 192 < 128 ? days::to_float(want.o[i / 192 * 128 + i % 192]) : 7;
      EXPECT_NEAR(days::to_float(c.o[i]), right, 2e-3f) << variant.name << " at " << i;
    }
  }
}

TEST(Day50Refuses, WhatIsNoProblem) {
  Case c(2, 4, 2, 8, 64, {1, 2});
  alignas(16) char scratch[1 << 16];
  const Tickets made;
  Decode<half> good = c.problem();
  good.workspace = {scratch, sizeof scratch};
  good.setup = days::Setup(&made, &days::detail::kStateTag<Tickets>);
  for (const auto& variant : days::variants<Decode<half>>("gqa")) {
    const auto refused = [&](const char* what, auto change) {
      Decode<half> p = good;
      change(p);
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << ": " << what;
    };
    for (const int dim : {0, 32, 96, 256}) refused("dim", [dim](auto& p) { p.dim = dim; });
    for (const int kv_heads : {0, 3, 8}) refused("kv_heads", [kv_heads](auto& p) { p.kv_heads = kv_heads; });
    refused("rows that are not aligned", [](auto& p) { p.q_pitch = {4 * 68 + 4, 68}; });
    refused("v that is not aligned", [](auto& p) { ++p.v; });
    refused("more blocks than a grid has", [](auto& p) {
      p.batch = p.heads = p.kv_heads = 1 << 20;
      p.q_pitch = p.new_pitch = p.o_pitch = days::dense_pitch(p.heads, p.dim);
      p.workspace.bytes = SIZE_MAX;
    });
    refused("too little workspace", [](auto& p) { p.workspace.bytes = gqa_workspace(p) - 1; });
    refused("not set up", [](auto& p) { p.setup = {}; });
  }
  Decode<half> small = good;
  small.workspace.bytes = gqa_workspace(small) - 1;
  EXPECT_THROW(gqa_tickets(small, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace day50
