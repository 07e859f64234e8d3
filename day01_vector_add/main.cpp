// SPDX-License-Identifier: MIT
#include "common/run_day.h"
#include "day01_vector_add/ladder.h"

int main(int argc, char** argv) {
  return days::run_day({&day01::vector_add, &day01::matrix_add}, argc, argv);
}
