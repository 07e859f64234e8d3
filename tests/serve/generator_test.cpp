// SPDX-License-Identifier: MIT
//
// A generator's logits against double loops without a cache; a text alone and among others; slots and pages.
#include "serve/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "common/device.h"
#include "gpt/trainer.h"
#include "tests/serve/reference.h"

namespace {

using serve::Config;
using serve::Generator;
using serve::Model;
using serve::Sampling;
using serve_test::small_gpt;
using serve_test::small_grouped;
using serve_test::small_llama;
using serve_test::some_ids;
using Ids = std::vector<int32_t>;

// The greatest difference from the reference, as a part of the reference's greatest logit.
template <class T>
double error_of(const Model& model, const serve::Size& size, int prompt, int steps) {
  Generator<T> generator(model, size);
  Ids ids = some_ids(prompt, model.config.vocab, 7);
  std::vector<std::vector<float>> got;
  const int slot = *generator.add(ids, {});
  ids.push_back(serve::first_token(generator).token);
  got.push_back(generator.logits(slot));
  for (int i = 0; i < steps; ++i) {
    const auto next = generator.decode();
    EXPECT_EQ(next.size(), 1u);
    ids.push_back(next[0].token);
    got.push_back(generator.logits(slot));
  }
  const auto expected = serve_test::reference(model, ids);
  double most = 0, off = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const serve_test::Row& row = expected[static_cast<size_t>(prompt) - 1 + i];
    for (size_t j = 0; j < row.size(); ++j) {
      most = std::max(most, std::abs(row[j]));
      off = std::max(off, std::abs(row[j] - static_cast<double>(got[i][j])));
    }
    // A temperature of 0 takes the greatest.
    EXPECT_EQ(ids[static_cast<size_t>(prompt) + i],
              std::max_element(got[i].begin(), got[i].end()) - got[i].begin());
  }
  return off / most;
}

TEST(serve, LogitsAreThoseWithoutACache) {
  for (const bool tied : {true, false}) {
    for (const Config& config : {small_gpt(), small_llama(), small_grouped()}) {
      const Model model = serve_test::random_model(config, tied, 80);
      // Prompts in one chunk and in several; steps that fill pages, and begin with a full one.
      EXPECT_LT(error_of<float>(model, {.sequences = 3}, 21, 14), 1e-5);
      EXPECT_LT(error_of<float>(model, {.sequences = 1, .chunk = 5}, 16, 3), 1e-5);
      EXPECT_LT(error_of<float>(model, {.sequences = 2, .chunk = 1}, 1, 2), 1e-5);
    }
  }
}
TEST(serve, SixteenBitsAreNear) {
  for (const Config& config : {small_gpt(), small_llama()}) {
    const Model model = serve_test::random_model(config, true, 81);
    EXPECT_LT(error_of<days::half>(model, {.sequences = 2}, 21, 4), 8e-3);
    EXPECT_LT(error_of<days::bf16>(model, {.sequences = 2}, 21, 4), 5e-2);
  }
}

