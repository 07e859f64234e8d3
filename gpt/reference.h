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
  double loss = 0;                // the mean over targets that are not ignored
  std::vector<double> gradients;  // in the layout's order; empty where they were not asked for
};
// inputs and targets: (batch, seq).
Reference reference(const Layout& layout, const std::vector<double>& weights, std::span<const int32_t> inputs,
                    std::span<const int32_t> targets, int seq, bool gradients);

}  // namespace gpt
