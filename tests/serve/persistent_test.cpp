// SPDX-License-Identifier: MIT
//
// The kernel that is a token: its logits against double loops without a cache; bit for bit the same again, whatever is ahead of what; what
// does not fit is refused.
#include "serve/persistent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "common/graph.h"
#include "serve/generator.h"
#include "tests/serve/on_device.h"
#include "tests/serve/reference.h"

namespace {

using serve::Config;
using serve::Model;
using serve::Persistent;
using serve::PersistentOptions;
using serve_test::some_ids;
using Ahead = PersistentOptions::Ahead;
using Ids = std::vector<int32_t>;
using Rows = std::vector<std::vector<float>>;

Config gpt() {
  Config config = serve_test::small_gpt();
  config.inner = 136;
  return config;
}
// Rows that are longer than those of the width.
Config llama() {
  Config config = serve_test::small_grouped();
  config.inner = 72;
  return config;
}
template <class T>
Rows run(serve_test::OnDevice<T>& text, const Persistent<T>& kernel, const Ids& ids) {
  Rows rows;
  text.begin(0);
  for (const int32_t id : ids)
    rows.push_back(text.step(id, [&](const int32_t* slot, float* logits, int32_t* position) {
      kernel.queue(slot, logits, position, text.stream);
    }));
  return rows;
}
// The greatest difference from the reference, as a part of the reference's greatest logit.
double error_of(const Rows& got, const std::vector<serve_test::Row>& expected) {
  double most = 0, off = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    for (size_t j = 0; j < expected[i].size(); ++j) {
      most = std::max(most, std::abs(expected[i][j]));
      const double by = std::abs(expected[i][j] - static_cast<double>(got[i][j]));
      off = by <= off ? off : by;  // NaN stays
    }
  }
  return off / most;
}

TEST(persistent, LogitsAreThoseWithoutACache) {
  for (const bool is_gpt : {true, false}) {
    const Config config = is_gpt ? gpt() : llama();
    const Model model = serve_test::random_model(config, is_gpt, 80);
    const Ids ids = some_ids(35, config.vocab, 7);  // three pages, of which the last has three tokens
    const auto expected = serve_test::reference(model, ids);
    serve_test::OnDevice<float> text(model);
    const Persistent<float> split(config, text.on_device, text.slots(), {.keys_of_block = 16});
    EXPECT_LT(error_of(run(text, split, ids), expected), 1e-5);
    // What is asked for ahead, and who waits for whom, change no bit.
    const Ids some(ids.begin(), ids.begin() + 18);
    const Persistent<float> plain(config, text.on_device, text.slots(),
                                  {.ahead = Ahead::kRegisters, .barriers = true});
    const Rows rows = run(text, plain, some);
    EXPECT_LT(error_of(rows, expected), 1e-5);
#ifdef __SIMT__
    // A ring that is as short as it can be.
    const Persistent<float> ring(
        config, text.on_device, text.slots(),
        {.ahead = Ahead::kRing, .pieces = is_gpt ? 5 : 17, .piece_bytes = 4096, .pause = 20});
#else
    const Persistent<float> ring(config, text.on_device, text.slots());
#endif
    EXPECT_TRUE(run(text, ring, some) == rows);
  }
}

TEST(persistent, SixteenBitsAreNear) {
  for (const Config& config : {gpt(), llama()}) {
    const Model model = serve_test::random_model(config, true, 81);
    const Ids ids = some_ids(18, config.vocab, 8);
    const auto expected = serve_test::reference(model, ids);
    serve_test::OnDevice<days::half> in_half(model);
    const Persistent<days::half> kernel(config, in_half.on_device, in_half.slots());
    EXPECT_LT(error_of(run(in_half, kernel, ids), expected), 8e-3);
    serve_test::OnDevice<days::bf16> in_bf16(model);
    const Persistent<days::bf16> other(config, in_bf16.on_device, in_bf16.slots(), {.keys_of_block = 16});
    EXPECT_LT(error_of(run(in_bf16, other, ids), expected), 5e-2);
  }
}

// Prompts of the generator's other kernels, then tokens of this one: the same pages.
TEST(persistent, AGeneratorsStep) {
  for (const Config& config : {gpt(), llama()}) {
    const Model model = serve_test::random_model(config, true, 87);
    const auto text = [&](serve::Step step, Rows* logits) {
      serve::Generator<float> generator(model, {.sequences = 1, .step = step});
      Ids ids;
      for (int turn = 0; turn < 2; ++turn) {  // the second text finds the first one's tags
        const int slot = *generator.add(some_ids(14, config.vocab, 3), {});
        ids.push_back(generator.prefill()->token);
        for (int i = 0; i < 4; ++i) {
          ids.push_back(generator.decode()[0].token);
          logits->push_back(generator.logits(slot));
        }
        generator.remove(slot);
      }
      return ids;
    };
    Rows expected, got;
    EXPECT_EQ(text(serve::Step::kPersistent, &got), text(serve::Step::kGraph, &expected));
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      for (size_t j = 0; j < got[i].size(); ++j) EXPECT_NEAR(got[i][j], expected[i][j], 3e-5f);
    }
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(got[i], got[4 + i]);
  }
  EXPECT_THROW(serve::Generator<float>(serve_test::random_model(gpt(), true, 87),
                                       {.sequences = 2, .step = serve::Step::kPersistent}),
               std::invalid_argument);
}