// Two parts of the context, rows of w that are no multiple of a tile, groups of 128 that are not full.
Config long_gpt() {
  Config config = small_gpt();
  config.width = 96, config.inner = 200, config.context = 320, config.layers = 1;
  return config;
}
// Of each step the greatest difference from the model as it is with its weights.
double error_of_step(const Model& model, serve::Step step, int prompt, int steps, int sequences = 2) {
  return std::max(error_of<days::half>(model, {.sequences = sequences, .step = step}, prompt, steps) / 8e-3,
                  error_of<days::bf16>(model, {.sequences = sequences, .step = step}, prompt, steps) / 5e-2);
}
TEST(serve, AFusedStepIsNear) {
  if (const auto lacking = Generator<days::bf16>::lacks(small_gpt(), serve::Step::kDependent);
      !lacking.empty())
    GTEST_SKIP() << lacking;
  for (const Config& config : {small_gpt(), small_llama(), small_grouped()})
    for (const auto step : {serve::Step::kFused, serve::Step::kDependent})
      EXPECT_LT(error_of_step(serve_test::random_model(config, false, 81), step, 21, 4), 1)
          << config.heads << name_of(step);
  // Up to the 256th key, and beyond.
  EXPECT_LT(error_of_step(serve_test::random_model(long_gpt(), true, 82), serve::Step::kFused, 253, 6), 1);
}
// More rows than a block of a prompt has, in one chunk, and in chunks that begin behind keys.
TEST(serve, APromptIsLong) {
  Config config = long_gpt();
  for (const int dim : {32, 96}) {
    config.head_dim = dim;
    const Model model = serve_test::random_model(config, true, 86);
    EXPECT_LT(error_of<days::half>(model, {.sequences = 1}, 131, 0), 8e-3);
    EXPECT_LT(error_of<days::bf16>(model, {.sequences = 1, .chunk = 50}, 131, 0), 5e-2);
  }
}
TEST(serve, ADependentStepHasTheSameBits) {
  if (const auto lacking = Generator<days::bf16>::lacks(small_gpt(), serve::Step::kDependent);
      !lacking.empty())
    GTEST_SKIP() << lacking;
  const Model model = serve_test::random_model(long_gpt(), true, 83);
  const auto logits = [&](serve::Step step, int sequences) {
    Generator<days::bf16> generator(model, {.sequences = sequences, .step = step});
    const int slot = *generator.add(some_ids(255, 61, 1), {});
    for (int i = 1; i < sequences; ++i)
      static_cast<void>(generator.add(some_ids(i, 61, 2), {.temperature = 1}));
    while (generator.has_prompts()) generator.prefill();
    for (int i = 0; i < 3; ++i) generator.decode();
    return generator.logits(slot);
  };
  const auto alone = logits(serve::Step::kFused, 1);
  EXPECT_EQ(logits(serve::Step::kDependent, 1), alone);
  EXPECT_EQ(logits(serve::Step::kFused, 35), alone) << "rows of two tiles, and of two blocks";
}
// What fewer bits are said to lose is lost, and no more: prompts are computed with the same weights.
TEST(serve, FewerBitsAreWhatTheySay) {
  if (const auto lacking = Generator<days::bf16>::lacks(small_gpt(), serve::Step::kQuantized);
      !lacking.empty())
    GTEST_SKIP() << lacking;
  for (const Config& config : {small_gpt(), small_llama(), long_gpt()}) {
    const Model model = serve_test::random_model(config, config.layers == 1, 84);
    Generator<days::half> generator(model, {.sequences = 1, .step = serve::Step::kQuantized});
    EXPECT_GT(generator.quantization_error(), 0.01);
    EXPECT_LT(generator.quantization_error(), 0.15);
    const Ids ids = some_ids(12, config.vocab, 3);
    const int slot = *generator.add(Ids(ids.begin(), ids.end() - 4), {});
    Ids text(ids.begin(), ids.end() - 4);
    text.push_back(serve::first_token(generator).token);
    std::vector<float> got;
    for (int i = 0; i < 4; ++i) {
      text.push_back(generator.decode()[0].token);
      got = generator.logits(slot);
    }
    text.pop_back();
    generator.remove(slot);
    const int again = *generator.add(text, {});
    serve::first_token(generator);
    const std::vector<float> expected = generator.logits(again);
    const auto most = static_cast<double>(*std::max_element(expected.begin(), expected.end()));
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(static_cast<double>(got[i]), static_cast<double>(expected[i]), 1e-2 * most);
  }
}
TEST(serve, AStepSaysWhatItTakes) {
  if (const auto lacking = Generator<days::bf16>::lacks(small_gpt(), serve::Step::kFused); !lacking.empty())
    GTEST_SKIP() << lacking;
  const Config config = small_gpt();
  const Model model = serve_test::random_model(config, true, 85);
  const Generator<days::bf16> fused(model, {.sequences = 2, .step = serve::Step::kFused});
  EXPECT_EQ(fused.launches(1), 1 + 5 * config.layers + 1 + 2);
  // Two layers' 12 width^2 weights and the embedding of 64 rows; a text's ten keys and values.
  EXPECT_EQ(fused.step_bytes(1, 10),
            2 * (2 * (3 * 64 * 64 + 64 * 64 + 2 * 64 * 128) + 64 * 64 + 2 * 2 * 64 * 10));
  EXPECT_GT(Generator<days::bf16>(model, {.sequences = 2, .step = serve::Step::kGraph}).launches(2),
            fused.launches(2));
  EXPECT_FALSE(Generator<float>::lacks(config, serve::Step::kFused).empty());
  EXPECT_THROW(Generator<float>(model, {.step = serve::Step::kFused}), std::invalid_argument);
}

