// SPDX-License-Identifier: MIT
//
// Problems on small numbers, packed ones, and a sparse matrix, to test what ladders make, print and compare of them.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/types.h"
#include "common/util.h"

namespace types_test {

// negative = -x, and codes[i] = |x[i]| in quarters, at most 15.
template <class T>
struct Codes {
  const T* x;            // (rows, cols)
  T* negative;           // (rows, cols)
  days::uint4x2* codes;  // (rows, cols)
  int rows, cols;

  DAYS_HOST_DEVICE int n() const { return rows * cols; }
};

template <class T>
DAYS_HOST_DEVICE unsigned code_of(T x) {
  const float quarters = rintf(fabsf(4 * days::to_float(x)));
  return quarters < 15 ? static_cast<unsigned>(quarters) : 15;
}
template <class T>
void codes_reference(const Codes<T>& p) {
  for (int i = 0; i < p.n(); ++i) p.negative[i] = days::from_double<T>(-days::to_double(p.x[i]));
  for (int i = 0; i < p.n(); i += 2)
    p.codes[i / 2] = days::uint4x2::of(code_of(p.x[i]), i + 1 < p.n() ? code_of(p.x[i + 1]) : 0);
}

template <class T>
void codes_right(const Codes<T>&, cudaStream_t);
// Wrong ones.
void codes_swapped(const Codes<days::fp8_e4m3>&, cudaStream_t);     // the first number in the upper half
void codes_drop_last(const Codes<days::fp8_e5m2>&, cudaStream_t);   // an odd last number is not written
void codes_off_by_one(const Codes<days::fp8_e4m3>&, cudaStream_t);  // one number

// y = A x
template <class T>
struct Spmv {
  const int32_t* row_ptr;  // (rows + 1)
  const int32_t* columns;  // (nonzeros)
  const T* values;         // (nonzeros)
  const T* x;              // (cols)
  T* y;                    // (rows)
  int rows, cols;
};
template <class T>
void spmv_reference(const Spmv<T>& p) {
  for (int row = 0; row < p.rows; ++row) {
    double sum = 0;
    for (int i = p.row_ptr[row]; i < p.row_ptr[row + 1]; ++i)
      sum += days::to_double(p.values[i]) * days::to_double(p.x[p.columns[i]]);
    p.y[row] = days::from_double<T>(sum);
  }
}
using SpmvFloat = Spmv<float>;
template <class T>
void spmv_right(const Spmv<T>&, cudaStream_t);
void spmv_skips_empty(const SpmvFloat&, cudaStream_t);     // writes nothing where a row has no numbers
void spmv_sorts_in_place(const SpmvFloat&, cudaStream_t);  // changes the matrix

}  // namespace types_test
