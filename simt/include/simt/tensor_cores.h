// SPDX-License-Identifier: MIT
//
// Matrix products of a warp: mma.sync with PTX's fragments, wmma's fragments, ldmatrix and its kind. mma.h,
// common/ptx/matrix.h and inline PTX are built on these.
//
// Products are exact, their sum with the accumulator is taken in double precision and rounded once to the
// accumulator's type (double accumulators: one rounding a step, in order of k). A tensor core adds with fewer
// bits and truncates, so the last bit may differ. Integers wrap around, or saturate.
#pragma once

#include "simt/runtime.h"

namespace simt {

enum class MatrixType : std::uint8_t { f16, bf16, tf32, f32, f64, e4m3, e5m2, s8, u8, s4, u4, b1, s32 };

// What b1 elements do: count the ones of a XOR b, or of a AND b.
enum class BitProduct : std::uint8_t { bit_xor, bit_and };

struct MmaShape {
  std::uint8_t m, n;
  std::uint16_t k;
  MatrixType a, b, c, d;
  bool saturate = false;
  BitProduct product = BitProduct::bit_xor;
};

// mma.sync.aligned: d = a * b + c, by all lanes of a warp. Each lane brings its fragments' registers as PTX's
// section "Matrix multiply-accumulate operation using mma instruction" lays them out.
void mma_sync(const MmaShape& shape, const void* a, const void* b, const void* c, void* d, Site site);

// wmma::mma_sync: the same with fragments as wmma_place() lays them out.
void wmma_mma_sync(const MmaShape& shape, const void* a, const void* b, const void* c, void* d, Site site);

// The element of a matrix that element `i` of a lane's wmma fragment is.
struct MatrixPlace {
  int row, column;
};
enum class MatrixUse : std::uint8_t { a, b, accumulator };
MatrixPlace wmma_place(MatrixUse use, int m, int n, int k, int element_bytes, int i, unsigned lane);

// ldmatrix, stmatrix: one, two or four 8x8 matrices of 16-bit elements. Lane 8 * i + j brings the address of
// row j of matrix i; each lane gets (gives) a register of each.
void ldmatrix(std::uint32_t* registers, const void* row, int matrices, bool transposed, Site site);
void stmatrix(void* row, const std::uint32_t* registers, int matrices, bool transposed, Site site);
std::uint32_t movmatrix_transposed(std::uint32_t value, Site site);

// cvt.rna.tf32.f32: to nearest, halves away from zero.
inline float round_to_tf32(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits += 0x1000u;
  bits &= ~0x1fffu;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

// cvt.rn.tf32.f32: to nearest, halves to even. NaN stays NaN, where cvt.rna may cut off what makes it one.
inline float round_to_tf32_even(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    bits = 0x7fffffffu;
  } else if ((bits & 0x7f800000u) != 0x7f800000u) {
    bits += 0xfffu + (bits >> 13 & 1u);
  }
  bits &= ~0x1fffu;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

}  // namespace simt
