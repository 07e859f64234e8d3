// SPDX-License-Identifier: MIT
#include "common/run_day.h"
#include "day13_transpose/ladder.h"

int main(int argc, char** argv) {
  return days::run_day({&day13::transpose, &day13::copy}, argc, argv);
}