TEST(serve, ATrainedModelSaysWhatTrainingSays) {
  const gpt::Layout layout(gpt::config_of("tiny"));
  const std::vector<float> zeros(layout.elements), weights = gpt::initial_weights(layout, 3);
  gpt::Trainer<float> trainer(layout, {1, 32});
  trainer.put({weights, zeros, zeros, 0});
  Generator<float> generator({serve::config_of(layout.config), serve::weights_of(layout, weights)},
                             {.sequences = 2});
  Ids ids = some_ids(9, layout.config.vocab, 4);
  static_cast<void>(generator.add(ids, {}));
  for (int i = 0; i < 20; ++i) {
    const std::vector<float> logits = trainer.next(ids);
    const int32_t token = i == 0 ? serve::first_token(generator).token : generator.decode()[0].token;
    EXPECT_EQ(token, std::max_element(logits.begin(), logits.end()) - logits.begin()) << "token " << i;
    ids.push_back(token);
  }
}

// All that texts get, and the logits behind it.
using Written = std::map<int, std::pair<Ids, std::vector<std::vector<float>>>>;
struct Part {
  int begins;  // before this step
  Ids prompt;
  Sampling sampling;
};
template <class T>
Written write(const Model& model, const serve::Size& size, const std::map<int, Part>& parts, int steps) {
  Generator<T> generator(model, size);
  Written written;
  std::map<int, int> text_of;  // by slot
  const auto keep = [&](const serve::Token& one) {
    auto& text = written[text_of.at(one.slot)];
    text.first.push_back(one.token);
    text.second.push_back(generator.logits(one.slot));
  };
  for (int step = 0; step < steps; ++step) {
    for (const auto& [number, part] : parts)
      if (part.begins == step) text_of[*generator.add(part.prompt, part.sampling)] = number;
    if (const auto first = generator.prefill()) keep(*first);
    for (const auto& one : generator.decode()) keep(one);
  }
  return written;
}
template <class T>
void same_alone(const Config& config) {
  const Model model = serve_test::random_model(config, true, 82);
  const serve::Size size{.sequences = 5, .chunk = 8};
  const std::map<int, Part> parts = {
      {0, {0, some_ids(3, config.vocab, 1), {}}},
      {1, {0, some_ids(20, config.vocab, 2), {.temperature = 1, .seed = 5}}},
      {2, {2, some_ids(16, config.vocab, 3), {.temperature = 0.7f, .top_k = 9, .seed = 6}}},
      {3, {3, some_ids(1, config.vocab, 4), {.temperature = 1.5f, .top_p = 0.9f, .seed = 7}}},
      {4, {5, some_ids(7, config.vocab, 5), {.temperature = 1, .seed = 5}}}};
  const Written all = write<T>(model, size, parts, 16);
  ASSERT_EQ(all.size(), parts.size());
  for (const auto& [number, part] : parts) {
    const Written alone = write<T>(model, size, {{number, part}}, 16);
    const auto& [tokens, logits] = alone.at(number);
    const auto& [their_tokens, their_logits] = all.at(number);
    const size_t n = std::min(tokens.size(), their_tokens.size());
    ASSERT_GT(n, 5u);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(tokens[i], their_tokens[i]) << "text " << number << ", token " << i;
      EXPECT_EQ(logits[i], their_logits[i]) << "text " << number << ", token " << i;
    }
  }
}
TEST(serve, ATextIsTheSameAloneAndAmongOthers) {
  same_alone<float>(small_gpt());
  same_alone<float>(small_llama());
  same_alone<days::bf16>(small_gpt());
  same_alone<days::half>(small_grouped());
}

