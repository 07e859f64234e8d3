// SPDX-License-Identifier: MIT
// The CPU's versions: the truth in double, and what a CPU does with all its cores in fp32.
#include <cmath>

#include "common/parallel.h"
#include "day07_gelu/formulas.h"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

template <class T, class F>
void on_all_cores(const Gelu<T>& p, F f) {
  days::parallel_ranges(static_cast<size_t>(p.n), [&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) p.y[i] = days::from_float<T>(f(days::to_float(p.x[i])));
  });
}

}  // namespace

template <class T>
void gelu_reference(const Gelu<T>& p) {
  for (int64_t i = 0; i < p.n; ++i) p.y[i] = days::from_double<T>(exact_gelu(days::to_double(p.x[i])));
}

template <class T>
void gelu_tanh_reference(const Gelu<T>& p) {
  for (int64_t i = 0; i < p.n; ++i) p.y[i] = days::from_double<T>(tanh_gelu(days::to_double(p.x[i])));
}

template <class T>
void gelu_parallel(const Gelu<T>& p) {
  on_all_cores(p, [](float x) { return 0.5f * x * (1 + std::erf(kHalfRoot * x)); });
}

template <class T>
void gelu_tanh_parallel(const Gelu<T>& p) {
  on_all_cores(p, [](float x) { return 0.5f * x * (1 + std::tanh(x * (kTanhX + kTanhX3 * x * x))); });
}

INSTANTIATE_REFERENCE(gelu_reference, Gelu, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(gelu_tanh_reference, Gelu, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(gelu_parallel, Gelu, float, days::half, days::bf16);
INSTANTIATE_REFERENCE(gelu_tanh_parallel, Gelu, float, days::half, days::bf16);

}  // namespace day07
