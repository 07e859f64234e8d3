// SPDX-License-Identifier: MIT
//
// The main() of a day's executable. It is weak, so that a program with a main() of its own has that one: a test,
// a benchmark, and a day that does more than to run its ladders.
#include "common/run_day.h"

__attribute__((weak)) int main(int argc, char** argv) {
  return days::run_day(argc, argv);
}
