// SPDX-License-Identifier: MIT
// Day 13: the problem and the launchers. A transpose moves bits and computes nothing, so every rung is a
// template over the element type: fp32 (4 bytes), fp16 (2, and bf16 would be the same bits) and uint8 (1).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"

namespace day13 {

// out[col][row] = in[row][col], both row-major without padding. `in` and `out` may not overlap.
template <class T>
struct Transpose {
  const T* in;  // (rows, cols)
  T* out;       // (cols, rows)
  int rows, cols;
};

// The same two matrices, but out[row][col] = in[row][col]: what moving the bytes costs without turning them.
template <class T>
struct Copy2D {
  const T* in;  // (rows, cols)
  T* out;       // (rows, cols)
  int rows, cols;
};

template <class Problem>
void require_problem(const Problem& p, const char* variant) {
  days::require(p.rows > 0, variant, ": rows must be positive, not", p.rows);
  days::require(p.cols > 0, variant, ": cols must be positive, not", p.cols);
  const uintptr_t in = reinterpret_cast<uintptr_t>(p.in), out = reinterpret_cast<uintptr_t>(p.out);
  const uintptr_t bytes =
      uintptr_t{sizeof(*p.in)} * static_cast<unsigned>(p.rows) * static_cast<unsigned>(p.cols);
  days::require(in + bytes <= out || out + bytes <= in, variant,
                ": in and out overlap; a transpose in place needs another algorithm");
}

// Elements that vectorised moves with one instruction: 16 bytes of fp32 and fp16, 8 of uint8. Bulk moves 16
// bytes always. Rows of both matrices must be whole vectors.
template <class T>
inline constexpr int kVector = sizeof(T) == 1 ? 8 : 16 / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int kBulkVector = 16 / static_cast<int>(sizeof(T));

template <class T>
bool whole_vectors(const Transpose<T>& p, int vector) {
  return p.rows % vector == 0 && p.cols % vector == 0 && days::aligned16(p.in, p.out);
}

// What single launchers need beyond that. A grid has at most 65,535 blocks along y, which the first four and
// the copy use for the rows: 8 rows a block (naive, copy) or 32.
inline constexpr auto kRowsBy8 =
    days::at_most("rows", 8 * days::kMaxGridY, [](const auto& p) { return p.rows; });
inline constexpr auto kRowsBy32 =
    days::at_most("rows", 32 * days::kMaxGridY, [](const auto& p) { return p.rows; });
inline constexpr auto kWholeVectors =
    days::needs("rows, cols % 4 == 0 (8 in fp16, uint8), 16-byte aligned in, out",
                []<class T>(const Transpose<T>& p) { return whole_vectors(p, kVector<T>); });
inline constexpr auto kWholeBulks =
    days::needs("rows, cols of 16-byte multiples, 16-byte aligned in, out",
                []<class T>(const Transpose<T>& p) { return whole_vectors(p, kBulkVector<T>); });

template <class T>
void transpose_naive(const Transpose<T>&, cudaStream_t);
template <class T>
void transpose_shared(const Transpose<T>&, cudaStream_t);
template <class T>
void transpose_padded(const Transpose<T>&, cudaStream_t);
template <class T>
void transpose_swizzled(const Transpose<T>&, cudaStream_t);
template <class T>
void transpose_several(const Transpose<T>&, cudaStream_t);
template <class T>
void transpose_down(const Transpose<T>&, cudaStream_t);
template <class T>
void transpose_aligned(const Transpose<T>&, cudaStream_t);
template <class T>
void transpose_vectorised(const Transpose<T>&, cudaStream_t);
template <class T>
void transpose_bulk(const Transpose<T>&, cudaStream_t);

// Yours: exercise.cu. Takes what padded takes.
template <class T>
void exercise(const Transpose<T>&, cudaStream_t);

void copy_element(const Copy2D<float>&, cudaStream_t);

// On the CPU, host pointers: two loops, and tiles on all cores.
template <class T>
void transpose_reference(const Transpose<T>&);
template <class T>
void transpose_parallel(const Transpose<T>&);
void copy_reference(const Copy2D<float>&);
void copy_parallel(const Copy2D<float>&);

}  // namespace day13
