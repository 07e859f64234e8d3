// SPDX-License-Identifier: MIT
//
// Requests that come and go: each gets its own text whoever else is served, also where pages run out.
#include "serve/engine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <limits>
#include <map>

#include "tests/serve/reference.h"

namespace {

using serve::Engine;
using serve::Event;
using serve::Finish;
using serve::Handle;
using Ids = std::vector<int32_t>;

const serve::Model& model() {
  static const serve::Model one = serve_test::random_model({.layers = 1,
                                                            .width = 64,
                                                            .heads = 2,
                                                            .kv_heads = 2,
                                                            .head_dim = 32,
                                                            .inner = 64,
                                                            .vocab = 61,
                                                            .padded_vocab = 64,
                                                            .context = 64},
                                                           true, 90);
  return one;
}
Ids some_ids(int count, uint64_t seed) {
  Ids ids;
  for (int i = 0; i < count; ++i)
    ids.push_back(static_cast<int32_t>(days::uniform_integer(seed, static_cast<uint64_t>(i), 0, 61)));
  return ids;
}
struct Answer {
  Ids tokens;
  Finish finish = Finish::kNot;
};
void keep(const std::vector<Event>& events, std::map<Handle, Answer>* answers) {
  for (const Event& event : events) {
    Answer& answer = (*answers)[event.handle];
    EXPECT_EQ(answer.finish, Finish::kNot) << "nothing comes behind the end";
    if (event.token >= 0) answer.tokens.push_back(event.token);
    answer.finish = event.finish;
  }
}
std::map<Handle, Answer> all_of(Engine<float>& engine) {
  std::map<Handle, Answer> answers;
  for (int step = 0; !engine.idle(); ++step) {
    EXPECT_LT(step, 2000) << "it goes round in circles";
    if (step >= 2000) break;
    keep(engine.step(), &answers);
  }
  return answers;
}
serve::Request request(int prompt, uint64_t seed, int max_new) {
  return {some_ids(prompt, seed), max_new, {.temperature = 1, .seed = seed}};
}
Answer alone(const serve::Request& one) {
  Engine<float> engine(model(), {.sequences = 1}, 1);
  const Handle handle = *engine.submit(one);
  return all_of(engine)[handle];
}
void all_is_free(const Engine<float>& engine, int slots, int pages) {
  EXPECT_EQ(engine.generator().free_slots(), slots);
  EXPECT_EQ(engine.generator().free_pages(), pages);
}

TEST(serve_engine, MoreRequestsThanSlots) {
  Engine<float> engine(model(), {.sequences = 3, .chunk = 8}, 10);
  std::map<Handle, serve::Request> requests;
  for (uint64_t i = 0; i < 8; ++i) {
    const serve::Request one = request(1 + static_cast<int>(i) * 3, i, 3 + static_cast<int>(i));
    requests[*engine.submit(one)] = one;
  }
  const auto answers = all_of(engine);
  ASSERT_EQ(answers.size(), 8u);
  for (const auto& [handle, one] : requests) {
    EXPECT_EQ(answers.at(handle).tokens, alone(one).tokens);
    EXPECT_EQ(answers.at(handle).tokens.size(), static_cast<size_t>(one.max_new));
    EXPECT_EQ(answers.at(handle).finish, Finish::kLength);
  }
  all_is_free(engine, 3, 12);
}

TEST(serve_engine, WherePagesRunOutTheNewestWaits) {
  // Each of three texts wants four pages at its end, and there are six.
  Engine<float> engine(model(), {.sequences = 3, .pages = 6}, 10);
  std::map<Handle, serve::Request> requests;
  for (uint64_t i = 0; i < 3; ++i) {
    const serve::Request one = request(4, 20 + i, 55);
    requests[*engine.submit(one)] = one;
  }
  std::map<Handle, Answer> answers;
  bool came_back = false;
  size_t most = 0;
  for (int step = 0; !engine.idle() && step < 1000; ++step) {
    keep(engine.step(), &answers);
    came_back = came_back || engine.running() < most;
    most = std::max(most, engine.running());
  }
  EXPECT_TRUE(came_back);
  for (const auto& [handle, one] : requests) {
    EXPECT_EQ(answers[handle].tokens, alone(one).tokens);
    EXPECT_EQ(answers[handle].finish, Finish::kLength);
  }
  all_is_free(engine, 3, 6);
}

TEST(serve_engine, ATextAloneEndsWithThePages) {
  Engine<float> engine(model(), {.sequences = 1, .pages = 2}, 1);
  const Handle handle = *engine.submit(request(30, 1, 40));
  const auto answers = all_of(engine);
  EXPECT_EQ(answers.at(handle).finish, Finish::kLength);
  EXPECT_EQ(answers.at(handle).tokens.size(), 3u) << "31 and 32 are in the cache, and the last need not be";
  all_is_free(engine, 1, 2);
}
TEST(serve_engine, ATextEndsWithTheContext) {
  const Answer answer = alone(request(60, 2, 100));
  EXPECT_EQ(answer.finish, Finish::kLength);
  EXPECT_EQ(answer.tokens.size(), 5u);
  EXPECT_EQ(alone(request(64, 2, 100)).tokens.size(), 1u);
}
TEST(serve_engine, ATokenEndsIt) {
  serve::Request one = request(5, 3, 20);
  const Answer whole = alone(one);
  one.ends = {whole.tokens[7]};
  const Answer answer = alone(one);
  EXPECT_EQ(answer.finish, Finish::kEnd);
  const auto first = std::find(whole.tokens.begin(), whole.tokens.end(), whole.tokens[7]);
  EXPECT_EQ(answer.tokens, Ids(whole.tokens.begin(), first)) << "the end is no text";
}
TEST(serve_engine, NoTokensAreDoneAtOnce) {
  const Answer answer = alone(request(5, 3, 0));
  EXPECT_TRUE(answer.tokens.empty());
  EXPECT_EQ(answer.finish, Finish::kLength);
}

TEST(serve_engine, WhoIsCancelledLeavesTheOthers) {
  Engine<float> engine(model(), {.sequences = 2}, 10);
  const serve::Request one = request(6, 4, 10);
  const Handle leaves = *engine.submit(request(9, 5, 50)), stays = *engine.submit(one),
               waits = *engine.submit(request(9, 6, 50));
  std::map<Handle, Answer> answers;
  for (int i = 0; i < 4; ++i) keep(engine.step(), &answers);
  EXPECT_FALSE(answers[leaves].tokens.empty());
  engine.cancel(leaves);
  engine.cancel(waits);
  engine.cancel(12345);
  EXPECT_EQ(engine.running(), 1u);
  EXPECT_EQ(engine.generator().free_slots(), 1);
  const size_t before = answers[leaves].tokens.size();
  while (!engine.idle()) keep(engine.step(), &answers);
  EXPECT_EQ(answers[leaves].tokens.size(), before);
  EXPECT_EQ(answers.count(waits), 0u);
  EXPECT_EQ(answers[stays].tokens, alone(one).tokens);
  all_is_free(engine, 2, 8);
}

TEST(serve_engine, AFullQueueTurnsAway) {
  Engine<float> engine(model(), {.sequences = 1}, 2);
  EXPECT_TRUE(engine.submit(request(1, 1, 3)));
  EXPECT_TRUE(engine.submit(request(1, 2, 3)));
  EXPECT_FALSE(engine.submit(request(1, 3, 3)));
  EXPECT_THROW(engine.submit({{}, 3}), std::invalid_argument);
  EXPECT_THROW(engine.submit({{1}, -1}), std::invalid_argument);
  EXPECT_THROW(engine.submit({{1}, 1, {.temperature = std::numeric_limits<float>::quiet_NaN()}}),
               std::invalid_argument);
  static_cast<void>(engine.step());  // one has a slot, one waits
  EXPECT_TRUE(engine.submit(request(1, 3, 3)));
  EXPECT_EQ(all_of(engine).size(), 3u);
}

TEST(serve_engine, ABrokenModelEndsTheText) {
  serve::Model broken = model();
  broken.weights.norm[0] = std::numeric_limits<float>::quiet_NaN();
  Engine<float> engine(broken, {.sequences = 1}, 1);
  const Handle handle = *engine.submit(request(5, 1, 9));
  const auto answers = all_of(engine);
  EXPECT_EQ(answers.at(handle).finish, Finish::kBroken);
  EXPECT_TRUE(answers.at(handle).tokens.empty());
  all_is_free(engine, 1, 4);
}

}  // namespace
