// SPDX-License-Identifier: MIT
// Day 62, fourth problem: the k largest of each row, as sampling from a language model's logits wants them.
// Launchers as in histogram.h.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

namespace day62 {

inline constexpr int kMaxK = 256;

// values[row] are the k largest of x[row], largest first, and indices[row] their columns. A NaN is larger than
// any number, as in PyTorch. Of equal elements any may be taken, in any order.
template <class T>
struct TopK {
  const T* x;        // (rows, cols)
  T* values;         // (rows, k)
  int32_t* indices;  // (rows, k)
  int rows, cols;
  int k;  // at most cols and kMaxK
  days::Workspace workspace;
};

template <class T>
void require_problem(const TopK<T>& p, const char* variant) {
  days::require(p.rows > 0, variant, ": rows must be positive, not", p.rows);
  days::require(p.cols > 0, variant, ": cols must be positive, not", p.cols);
  days::require(p.k > 0 && p.k <= kMaxK, variant, ": k must be from 1 to", kMaxK, ", not", p.k);
  days::require(p.k <= p.cols, variant, ": k is at most cols,", p.cols, ", not", p.k);
}

// What slices needs beyond that: its merge compares each slice's candidates with every other slice, and a grid
// has 65,535 blocks along y, which it uses for the rows.
inline constexpr auto kColsOfSlices = days::at_most("cols", 1 << 20, [](const auto& p) { return p.cols; });
inline constexpr auto kRowsOfSlices =
    days::at_most("rows", days::kMaxGridY, [](const auto& p) { return p.rows; });

template <class T>
void top_k_repeated_max(const TopK<T>&, cudaStream_t);
template <class T>
void top_k_radix_select(const TopK<T>&, cudaStream_t);
template <class T>
void top_k_slices(const TopK<T>&, cudaStream_t);

// Bytes of scratch memory.
template <class T>
size_t slices_workspace(const TopK<T>&);

// On the CPU, host pointers: sorts each row; on all cores, std::partial_sort.
template <class T>
void top_k_reference(const TopK<T>&);
template <class T>
void top_k_parallel(const TopK<T>&);

}  // namespace day62
