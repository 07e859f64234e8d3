// SPDX-License-Identifier: MIT
// SwiGLU on the CPU: the truth in double, and what all cores do in fp32.
#include <cmath>

#include "day44_gegelu/formulas.h"
#include "day44_gegelu/reference.h"
#include "day44_gegelu/silu.h"
#include "day44_gegelu/swiglu.h"

namespace day44 {
template <class T>
void swiglu_reference(const Swiglu<T>& p) {
  for (int64_t i = 0; i < p.rows * p.cols; ++i) {
    const auto [gate, value] = in_halves(p, i);
    p.y[i] = days::from_double<T>(exact_swiglu(days::to_double(p.x[gate]), days::to_double(p.x[value])));
  }
}
template <class T>
void swiglu_backward_reference(const SwigluBackward<T>& p) {
  for (int64_t i = 0; i < p.rows * p.cols; ++i) {
    const auto [gate, value] = in_halves(p, i);
    const ExactGradient g = exact_swiglu_gradient(days::to_double(p.x[gate]), days::to_double(p.x[value]),
                                                  days::to_double(p.dy[i]));
    p.dx[gate] = days::from_double<T>(g.gate);
    p.dx[value] = days::from_double<T>(g.value);
  }
}

template <class T>
void swiglu_parallel(const Swiglu<T>& p) {
  on_all_cores(p, [&](int64_t i) {
    const auto [gate, value] = in_halves(p, i);
    const float g = days::to_float(p.x[gate]);
    p.y[i] = days::from_float<T>(g * sigmoid(g) * days::to_float(p.x[value]));
  });
}
template <class T>
void swiglu_backward_parallel(const SwigluBackward<T>& p) {
  on_all_cores(p, [&](int64_t i) {
    const auto [gate, value] = in_halves(p, i);
    const float g = days::to_float(p.x[gate]), dy = days::to_float(p.dy[i]);
    const float s = sigmoid(g), rest = sigmoid(-g);
    const float slope = s == 0 || rest == 0 ? s : s + g * s * rest;
    const T of_value = days::from_float<T>(dy * (g * s));
    p.dx[gate] = days::from_float<T>(dy * slope * days::to_float(p.x[value]));
    p.dx[value] = of_value;
  });
}

INSTANTIATE_REFERENCE(swiglu_reference, Swiglu, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(swiglu_parallel, Swiglu, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(swiglu_backward_reference, SwigluBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(swiglu_backward_parallel, SwigluBackward, float, days::half, days::bf16);

}  // namespace day44
