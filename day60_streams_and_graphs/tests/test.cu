// SPDX-License-Identifier: MIT
//
// Streams and graphs: the programs and mistakes, their sizes and flags, the short cut that checks them, the
// model of the pipeline.
#include <gtest/gtest.h>

#include "day60_streams_and_graphs/model.h"
#include "day60_streams_and_graphs/numbers.cuh"
#ifdef __SIMT__
#include "simt/tests/reports.h"
#endif
#include "tests/program_tests.h"

TEST_PROGRAMS(day60);

namespace day60 {
namespace {

using days::program_tests::Outcome;
using days::program_tests::run;

const char* const kPrograms[] = {"pageable", "pinned", "overlapped", "model", "launches", "dependent"};

TEST(day60, AnySizeIsRight) {
  for (const char* program : kPrograms) {
    // One element, fewer than chunks, around the chunks and blocks, a prime.
    for (const char* size : {"1", "15", "16", "17", "255", "257", "10007"}) {
      const Outcome outcome = run(std::string("day60_") + program, "", std::string("--size ") + size);
      EXPECT_EQ(outcome.code, 0) << program << " " << size << "\n" << outcome.output;
    }
  }
}

TEST(day60, BadFlagsEndWith2AndASentence) {
  for (const char* program : kPrograms) {
    for (const char* flags :
         {"--size 0", "--size -3", "--size x", "--size 1e6", "--size 99999999999999999999", "--size",
          "--bogus", "7", "--json /nowhere/at/all.json --size 9"}) {
      const Outcome outcome = run(std::string("day60_") + program, "", flags);
      EXPECT_EQ(outcome.code, 2) << program << " " << flags << "\n" << outcome.output;
      EXPECT_NE(outcome.output.find("error: "), std::string::npos) << outcome.output;
    }
  }
}

TEST(day60, OutputThatIsLostIsAFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  EXPECT_EQ(run("day60_pinned", "", "--size 100 > /dev/full").code, 3);
}

// What the tests rest on: the short cut is the same as turning step by step, on the CPU and by the kernel.
TEST(day60, TheShortCutIsRight) {
  for (const size_t n : {size_t{1}, size_t{255}, size_t{256}, size_t{1000}}) {
    std::vector<uint32_t> x(n);
    fill(x.data(), n);
    for (const int turns : {0, 1, 2, 3, 20, 1000}) {
      std::vector<uint32_t> slowly = x;
      for (uint32_t& state : slowly)
        for (int t = 0; t < turns; ++t) state = kFactor * state + kSummand;
      EXPECT_EQ(turned(x.data(), n, turns), slowly) << n << " elements, " << turns << " turns";
      days::DeviceBuffer<uint32_t> from(x), to(n);
      turn<<<blocks(n), kThreads>>>(from.data(), to.data(), n, turns);
      CUDA_CHECK_LAUNCH();
      EXPECT_EQ(to.download(), slowly) << n << " elements, " << turns << " turns";
    }
  }
}

#ifdef __SIMT__
constexpr int kFreed = __LINE__ + 3;
void free_what_is_not_allocated(days::Program&) {
  int none;
  static_cast<void>(cudaFree(&none));
}

// common/program.h and program.cpp called it, which says nothing.
TEST(day60, AReportNamesTheProgramAndNotWhatRunsIt) {
  const std::string text = report_of([] {
    char name[] = "program", *arguments[] = {name, nullptr};
    days::program(1, arguments, {"program", "frees what it must not", 1, 1},
                  [](days::Program& program) { free_what_is_not_allocated(program); });
  });
  EXPECT_HAS(text, "tests/test.cu:" + std::to_string(kFreed));
  EXPECT_EQ(text.find("common/program"), std::string::npos) << text;
}
#endif

TEST(day60, NoTwoElementsBeginAlike) {
  std::vector<uint32_t> x(4096);
  fill(x.data(), x.size());
  std::sort(x.begin(), x.end());
  EXPECT_EQ(std::adjacent_find(x.begin(), x.end()), x.end())
      << "a chunk that lands elsewhere would go unseen";
}

TEST(day60, ThePipelineTakesItsSlowestPartForEachChunk) {
  EXPECT_DOUBLE_EQ(pipeline_seconds({1, 1, 1}, 1), 3);    // nothing to hide behind
  EXPECT_DOUBLE_EQ(pipeline_seconds({1, 1, 1}, 16), 18);  // what simt's order gives, too
  EXPECT_DOUBLE_EQ(pipeline_seconds({2, 5, 1}, 10), 53);  // 2 + 10 x 5 + 1
  EXPECT_DOUBLE_EQ(pipeline_seconds({5, 2, 1}, 10), 53);
  EXPECT_DOUBLE_EQ(pipeline_seconds({1, 2, 5}, 10), 53);
  for (const size_t chunks : {size_t{1}, size_t{7}, size_t{100}})
    EXPECT_GE(pipeline_seconds({0.3, 0.2, 0.1}, chunks), 0.3 * static_cast<double>(chunks));
}

}  // namespace
}  // namespace day60
