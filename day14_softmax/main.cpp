// SPDX-License-Identifier: MIT
#include "common/run_day.h"
#include "day14_softmax/ladder.h"

int main(int argc, char** argv) {
  return days::run_day({&day14::softmax, &day14::softmax_backward}, argc, argv);
}