// Tags grow from token to token: also where a graph is launched again, and where another text begins.
TEST(persistent, AGraphServesEveryToken) {
  const Config config = gpt();
  serve_test::OnDevice<days::bf16> text(serve_test::random_model(config, true, 82));
  const Persistent<days::bf16> kernel(config, text.on_device, text.slots());
  const Ids ids = some_ids(5, config.vocab, 9);
  const Rows first = run(text, kernel, ids);
  const days::Graph graph(text.stream,
                          [&] { kernel.queue(text.slot_of(), text.logits(), text.position(), text.stream); });
  text.begin(0);
  for (size_t i = 0; i < ids.size(); ++i)
    EXPECT_EQ(text.step(ids[i], [&](auto...) { graph.launch(text.stream); }), first[i]) << "token " << i;
  EXPECT_TRUE(run(text, kernel, ids) == first);
}

TEST(persistent, ASlotThatIsNoneLeavesAllAsItIs) {
  const Config config = gpt();
  serve_test::OnDevice<float> text(serve_test::random_model(config, true, 83));
  const Persistent<float> kernel(config, text.on_device, text.slots());
  text.begin(0);
  const int32_t none = -1, mark = 77;
  CUDA_CHECK(cudaMemcpy(text.slot_of(), &none, sizeof none, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(text.position(), &mark, sizeof mark, cudaMemcpyHostToDevice));
  const auto queue = [&](const int32_t* slot, float* logits, int32_t* position) {
    kernel.queue(slot, logits, position, text.stream);
  };
  for (const float value : text.step(1, queue)) EXPECT_TRUE(std::isnan(value)) << "nothing had been written";
  int32_t position = 0;
  CUDA_CHECK(cudaMemcpy(&position, text.position(), sizeof position, cudaMemcpyDeviceToHost));
  EXPECT_EQ(position, mark);
}

TEST(persistent, ATokenThatIsNoneGivesNoNumber) {
  const Config config = gpt();
  serve_test::OnDevice<float> text(serve_test::random_model(config, true, 84));
  const Persistent<float> kernel(config, text.on_device, text.slots());
  for (const int32_t token : {-1, config.vocab}) {
    for (const auto& row : run(text, kernel, {token}))
      for (const float value : row) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(persistent, WhatDoesNotFitIsRefused) {
  const Config config = gpt();
  serve_test::OnDevice<float> text(serve_test::random_model(config, true, 85));
  const auto make = [&](const PersistentOptions& options) {
    const Persistent<float> kernel(config, text.on_device, text.slots(), options);
  };
  const int processors = days::multiprocessors();
  EXPECT_NO_THROW(make({.blocks = std::min(processors, 31)}));
  EXPECT_THROW(make({.blocks = 32}), std::invalid_argument) << "31 pairs of logits";
  EXPECT_THROW(make({.blocks = std::min(processors + 1, 32)}), std::invalid_argument) << "not resident";
  EXPECT_THROW(make({.blocks = -1}), std::invalid_argument);
  EXPECT_THROW(make({.keys_of_block = 0}), std::invalid_argument);
#ifdef __SIMT__
  EXPECT_THROW(make({.ahead = Ahead::kRing, .pieces = 1}), std::invalid_argument)
      << "less than is read at once";
  EXPECT_THROW(make({.ahead = Ahead::kRing, .pieces = 1000}), std::invalid_argument);
#endif
  text.on_device.layers.pop_back();
  EXPECT_THROW(make({}), std::invalid_argument);
}

TEST(persistent, ATokenInNumbers) {
  const Config config = gpt();
  serve_test::OnDevice<float> text(serve_test::random_model(config, true, 86));
  const Persistent<float> kernel(config, text.on_device, text.slots(), {.blocks = 4, .keys_of_block = 16});
  EXPECT_EQ(kernel.waits(15), 10);
  EXPECT_EQ(kernel.waits(16), 12) << "keys of two blocks";
  const size_t of_layer = 192 * 64 + 64 * 64 + 2 * 136 * 64;
  EXPECT_EQ(kernel.bytes(0), 4 * (2 * of_layer + 61 * 64));
  EXPECT_EQ(kernel.bytes(10) - kernel.bytes(0), 4u * 2 * 2 * 10 * 64);
}

}  // namespace
