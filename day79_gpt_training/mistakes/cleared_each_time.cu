// SPDX-License-Identifier: MIT
// The gradients are cleared before each part: those of the last one alone are left.
// plain: difference of the gradients
// checked: difference of the gradients

#include "day79_gpt_training/parts.h"

double step_in_parts(gpt::Trainer<float>& trainer, const std::vector<day79::Part>& parts) {
  int64_t valid = 0;
  for (const day79::Part& part : parts) valid += day79::valid_targets(part);
  double sum = 0;
  for (const day79::Part& part : parts) {
    trainer.begin(valid);
    trainer.accumulate(part.inputs, part.targets);
    sum += trainer.loss_sum();
  }
  return sum / static_cast<double>(valid);
}

int main(int argc, char** argv) {
  return day79::parts_program(argc, argv, "cleared_each_time", "a wrong step in parts", step_in_parts);
}
