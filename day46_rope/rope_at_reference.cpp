// SPDX-License-Identifier: MIT
// RoPE at given positions on the CPU: the truth in double, and what a CPU does with all its cores in fp32.
#include <cmath>
#include <vector>

#include "common/parallel.h"
#include "day46_rope/rope_at.h"

namespace day46 {
namespace {

// Angles are made in double, whatever the rest is computed in.
template <class Real, class T>
void turn_tokens(const RopeAt<T>& p, int64_t begin, int64_t end) {
  const int64_t half = p.dim / 2;
  std::vector<double> frequencies;
  for (int64_t i = 0; i < half; ++i) frequencies.push_back(frequency(p.scaling, i, p.dim));
  for (int64_t token = begin; token < end; ++token) {
    const int32_t position = p.positions[token];
    const double at = position >= 0 && position < kMaxPosition ? position : std::nan("");
    const auto turn = [&](const T* from, T* to, int heads) {
      for (int64_t head = 0; head < heads; ++head) {
        for (int64_t i = 0; i < half; ++i) {
          const double angle = at * frequencies[static_cast<size_t>(i)];
          const Real c = static_cast<Real>(std::cos(angle)), s = static_cast<Real>(std::sin(angle));
          const Real a = static_cast<Real>(days::to_double(from[head * p.dim + i])),
                     b = static_cast<Real>(days::to_double(from[head * p.dim + half + i]));
          to[head * p.dim + i] = days::from_double<T>(static_cast<double>(a * c - b * s));
          to[head * p.dim + half + i] = days::from_double<T>(static_cast<double>(a * s + b * c));
        }
      }
    };
    turn(p.q + token * p.q_pitch, p.rotated_q + token * p.q_pitch, p.heads);
    turn(p.k + token * p.k_pitch, p.rotated_k + token * p.k_pitch, p.kv_heads);
  }
}

}  // namespace

template <class T>
void rope_at_reference(const RopeAt<T>& p) {
  turn_tokens<double>(p, 0, p.tokens);
}
template <class T>
void rope_at_parallel(const RopeAt<T>& p) {
  days::parallel_ranges(
      static_cast<size_t>(p.tokens),
      [&](size_t, size_t begin, size_t end) {
        turn_tokens<float>(p, static_cast<int64_t>(begin), static_cast<int64_t>(end));
      },
      32);
}

INSTANTIATE_REFERENCE(rope_at_reference, RopeAt, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(rope_at_parallel, RopeAt, float, days::half, days::bf16);

}  // namespace day46
