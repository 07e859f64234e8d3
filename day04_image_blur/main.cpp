// SPDX-License-Identifier: MIT
#include "common/run_day.h"
#include "day04_image_blur/ladder.h"

int main(int argc, char** argv) {
  return days::run_day({&day04::gaussian_blur, &day04::box_blur}, argc, argv);
}
