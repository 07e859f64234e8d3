// SPDX-License-Identifier: MIT
#include "common/run_day.h"
#include "day06_matmul_coalesced/ladder.h"

int main(int argc, char** argv) {
  return days::run_day({&day06::matmul}, argc, argv);
}
