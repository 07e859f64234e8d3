// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/graph.h"
#include "common/problems/decode_case.h"
#include "common/stream.h"
#include "common/testing.h"
#include "day49_kv_cache/decode.h"

namespace day49 {
namespace {

using days::half;
using days::same_bits;
template <class T>
using Case = days::DecodeCase<T>;

template <class T>
auto on_device(Case<T>& c) {
  return days::DecodeOnDevice(c, ticket_workspace(c.problem()),
                              [](const Decode<T>& p) { return decode_tickets(p, nullptr); });
}

// What a sequence gets depends on nobody else in the batch, on no order of blocks, and on no launch before: to the bit.
TEST(Day49, ASequenceAloneHasTheBitsThatItHasInABatch) {
  for (const auto& variant : days::variants<Decode<half>>("decode")) {
    if (!variant.runs_here) continue;
    const Case<half> start(3, 2, 2, 600, 64, {599, 0, 300});
    Case<half> batch = start;
    auto device = on_device(batch);
    variant.launch(device.p);
    device.download();
    for (int turn = 0; turn < 3; ++turn) {
      const days::InOrder order(turn);
      for (int b = 0; b < 3; ++b) {
        Case<half> alone = start.alone(b);
        auto by_itself = on_device(alone);
        variant.launch(by_itself.p);
        by_itself.download();
        const Case<half> want = batch.alone(b);
        EXPECT_TRUE(same_bits(alone.o, want.o)) << variant.name << ", sequence " << b << ", order " << turn;
        EXPECT_TRUE(same_bits(alone.lse, want.lse))
            << variant.name << ", sequence " << b << ", order " << turn;
      }
    }
  }
}

// A graph is captured once; the lengths that it finds on the device when it runs are what counts.
TEST(Day49, ACapturedGraphServesEveryLength) {
  for (const auto& variant : days::variants<Decode<half>>("decode")) {
    if (!variant.runs_here) continue;
    Case<half> c(2, 1, 1, 300, 64, {1, 1});
    auto device = on_device(c);
    const days::Stream stream;
    const days::Graph graph(stream, [&] { variant.launch(device.p, stream); });
    for (const std::vector<int32_t>& lengths :
         {std::vector<int32_t>{0, 299}, std::vector<int32_t>{256, 255}, std::vector<int32_t>{300, 40}}) {
      c = Case<half>(2, 1, 1, 300, 64, lengths);
      device.upload();
      CUDA_CHECK(cudaDeviceSynchronize());
      graph.launch(stream);
      Case<half> want = c;
      days::decode_reference(want.problem());
      device.download();
      EXPECT_EQ(std::memcmp(c.k.data(), want.k.data(), c.k.size() * sizeof(half)), 0) << variant.name;
      EXPECT_EQ(std::memcmp(c.v.data(), want.v.data(), c.v.size() * sizeof(half)), 0) << variant.name;
      for (size_t i = 0; i < c.o.size(); ++i) {
        const float got = days::to_float(c.o[i]), right = days::to_float(want.o[i]);
        EXPECT_TRUE(std::isnan(right) ? std::isnan(got) : std::abs(got - right) <= 2e-3f)
            << variant.name << ", length " << lengths[i / 64] << ": " << got << ", not " << right;
      }
    }
  }
}

// Twenty steps, each of which finds what the ones before have left in the cache: the last is the attention of 20 tokens.
TEST(Day49, AStepFindsWhatTheStepsBeforeHaveLeft) {
  constexpr int kSteps = 20, kDim = 64;
  for (const auto& variant : days::variants<Decode<float>>("decode")) {
    if (!variant.runs_here) continue;
    Case<float> c(1, 2, 2, kSteps, kDim, {kSteps - 1});
    Case<float> want = c;
    days::decode_reference(want.problem());
    const std::vector<float> k = c.k, v = c.v, k_new = c.k_new, v_new = c.v_new;
    std::fill(c.k.begin(), c.k.end(), NAN);
    std::fill(c.v.begin(), c.v.end(), NAN);
    for (int step = 0; step < kSteps; ++step) {
      c.lengths = {step};
      for (size_t h = 0; h < 2; ++h) {
        const auto token = [&](const std::vector<float>& cached, const std::vector<float>& last,
                               std::vector<float>& to) {
          const float* from = step == kSteps - 1
                                  ? last.data() + h * kDim
                                  : cached.data() + (h * kSteps + static_cast<size_t>(step)) * kDim;
          std::copy_n(from, kDim, to.data() + h * kDim);
        };
        token(k, k_new, c.k_new);
        token(v, v_new, c.v_new);
      }
      auto device = on_device(c);
      variant.launch(device.p);
      device.download();
    }
    EXPECT_TRUE(same_bits(c.k, want.k)) << variant.name;
    for (size_t i = 0; i < c.o.size(); ++i) EXPECT_NEAR(c.o[i], want.o[i], 1e-5f) << variant.name;
  }
}

// Heads may share keys (day 50), and o may have gaps, which stay as they are.
TEST(Day49, GroupsOfHeadsAndGapsInO) {
  for (const auto& variant : days::variants<Decode<half>>("decode")) {
    if (!variant.runs_here) continue;
    Case<half> c(2, 6, 2, 300, 128, {299, 17});
    Case<half> want = c;
    days::decode_reference(want.problem());
    c.o.assign(2 * 6 * 192, days::from_float<half>(7));
    auto device = on_device(c);
    device.p.o_pitch = {6 * 192, 192};
    variant.launch(device.p);
    device.download();
    EXPECT_TRUE(same_bits(c.k, want.k)) << variant.name;
    EXPECT_TRUE(same_bits(c.v, want.v)) << variant.name;
    for (size_t i = 0; i < c.o.size(); ++i) {
      const float got = days::to_float(c.o[i]);
      const float right = i % 192 < 128 ? days::to_float(want.o[i / 192 * 128 + i % 192]) : 7;
      EXPECT_NEAR(got, right, 2e-3f) << variant.name << " at " << i;
    }
  }
}

TEST(Day49Refuses, WhatIsNoProblem) {
  Case<half> c(2, 4, 2, 8, 64, {1, 2});
  alignas(16) char scratch[1 << 16];
  const Tickets made;
  Decode<half> good = c.problem();
  good.workspace = {scratch, sizeof scratch};
  good.setup = days::Setup(&made, &days::detail::kStateTag<Tickets>);
  for (const auto& variant : days::variants<Decode<half>>("decode")) {
    const auto refused = [&](const char* what, auto change) {
      Decode<half> p = good;
      change(p);
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << ": " << what;
    };
    for (const int dim : {0, 32, 96, 256}) refused("dim", [dim](auto& p) { p.dim = dim; });
    for (const float scale : {0.0f, -1.0f, INFINITY, NAN})
      refused("scale", [scale](auto& p) { p.scale = scale; });
    for (const int kv_heads : {0, 3, 8}) refused("kv_heads", [kv_heads](auto& p) { p.kv_heads = kv_heads; });
    refused("q_pitch", [](auto& p) { p.q_pitch = {}; });
    refused("new_pitch", [](auto& p) { p.new_pitch.head = 32; });
    refused("o_pitch", [](auto& p) { p.o_pitch.sequence = 63; });
    refused("rows that are not aligned", [](auto& p) { p.q_pitch = {4 * 68 + 4, 68}; });
    refused("k that is not aligned", [](auto& p) { ++p.k; });
    refused("more blocks than a grid has", [](auto& p) {
      p.batch = p.heads = p.kv_heads = 1 << 20;
      p.q_pitch = p.new_pitch = p.o_pitch = days::dense_pitch(p.heads, p.dim);
      p.workspace.bytes = SIZE_MAX;
    });
    if (variant.name == "block" || variant.name == "warps") continue;
    refused("no workspace", [](auto& p) { p.workspace = {}; });
    if (variant.name != "split") refused("not set up", [](auto& p) { p.setup = {}; });
  }
  Decode<half> small = good;
  small.workspace.bytes = ticket_workspace(small) - 1;
  EXPECT_THROW(decode_tickets(small, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace day49
