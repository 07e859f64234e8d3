// SPDX-License-Identifier: MIT
//
// The C entry of a day's shared library, called within this program, on a ladder of its own.
#include "common/library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/buffer.h"
#include "common/ladder.h"
#include "common/scalar.h"
#include "tests/common_ladder_test.h"

namespace library_test {

using common_test::Scale;

inline const auto entry =
    days::ladder<Scale>("entry")
        .extents({"rows", "cols"})
        .types<float, days::half>()
        .variant("plain", LAUNCHER(common_test::scale_plain))
        .variant("even", LAUNCHER(common_test::scale_even))
        .needs(days::multiple_of("cols", 2, [](const auto& p) { return p.cols; }))
        .variant("scratch", LAUNCHER(common_test::scale_scratch))
        .workspace([](const auto& p) {
          return sizeof(float) * static_cast<size_t>(p.rows) * static_cast<size_t>(p.cols);
        })
        .variant("wrong", LAUNCHER(common_test::writes_most))
        .variant("elsewhere", LAUNCHER(common_test::scale_plain))
        .runs_on({"a device of no kind", [](const days::Device&) { return false; }})
        .baseline("absent")
        .reference(LAUNCHER(common_test::scale_reference))
        .shapes({{1, 1}})
        .bench({{64, 64}})
        .show({{16, 16}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.rows = s[0];
          p.cols = s[1];
          p.x = in.normal("x", s[0] * s[1]);
          p.y = in.output("y", s[0], s[1]);
          p.total = in.constant("total", 1, days::scalar("start", 3.0));
        })
        .tolerance(days::exact);

namespace {

constexpr int64_t kShape[] = {3, 5};
constexpr size_t kElements = 15;

// x = 0, 1, 2, ...; y and total in device memory of the caller's.
struct Mine {
  days::DeviceMemory x{kElements * sizeof(float)}, y{kElements * sizeof(float)}, total{sizeof(float)};
  std::vector<float> values;
  Mine() {
    for (size_t i = 0; i < kElements; ++i) values.push_back(static_cast<float>(i));
    EXPECT_EQ(days_upload(x.data(), values.data(), kElements * sizeof(float)), 0);
    const float zero = 0;
    EXPECT_EQ(days_upload(total.data(), &zero, sizeof zero), 0);
  }
  std::vector<void*> pointers() const { return {x.data(), y.data(), total.data()}; }
  std::vector<float> result() const {
    std::vector<float> y_host(kElements);
    EXPECT_EQ(days_download(y_host.data(), y.data(), kElements * sizeof(float)), 0);
    return y_host;
  }
};

// One row of the ladder is wrong, so it is registered here, where the tests of all ladders have been made.
class Library : public testing::Test {
 public:
  static void SetUpTestSuite() { days::register_ladder(entry); }
};

int launch(const char* row, const std::vector<void*>& pointers, const int64_t* shape = kShape,
           size_t extents = 2, const char* type = "fp32", const char* ladder = "entry") {
  return days_launch(ladder, type, row, shape, extents, pointers.data(), pointers.size(), nullptr, 0,
                     nullptr);
}

TEST_F(Library, LaunchesOnTheCallersPointers) {
  const Mine mine;
  ASSERT_EQ(launch("plain", mine.pointers()), 0) << days_error();
  std::vector<float> twice = mine.values;
  for (float& value : twice) value *= 2;
  EXPECT_EQ(mine.result(), twice);
}

TEST_F(Library, WaitsForAStream) {
  // Memory that the host reads without a call: nothing else could have waited.
  float* shared = nullptr;
  ASSERT_EQ(cudaMallocManaged(&shared, (2 * kElements + 1) * sizeof(float)), cudaSuccess);
  float *x = shared, *y = shared + kElements, *total = shared + 2 * kElements;
  std::fill(x, x + kElements, 3.0f);
  std::fill(y, total + 1, -1.0f);
  ASSERT_EQ(launch("plain", {x, y, total}), 0) << days_error();
  ASSERT_EQ(days_wait(nullptr), 0) << days_error();
  EXPECT_EQ(std::vector<float>(y, y + kElements), std::vector<float>(kElements, 6));
  EXPECT_EQ(cudaFree(shared), cudaSuccess);
}

TEST_F(Library, RefusesWithAReasonAndWritesNothing) {
  const Mine mine;
  const std::vector<void*> right = mine.pointers();
  const std::vector<float> before = mine.result();
  const int64_t zero[] = {3, 0};
  const auto outcome = [](int code) { return std::make_pair(code, std::string(days_error())); };
  struct {
    std::pair<int, std::string> got;
    int code;
    const char* said;
  } const cases[] = {
      {outcome(launch("none", right)), 2, "entry has no row \"none\""},
      {outcome(launch("plain", right, kShape, 2, "fp32", "none")), 2, "no ladder \"none\""},
      {outcome(launch("plain", right, kShape, 2, "int8")), 2, "entry has no type \"int8\""},
      {outcome(launch("plain", right, kShape, 1)), 2, "entry takes 2 extents, not 1"},
      {outcome(launch("plain", right, zero)), 2, "an extent is positive, not 0"},
      {outcome(launch("plain", {right[0], right[1]})), 2, "takes more than the 2 buffers given"},
      {outcome(launch("plain", {right[0], right[1], right[2], right[2]})), 2, "entry takes 3 buffers, not 4"},
      {outcome(launch("even", right, kShape, 2, "fp16")), 3, "even: no fp16"},
      {outcome(launch("elsewhere", right)), 3, "needs a device of no kind"},
      {outcome(launch("absent", right)), 3, "absent: not built"},
      {outcome(launch("even", right)), 2, "cols"},          // its launcher refuses 5 columns,
      {outcome(launch("scratch", right)), 2, "workspace"},  // and this one no workspace
  };
  for (const auto& one : cases) {
    EXPECT_EQ(one.got.first, one.code) << one.said;
    EXPECT_NE(one.got.second.find(one.said), std::string::npos) << one.got.second;
  }
  EXPECT_EQ(std::memcmp(mine.result().data(), before.data(), kElements * sizeof(float)), 0);
}

TEST_F(Library, TakesAWorkspaceOfTheCallers) {
  const Mine mine;
  const days::DeviceMemory scratch(kElements * sizeof(float));
  const std::vector<void*> pointers = mine.pointers();
  const auto with = [&](size_t bytes) {
    return days_launch("entry", "fp32", "scratch", kShape, 2, pointers.data(), 3, scratch.data(), bytes,
                       nullptr);
  };
  EXPECT_EQ(with(kElements * sizeof(float) - 1), 2);
  ASSERT_EQ(with(kElements * sizeof(float)), 0) << days_error();
  EXPECT_EQ(mine.result()[7], 14.0f);
}

TEST_F(Library, TellsWhatAProblemTakes) {
  const char* text = days_problem("entry", "fp16", kShape, 2);
  ASSERT_NE(text, nullptr) << days_error();
  for (const char* part : {"\"name\": \"x\"", "\"role\": \"in-place\"", "\"type\": \"fp16\"", "\"n\": 15",
                           "\"name\": \"start\"", "\"value\": 3"})
    EXPECT_NE(std::string(text).find(part), std::string::npos) << text;
  EXPECT_EQ(days_problem("entry", "int8", kShape, 2), nullptr);
  EXPECT_EQ(days_workspace("entry", "fp32", "scratch", kShape, 2), 60);
  EXPECT_EQ(days_workspace("entry", "fp32", "plain", kShape, 2), 0);
  EXPECT_LT(days_workspace("entry", "fp32", "even", kShape, 2), 0);  // which takes no 5 columns
  EXPECT_NE(std::string(days_error()).find("cols % 2 == 0"), std::string::npos) << days_error();
}

TEST_F(Library, TakesNumbersOfTheCallers) {
  const char *known[] = {"start"}, *unknown[] = {"stop"};
  const double four[] = {4};
  ASSERT_EQ(days_scalars(known, four, 1), 0);
  EXPECT_NE(std::string(days_problem("entry", "fp32", kShape, 2)).find("\"value\": 3"), std::string::npos);
  const Mine mine;
  EXPECT_EQ(launch("plain", mine.pointers()), 0) << days_error();
  ASSERT_EQ(days_scalars(unknown, four, 1), 0);
  EXPECT_EQ(launch("plain", mine.pointers()), 2);
  EXPECT_NE(std::string(days_error()).find("entry has no number stop"), std::string::npos) << days_error();
  ASSERT_EQ(days_scalars(nullptr, nullptr, 0), 0);
  EXPECT_EQ(launch("plain", mine.pointers()), 0) << days_error();
}

TEST_F(Library, KnowsMemoryOfTheHost) {
  std::vector<float> memory(kElements, 1.0f);
  ASSERT_EQ(days_know(memory.data(), kElements * sizeof(float)), 0) << days_error();
  EXPECT_EQ(days_know(memory.data(), kElements * sizeof(float)), 1);  // once is enough
  EXPECT_EQ(cudaMemsetAsync(memory.data(), 0, kElements * sizeof(float), nullptr), cudaSuccess);
  ASSERT_EQ(days_wait(nullptr), 0) << days_error();
  ASSERT_EQ(days_forget(memory.data()), 0) << days_error();
  EXPECT_EQ(memory, std::vector<float>(kElements));
  EXPECT_EQ(days_forget(memory.data()), 1);
}

TEST_F(Library, ContestsAreCheckedLikeTests) {
  days_contest* contest = days_contest_open("entry", "fp32", kShape, 2);
  ASSERT_NE(contest, nullptr) << days_error();
  const std::string buffers = days_contest_buffers(contest);
  for (const char* part : {"\"role\": \"input\"", "\"role\": \"output\"", "\"role\": \"in-place\"",
                           "\"type\": \"fp32\"", "\"n\": 15"}) {
    EXPECT_NE(buffers.find(part), std::string::npos) << buffers;
  }
  const auto verdict = [&](const char* row) {
    EXPECT_EQ(days_contest_prepare(contest, row), 0) << days_error();
    EXPECT_EQ(days_contest_launch(contest, row, nullptr), 0) << days_error();
    const char* text = days_contest_verify(contest);
    return std::string(text == nullptr ? "" : text);
  };
  EXPECT_NE(verdict("plain").find("\"ok\": true"), std::string::npos);
  EXPECT_NE(verdict("scratch").find("\"ok\": true"), std::string::npos);
  EXPECT_NE(verdict("wrong").find("[2,4] is nan, expected "), std::string::npos) << verdict("wrong");
  EXPECT_NE(verdict("plain").find("\"ok\": true"), std::string::npos);
  // A contestant from elsewhere that writes nothing: what was poisoned is wrong.
  EXPECT_EQ(days_contest_prepare(contest, nullptr), 0);
  EXPECT_NE(std::string(days_contest_verify(contest)).find("\"ok\": false"), std::string::npos);
  EXPECT_EQ(days_contest_prepare(contest, "even"), 2);
  EXPECT_NE(std::string(days_error()).find("cols % 2 == 0"), std::string::npos) << days_error();
  days_contest_close(contest);
  EXPECT_EQ(days_contest_open("entry", "fp32", kShape, 1), nullptr);
  EXPECT_EQ(days_contest_open("none", "fp32", kShape, 2), nullptr);
}

TEST_F(Library, DescribesItsLadders) {
  const std::string text = days_description();
  for (const char* part : {"\"ladder\": \"entry\"", "\"name\": \"scratch\"", "\"kind\": \"library\"",
                           "\"fp16\": \"no fp16\"", "\"fp32\": \"not built\""}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST_F(Library, Times) {
  const Mine mine;
  ASSERT_EQ(days_flush(nullptr), 0) << days_error();
  ASSERT_EQ(days_timer_start(nullptr), 0);
  ASSERT_EQ(launch("plain", mine.pointers()), 0);
  ASSERT_EQ(days_timer_stop(nullptr), 0);
  EXPECT_GE(days_timer_seconds(), 0);
}

}  // namespace
}  // namespace library_test
