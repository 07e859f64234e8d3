// SPDX-License-Identifier: MIT
//
// The model in double by obvious loops, for models as small as `tiny`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpt/layout.h"

namespace gpt {

struct Reference {
  double loss = 0;                // the mean over targets that are not kIgnored; NaN where all are
  std::vector<double> gradients;  // of that mean, (layout.elements); empty where they were not asked for
};
// weights: (layout.elements); inputs and targets: (batch, seq). The flag `gradients` asks for the result's field of that name. Nothing is
// checked: sizes have to fit, seq is at most the context, and each token and target is in the vocabulary or, a target, kIgnored.
Reference reference(const Layout& layout, const std::vector<double>& weights, std::span<const int32_t> inputs,
                    std::span<const int32_t> targets, int seq, bool gradients);

}  // namespace gpt
