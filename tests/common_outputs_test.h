// SPDX-License-Identifier: MIT
//
// A problem with three outputs of three types, to test with how ladders tell them apart: y = 2 x, the sums of x's
// columns, and how many elements of x are negative.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/types.h"

namespace outputs_test {

template <class T>
struct Columns {
  const T* x;         // (rows, cols)
  T* y;               // (rows, cols)
  float* sums;        // (cols)
  int32_t* negative;  // (1)
  int rows, cols;
};

template <class T>
void columns_reference(const Columns<T>& p) {
  *p.negative = 0;
  for (int col = 0; col < p.cols; ++col) {
    double sum = 0;
    for (int row = 0; row < p.rows; ++row) {
      const double x = days::to_double(p.x[row * p.cols + col]);
      p.y[row * p.cols + col] = days::from_double<T>(2 * x);
      *p.negative += x < 0 ? 1 : 0;
      sum += x;
    }
    p.sums[col] = static_cast<float>(sum);
  }
}

using Problem = Columns<float>;

template <class T>
void columns_right(const Columns<T>&, cudaStream_t);

// Wrong ones.
void sums_in_half(const Columns<days::half>&, cudaStream_t);  // rounds each sum to half
void sums_off(const Problem&, cudaStream_t);                  // the last sum is 1e-4 too large
void all_off(const Problem&, cudaStream_t);                   // every element of y and of sums is 1 too large
void counts_one_more(const Problem&, cudaStream_t);
void writes_before_y(const Problem&, cudaStream_t);

}  // namespace outputs_test
