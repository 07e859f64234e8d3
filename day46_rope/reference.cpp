// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and what a CPU does with all its cores in fp32.
#include <cmath>
#include <vector>

#include "common/parallel.h"
#include "day46_rope/rope.h"

namespace day46 {
namespace {

// The places of a pair's two elements in a head.
struct Places {
  int64_t a, b;
};
template <bool kInterleaved, class P>
Places places(const P& p, int64_t i) {
  return kInterleaved ? Places{2 * i, 2 * i + 1} : Places{i, p.dim / 2 + i};
}

// Each pair of a token's heads, turned by `sign` times the angle of its position.
template <bool kInterleaved, class T, class Real>
void turn_token(const Rope<T>& p, int64_t token, const std::vector<Real>& cosines,
                const std::vector<Real>& sines) {
  const auto turn = [&](const T* from, T* to, int heads) {
    for (int64_t head = 0; head < heads; ++head) {
      const T* x = from + (token * heads + head) * p.dim;
      T* y = to + (token * heads + head) * p.dim;
      for (int64_t i = 0; i < p.dim / 2; ++i) {
        const auto [at_a, at_b] = places<kInterleaved>(p, i);
        const Real a = static_cast<Real>(days::to_double(x[at_a])),
                   b = static_cast<Real>(days::to_double(x[at_b]));
        const Real c = cosines[static_cast<size_t>(i)], s = sines[static_cast<size_t>(i)];
        y[at_a] = days::from_double<T>(static_cast<double>(a * c - b * s));
        y[at_b] = days::from_double<T>(static_cast<double>(a * s + b * c));
      }
    }
  };
  turn(p.q, p.rotated_q, p.heads);
  turn(p.k, p.rotated_k, p.kv_heads);
}

// Angles are made in double, whatever the rest is computed in.
template <bool kInterleaved, class Real, class T>
void turn_tokens(const Rope<T>& p, double sign, int64_t begin, int64_t end) {
  const auto half = static_cast<size_t>(p.dim / 2);
  std::vector<double> frequencies(half);
  for (size_t i = 0; i < half; ++i) frequencies[i] = frequency(p.scaling, static_cast<int64_t>(i), p.dim);
  std::vector<Real> cosines(half), sines(half);
  for (int64_t token = begin; token < end; ++token) {
    for (size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(p.start + token) * frequencies[i];
      cosines[i] = static_cast<Real>(std::cos(angle));
      sines[i] = static_cast<Real>(sign * std::sin(angle));
    }
    turn_token<kInterleaved>(p, token, cosines, sines);
  }
}
template <bool kInterleaved, class T>
void on_all_cores(const Rope<T>& p, double sign) {
  days::parallel_ranges(
      static_cast<size_t>(p.seq),
      [&](size_t, size_t begin, size_t end) {
        turn_tokens<kInterleaved, float>(p, sign, static_cast<int64_t>(begin), static_cast<int64_t>(end));
      },
      32);
}

}  // namespace

template <class T>
void rope_reference(const Rope<T>& p) {
  turn_tokens<false, double>(p, 1, 0, p.seq);
}
template <class T>
void rope_interleaved_reference(const Rope<T>& p) {
  turn_tokens<true, double>(p, 1, 0, p.seq);
}
template <class T>
void rope_backward_reference(const Rope<T>& p) {
  turn_tokens<false, double>(p, -1, 0, p.seq);
}
template <class T>
void rope_parallel(const Rope<T>& p) {
  on_all_cores<false>(p, 1);
}
template <class T>
void rope_interleaved_parallel(const Rope<T>& p) {
  on_all_cores<true>(p, 1);
}
template <class T>
void rope_backward_parallel(const Rope<T>& p) {
  on_all_cores<false>(p, -1);
}

INSTANTIATE_REFERENCE(rope_reference, Rope, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(rope_interleaved_reference, Rope, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(rope_backward_reference, Rope, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(rope_parallel, Rope, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(rope_interleaved_parallel, Rope, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(rope_backward_parallel, Rope, float, days::half, days::bf16);

}  // namespace day46
