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

// Elements of a fragment: the first `count` floats, the i-th integer.
void float_elements(MatrixType type, const void* fragment, int count, double* to);
long long integer_element(MatrixType type, const void* fragment, int i);
void set_float_element(MatrixType type, void* fragment, int i, double value);

}  // namespace simt
