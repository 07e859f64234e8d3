// SPDX-License-Identifier: MIT
//
// How a token is chosen: by its chance, and from those that may be chosen alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "common/buffer.h"
#include "common/random.h"
#include "serve/ops.h"

#ifdef __SIMT__
#include "simt/runtime.h"
#endif

namespace {

using Logits = std::vector<float>;

// The tokens that `draws` positions get from these logits.
std::vector<int32_t> draw(const Logits& logits, const serve::Choice& choice, int draws) {
  const auto vocab = static_cast<int>(logits.size());
  constexpr int kPitch = 8;  // more than the vocabulary: what stands there must not be chosen
  std::vector<float> rows;
  std::vector<int32_t> positions;
  for (int i = 0; i < draws; ++i) {
    rows.insert(rows.end(), logits.begin(), logits.end());
    rows.insert(rows.end(), kPitch, 1e9f);
    positions.push_back(i);
  }
  const days::DeviceBuffer<float> on_device(rows);
  const std::vector<serve::Choice> alike(positions.size(), choice);
  const days::DeviceMemory choices(alike.size() * sizeof choice);
  CUDA_CHECK(cudaMemcpy(choices.data(), alike.data(), alike.size() * sizeof choice, cudaMemcpyHostToDevice));
  const std::vector<int32_t> zeros(positions.size());
  // Row i is slot i's, since a slot's state is written by one row alone.
  const days::DeviceBuffer<int32_t> at(positions), lengths(zeros), last(zeros), chosen(positions.size());
  const days::DeviceMemory memory(serve::choose_bytes(draws, vocab));
  memory.fill(0, nullptr);
  serve::choose(on_device.data(), vocab + kPitch, vocab, at.data(), at.data(),
                {lengths.data(), last.data(), static_cast<serve::Choice*>(choices.data()), nullptr, 0},
                chosen.data(), draws, {memory.data(), draws}, false, nullptr);
  return chosen.download();
}
std::set<int32_t> support(const Logits& logits, const serve::Choice& choice, int draws) {
  const auto tokens = draw(logits, choice, draws);
  return {tokens.begin(), tokens.end()};
}

// Of what `draws` tokens should be: chi-square, for degrees of freedom so many as classes less one.
double chi_square(const std::vector<int32_t>& tokens, const std::vector<double>& chances) {
  std::vector<double> counts(chances.size());
  for (const int32_t token : tokens) ++counts[static_cast<size_t>(token)];
  double sum = 0;
  for (size_t i = 0; i < chances.size(); ++i) {
    const double expected = chances[i] * static_cast<double>(tokens.size());
    if (expected > 0) {
      sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    } else {
      EXPECT_EQ(counts[i], 0) << i;
    }
  }
  return sum;
}
std::vector<double> softmax(const Logits& logits, double temperature) {
  std::vector<double> chances;
  double sum = 0;
  for (const float value : logits) sum += std::exp(static_cast<double>(value) / temperature);
  for (const float value : logits)
    chances.push_back(std::exp(static_cast<double>(value) / temperature) / sum);
  return chances;
}

TEST(serve_choose, ChancesAreTheSoftmax) {
#ifdef __SIMT__
  if (simt::checked_build) GTEST_SKIP() << "plain builds count: it would take a minute";
#endif
  Logits logits;
  for (uint64_t i = 0; i < 50; ++i) logits.push_back(days::normal(80, i));
  // Of 49 degrees of freedom one in 10,000 is above 95.
  const auto tokens = draw(logits, {1, 1, 1, 0}, 20000);
  EXPECT_LT(chi_square(tokens, softmax(logits, 1)), 95);
  EXPECT_GT(chi_square(tokens, softmax(logits, 1.1)), 95) << "the test can fail";
  EXPECT_LT(chi_square(draw(logits, {2, 0.5f, 1, 0}, 4000), softmax(logits, 0.5)), 95);
  EXPECT_LT(chi_square(draw(logits, {3, 1, 1, 50}, 2000), softmax(logits, 1)), 95) << "top_k of all";
}

TEST(serve_choose, TheLikeliestOfEqualsIsTheFirst) {
  EXPECT_EQ(draw({1, 3, 2, 3, -5}, {0, 0, 1, 0}, 1)[0], 1);
  EXPECT_EQ(draw({-0.0f, 0.0f}, {0, 0, 1, 0}, 1)[0], 0);
  EXPECT_EQ(draw({-HUGE_VALF, -7, -7}, {0, 0, 1, 0}, 1)[0], 1);
  Logits far(700, -1);
  far[699] = 1;
  EXPECT_EQ(draw(far, {0, 0, 0.5f, 3}, 1)[0], 699) << "temperature 0 asks for nothing else";
}

TEST(serve_choose, TopKLeavesKOfThem) {
  EXPECT_EQ(support({1, 1.1f, 1.2f, 1.3f, 0}, {4, 1, 1, 2}, 200), (std::set<int32_t>{2, 3}));
  EXPECT_EQ(support({1, 1, 1, 1, 0}, {4, 1, 1, 3}, 200), (std::set<int32_t>{0, 1, 2})) << "lower ids first";
  EXPECT_EQ(support({1, 1, 1}, {4, 100, 1, 256}, 200), (std::set<int32_t>{0, 1, 2})) << "more than there are";
  EXPECT_EQ(support({1, 2, 1}, {4, 100, 1, 1}, 50), (std::set<int32_t>{1}));
  Logits many(1000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = i % 3 == 0 ? 0.5f : -1.0f;  // 334 of them are equal
  const auto chosen = support(many, {4, 1, 1, 256}, 4000);
  EXPECT_EQ(*chosen.rbegin(), 765) << "the 256th of them";
  EXPECT_EQ(chosen.size(), 256u);
}

// A vocabulary of several slices: what is chosen stands anywhere in it, and a slice may have all of it or nothing.
TEST(serve_choose, AVocabularyIsLong) {
  Logits logits(5000);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = days::normal(81, i);
  logits[17] = 30, logits[2047] = 30.5f, logits[2048] = 30.25f, logits[4999] = 29.5f;
  EXPECT_EQ(draw(logits, {0, 0, 1, 0}, 1)[0], 2047);
  EXPECT_EQ(support(logits, {6, 1, 1, 0}, 400), (std::set<int32_t>{17, 2047, 2048, 4999}));
  EXPECT_EQ(support(logits, {6, 1, 1, 3}, 200), (std::set<int32_t>{17, 2047, 2048}));
  EXPECT_EQ(support(logits, {6, 1, 0.8f, 0}, 300), (std::set<int32_t>{17, 2047, 2048}));
  const double e = std::exp(1);
  const std::vector<int32_t> tokens = draw(logits, {7, 1, 1, 0}, 3000);
  const auto of = [&](int32_t token) {
    return static_cast<double>(std::count(tokens.begin(), tokens.end(), token));
  };
  EXPECT_NEAR(of(2047) / of(4999), e, 0.5);
}

TEST(serve_choose, TopPKeepsWhatReachesItAndAtLeastOne) {
  // Chances 0.5, 0.25, 0.125, 0.125.
  const Logits halves = {std::log(4.0f), std::log(8.0f), std::log(2.0f), std::log(2.0f)};
  EXPECT_EQ(support(halves, {5, 1, 0, 0}, 100), (std::set<int32_t>{1}));
  EXPECT_EQ(support(halves, {5, 1, 0.49f, 0}, 100), (std::set<int32_t>{1}));
  EXPECT_EQ(support(halves, {5, 1, 0.51f, 0}, 300), (std::set<int32_t>{0, 1}));
  EXPECT_EQ(support(halves, {5, 1, 0.76f, 0}, 300), (std::set<int32_t>{0, 1, 2}));
  EXPECT_EQ(support(halves, {5, 1, 0.99f, 0}, 300), (std::set<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(support(halves, {5, 1, 0.8f, 2}, 300), (std::set<int32_t>{0, 1})) << "of two, 0.67 is not enough";
  EXPECT_EQ(support(halves, {5, 1, 0.6f, 2}, 300), (std::set<int32_t>{1})) << "of two, the first has 0.67";
}

TEST(serve_choose, NumbersThatAreNoneAreSaid) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const serve::Choice& choice :
       {serve::Choice{1, 0, 1, 0}, {1, 1, 1, 0}, {1, 1, 1, 5}, {1, 1, 0.5f, 0}}) {
    EXPECT_EQ(draw({1, nan, 2}, choice, 1)[0], -1);
    EXPECT_EQ(draw({1, 2, HUGE_VALF}, choice, 1)[0], -1);
    EXPECT_GE(draw({1, 2, -HUGE_VALF}, choice, 1)[0], 0);
  }
}

}  // namespace
