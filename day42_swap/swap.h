// SPDX-License-Identifier: MIT
// The day's two problems, both in place, and every kernel's launcher.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day42 {

// a[i] and b[i] change places. The arrays have no element in common; they may be the halves of one.
template <class T>
struct Swap {
  T* a;  // (n)
  T* b;  // (n)
  int64_t n;
  days::Workspace workspace;
};

// x[i] and x[n - 1 - i] change places.
template <class T>
struct Reverse {
  T* x;  // (n)
  int64_t n;
  days::Workspace workspace;
};

template <class Problem>
void require_problem(const Problem& p, const char* variant) {
  days::require(p.n > 0, variant, ": n must be positive, not", p.n);
}

// Of a third array of n elements.
template <class T>
size_t array_bytes(const Swap<T>& p) {
  return static_cast<size_t>(p.n) * sizeof(T);
}
template <class T>
size_t array_bytes(const Reverse<T>& p) {
  return static_cast<size_t>(p.n) * sizeof(T);
}
template <class Problem>
void require_array(const Problem& p, const char* variant) {
  require_problem(p, variant);
  days::require(p.workspace.bytes >= array_bytes(p), variant, ": needs a workspace of", array_bytes(p),
                " bytes, not", p.workspace.bytes);
}

// What single launchers need beyond that.
inline constexpr auto kAligned =
    days::needs("16-byte aligned a, b", [](const auto& p) { return days::aligned16(p.a, p.b); });
inline constexpr auto kWholeVectors = days::needs(
    "16-byte aligned x, n in whole 16 bytes",
    [](const auto& p) { return days::aligned16(p.x) && p.n * static_cast<int64_t>(sizeof(*p.x)) % 16 == 0; });

template <class T>
void swap_third(const Swap<T>&, cudaStream_t);
template <class T>
void swap_pairs(const Swap<T>&, cudaStream_t);
template <class T>
void swap_vectors(const Swap<T>&, cudaStream_t);

template <class T>
void reverse_out_and_back(const Reverse<T>&, cudaStream_t);
template <class T>
void reverse_ends(const Reverse<T>&, cudaStream_t);
template <class T>
void reverse_vector_ends(const Reverse<T>&, cudaStream_t);
template <class T>
void exercise(const Reverse<T>&, cudaStream_t);  // yours

// On the CPU, host pointers: one plain loop, and the same loop on all cores.
template <class T>
void swap_reference(const Swap<T>&);
template <class T>
void swap_parallel(const Swap<T>&);
template <class T>
void reverse_reference(const Reverse<T>&);
template <class T>
void reverse_parallel(const Reverse<T>&);

}  // namespace day42
