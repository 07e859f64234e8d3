// SPDX-License-Identifier: MIT
// Day 79: what judges a step that is computed in parts, for the program and for the exercise: its loss and its gradients have to be those of
// the whole batch at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/compare.h"
#include "common/program.h"
#include "common/random.h"
#include "gpt/layout.h"
#include "gpt/trainer.h"

namespace day79 {

using Ids = std::vector<int32_t>;

// Some sequences of a batch. A target that is gpt::kIgnored has no loss.
struct Part {
  Ids inputs, targets;
};
inline int64_t valid_targets(const Part& part) {
  return std::ssize(part.targets) - std::count(part.targets.begin(), part.targets.end(), gpt::kIgnored);
}

// Computes the gradients of a step in parts, and returns the mean loss.
using Step = double (*)(gpt::Trainer<float>& trainer, const std::vector<Part>& parts);

inline int parts_program(int argc, char** argv, const char* name, const char* does, Step step) {
  const days::About about{.name = name,
                          .does = does,
                          .gpu_size = 0,
                          .cpu_size = 0,
                          .flags = {days::choice_flag("--size", "of the model", {"tiny"})}};
  return days::program(argc, argv, about, [step](days::Program& program) {
    constexpr int kParts = 3, kBatch = 2, kSeq = 16;
    const gpt::Layout layout(gpt::config_of(program.choice("--size")));
    const std::vector<float> zeros(layout.elements);
    const gpt::Memory start{gpt::initial_weights(layout, 79), zeros, zeros, 0};
    // The last part is the end of a text: most of its targets are ignored, so that parts do not count the same.
    std::vector<Part> parts(kParts);
    Part whole;
    for (size_t p = 0; p < kParts; ++p) {
      for (size_t i = 0; i < size_t{kBatch} * kSeq; ++i) {
        const bool ignored = p + 1 == kParts && i >= 5;
        parts[p].inputs.push_back(
            static_cast<int32_t>(days::uniform_integer(1 + p, i, 0, layout.config.vocab)));
        parts[p].targets.push_back(ignored ? gpt::kIgnored
                                           : static_cast<int32_t>(days::uniform_integer(11 + p, i, 0, 8)));
      }
      whole.inputs.insert(whole.inputs.end(), parts[p].inputs.begin(), parts[p].inputs.end());
      whole.targets.insert(whole.targets.end(), parts[p].targets.begin(), parts[p].targets.end());
    }

    gpt::Trainer<float> at_once(layout, {kParts * kBatch, kSeq});
    at_once.put(start);
    at_once.begin(valid_targets(whole));
    at_once.accumulate(whole.inputs, whole.targets);
    const auto expected_loss =
        static_cast<float>(at_once.loss_sum() / static_cast<double>(valid_targets(whole)));
    const std::vector<float> expected = at_once.gradients();

    gpt::Trainer<float> in_parts(layout, {kBatch, kSeq});
    in_parts.put(start);
    step(in_parts, parts);  // what it leaves must not be in the next step's gradients
    const auto loss = static_cast<float>(step(in_parts, parts));
    const std::vector<float> gradients = in_parts.gradients();

    double square = 0, off = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto want = static_cast<double>(expected[i]), error = static_cast<double>(gradients[i]) - want;
      square += want * want, off += error * error;
    }
    const auto error = static_cast<float>(std::sqrt(off / square));
    std::printf("loss %.5f, at once %.5f; the gradients differ by %.1e of their length\n",
                static_cast<double>(loss), static_cast<double>(expected_loss), static_cast<double>(error));
    const float none = 0;
    program.compare(&loss, &expected_loss, 1, "loss", {0, 1e-5});
    program.compare(&error, &none, 1, "difference of the gradients", {1e-5, 0});
  });
}

}  // namespace day79
