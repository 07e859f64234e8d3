// SPDX-License-Identifier: MIT
//
// Exercise: a step in parts. `./days check 79` copies this file to my/day79.cu.
//
// Goal: the loss and the gradients of a batch that does not fit into memory, the same as if it did.
//
//  1. trainer.begin(valid) clears the gradients, and says over how many targets the loss will be a mean. When is that known?
//  2. trainer.accumulate(inputs, targets) adds a part's gradients to what is there, and its losses to trainer.loss_sum().
//  3. Return the mean over all targets that count. Parts may have different numbers of them: day79::valid_targets(part).

#include "day79_gpt_training/parts.h"

// Computes the gradients of all parts together, and returns their mean loss.
double step_in_parts(gpt::Trainer<float>& trainer, const std::vector<day79::Part>& parts) {
  double mean = 0;
  for (const day79::Part& part : parts) {  // your code: so far each part is a step of its own
    const int64_t valid = day79::valid_targets(part);
    trainer.begin(valid);
    trainer.accumulate(part.inputs, part.targets);
    mean = trainer.loss_sum() / static_cast<double>(valid);
  }
  return mean;
}

int main(int argc, char** argv) {
  return day79::parts_program(argc, argv, "exercise", "your step in parts", step_in_parts);
}
