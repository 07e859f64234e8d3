// SPDX-License-Identifier: MIT
// The truth that every kernel is compared with: each weight as the format means it, in double, and sums in double. On all cores,
// because a test on a GPU has billions of products.
#include <vector>

#include "common/parallel.h"
#include "day75_weight_only_matmul/weight_only_matmul.h"

namespace day75 {
namespace {

template <class T>
double weight(const Int4Matmul<T>& p, int64_t row, int i) {
  const days::uint4x2 codes = p.w[(row * p.k + i) / 2];
  return (static_cast<int>(i % 2 == 0 ? codes.lower() : codes.upper()) - 8) *
         days::to_double(p.scale[row * (p.k / kGroup) + i / kGroup]);
}

template <class T>
double weight(const Int8Matmul<T>& p, int64_t row, int i) {
  return p.w[row * p.k + i] * days::to_double(p.scale[row]);
}
template <class T>
double weight(const Nf4Matmul<T>& p, int64_t row, int i) {
  const int64_t at = row * p.k + i;
  const unsigned byte = p.codes[at / 2], code = at % 2 == 0 ? byte >> 4 : byte & 15;
  return static_cast<double>(days::nf4_value(code)) * static_cast<double>(p.absmax[at / days::kNf4Block]);
}
template <class T>
double weight(const PlainMatmul<T>& p, int64_t row, int i) {
  return days::to_double(p.w[row * p.k + i]);
}

// weight(p, row, i) is that of row `row` and column i.
template <class Problem>
void multiply(const Problem& p) {
  days::parallel_rows(p.n, p.k, [&](int64_t row) {
    std::vector<double> weights(static_cast<size_t>(p.k));
    for (int i = 0; i < p.k; ++i) weights[static_cast<size_t>(i)] = weight(p, row, i);
    for (int token = 0; token < p.m; ++token) {
      double sum = 0;
      for (int i = 0; i < p.k; ++i)
        sum += days::to_double(p.x[int64_t{token} * p.k + i]) * weights[static_cast<size_t>(i)];
      p.y[int64_t{token} * p.n + row] = days::from_double<std::remove_reference_t<decltype(*p.y)>>(sum);
    }
  });
}

}  // namespace

template <class T>
void int4_reference(const Int4Matmul<T>& p) {
  multiply(p);
}
template <class T>
void int8_reference(const Int8Matmul<T>& p) {
  multiply(p);
}
template <class T>
void nf4_reference(const Nf4Matmul<T>& p) {
  multiply(p);
}
template <class T>
void plain_reference(const PlainMatmul<T>& p) {
  multiply(p);
}

INSTANTIATE_REFERENCE(int4_reference, Int4Matmul, days::half, days::bf16);
INSTANTIATE_REFERENCE(int8_reference, Int8Matmul, days::half, days::bf16);
INSTANTIATE_REFERENCE(nf4_reference, Nf4Matmul, days::half, days::bf16);
INSTANTIATE_REFERENCE(plain_reference, PlainMatmul, days::half, days::bf16);

}  // namespace day75
