// SPDX-License-Identifier: MIT
#include "common/run_day.h"
#include "day03_rgb_to_grayscale/ladder.h"

int main(int argc, char** argv) {
  return days::run_day({&day03::grayscale}, argc, argv);
}
