// SPDX-License-Identifier: MIT
//
// A small problem with right and wrong launchers, to test the harness with: y = scale * x, and total = the
// sum of x.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/buffer.h"
#include "common/types.h"

namespace common_test {

template <class T>
struct Scale {
  const T* x;    // (rows, cols)
  T* y;          // (rows, cols)
  float* total;  // (1), updated in place: the sum of y is added to it
  int rows, cols;
  days::Workspace workspace;
};

template <class T>
void scale_reference(const Scale<T>& p) {
  for (int i = 0; i < p.rows * p.cols; ++i) p.y[i] = days::from_double<T>(2 * days::to_double(p.x[i]));
  *p.total += 1;
}

using Problem = Scale<float>;

// Right ones.
template <class T>
void scale_plain(const Scale<T>&, cudaStream_t);
void scale_even(const Problem&, cudaStream_t);     // refuses odd cols
void scale_scratch(const Problem&, cudaStream_t);  // needs rows * cols floats of workspace

// Wrong ones.
void writes_nothing(const Problem&, cudaStream_t);
void writes_most(const Problem&, cudaStream_t);  // not the last element
void writes_past_the_end(const Problem&, cudaStream_t);
void writes_before_the_start(const Problem&, cudaStream_t);
void writes_input(const Problem&, cudaStream_t);  // right result, but one element of x changes too
void refuses_all(const Problem&, cudaStream_t);
void refuses_after_writing(const Problem&, cudaStream_t);
void refuses_nothing(const Problem&, cudaStream_t);   // and drops an odd last column
void trusts_workspace(const Problem&, cudaStream_t);  // never looks at its size
void throws_runtime_error(const Problem&, cudaStream_t);
void too_many_threads(const Problem&, cudaStream_t);  // the launch itself fails
void off_by_an_ulp(const Problem&, cudaStream_t);
void reads_past_the_end(const Problem&, cudaStream_t);
void waits(const Problem&, cudaStream_t);                 // right, and cannot be captured
void takes_another_stream(const Problem&, cudaStream_t);  // right; captured it would run at once

}  // namespace common_test
