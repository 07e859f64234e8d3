// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest: what is refused,
// and heads that take turns in a small workspace.
#include <cstring>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day19_self_attention/attention.h"

namespace day19 {
namespace {

const bool kThreeKernelsAreGiven = days::skeleton_is_given(
    "self", "lse, and values of weights that nobody has written", [](const days::Shape& s) {
      const auto rows = static_cast<size_t>(s[0] * s[1] * s[2]);
      return days::Given{rows * static_cast<size_t>(s[4]) + rows, false};
    });

template <class T>
size_t bytes_of_head(const std::string& variant, const SelfAttention<T>& p) {
  SelfAttention<T> one = p;
  one.batch = one.heads = 1;
  if (variant.find("three") != std::string::npos) return three_workspace(one);
  return variant.find("in_place") != std::string::npos ? in_place_workspace(one) : tiles_workspace(one);
}

TEST(Day19Refuses, WhatIsNoProblem) {
  alignas(16) days::half x[128] = {};
  alignas(16) char scratch[1024] = {};
  float lse = 0;
  SelfAttention<days::half> good{};
  static_cast<Attention<days::half>&>(good) = {x, x, x, x, &lse, 1, 1, 1, 1, 64, 0.125f, false};
  good.workspace = {scratch, sizeof scratch};
  for (const auto& variant : days::variants<SelfAttention<days::half>>("self")) {
    const auto refused = [&](auto change) {
      SelfAttention<days::half> p = good;
      change(p);
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
    };
    for (const int dim : {0, 32, 63, 96, 256}) refused([dim](auto& p) { p.dim = dim; });
    for (const float scale : {0.0f, -1.0f, INFINITY, NAN}) refused([scale](auto& p) { p.scale = scale; });
    for (const int none : {0, -1}) {
      refused([none](auto& p) { p.batch = none; });
      refused([none](auto& p) { p.heads = none; });
      refused([none](auto& p) { p.seq_q = none; });
      refused([none](auto& p) { p.seq_k = none; });
    }
    refused([](auto& p) { p.at_once = -1; });
    refused([](auto& p) { p.workspace = {}; });
    refused([](auto& p) { p.workspace.data = static_cast<char*>(p.workspace.data) + 4; });
    refused([&](auto& p) { p.workspace.bytes = bytes_of_head(variant.name, p) - 1; });
  }
}

TEST(Day19Refuses, Misaligned) {
  alignas(16) days::half x[256] = {};
  alignas(16) char scratch[1024] = {};
  float lse = 0;
  for (const char* name : {"tensor", "lower"}) {
    for (const auto& variant : days::variants<SelfAttention<days::half>>("self")) {
      if (variant.name != name) continue;
      for (int i = 0; i < 4; ++i) {
        SelfAttention<days::half> p{};
        static_cast<Attention<days::half>&>(p) = {
            x + (i == 0), x + (i == 1), x + (i == 2), x + (i == 3), &lse, 1, 1, 1, 1, 64, 0.125f, false};
        p.workspace = {scratch, sizeof scratch};
        EXPECT_THROW(variant.launch(p), std::invalid_argument) << name << ", array " << i;
      }
    }
  }
}

// All heads up to 4 GiB, then as many as fit, and never less than one; or as many as are asked for.
TEST(Day19Workspace, IsAtMost4GiBOrAHead) {
  SelfAttention<days::bf16> p{};
  p.batch = 8;
  p.heads = 16;
  p.seq_q = p.seq_k = 2048;
  EXPECT_EQ(tiles_workspace(p), size_t{128} * 2048 * 2048 * 4);
  EXPECT_EQ(three_workspace(p), size_t{128} * 2048 * 2048 * 8);
  p.seq_q = p.seq_k = 16384;
  EXPECT_EQ(tiles_workspace(p), size_t{4} << 30);  // four heads
  EXPECT_EQ(three_workspace(p), size_t{4} << 30);  // two
  p.seq_q = p.seq_k = 65536;
  EXPECT_EQ(tiles_workspace(p), size_t{16} << 30);  // one
  p.at_once = 3;
  EXPECT_EQ(tiles_workspace(p), size_t{48} << 30);
  p.at_once = 1000;
  p.seq_q = 1;
  p.seq_k = 65;
  EXPECT_EQ(tiles_workspace(p), size_t{128} * 128 * 4);  // whole tiles of keys
  EXPECT_EQ(in_place_workspace(p), size_t{128} * 65 * 4);
}

// Heads that take turns, one by one or four and then two, give the bits of all at once.
template <class T>
void expect_the_same_by_turns(const char* ladder, bool causal) {
  constexpr size_t kHeads = 6, kQueries = 70, kOf = 75, kDim = 64;
  days::Inputs host(days::Inputs::Where::kHost);
  SelfAttention<T> p{};
  days::attention_inputs(causal)(p, days::Shape{2, 3, kQueries, kOf, kDim}, host);
  const auto copy = [](const T* from, size_t n) { return std::vector<T>(from, from + n); };
  const days::DeviceBuffer<T> q(copy(p.q, kHeads * kQueries * kDim)), k(copy(p.k, kHeads * kOf * kDim)),
      v(copy(p.v, kHeads * kOf * kDim));
  p.q = q.data();
  p.k = k.data();
  p.v = v.data();
  for (const auto& variant : days::variants<SelfAttention<T>>(ladder)) {
    const size_t of_head = bytes_of_head(variant.name, p);
    std::vector<T> all;
    std::vector<float> all_lse;
    for (const size_t heads : {kHeads, size_t{1}, size_t{4}}) {
      p.at_once = static_cast<int>(heads);
      const days::DeviceBuffer<T> o(kHeads * kQueries * kDim);
      const days::DeviceBuffer<float> lse(kHeads * kQueries);
      const days::DeviceBuffer<unsigned char> scratch(of_head * heads);
      p.o = o.data();
      p.lse = lse.data();
      p.workspace = {scratch.data(), scratch.size()};
      variant.launch(p);
      const std::vector<T> got = o.download();
      const std::vector<float> got_lse = lse.download();
      if (all.empty()) {
        all = got;
        all_lse = got_lse;
      }
      EXPECT_EQ(std::memcmp(got.data(), all.data(), sizeof(T) * got.size()), 0)
          << variant.name << ", " << heads;
      EXPECT_EQ(std::memcmp(got_lse.data(), all_lse.data(), sizeof(float) * all_lse.size()), 0)
          << variant.name << ", " << heads;
      EXPECT_EQ(scratch.damage(), "") << variant.name;
    }
  }
}

TEST(Day19Turns, GiveTheSameBits) {
  expect_the_same_by_turns<days::half>("self", false);
  expect_the_same_by_turns<days::bf16>("self_causal", true);
}

}  // namespace
}  // namespace day19
