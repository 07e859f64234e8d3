// SPDX-License-Identifier: MIT
//
// Elements of the matrices that tensor cores multiply.
#pragma once

#include "simt/tensor_cores.h"

namespace simt {

constexpr int bits_of(MatrixType type) {
  constexpr int bits[] = {16, 16, 32, 32, 64, 8, 8, 8, 8, 4, 4, 1, 32};
  return bits[static_cast<int>(type)];
}
constexpr bool is_integer(MatrixType type) {
  return type >= MatrixType::s8;
}

// From the fragments of a warp's lanes to a matrix and back: element i of lane l is matrix[places[l * count +
// i]].
void gather_floats(MatrixType type, const void* const (&fragments)[32], int count, const int* places,
                   double* matrix);
void scatter_floats(MatrixType type, const double* matrix, const int* places, int count,
                    void* const (&fragments)[32]);
// `count` elements that lie side by side, of a type of floats and of s8.
void elements_of(MatrixType type, const char* from, int count, double* to);
void elements_of(MatrixType type, const char* from, int count, std::int32_t* to);
long long integer_element(MatrixType type, const void* fragment, int i);

}  // namespace simt
