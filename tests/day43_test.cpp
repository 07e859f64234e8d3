// SPDX-License-Identifier: MIT
#include <vector>

#include "common/testing.h"
#include "day43_flash_attention/ladder.h"

TEST_LADDER(day43, attention);
TEST_LADDER(day43, causal);
MUST_REJECT(day43, attention, no_rescale);
MUST_REJECT(day43, attention, old_sum);
MUST_REJECT(day43, attention, no_maximum);
MUST_REJECT(day43, attention, zero_maximum);
MUST_REJECT(day43, attention, no_scale);
MUST_REJECT(day43, attention, tail_unmasked);
MUST_REJECT(day43, attention, drops_tail);
MUST_REJECT(day43, attention, first_head);
MUST_REJECT(day43, attention, log_two);
MUST_REJECT(day43, attention, lse_no_maximum);
MUST_REJECT(day43, attention, unnormalised);
MUST_REJECT(day43, attention, half_weights);
MUST_REJECT(day43, causal, mask_early);
MUST_REJECT(day43, causal, mask_late);
MUST_REJECT(day43, causal, top_left);
MUST_REJECT(day43, causal, skips_tile);
MUST_REJECT(day43, causal, masked_mean);

namespace day43 {
namespace {

template <class T>
struct Rung {
  const char* name;
  void (*launch)(const Attention<T>&, cudaStream_t);
};

template <class T>
std::vector<Rung<T>> rungs() {
  std::vector<Rung<T>> all = {{"naive", attention_naive<T>}};
  if constexpr (std::is_same_v<T, float>) all.push_back({"tiled", attention_tiled});
  if constexpr (Half<T>) {
    all.push_back({"mma", attention_mma<T>});
    all.push_back({"async", attention_async<T>});
    all.push_back({"skipping", attention_skipping<T>});
    all.push_back({"wide", attention_wide<T>});
  }
  if constexpr (std::is_same_v<T, days::half>) all.push_back({"turing", attention_turing});
  return all;
}

TEST(Day43Refuses, WhatIsNoProblem) {
  alignas(16) days::half x[128] = {};
  float lse = 0;
  const Attention<days::half> good = {x, x, x, x, &lse, 1, 1, 1, 1, 64, 0.125f, false};
  for (const auto& rung : rungs<days::half>()) {
    const auto refused = [&](auto change) {
      Attention<days::half> p = good;
      change(p);
      EXPECT_THROW(rung.launch(p, nullptr), std::invalid_argument) << rung.name;
    };
    refused([](auto& p) { p.batch = 0; });
    refused([](auto& p) { p.heads = -1; });
    refused([](auto& p) { p.seq_q = 0; });
    refused([](auto& p) { p.seq_k = 0; });
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
  for (const auto& rung : rungs<float>()) {
    if (std::string(rung.name) == "naive") continue;
    for (const float* Attention<float>::*input :
         {&Attention<float>::q, &Attention<float>::k, &Attention<float>::v}) {
      Attention<float> p = good;
      p.*input = x + 1;
      EXPECT_THROW(rung.launch(p, nullptr), std::invalid_argument) << rung.name;
    }
    Attention<float> p = good;
    p.o = x + 2;
    EXPECT_THROW(rung.launch(p, nullptr), std::invalid_argument) << rung.name;
  }
}

// The ladder holds lse to the tolerance of o, which for halves is that of a half. It is a float and comes
// from sums in float.
template <class T>
void lse_is_a_float() {
  for (const bool causal : {false, true}) {
    days::Inputs device(days::Inputs::Where::kDevice), host(days::Inputs::Where::kHost);
    Attention<T> p, want;
    const days::Shape shape = {1, 2, 67, 131, 128};
    days::attention_inputs(causal)(p, shape, device);
    days::attention_inputs(causal)(want, shape, host);
    attention_reference(want);
    std::vector<float> got(2 * 67);
    for (const auto& rung : rungs<T>()) {
      if (days::current_device().code < 80 && std::string(rung.name) != "turing") continue;
      rung.launch(p, nullptr);
      ASSERT_EQ(cudaMemcpy(got.data(), p.lse, got.size() * sizeof(float), cudaMemcpyDeviceToHost),
                cudaSuccess);
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], want.lse[i], 4e-6) << rung.name << " row " << i;
    }
  }
}
TEST(Day43Lse, IsAFloat) {
  lse_is_a_float<days::half>();
  lse_is_a_float<days::bf16>();
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