TEST(serve, ASeedIsAText) {
  const Model model = serve_test::random_model(small_gpt(), true, 83);
  const Ids prompt = some_ids(4, 61, 1);
  const auto text = [&](uint64_t seed) {
    return write<float>(model, {.sequences = 1}, {{0, {0, prompt, {.temperature = 2, .seed = seed}}}}, 12)
        .at(0)
        .first;
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

TEST(serve, SlotsAndPagesComeBack) {
  const Model model = serve_test::random_model(small_gpt(), true, 84);
  Generator<float> generator(model, {.sequences = 2, .pages = 4});
  const Ids sixteen = some_ids(16, 61, 1), three = some_ids(3, 61, 2);
  const auto a = generator.add(sixteen, {}), b = generator.add(three, {});
  ASSERT_TRUE(a && b);
  EXPECT_FALSE(generator.add(three, {})) << "there are two slots";
  EXPECT_EQ(generator.free_pages(), 2);
  while (generator.has_prompts()) generator.prefill();
  generator.decode();  // a's next token begins a page
  EXPECT_EQ(generator.free_pages(), 1);
  EXPECT_EQ(generator.length(*a), 17);
  for (int i = 0; i < 15; ++i) generator.decode();
  EXPECT_EQ(generator.free_pages(), 0) << "b has a second page now";
  EXPECT_EQ(generator.missing_pages(), 1) << "a's third";
  EXPECT_THROW(generator.decode(), std::invalid_argument);
  generator.remove(*b);
  EXPECT_EQ(generator.free_pages(), 2);
  EXPECT_EQ(generator.decode().size(), 1u);
  EXPECT_THROW(generator.remove(*b), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(generator.length(*b)), std::invalid_argument);
  EXPECT_FALSE(generator.add(some_ids(17, 61, 3), {})) << "needs two pages, and one is free";
  const auto c = generator.add(three, {});
  ASSERT_TRUE(c);
  generator.remove(*c);  // before its prompt was computed
  EXPECT_FALSE(generator.has_prompts());
  generator.remove(*a);
  EXPECT_EQ(generator.free_pages(), 4);
  EXPECT_EQ(generator.free_slots(), 2);
  EXPECT_TRUE(generator.decode().empty());
}
TEST(serve, AReusedSlotKnowsNothingOfTheLastText) {
  const Model model = serve_test::random_model(small_llama(), true, 85);
  Generator<float> generator(model, {.sequences = 1});
  const Ids prompt = some_ids(18, 70, 1);
  const auto run = [&] {
    const int slot = *generator.add(prompt, {});
    Ids ids{serve::first_token(generator).token};
    for (int i = 0; i < 6; ++i) ids.push_back(generator.decode()[0].token);
    generator.remove(slot);
    return ids;
  };
  const Ids first = run();
  const int other = *generator.add(some_ids(40, 70, 2), {.temperature = 1});
  while (generator.has_prompts()) generator.prefill();
  generator.decode();
  generator.remove(other);
  EXPECT_EQ(run(), first);
}
TEST(serve, ATextGoesOn) {
  const Model model = serve_test::random_model(small_llama(), true, 91);
  Generator<float> generator(model, {.sequences = 2, .chunk = 4, .pages = 4});
  Ids ids = some_ids(5, 70, 1);
  const int slot = *generator.add(ids, {}), other = *generator.add(some_ids(9, 70, 2), {});
  ids.push_back(serve::first_token(generator).token);
  static_cast<void>(serve::first_token(generator));
  EXPECT_THROW(generator.extend(slot, Ids{70}), std::invalid_argument);
  EXPECT_THROW(generator.extend(slot, some_ids(43, 70, 3)), std::invalid_argument) << "49 of 48";
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < 3; ++i)
      for (const auto& one : generator.decode())
        if (one.slot == slot) ids.push_back(one.token);
    const Ids more = some_ids(5 * turn, 70, 9);  // the first turn adds nothing
    ASSERT_TRUE(generator.extend(slot, more));
    EXPECT_THROW(generator.extend(slot, more), std::invalid_argument) << "it waits";
    ids.insert(ids.end(), more.begin(), more.end());
    ids.push_back(serve::first_token(generator).token);
    const std::vector<float> got = generator.logits(slot);
    const serve_test::Row expected = serve_test::reference(model, ids)[ids.size() - 2];
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(static_cast<double>(got[i]), expected[i], 3e-5);
  }
  EXPECT_TRUE(generator.extend(other, some_ids(8, 70, 4))) << "its page has room";
  static_cast<void>(serve::first_token(generator));
  EXPECT_FALSE(generator.extend(other, some_ids(20, 70, 4))) << "needs more pages than are free";
  generator.remove(slot);
  EXPECT_TRUE(generator.extend(other, some_ids(20, 70, 4)));
  generator.remove(other);
  EXPECT_EQ(generator.free_pages(), 4);
}
TEST(serve, ATextEndsWithTheContext) {
  const Model model = serve_test::random_model(small_gpt(), true, 86);
  Generator<float> generator(model, {.sequences = 2});
  const int full = *generator.add(some_ids(48, 61, 1), {}), nearly = *generator.add(some_ids(47, 61, 2), {});
  while (generator.has_prompts()) generator.prefill();
  const auto tokens = generator.decode();
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_EQ(tokens[0].slot, nearly);
  EXPECT_EQ(generator.length(full), 48);
  EXPECT_EQ(generator.length(nearly), 48);
  EXPECT_TRUE(generator.decode().empty());
}

