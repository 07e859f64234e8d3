// SPDX-License-Identifier: MIT
#include "common/run_day.h"
#include "day05_matmul/ladder.h"

int main(int argc, char** argv) {
  return days::run_day({&day05::matmul}, argc, argv);
}
