// SPDX-License-Identifier: MIT
//
// Programs of program days: their own flags, tolerances, tables in units of their own, progress.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/program.h"
#include "common/types.h"

namespace {

using days::Program;

const days::About kTrainer{
    "trainer",
    "trains a model",
    7,
    7,
    "fp16",
    {days::number_flag("--steps", "training steps", 300, 1, 1000),
     days::choice_flag("--size", "the model", {"tiny", "small", "medium"}),
     days::file_flag("--resume", "goes on from this file"), days::path_flag("--out", "writes this"),
     days::toggle_flag("--times", "prints times")}};

struct Ended {
  int code;
  std::string said;  // the sentence of an error on one line
};

Ended run(std::vector<std::string> flags, const std::function<void(Program&)>& body,
          const days::About& about = kTrainer) {
  std::vector<char*> arguments;
  flags.insert(flags.begin(), "trainer");
  for (std::string& flag : flags) arguments.push_back(flag.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = days::program(static_cast<int>(arguments.size()), arguments.data(), about, body);
  const std::string text = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
  std::istringstream words(text);
  Ended ended{code, ""};
  for (std::string word; words >> word;) ended.said += (ended.said.empty() ? "" : " ") + word;
  return ended;
}

void nothing_wrong(Program& program) {
  const float one = 1;
  program.compare(&one, &one, 1, "one");
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(common_program, FlagsHaveWhatWasGivenOrTheirPresets) {
  const std::string path = testing::TempDir() + "common_program_resume";
  std::ofstream(path) << "a model";
  EXPECT_EQ(run({},
                [](Program& program) {
                  EXPECT_EQ(program.number("--steps"), 300);
                  EXPECT_EQ(program.choice("--size"), "tiny");
                  EXPECT_EQ(program.file("--resume"), "");
                  EXPECT_EQ(program.path("--out"), "");
                  EXPECT_FALSE(program.on("--times"));
                  EXPECT_EQ(program.size(), 7u);
                  nothing_wrong(program);
                })
                .code,
            0);
  EXPECT_EQ(run({"--times", "--steps", "1000", "--size", "small", "--resume", path, "--out", "/nowhere"},
                [&](Program& program) {
                  EXPECT_EQ(program.number("--steps"), 1000);
                  EXPECT_EQ(program.choice("--size"), "small");
                  EXPECT_EQ(program.file("--resume"), path);
                  EXPECT_EQ(program.path("--out"), "/nowhere");
                  EXPECT_TRUE(program.on("--times"));
                  nothing_wrong(program);
                })
                .code,
            0);
  std::filesystem::remove(path);
}

TEST(common_program, NothingToCompareIsAFailureUnlessItSaysWhatItDid) {
  const Ended nothing = run({}, [](Program&) {});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_NE(nothing.said.find("has compared nothing"), std::string::npos) << nothing.said;
  const Ended served = run({}, [](Program& program) { program.done("it has served"); });
  EXPECT_EQ(served.code, 0);
  EXPECT_EQ(served.said, "ok: it has served");
  // What was compared counts all the same.
  const Ended wrong = run({}, [](Program& program) {
    const float one = 1, two = 2;
    program.compare(&one, &two, 1, "one");
    program.done("it has served");
  });
  EXPECT_EQ(wrong.code, 1);
}

TEST(common_program, ARefusalSaysWhatIsAllowed) {
  const struct {
    std::vector<std::string> flags;
    const char* says;
  } cases[] = {
      {{"--steps", "0"}, "error: --steps is a number from 1 to 1000, not \"0\""},
      {{"--steps", "1001"}, "not \"1001\""},
      {{"--steps", "3x"}, "not \"3x\""},
      {{"--steps", ""}, "not \"\""},
      {{"--steps", "99999999999999999999"}, "--steps is a number from 1 to 1000"},
      {{"--steps"}, "error: --steps needs a value"},
      {{"--size", "huge"}, "error: --size is tiny, small or medium, not \"huge\""},
      {{"--size", "100"}, "not \"100\""},
      {{"--resume", "/nowhere/at/all"},
       "error: --resume is a file: /nowhere/at/all: No such file or directory"},
      {{"--resume", "/"}, "error: --resume is a file: /: Is a directory"},
      {{"--out", ""}, "error: --out is a path, and empty"},
      {{"--step", "3"},
       "error: there is no flag --step; there are --steps, --size, --resume, --out, --times, --json, "
       "--timeline and "
       "--help; see "
       "--help"},
  };
  for (const auto& one : cases) {
    const Ended ended = run(one.flags, [](Program&) { FAIL() << "it runs"; });
    EXPECT_EQ(ended.code, 2) << one.says;
    EXPECT_NE(ended.said.find(one.says), std::string::npos) << ended.said << "\n" << one.says;
  }
  EXPECT_EQ(run({"--stepz"}, nothing_wrong, {"plain", "has no flags", 1, 1}).said,
            "error: there is no flag --stepz; see --help");
}

TEST(common_program, HelpNamesEveryFlagOnce) {
  const std::string said = run({"--help"}, [](Program&) { FAIL() << "it runs"; }).said;
  for (const char* part : {"trainer: trains a model", "--steps N training steps, 1 to 1000 (300)",
                           "--size NAME the model: tiny, small or medium (tiny)",
                           "--resume FILE goes on from this file", "--times prints times", "--json FILE"})
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
  EXPECT_EQ(said.find("--size"), said.rfind("--size")) << said;
}

TEST(common_program, AFlagThatAboutHasNotIsAnErrorOfTheProgram) {
  EXPECT_EQ(run({}, [](Program& program) { program.number("--batch"); }).code, 1);
  EXPECT_EQ(run({}, [](Program& program) { program.number("--size"); }).code, 1);
}

TEST(common_program, AnElementMayBeOffByItsBound) {
  const float expected[] = {1, 100, 0}, got[] = {1.001f, 100.1f, 0.001f};
  EXPECT_EQ(run({},
                [&](Program& p) {
                  EXPECT_TRUE(p.compare(got, expected, 3, "y", {0.002, 0.001}));
                })
                .code,
            0);
  const Ended far = run({}, [&](Program& p) { p.compare(got, expected, 3, "y", {0.002, 0}); });
  EXPECT_EQ(far.code, 1);
  EXPECT_NE(far.said.find(
                "y[1] is 100.0999985, expected 100 y: 1 of 3 elements are wrong, the worst by 0.0999984741"),
            std::string::npos)
      << far.said;
  const Ended exact = run({}, [&](Program& p) { p.compare(got, expected, 3, "y"); });
  EXPECT_NE(exact.said.find("y: 3 of 3 elements are wrong FAIL: trainer"), std::string::npos) << exact.said;
}

TEST(common_program, APolicyMakesABoundOfTheType) {
  const auto both = [](auto one, auto two, const auto& policy) {
    return run({}, [&](Program& p) { p.compare(&one, &two, 1, "y", policy); }).code;
  };
  EXPECT_EQ(both(1.0f, std::nextafter(1.0f, 2.0f), days::relative), 0);
  EXPECT_EQ(both(1.0f, std::nextafter(1.0f, 2.0f), days::exact), 1);
  EXPECT_EQ(both(1.0f, 1.0001f, days::relative), 1);
  EXPECT_EQ(both(days::half(1.0f), days::half(1.001f), days::relative), 0);
  EXPECT_EQ(both(days::bf16(1.0f), days::bf16(1.0625f), days::relative), 1);
  EXPECT_EQ(both(1.0f, 1.00001f, days::within([](const auto&) { return 100; })), 0);
}

TEST(common_program, WhatIsNoNumberIsWrongWithAnyBound) {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  for (const auto& [got, expected] : {std::pair{nan, 1.0f},
                                      {1.0f, nan},
                                      {nan, nan},
                                      {infinity, 1.0f},
                                      {1.0f, infinity},
                                      {infinity, -infinity}})
    EXPECT_EQ(run({},
                  [&, g = got, e = expected](Program& p) {
                    p.compare(&g, &e, 1, "y", {1e30, 1e30});
                  })
                  .code,
              1)
        << got << " " << expected;
  EXPECT_EQ(run({}, [&](Program& p) { p.compare(&infinity, &infinity, 1, "y"); }).code, 0);
  const int64_t large = int64_t{1} << 60, next = large + 1;  // the same number in double
  EXPECT_EQ(run({}, [&](Program& p) { p.compare(&large, &next, 1, "y"); }).code, 1);
}

TEST(common_program, TablesInUnitsOfTheirOwn) {
  const std::string path = testing::TempDir() + "common_program.json";
  const auto body = [](Program& program) {
    const float one = 1, near = 1.5f;
    program.compare(&near, &one, 1, "one", {0.5, 0});
    program.table({.limit = "model", .unit = "token", .units = 600, .part = "fused"});
    program.row("step", {.seconds = 2, .noise = 0, .runs = 3}, 1);
    program.table(8, 4);
    program.row("copy", {.seconds = 2, .noise = 0, .runs = 3});
  };
  EXPECT_EQ(run({"--json", path, "--size", "small"}, body).code, 0);
  const std::string text = contents(path);
  for (const char* part : {R"("part": "fused")", R"("size": "small")", R"("unit": "token")",
                           R"("units": 600)", R"("units_per_second": 300)", R"("per_second": 600)",
                           R"("of_limit": 0.5)", R"("bytes_per_second": 6)", R"("worst_error": 0.5)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(run({}, [](Program& p) { p.table({.units = 3}); }).code, 1) << "units without a name";
  std::filesystem::remove(path);
}

TEST(common_program, ProgressPrintsNothingWithoutATerminal) {
  EXPECT_EQ(run({},
                [](Program& program) {
                  for (size_t step = 1; step <= 3; ++step) program.progress(step, 3, "step");
                  nothing_wrong(program);
                })
                .said,
            "ok: 1 elements are right");
}

}  // namespace
