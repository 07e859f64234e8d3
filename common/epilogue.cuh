// SPDX-License-Identifier: MIT
//
// Epilogues: what becomes of an element of a matrix product between its sum and its store. An epilogue is a small
// struct that a kernel gets by value and calls in fp32,
//
//   c[row * n + col] = from_float<T>(epilogue(sum, row, col));
//
// so that bias, activation and residual cost no kernel and no trip to memory of their own. Several are one:
//
//   days::in_order(days::AddBias<float>{bias}, days::Tanh{}, days::AddResidual<float>{residual, n})
//
// The pointers are the device's, belong to the caller, and are read for elements of c alone.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/types.h"

namespace days {

// The sum as it is.
struct Identity {
  __device__ float operator()(float x, int64_t, int64_t) const { return x; }
};

struct Tanh {
  __device__ float operator()(float x, int64_t, int64_t) const { return tanhf(x); }
};

// alpha * sum
struct Scale {
  float alpha;
  __device__ float operator()(float x, int64_t, int64_t) const { return alpha * x; }
};

// A number for each column of c.
template <class T>
struct AddBias {
  const T* bias;  // (n)
  __device__ float operator()(float x, int64_t, int64_t col) const { return x + to_float(bias[col]); }
};

// A number for each element of c, which may be c itself: an element is read before it is written, by its own thread.
template <class T>
struct AddResidual {
  const T* residual;  // (m, n), rows `pitch` elements apart
  int64_t pitch;
  __device__ float operator()(float x, int64_t row, int64_t col) const {
    return x + to_float(residual[row * pitch + col]);
  }
};

// First one, then the other.
template <class First, class Second>
struct Then {
  First first;
  Second second;
  __device__ float operator()(float x, int64_t row, int64_t col) const {
    return second(first(x, row, col), row, col);
  }
};

template <class Only>
constexpr Only in_order(Only only) {
  return only;
}
template <class First, class Second, class... Rest>
constexpr auto in_order(First first, Second second, Rest... rest) {
  return in_order(Then<First, Second>{first, second}, rest...);
}

}  // namespace days