TEST(serve, WhatIsNoTextIsRefused) {
  const Model model = serve_test::random_model(small_gpt(), true, 87);
  Generator<float> generator(model, {.sequences = 1, .pages = 2});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(generator.add({}, {}), std::invalid_argument);
  EXPECT_THROW(generator.add(some_ids(49, 61, 1), {}), std::invalid_argument);
  EXPECT_THROW(generator.add(some_ids(33, 61, 1), {}), std::invalid_argument) << "three pages of two";
  for (const int32_t token : {-1, 61, 63}) EXPECT_THROW(generator.add(Ids{token}, {}), std::invalid_argument);
  for (const Sampling& bad : {Sampling{.temperature = nan},
                              {.temperature = -1},
                              {.temperature = HUGE_VALF},
                              {.temperature = 101},
                              {.top_k = -1},
                              {.top_k = 257},
                              {.top_p = nan},
                              {.top_p = -0.1f},
                              {.top_p = 1.1f}})
    EXPECT_THROW(generator.add(Ids{1}, bad), std::invalid_argument);
  EXPECT_EQ(generator.free_slots(), 1);
  EXPECT_EQ(generator.free_pages(), 2);
  for (const serve::Size& bad : {serve::Size{.sequences = 0},
                                 {.sequences = 1025},
                                 {.chunk = 0},
                                 {.pages = -1},
                                 {.sequences = 1, .pages = 4}})
    EXPECT_THROW(Generator<float>(model, bad), std::invalid_argument);
  Model broken = model;
  broken.weights.layers[1].down.pop_back();
  EXPECT_THROW(Generator<float>(broken, {}), std::invalid_argument);
  broken = model;
  broken.config.kv_heads = 3;
  EXPECT_THROW(Generator<float>(broken, {}), std::invalid_argument);
}

TEST(serve, AModelThatIsBrokenSaysSo) {
  Model model = serve_test::random_model(small_gpt(), true, 88);
  model.weights.layers[0].down[0] = std::numeric_limits<float>::quiet_NaN();
  Generator<float> generator(model, {.sequences = 1});
  static_cast<void>(generator.add(Ids{1, 2}, {.temperature = 1}));
  EXPECT_EQ(serve::first_token(generator).token, -1);
}

TEST(serve, NoStepTakesMemory) {
  const Model model = serve_test::random_model(small_gpt(), true, 89);
  Generator<float> generator(model, {.sequences = 3, .chunk = 4});
  const auto used = [] {
    size_t left = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&left, &total));
    return total - left;
  };
  const size_t before = used();
  for (int i = 0; i < 3; ++i) static_cast<void>(generator.add(some_ids(9 + i, 61, 1), {.temperature = 1}));
  while (generator.has_prompts()) generator.prefill();
  for (int i = 0; i < 10; ++i) generator.decode();
  EXPECT_EQ(used(), before);
}

}  // namespace
