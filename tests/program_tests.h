// SPDX-License-Identifier: MIT
//
// The tests that every program day has: each of its programs ends with 0 and says "ok: ..." or "skip: ..." at
// last, in three orders of streams and threads; and each of its mistakes fails and prints what its comments say.
//
//   TEST_PROGRAMS(day60);   // in the day's tests/test.cpp; cmake/AddProgramDay.cmake builds the programs beside it
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace days::program_tests {

#ifdef DAYS_CHECKED_BUILD
inline constexpr bool kChecked = true;
#else
inline constexpr bool kChecked = false;
#endif
#ifdef __SIMT__
inline const std::vector<std::string> kOrders = {"normal", "reversed", "shuffle:1"};
#else
inline const std::vector<std::string> kOrders = {"normal"};
#endif

struct Outcome {
  int code = -1;
  std::string output;  // stdout and stderr, in the order of writing
};

inline Outcome shell(const std::string& command) {
  Outcome outcome;
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char part[512];
  while (std::fgets(part, sizeof part, pipe) != nullptr) outcome.output += part;
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

inline Outcome run(const std::string& program, const std::string& environment,
                   const std::string& flags = "") {
  return shell(environment + " '" + std::string(DAYS_PROGRAMS) + "/" + program + "' " + flags);
}

inline std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin));
}

// Runs a program that has to end well. Returns what it printed.
inline std::string runs_well(const std::string& program, const std::string& flags,
                             const std::string& order = "shuffle:1", bool may_skip = true) {
  const Outcome outcome = run(program, "SIMT_ORDER=" + order, flags);
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  const std::string last = last_line(outcome.output);
  EXPECT_TRUE(last.starts_with("ok: ") || (may_skip && last.starts_with("skip: "))) << outcome.output;
  EXPECT_EQ(outcome.output.find("[simt-"), std::string::npos) << outcome.output;
  return outcome.output;
}
// The same in each order; in one where the build is checked, which sees races in any.
inline void runs_well_in_any_order(const std::string& program, const std::string& flags,
                                   bool may_skip = true) {
  for (const std::string& order : kOrders) {
    runs_well(program, flags, order, may_skip);
    if (kChecked) return;
  }
}
// Runs a program that has to refuse, for a reason that it says. Returns its exit code.
inline int refuses(const std::string& program, const std::string& flags, const std::string& because) {
  const Outcome outcome = run(program, "", flags);
  EXPECT_NE(outcome.code, 0) << outcome.output;
  std::string text = outcome.output;  // sentences are wrapped
  for (size_t place; (place = text.find("\n  ")) != std::string::npos;) text.replace(place, 3, " ");
  EXPECT_NE(text.find(because), std::string::npos) << "lacks: " << because << "\n" << outcome.output;
  return outcome.code;
}

// The texts behind `// plain:` or `// checked:` in a mistake's file.
inline std::vector<std::string> expected(const std::filesystem::path& file, const std::string& build) {
  std::vector<std::string> texts;
  const std::string mark = "// " + build + ": ";
  std::ifstream input(file);
  for (std::string line; std::getline(input, line);)
    if (line.rfind(mark, 0) == 0) texts.push_back(line.substr(mark.size()));
  return texts;
}

inline std::vector<std::filesystem::path> files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (entry.path().extension() == ".cu") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

class RunsWell : public testing::Test {
 public:
  RunsWell(std::string program, std::string order) : program_(std::move(program)), order_(std::move(order)) {}
  void TestBody() override { runs_well(program_, "", order_); }

 private:
  std::string program_, order_;
};

class IsNoticed : public testing::Test {
 public:
  IsNoticed(std::string program, std::filesystem::path file)
      : program_(std::move(program)), file_(std::move(file)) {}
  void TestBody() override {
    const std::string build = kChecked ? "checked" : "plain";
    const std::vector<std::string> texts = expected(file_, build);
    if (texts.empty())
      GTEST_SKIP() << "only a " << (kChecked ? "plain" : "checked") << " build says something of it";
    const Outcome outcome = run(program_, "SIMT_ORDER=normal");
    EXPECT_EQ(outcome.code, 1) << outcome.output;
    for (const std::string& text : texts)
      EXPECT_NE(outcome.output.find(text), std::string::npos) << "lacks: " << text << "\n" << outcome.output;
  }

 private:
  std::string program_;
  std::filesystem::path file_;
};

// The last line is what .ci/cpu_table.py counts: the programs, which are processes of their own, take most of it.
class CpuSeconds : public testing::Environment {
 public:
  void TearDown() override {
    double seconds = 0;
    for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage used{};
      getrusage(whose, &used);
      for (const timeval& time : {used.ru_utime, used.ru_stime})
        seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }
    std::printf("programs and their tests took %.1f s of CPU\n", seconds);
  }
};
inline testing::Environment* const kCpuSeconds = testing::AddGlobalTestEnvironment(new CpuSeconds);

inline bool register_all(const std::string& day, const char* file, int line) {
  const std::string suite = day + "_programs";
  const auto add = [&](const std::string& name, auto make) {
    testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, file, line,
                          [make]() -> testing::Test* { return make(); });
  };
  for (const auto& path : files(DAYS_FOLDER)) {
    const std::string stem = path.stem().string();
    if (stem.size() < 4 || stem[2] != '_' || stem.find_first_not_of("0123456789") != 2) continue;
    const std::string program = day + "_" + stem.substr(3);
    for (const std::string& order : kOrders)
      add(stem.substr(3) + "/order_" + order.substr(0, order.find(':')),
          [program, order] { return new RunsWell(program, order); });
  }
#ifdef __SIMT__
  for (const auto& path : files(std::filesystem::path(DAYS_FOLDER) / "mistakes")) {
    const std::string program = day + "_mistakes_" + path.stem().string();
    add("must_reject/" + path.stem().string(), [program, path] { return new IsNoticed(program, path); });
  }
#endif
  return true;
}

}  // namespace days::program_tests

#define TEST_PROGRAMS(day) \
  static const bool day##_programs = days::program_tests::register_all(#day, __FILE__, __LINE__)
