// SPDX-License-Identifier: MIT
// The day's two problems and every kernel's launcher. A launcher runs on device pointers, checks what it
// needs (it throws std::invalid_argument that names the value), launches and returns at once: the GPU works
// on while the CPU goes on.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/needs.h"
#include "common/util.h"

namespace day01 {

// c[i] = a[i] + b[i]
template <class T>
struct VectorAdd {
  const T* a;  // (n)
  const T* b;  // (n)
  T* c;        // (n)
  int64_t n;   // 64 bits: n passes 2^31 long before a GPU's memory is full
};

// c[row][col] = a[row][col] + b[row][col]. In memory a row takes `pitch` elements, of which the first `cols`
// count: element (row, col) is at row * pitch + col. What lies between cols and pitch is padding, and nobody
// writes it.
template <class T>
struct MatrixAdd {
  const T* a;  // (rows, pitch)
  const T* b;  // (rows, pitch)
  T* c;        // (rows, pitch)
  int rows;
  int cols;
  int64_t pitch;  // elements from one row to the next, at least cols
};

// All of a row's elements lie before the next row.
inline constexpr auto kWithinPitch =
    days::needs("cols <= pitch", [](const auto& p) { return p.cols <= p.pitch; });
inline void require_extents(const MatrixAdd<float>& p, const char* variant) {
  days::require(p.rows > 0, variant, ": rows must be positive, not", p.rows);
  days::require(p.cols > 0, variant, ": cols must be positive, not", p.cols);
  days::require_needs(p, variant, kWithinPitch);
}

// What single launchers need beyond that.
inline constexpr auto kAlignedInputs =
    days::needs("16-byte aligned a, b", [](const auto& p) { return days::aligned16(p.a, p.b); });
inline constexpr auto kAligned =
    days::needs("16-byte aligned a, b, c", [](const auto& p) { return days::aligned16(p.a, p.b, p.c); });
// A grid has at most 65,535 blocks along y, of 8 rows or columns.
inline constexpr auto kColsAlongY =
    days::at_most("cols", 8 * days::kMaxGridY, [](const auto& p) { return p.cols; });
inline constexpr auto kRowsAlongY =
    days::at_most("rows", 8 * days::kMaxGridY, [](const auto& p) { return p.rows; });
inline constexpr auto kWholeVectors = days::multiple_of("pitch", 4, [](const auto& p) { return p.pitch; });

void vector_add_one_each(const VectorAdd<float>&, cudaStream_t);
void vector_add_grid_stride(const VectorAdd<float>&, cudaStream_t);
void vector_add_float4(const VectorAdd<float>&, cudaStream_t);
void vector_add_shared(const VectorAdd<float>&, cudaStream_t);
void vector_add_streaming(const VectorAdd<float>&, cudaStream_t);
void vector_add_bulk(const VectorAdd<float>&, cudaStream_t);
void exercise(const VectorAdd<float>&, cudaStream_t);  // yours

void matrix_add_wrong_way(const MatrixAdd<float>&, cudaStream_t);
void matrix_add_right_way(const MatrixAdd<float>&, cudaStream_t);
void matrix_add_row_float4(const MatrixAdd<float>&, cudaStream_t);

// On the CPU, host pointers: one plain loop, and the same loop on all cores.
void vector_add_reference(const VectorAdd<float>&);
void vector_add_parallel(const VectorAdd<float>&);
void matrix_add_reference(const MatrixAdd<float>&);
void matrix_add_parallel(const MatrixAdd<float>&);

// The libraries' contestants, baselines/*.cu.
void vector_add_cub(const VectorAdd<float>&, cudaStream_t);

}  // namespace day01
