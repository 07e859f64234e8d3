// SPDX-License-Identifier: MIT
#include "common/run_day.h"
#include "day43_flash_attention/ladder.h"

int main(int argc, char** argv) {
  return days::run_day({&day43::attention, &day43::causal}, argc, argv);
}
