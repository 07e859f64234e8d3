// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace day04 {

// The Gaussian's weights in 4096ths (kUnit): (2 radius + 1) whole numbers from 0 to 4096 that add up to
// exactly that, symmetric. sigma = 0.3 (radius - 1) + 0.8, as OpenCV chooses it. Throws std::invalid_argument
// unless the radius is 1 to kMaxRadius.
std::vector<float> gaussian_weights(int radius);

}  // namespace day04
