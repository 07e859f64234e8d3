// SPDX-License-Identifier: MIT
//
// The CPU's versions. A copy changes no bit and a fused multiply-add rounds once, on a CPU as on a GPU: the
// kernels must agree with them bit for bit.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "common/compare.h"
#include "common/parallel.h"
#include "day16_device_query/checks.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

constexpr int kTogether = 64;  // chains side by side: enough for the compiler's vectors and the CPU's latency

inline __attribute__((always_inline)) void step_together(float* v, float a, float b, int64_t steps) {
  for (int64_t s = 0; s < steps; ++s) {
    for (int c = 0; c < kTogether; ++c) v[c] = std::fma(v[c], a, b);
  }
}

void step_portable(float* v, float a, float b, int64_t steps) {
  step_together(v, a, b, steps);
}

#if defined(__x86_64__)
// The same loop with the CPU's fused instruction. Without it std::fma is a library call: as exact, many times
// slower.
__attribute__((target("avx2,fma"))) void step_avx2(float* v, float a, float b, int64_t steps) {
  step_together(v, a, b, steps);
}
#endif

}  // namespace

void copy_reference(const Copy<uint32_t>& p) {
  for (int64_t i = 0; i < p.n; ++i) p.y[i] = p.x[i];
}

void copy_parallel(const Copy<uint32_t>& p) {
  days::parallel_ranges(static_cast<size_t>(p.n), [&p](size_t, size_t begin, size_t end) {
    std::memcpy(p.y + begin, p.x + begin, (end - begin) * sizeof(uint32_t));
  });
}

void fma_reference(const Fma<float>& p) {
  for (int64_t i = 0; i < p.n; ++i) {
    float v = p.x[i];
    for (int64_t s = 0; s < p.steps; ++s) v = std::fma(v, p.a, p.b);
    p.y[i] = v;
  }
}

days::Report fma_check_large(const Fma<float>& p) {
  std::unordered_map<uint32_t, float> known;  // by the bits of x: 0 and -0 are told apart
  std::vector<float> want(static_cast<size_t>(p.n));
  for (int64_t i = 0; i < p.n; ++i) {
    uint32_t bits;
    std::memcpy(&bits, &p.x[i], sizeof bits);
    const auto [entry, is_new] = known.try_emplace(bits);
    if (is_new) fma_reference({&p.x[i], &entry->second, p.a, p.b, 1, p.steps});
    want[static_cast<size_t>(i)] = entry->second;
  }
  return days::compare(p.y, want.data(), want.size(), days::Bound{});
}

void fma_parallel(const Fma<float>& p) {
  auto step = step_portable;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) step = step_avx2;
#endif
  const auto some = [&p, step](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i += kTogether) {
      float v[kTogether] = {};
      const size_t count = std::min<size_t>(kTogether, end - i);
      std::copy_n(p.x + i, count, v);
      step(v, p.a, p.b, p.steps);
      std::copy_n(v, count, p.y + i);
    }
  };
  days::parallel_ranges(static_cast<size_t>(p.n), some, 16 * kTogether);
}

}  // namespace day16
