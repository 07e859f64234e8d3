// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <vector>

#include "common/check.h"
#include "day04_image_blur/blur.h"

namespace day04 {

// The Gaussian's weights in 4096ths (kUnit): (2 radius + 1) whole numbers from 0 to 4096 that add up to
// exactly that, symmetric. sigma = 0.3 (radius - 1) + 0.8, as OpenCV chooses it. Throws std::invalid_argument
// unless the radius is 1 to kMaxRadius.
//
// Weight i is the bell curve's area over pixel i. Rounding each would lose or gain a few 4096ths in all;
// rounding the areas up to here, and taking differences, adds up exactly.
inline std::vector<float> gaussian_weights(int radius) {
  days::require(radius > 0 && radius <= kMaxRadius, "gaussian_weights: radius must be 1 to 2047, not",
                radius);
  const double sigma = 0.3 * (radius - 1) + 0.8, scale = 1 / (sigma * std::sqrt(2.0));
  const double whole = std::erf((radius + 0.5) * scale);
  // Of the right half, from the middle outwards: what lies between -x and x, in 4096ths, even so that both
  // sides get the same.
  const auto area = [&](int i) { return std::lround(kUnit / 2.0 * std::erf((i + 0.5) * scale) / whole); };
  std::vector<float> weights(2 * static_cast<size_t>(radius) + 1);
  const size_t middle = static_cast<size_t>(radius);
  weights[middle] = static_cast<float>(2 * area(0));
  for (int i = 1; i <= radius; ++i) {
    const float side = static_cast<float>(area(i) - area(i - 1));
    weights[middle - static_cast<size_t>(i)] = weights[middle + static_cast<size_t>(i)] = side;
  }
  return weights;
}

}  // namespace day04
