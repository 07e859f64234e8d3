// SPDX-License-Identifier: MIT
//
// What the translator puts in the place of shared memory that is declared outside functions.
#pragma once

#include "simt/runtime.h"

namespace simt {

// A __shared__ variable at namespace scope: `member` of S, wherever the running block has it.
template <class S, class T, T S::*member>
struct GlobalShared {
  operator T&() const { return shared_variable<S>().*member; }
  template <class U>
  T& operator=(const U& value) const {
    return shared_variable<S>().*member = value;
  }
};
template <class S, class T, std::size_t n, T (S::*member)[n]>
struct GlobalShared<S, T[n], member> {
  operator T*() const { return shared_variable<S>().*member; }
};

// extern __shared__ T name[] at namespace scope.
template <class T>
struct DynamicShared;
template <class T>
struct DynamicShared<T[]> {
  operator T*() const { return static_cast<T*>(dynamic_shared()); }
};

}  // namespace simt
