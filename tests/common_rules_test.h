// SPDX-License-Identifier: MIT
//
// Two problems to test with what ladders say beyond a reference: one with more than one right result, whose variants are
// set up, and one whose right results may be what filled the output.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>

#include "common/setup.h"
#include "common/types.h"
#include "common/workspace.h"

namespace rules_test {

// The positive elements of x, in any order.
template <class T>
struct Keep {
  const T* x;      // (n)
  T* kept;         // (n), of which the first *count
  int32_t* count;  // (1)
  int n;
  days::Workspace workspace;
  days::Setup setup;
};

template <class T>
void keep_reference(const Keep<T>& p) {
  *p.count = 0;
  for (int i = 0; i < p.n; ++i)
    if (days::to_double(p.x[i]) > 0) p.kept[(*p.count)++] = p.x[i];
}

using KeepFloat = Keep<float>;

void keep_forward(const KeepFloat&, cudaStream_t);
void keep_backward(const KeepFloat&, cudaStream_t);

// In which order to look at the elements: memory of the plan's own.
struct Plan {
  explicit Plan(int32_t* memory) : order(memory) { ++alive; }
  Plan(const Plan&) = delete;
  ~Plan() {
    static_cast<void>(cudaFree(order));
    --alive;
  }
  int32_t* order;  // (n), on the device
  static inline std::atomic<int> alive{0};
};
Plan keep_plan_setup(const KeepFloat&, cudaStream_t);
void keep_plan(const KeepFloat&, cudaStream_t);

// Writes the indices of what is kept to the workspace, and overwrites the outputs on its way.
struct Indices {
  int count;
};
Indices keep_indices_setup(const KeepFloat&, cudaStream_t);
void keep_indices(const KeepFloat&, cudaStream_t);  // n integers of workspace

// Wrong ones.
void keeps_zero(const KeepFloat&, cudaStream_t);
void keeps_first_twice(const KeepFloat&, cudaStream_t);
void drops_last(const KeepFloat&, cudaStream_t);
void counts_one_more(const KeepFloat&, cudaStream_t);
void keeps_nothing(const KeepFloat&, cudaStream_t);      // writes nothing at all
void keep_indices_once(const KeepFloat&, cudaStream_t);  // takes its indices away when it is done

// y = x
template <class T>
struct Copied {
  const T* x;  // (n)
  T* y;        // (n)
  int n;
};
template <class T>
void copied_reference(const Copied<T>& p) {
  for (int i = 0; i < p.n; ++i) p.y[i] = p.x[i];
}
template <class T>
void copied_right(const Copied<T>&, cudaStream_t);
// Leaves out what is NaN, or 165: what fills outputs before a run.
void leaves_nan(const Copied<float>&, cudaStream_t);
void leaves_165(const Copied<uint8_t>&, cudaStream_t);

}  // namespace rules_test
