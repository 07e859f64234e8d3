// SPDX-License-Identifier: MIT
//
// simtcc as a build system uses it: commands taken apart, dependency files, messages, exit statuses.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "translator/command.h"

namespace {

namespace fs = std::filesystem;
using simtcc::Arguments;
using simtcc::Command;

bool holds(const Arguments& words, const Arguments& run) {
  return std::search(words.begin(), words.end(), run.begin(), run.end()) != words.end();
}

TEST(Command, IsTakenApart) {
  const Command c =
      simtcc::parse_command({"g++", "-DX=1", "-I", "inc", "-isystem", "sys", "-O2", "-std=c++20", "-MD",
                             "-MT", "a.o", "-MF", "a.d", "-o", "a.o", "-c", "-x", "c++", "src/a.cu"});
  EXPECT_EQ(c.source, "src/a.cu");
  EXPECT_EQ(c.object, "a.o");
  const Arguments front = simtcc::preprocess_command(c, "cuda");
  EXPECT_TRUE(holds(front, {"g++", "-E", "-x", "c++"}));
  EXPECT_TRUE(holds(front, {"-isystem", "cuda", "-include", "cuda_runtime.h"}));
  EXPECT_TRUE(holds(front, {"-DX=1", "-I", "inc", "-isystem", "sys"}));
  EXPECT_TRUE(holds(front, {"-MD", "-MT", "a.o", "-MF", "a.d", "src/a.cu"}));
  EXPECT_FALSE(holds(front, {"-o"}));
  EXPECT_EQ(
      simtcc::compile_command(c, "a.o.ii", {"-more"}),
      (Arguments{"g++", "-O2", "-std=c++20", "-more", "-c", "-x", "c++-cpp-output", "a.o.ii", "-o", "a.o"}));
}

TEST(Command, NamesTargetAndDependencyFileItself) {
  const Command c = simtcc::parse_command({"g++", "-MMD", "-c", "d/a.cu"});
  EXPECT_EQ(c.object, "a.o");
  EXPECT_TRUE(holds(simtcc::preprocess_command(c, "cuda"), {"-MMD", "-MT", "a.o", "-MF", "a.d", "d/a.cu"}));
}

TEST(Command, LeavesOtherLanguagesAlone) {
  EXPECT_TRUE(simtcc::parse_command({"g++", "-c", "a.cpp", "-o", "a.cu.o"}).source.empty());
  EXPECT_TRUE(simtcc::parse_command({"g++", "a.o", "-o", "a.cu"}).source.empty());
}

TEST(Command, RefusesWhatItCannotDo) {
  EXPECT_THROW(simtcc::parse_command({"g++", "a.cu", "-o", "a"}), simtcc::UsageError);
  EXPECT_THROW(simtcc::parse_command({"g++", "-c", "a.cu", "b.cu"}), simtcc::UsageError);
  EXPECT_THROW(simtcc::parse_command({"g++", "-c", "a.cu", "-o"}), simtcc::UsageError);
}

// Runs simtcc in a folder of its own.
class Launcher : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("simtcc_" + std::string(info->name()) + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  std::string read(const std::string& name) {
    std::ifstream file(folder_ / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  bool exists(const std::string& name) { return fs::exists(folder_ / name); }
  // Exit status; what it says is in messages_.
  int run(const std::string& arguments, const std::string& environment = "") {
    const std::string command =
        "cd '" + folder_.string() + "' && " + environment + " '" SIMTCC "' " + arguments + " >messages 2>&1";
    const int status = std::system(command.c_str());
    messages_ = read("messages");
    return WEXITSTATUS(status);
  }

  fs::path folder_;
  std::string messages_;
  const std::string compile_ = "'" HOST_COMPILER "' -std=c++20 -Wall -Wextra -Werror ";
};

const char kGood[] =
    "#include \"part.cuh\"\n"
    "template <class T> __global__ void k(T* a, int unused) {\n"
    "  __shared__ T s[32]; s[threadIdx.x] = part(a[0]); __syncthreads(); a[threadIdx.x] = s[0];\n"
    "  if constexpr (sizeof(T) == 4) a[unused] = 0;\n}\n"
    "void launch(double* a) { k<<<1, 32>>>(a, 1); }\n";

TEST_F(Launcher, CompilesAndWritesDependencies) {
  write("a.cu", kGood);
  write("part.cuh", "template <class T> __device__ T part(T x) { return x; }\n");
  ASSERT_EQ(run(compile_ + "-MD -MF a.d -c a.cu -o a.o"), 0) << messages_;
  EXPECT_EQ(messages_, "");
  EXPECT_TRUE(exists("a.o"));
  EXPECT_FALSE(exists("a.o.ii"));
  const std::string dependencies = read("a.d");
  EXPECT_EQ(dependencies.rfind("a.o:", 0), 0u) << dependencies;
  EXPECT_NE(dependencies.find("part.cuh"), std::string::npos);
  EXPECT_NE(dependencies.find("cuda_runtime.h"), std::string::npos);
}

TEST_F(Launcher, KeepsTheTranslationOnRequest) {
  write("a.cu", "__global__ void k() {}\n");
  ASSERT_EQ(run(compile_ + "-c a.cu -o a.o", "SIMT_KEEP=1"), 0) << messages_;
  EXPECT_NE(read("a.o.ii").find("::simt::launch(\"k\""), std::string::npos);
}

TEST_F(Launcher, ChecksWhereAskedTo) {
  write("a.cu", "__global__ void k(int* a) { *a = 1; }\n");
  for (const bool checked : {false, true}) {
    ASSERT_EQ(run((checked ? "--simt-checked " : "") + compile_ + "-S a.cu -o a.s"), 0) << messages_;
    EXPECT_EQ(read("a.s").find("__tsan_write4") != std::string::npos, checked);
    EXPECT_EQ(read("a.s").find("__tsan_func_entry"), std::string::npos);
  }
  ASSERT_EQ(run(compile_ + "-S a.cu -o a.s", "SIMT_CHECKED=1"), 0) << messages_;
  EXPECT_NE(read("a.s").find("__tsan_write4"), std::string::npos);
}

TEST_F(Launcher, PassesOtherLanguagesThrough) {
  write("a.cpp", "int main() { return 7; }\n");
  ASSERT_EQ(run(compile_ + "a.cpp -o a"), 0) << messages_;
  EXPECT_TRUE(exists("a"));
}

TEST_F(Launcher, ShowsErrorsInTheUsersFile) {
  write("a.cu", "__global__ void k(float* a) {\n  while (a[0]) a[1] = missing;\n}\n");
  EXPECT_EQ(run(compile_ + "-c a.cu -o a.o"), 1);
  EXPECT_NE(messages_.find("a.cu:2:23: error:"), std::string::npos) << messages_;
  EXPECT_EQ(messages_.find(".ii"), std::string::npos) << messages_;
  EXPECT_FALSE(exists("a.o"));
}

TEST_F(Launcher, ReportsItsOwnErrors) {
  write("a.cu", "\nvoid f() { k<<<1>>>(); }\n");
  EXPECT_EQ(run(compile_ + "-c a.cu -o a.o"), 1);
  EXPECT_EQ(messages_.rfind("a.cu:2: error: a launch needs", 0), 0u) << messages_;
  EXPECT_EQ(run("no-such-compiler -c a.cu -o a.o"), 3);
  EXPECT_NE(messages_.find("cannot run the compiler no-such-compiler"), std::string::npos) << messages_;
  EXPECT_EQ(std::count(messages_.begin(), messages_.end(), '\n'), 1);
  EXPECT_EQ(run(compile_ + "a.cu -o a"), 2);
  EXPECT_NE(messages_.find("simtcc does not link"), std::string::npos) << messages_;
  EXPECT_EQ(run(""), 2);
}

}  // namespace
