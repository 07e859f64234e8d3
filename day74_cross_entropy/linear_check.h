// SPDX-License-Identifier: MIT
// When a result of the second problem is right. Host code only.
#pragma once

#include "common/compare.h"
#include "day74_cross_entropy/linear.h"

namespace day74 {

struct Bounds {
  days::Bound loss, dx, dw;
};
// From host pointers, for N(0, rms) in x and w. Logits are rounded to T, and so are their gradients: what that makes of the results.
template <class T>
Bounds linear_bounds(const LinearCrossEntropy<T>&, double rms_x, double rms_w);

template <class T>
days::Report linear_check_large(const LinearCrossEntropy<T>&);

}  // namespace day74
