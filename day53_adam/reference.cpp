// SPDX-License-Identifier: MIT
// The CPU's versions: one loop in double, and the same on all cores.
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "common/parallel.h"
#include "day53_adam/adam.h"

namespace day53 {
namespace {

// The rates before they were floats, where somebody knows them.
struct Rates {
  double decay, size, root;
};

template <class T>
void some(const AdamTensor<T>& t, const AdamRule& rule, const Rates& rates, double factor, size_t begin,
          size_t end) {
  for (size_t i = begin; i < end; ++i) {
    const double g = factor * double{t.g[i]};
    const double square = static_cast<float>(g * g);  // which fp32 holds, or not
    const double m = rule.b1 * double{t.m[i]} + (1 - rule.b1) * g;
    const double v = rule.b2 * double{t.v[i]} + (1 - rule.b2) * square;
    double w = t.w[i];
    if (t.decays) w -= rates.decay * w;
    w -= rates.size * m / (std::sqrt(v) * rates.root + rule.eps);
    t.w[i] = static_cast<float>(w);
    t.m[i] = static_cast<float>(m);
    t.v[i] = static_cast<float>(v);
    if constexpr (!std::is_same_v<T, float>) t.copy[i] = days::from_double<T>(w);
  }
}

// each(f, n): f(begin, end) on parts of 0 ... n - 1.
template <class T, class Each>
void all(const std::vector<AdamTensor<T>>& tensors, const AdamRule& rule, const Rates& rates, double factor,
         Each each) {
  for (const auto& t : tensors)
    each(static_cast<size_t>(t.n),
         [&](size_t begin, size_t end) { some(t, rule, rates, factor, begin, end); });
}
constexpr auto kSerial = [](size_t n, auto part) { part(0, n); };
constexpr auto kParallel = [](size_t n, auto part) {
  days::parallel_ranges(n, [&](size_t, size_t begin, size_t end) { part(begin, end); });
};

template <class T>
Rates rates_of(const Adam<T>& p) {
  const double c1 = -std::expm1(static_cast<double>(p.t) * std::log(p.rule.b1)),
               c2 = -std::expm1(static_cast<double>(p.t) * std::log(p.rule.b2));
  return {p.lr * p.rule.decay, p.lr / c1, 1 / std::sqrt(c2)};
}

// Leaves the norm, and gives the clip factor, or 0 where nothing may be changed.
template <class P>
double clip(const P& p) {
  double sum = 0;
  for (const auto& t : p.tensors)
    for (int64_t i = 0; i < t.n; ++i) {
      const double square = double{t.g[i]} * double{t.g[i]};
      sum += static_cast<double>(static_cast<float>(square));
    }
  *p.norm = static_cast<float>(std::sqrt(sum));
  if (!std::isfinite(*p.norm)) return 0;
  return std::min(1.0, double{p.max_norm} / (std::sqrt(sum) + 1e-6));
}

template <class T, class Each>
void step(const AdamStep<T>& p, Each each) {
  const double factor = clip(p);
  if (factor > 0) all(p.tensors, p.rule, {p.rates->decay, p.rates->size, p.rates->root}, factor, each);
}

// The codes of a group, and its scale.
template <class Values>
float encode(const Values& values, size_t n, bool never_zero, days::fp8_e4m3* codes) {
  double largest = 0;
  for (size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(values[i]));
  const bool counts = largest >= double{kLeast};
  for (size_t i = 0; i < n; ++i) {
    double scaled = counts ? values[i] * double{kLargestCode} / largest : 0;
    if (counts && never_zero && values[i] > 0) scaled = std::max(scaled, double{kLeastCode});
    codes[i] = days::from_double<days::fp8_e4m3>(scaled);
  }
  return counts ? static_cast<float>(largest / double{kLargestCode}) : 0.0f;
}

template <class T>
void groups(const BytesTensor<T>& t, const AdamBytes<T>& p, double factor, size_t first, size_t last) {
  const AdamRule& rule = p.rule;
  for (size_t group = first; group < last; ++group) {
    const size_t begin = group * kGroup, n = std::min(static_cast<size_t>(t.n) - begin, size_t{kGroup});
    double m[kGroup], r[kGroup];
    for (size_t k = 0; k < n; ++k) {
      const size_t i = begin + k;
      const double g = factor * double{t.g[i]};
      const double old = days::to_double(t.r[i]) * double{t.r_scale[group]};
      m[k] = rule.b1 * days::to_double(t.m[i]) * double{t.m_scale[group]} + (1 - rule.b1) * g;
      r[k] = std::sqrt(rule.b2 * old * old + (1 - rule.b2) * g * g);
      double w = t.w[i];
      if (t.decays) w -= double{p.rates->decay} * w;
      w -= double{p.rates->size} * m[k] / (r[k] * double{p.rates->root} + rule.eps);
      t.w[i] = static_cast<float>(w);
      if constexpr (!std::is_same_v<T, float>) t.copy[i] = days::from_double<T>(w);
    }
    t.m_scale[group] = encode(m, n, false, t.m + begin);
    t.r_scale[group] = encode(r, n, true, t.r + begin);
  }
}
template <class T, class Each>
void bytes(const AdamBytes<T>& p, Each each) {
  const double factor = clip(p);
  if (factor == 0) return;
  for (const auto& t : p.tensors)
    each(days::ceil_div(static_cast<size_t>(t.n), size_t{kGroup}),
         [&](size_t first, size_t last) { groups(t, p, factor, first, last); });
}

}  // namespace

template <class T>
void adam_reference(const Adam<T>& p) {
  all(p.tensors, p.rule, rates_of(p), 1, kSerial);
}

template <class T>
void adam_parallel(const Adam<T>& p) {
  all(p.tensors, p.rule, rates_of(p), 1, kParallel);
}

template <class T>
void step_reference(const AdamStep<T>& p) {
  step(p, kSerial);
}

template <class T>
void step_parallel(const AdamStep<T>& p) {
  step(p, kParallel);
}

template <class T>
void bytes_reference(const AdamBytes<T>& p) {
  bytes(p, kSerial);
}

template <class T>
void bytes_parallel(const AdamBytes<T>& p) {
  bytes(p, kParallel);
}

INSTANTIATE_REFERENCE(adam_reference, Adam, float);
INSTANTIATE_REFERENCE(adam_parallel, Adam, float);
INSTANTIATE_REFERENCE(step_reference, AdamStep, days::half, days::bf16);
INSTANTIATE_REFERENCE(step_parallel, AdamStep, days::half, days::bf16);
INSTANTIATE_REFERENCE(bytes_reference, AdamBytes, days::half, days::bf16);
INSTANTIATE_REFERENCE(bytes_parallel, AdamBytes, days::half, days::bf16);

}  // namespace day53
