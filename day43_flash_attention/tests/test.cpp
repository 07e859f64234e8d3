// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "common/testing.h"
#include "day43_flash_attention/attention.h"

namespace day43 {
namespace {

TEST(Day43Refuses, WhatIsNoProblem) {
  alignas(16) days::half x[128] = {};
  float lse = 0;
  const Attention<days::half> good = {x, x, x, x, &lse, 1, 1, 1, 1, 64, 0.125f, false};
  for (const auto& variant : days::variants<Attention<days::half>>("attention")) {
    const auto refused = [&](auto change) {
      Attention<days::half> p = good;
      change(p);
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
    };
    for (const int dim : {0, 32, 63, 96, 256}) refused([dim](auto& p) { p.dim = dim; });
    for (const float scale : {0.0f, -1.0f, INFINITY, NAN}) refused([scale](auto& p) { p.scale = scale; });
    refused([](auto& p) {  // more blocks than a grid has, whatever a block takes
      p.batch = p.heads = 1 << 20;
      p.seq_q = 1 << 20;
    });
  }
}

// Vectors of 16 bytes are moved by all rungs but the first.
TEST(Day43Refuses, Misaligned) {
  alignas(16) float x[256] = {};
  float lse = 0;
  const Attention<float> good = {x, x, x, x, &lse, 1, 1, 1, 1, 64, 0.125f, false};
  for (const auto& variant : days::variants<Attention<float>>("attention")) {
    if (variant.name == "naive") continue;
    for (const float* Attention<float>::*input :
         {&Attention<float>::q, &Attention<float>::k, &Attention<float>::v}) {
      Attention<float> p = good;
      p.*input = x + 1;
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
    }
    Attention<float> p = good;
    p.o = x + 2;
    EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
  }
}

// What stands in for the reference where that would take too long.
TEST(Day43CheckLarge, FindsWhatIsWrong) {
  for (const bool causal : {false, true}) {
    days::Inputs host(days::Inputs::Where::kHost);
    Attention<days::half> p;
    days::attention_inputs(causal)(p, days::Shape{1, 2, 150, 100, 64}, host);
    attention_parallel(p);
    const auto good = [&] { return attention_check_large(p).ok(); };
    EXPECT_TRUE(good()) << attention_check_large(p).text();
    for (const size_t at : {size_t{120 * 64}, size_t{2 * 150 * 64 - 1}}) {
      const days::half kept = p.o[at];
      for (const float wrong : {NAN, 100.0f, -100.0f}) {
        p.o[at] = days::from_float<days::half>(wrong);
        EXPECT_FALSE(good()) << at << " is " << wrong;
      }
      p.o[at] = kept;
    }
    p.lse[299] += 0.1f;
    EXPECT_FALSE(good()) << "lse of the last row";
    p.lse[299] -= 0.1f;
    EXPECT_TRUE(good());
    for (size_t i = 0; i < size_t{2 * 150 * 64}; ++i)
      p.o[i] = days::from_float<days::half>(1.03f * days::to_float(p.o[i]));
    EXPECT_FALSE(good()) << "all of o 3% too large";
  }
}

}  // namespace
}  // namespace day43
