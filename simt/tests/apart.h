// SPDX-License-Identifier: MIT
//
// Tests that end their process, or need an environment of their own.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace apart {

// Runs the disabled test SUITE.DISABLED_TEST of this program in a process of its own; gives what it printed.
inline std::string run(const std::string& environment, const std::string& suite, const std::string& test,
                       int* status) {
  const std::string command = environment + " '" + testing::internal::GetArgvs()[0] +
                              "' --gtest_also_run_disabled_tests --gtest_filter=" + suite + ".DISABLED_" +
                              test + " 2>&1";
  FILE* output = popen(command.c_str(), "r");
  std::string text;
  char part[256];
  while (std::fgets(part, sizeof part, output)) text += part;
  *status = pclose(output);
  return text;
}

}  // namespace apart
