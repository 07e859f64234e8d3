// SPDX-License-Identifier: MIT
//
// A step of more sequences than memory holds at once: part after part, whose gradients are added up. What each loss counts has to be
// known before the first part, since parts may have fewer targets than others.

#include "day79_gpt_training/parts.h"

namespace {

double step_in_parts(gpt::Trainer<float>& trainer, const std::vector<day79::Part>& parts) {
  int64_t valid = 0;
  for (const day79::Part& part : parts) valid += day79::valid_targets(part);
  trainer.begin(valid);
  for (const day79::Part& part : parts) trainer.accumulate(part.inputs, part.targets);
  return trainer.loss_sum() / static_cast<double>(valid);
}

}  // namespace

int main(int argc, char** argv) {
  return day79::parts_program(argc, argv, "parts", "a step in three parts, beside the whole at once",
                              step_in_parts);
}
