// SPDX-License-Identifier: MIT
// Each part's loss is taken for a mean of its own, and the parts for equal: the last one, with five targets, counts as much as 32.
// plain: difference of the gradients
// checked: difference of the gradients

#include "day79_gpt_training/parts.h"

double step_in_parts(gpt::Trainer<float>& trainer, const std::vector<day79::Part>& parts) {
  // Weights that make a part's sum a mean, times how many targets there would be if all parts had as many.
  const int64_t first = day79::valid_targets(parts[0]);
  trainer.begin(first * std::ssize(parts));
  double mean = 0, before = 0;
  for (const day79::Part& part : parts) {
    trainer.accumulate(part.inputs, part.targets);
    mean += (trainer.loss_sum() - before) / static_cast<double>(day79::valid_targets(part));
    before = trainer.loss_sum();
  }
  return mean / static_cast<double>(parts.size());
}

int main(int argc, char** argv) {
  return day79::parts_program(argc, argv, "mean_of_means", "a wrong step in parts", step_in_parts);
}
