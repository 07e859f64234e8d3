// SPDX-License-Identifier: MIT
//
// Many threads at one desk: each gets its own text, and who leaves frees a slot.
#include "serve/desk.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "tests/serve/reference.h"

namespace {

using namespace std::chrono_literals;
using serve::Desk;
using serve::Finish;
using serve::Request;
using Ids = std::vector<int32_t>;

serve::Model model() {
  return serve_test::random_model({.layers = 1,
                                   .width = 32,
                                   .heads = 1,
                                   .kv_heads = 1,
                                   .head_dim = 32,
                                   .inner = 32,
                                   .vocab = 30,
                                   .padded_vocab = 32,
                                   .context = 512},
                                  true, 92);
}
struct Answer {
  Ids tokens;
  Finish finish = Finish::kNot;
};
Answer read(serve::Ticket ticket) {
  Answer answer;
  while (answer.finish == Finish::kNot) {
    const auto event = ticket.next(60s);
    EXPECT_TRUE(event) << "nothing comes";
    if (!event) break;
    if (event->token >= 0) answer.tokens.push_back(event->token);
    answer.finish = event->finish;
  }
  return answer;
}
Request request(uint64_t seed, int tokens) {
  return {{static_cast<int32_t>(seed % 30), 3}, tokens, {.temperature = 1, .seed = seed}};
}
template <class Predicate>
bool within(const Predicate& predicate) {
  for (int i = 0; i < 6000; ++i) {
    if (predicate()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(serve_desk, EachThreadGetsItsText) {
  Desk<float> alone(model(), {.sequences = 1}, 64);
  std::vector<Answer> expected, got(8);
  for (uint64_t i = 0; i < 8; ++i) expected.push_back(read(*alone.submit(request(i, 6))));
  Desk<float> desk(model(), {.sequences = 3}, 64);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { got[i] = read(*desk.submit(request(i, 6))); });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(got[i].tokens, expected[i].tokens);
    EXPECT_EQ(got[i].tokens.size(), 6u);
    EXPECT_EQ(got[i].finish, Finish::kLength);
  }
  EXPECT_TRUE(within([&] { return desk.counts().free_slots == 3 && desk.counts().waiting == 0; }));
}
TEST(serve_desk, WhoLeavesFreesTheSlot) {
  Desk<float> desk(model(), {.sequences = 1}, 2);
  {
    auto first = desk.submit(request(1, 500));
    ASSERT_TRUE(first && first->next(60s));
    auto second = desk.submit(request(2, 500));  // waits, and never runs
    EXPECT_EQ(desk.counts().free_slots, 0);
  }
  EXPECT_TRUE(within([&] { return desk.counts().free_slots == 1 && desk.counts().waiting == 0; }));
  EXPECT_EQ(read(*desk.submit(request(3, 2))).tokens.size(), 2u);
}
TEST(serve_desk, WhoDoesNotReadIsCancelled) {
  Desk<float> desk(model(), {.sequences = 1}, 2, 5);
  auto lazy = desk.submit(request(1, 500));
  EXPECT_EQ(read(*desk.submit(request(2, 5))).tokens.size(), 5u) << "the slot is free again";
  const Answer answer = read(std::move(*lazy));
  EXPECT_EQ(answer.tokens.size(), 5u);
  EXPECT_EQ(answer.finish, Finish::kBroken);
}
TEST(serve_desk, TooManyAreTurnedAway) {
  Desk<float> desk(model(), {.sequences = 1}, 2);
  auto first = desk.submit(request(1, 500));
  ASSERT_TRUE(first && first->next(60s));
  const auto second = desk.submit(request(2, 5)), third = desk.submit(request(3, 5));
  EXPECT_TRUE(second && third);
  EXPECT_FALSE(desk.submit(request(4, 5)));
  EXPECT_EQ(desk.counts().waiting, 2u);
  EXPECT_THROW(desk.submit({{}, 5}), std::invalid_argument);
  EXPECT_THROW(desk.submit({{1}, 5, {.temperature = std::numeric_limits<float>::quiet_NaN()}}),
               std::invalid_argument);
}
TEST(serve_desk, ADeskThatClosesSaysSo) {
  auto desk = std::make_unique<Desk<float>>(model(), serve::Size{.sequences = 1}, 2);
  auto first = desk->submit(request(1, 500)), second = desk->submit(request(2, 500));
  ASSERT_TRUE(first->next(60s));
  desk.reset();
  EXPECT_EQ(read(std::move(*first)).finish, Finish::kBroken);
  EXPECT_EQ(read(std::move(*second)).finish, Finish::kBroken);
}

}  // namespace
