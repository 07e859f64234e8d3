// SPDX-License-Identifier: MIT
//
// Complex numbers as CUDA's libraries pass them: x is the real part, y the imaginary one.
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include "simt/push_letters.h"

#include <math.h>

#include "vector_functions.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// Suffix f is single precision, none is double. |z| is hypot(), which neither overflows nor underflows on the
// way.
#define SIMT_COMPLEX(Complex, Real, suffix, abs_name, hypot_name, make_name)           \
  inline Real cuCreal##suffix(Complex z) {                                             \
    return z.x;                                                                        \
  }                                                                                    \
  inline Real cuCimag##suffix(Complex z) {                                             \
    return z.y;                                                                        \
  }                                                                                    \
  inline Complex make_name(Real re, Real im) {                                         \
    return Complex{re, im};                                                            \
  }                                                                                    \
  inline Complex cuConj##suffix(Complex z) {                                           \
    return Complex{z.x, -z.y};                                                         \
  }                                                                                    \
  inline Complex cuCadd##suffix(Complex a, Complex b) {                                \
    return Complex{a.x + b.x, a.y + b.y};                                              \
  }                                                                                    \
  inline Complex cuCsub##suffix(Complex a, Complex b) {                                \
    return Complex{a.x - b.x, a.y - b.y};                                              \
  }                                                                                    \
  inline Complex cuCmul##suffix(Complex a, Complex b) {                                \
    return Complex{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                      \
  }                                                                                    \
  inline Complex cuCdiv##suffix(Complex a, Complex b) {                                \
    const Real scale = Real(1) / (fabs(b.x) + fabs(b.y));                              \
    const Real ar = a.x * scale, ai = a.y * scale, br = b.x * scale, bi = b.y * scale; \
    const Real over = Real(1) / (br * br + bi * bi);                                   \
    return Complex{(ar * br + ai * bi) * over, (ai * br - ar * bi) * over};            \
  }                                                                                    \
  inline Real abs_name(Complex z) {                                                    \
    return hypot_name(z.x, z.y);                                                       \
  }                                                                                    \
  inline Complex cuCfma##suffix(Complex a, Complex b, Complex c) {                     \
    return Complex{(a.x * b.x + c.x) - a.y * b.y, (a.y * b.x + c.y) + a.x * b.y};      \
  }
SIMT_COMPLEX(cuFloatComplex, float, f, cuCabsf, hypotf, make_cuFloatComplex)
SIMT_COMPLEX(cuDoubleComplex, double, , cuCabs, hypot, make_cuDoubleComplex)
#undef SIMT_COMPLEX

inline cuComplex make_cuComplex(float re, float im) {
  return cuComplex{re, im};
}
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
  return cuDoubleComplex{z.x, z.y};
}
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return cuFloatComplex{static_cast<float>(z.x), static_cast<float>(z.y)};
}

#include "simt/pop_letters.h"

#endif
