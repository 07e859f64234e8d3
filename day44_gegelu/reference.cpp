// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and what a CPU does with all its cores in fp32.
#include <cmath>

#include "day44_gegelu/formulas.h"
#include "day44_gegelu/gegelu.h"
#include "day44_gegelu/reference.h"

namespace day44 {
namespace {

Places in_pairs(int64_t i) {
  return {2 * i, 2 * i + 1};
}

template <class T>
T at(const T* x, int64_t i) {
  return x[static_cast<size_t>(i)];
}

// x sigmoid(z) and its derivative, from z and that of z.
struct Both {
  float value, slope;
};
Both both(float x, float z, float z_slope) {
  const float s = sigmoid(z), rest = sigmoid(-z);
  return {x * s, s == 0 || rest == 0 ? s : s + x * z_slope * s * rest};
}
Both by_tanh(float x) {
  constexpr float kTanh = 1.59576912f, kTanh3 = 0.0713548163f;
  return both(x, x * (kTanh + kTanh3 * x * x), kTanh + 3 * kTanh3 * x * x);
}
Both by_quick(float x) {
  return both(x, 1.702f * x, 1.702f);
}
bool clamps(float x, float limit) {
  return std::isfinite(x) && x > limit;
}

}  // namespace

template <class T>
void geglu_reference(const Geglu<T>& p) {
  for (int64_t i = 0; i < p.rows * p.cols; ++i) {
    const auto [gate, value] = in_halves(p, i);
    p.y[i] =
        days::from_double<T>(exact_geglu(days::to_double(at(p.x, gate)), days::to_double(at(p.x, value))));
  }
}
template <class T>
void gegelu_reference(const Gegelu<T>& p) {
  const double limit = static_cast<double>(p.limit);
  for (int64_t i = 0; i < p.rows * p.cols; ++i) {
    const auto [gate, value] = in_pairs(i);
    p.y[i] = days::from_double<T>(
        exact_gegelu(days::to_double(at(p.x, gate)), days::to_double(at(p.x, value)), limit));
  }
}
template <class T>
void geglu_backward_reference(const GegluBackward<T>& p) {
  for (int64_t i = 0; i < p.rows * p.cols; ++i) {
    const auto [gate, value] = in_halves(p, i);
    const ExactGradient g = exact_geglu_gradient(
        days::to_double(at(p.x, gate)), days::to_double(at(p.x, value)), days::to_double(at(p.dy, i)));
    p.dx[gate] = days::from_double<T>(g.gate);
    p.dx[value] = days::from_double<T>(g.value);
  }
}
template <class T>
void gegelu_backward_reference(const GegeluBackward<T>& p) {
  const double limit = static_cast<double>(p.limit);
  for (int64_t i = 0; i < p.rows * p.cols; ++i) {
    const auto [gate, value] = in_pairs(i);
    const ExactGradient g = exact_gegelu_gradient(
        days::to_double(at(p.x, gate)), days::to_double(at(p.x, value)), days::to_double(at(p.dy, i)), limit);
    p.dx[gate] = days::from_double<T>(g.gate);
    p.dx[value] = days::from_double<T>(g.value);
  }
}

template <class T>
void geglu_parallel(const Geglu<T>& p) {
  on_all_cores(p, [&](int64_t i) {
    const auto [gate, value] = in_halves(p, i);
    p.y[i] =
        days::from_float<T>(by_tanh(days::to_float(at(p.x, gate))).value * days::to_float(at(p.x, value)));
  });
}
template <class T>
void gegelu_parallel(const Gegelu<T>& p) {
  on_all_cores(p, [&](int64_t i) {
    float gate = days::to_float(at(p.x, 2 * i)), value = days::to_float(at(p.x, 2 * i + 1));
    if (clamps(gate, p.limit)) gate = p.limit;
    if (clamps(std::abs(value), p.limit)) value = std::copysign(p.limit, value);
    p.y[i] = days::from_float<T>(by_quick(gate).value * (value + 1));
  });
}
template <class T>
void geglu_backward_parallel(const GegluBackward<T>& p) {
  on_all_cores(p, [&](int64_t i) {
    const auto [gate, value] = in_halves(p, i);
    const float dy = days::to_float(at(p.dy, i));
    const Both g = by_tanh(days::to_float(at(p.x, gate)));
    p.dx[gate] = days::from_float<T>(dy * g.slope * days::to_float(at(p.x, value)));
    p.dx[value] = days::from_float<T>(dy * g.value);
  });
}
template <class T>
void gegelu_backward_parallel(const GegeluBackward<T>& p) {
  on_all_cores(p, [&](int64_t i) {
    const float dy = days::to_float(at(p.dy, i));
    float gate = days::to_float(at(p.x, 2 * i)), value = days::to_float(at(p.x, 2 * i + 1));
    const bool gate_held = clamps(gate, p.limit), value_held = clamps(std::abs(value), p.limit);
    if (gate_held) gate = p.limit;
    if (value_held) value = std::copysign(p.limit, value);
    const Both g = by_quick(gate);
    p.dx[2 * i] = days::from_float<T>(gate_held ? 0 : dy * g.slope * (value + 1));
    p.dx[2 * i + 1] = days::from_float<T>(value_held ? 0 : dy * g.value);
  });
}

INSTANTIATE_REFERENCE(geglu_reference, Geglu, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(geglu_parallel, Geglu, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(gegelu_reference, Gegelu, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(gegelu_parallel, Gegelu, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(geglu_backward_reference, GegluBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(geglu_backward_parallel, GegluBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(gegelu_backward_reference, GegeluBackward, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(gegelu_backward_parallel, GegeluBackward, float, days::half, days::bf16);

}  // namespace day44
