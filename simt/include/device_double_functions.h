// SPDX-License-Identifier: MIT
//
// Arithmetic and conversions of doubles with the rounding mode as an argument, an older form of the
// intrinsics in device_functions.h.
#ifndef __DEVICE_DOUBLE_FUNCTIONS_H__
#define __DEVICE_DOUBLE_FUNCTIONS_H__

#include "device_functions.h"
#include "device_types.h"

#define SIMT_BY_MODE(Result, name, implementation, parameters, arguments) \
  inline Result name parameters noexcept {                                \
    return mode == cudaRoundNearest  ? implementation##_rn arguments      \
           : mode == cudaRoundZero   ? implementation##_rz arguments      \
           : mode == cudaRoundPosInf ? implementation##_ru arguments      \
                                     : implementation##_rd arguments;     \
  }
SIMT_BY_MODE(double, fma, __fma, (double a, double b, double c, enum cudaRoundMode mode), (a, b, c))
SIMT_BY_MODE(double, dmul, __dmul, (double a, double b, enum cudaRoundMode mode = cudaRoundNearest), (a, b))
SIMT_BY_MODE(double, dadd, __dadd, (double a, double b, enum cudaRoundMode mode = cudaRoundNearest), (a, b))
SIMT_BY_MODE(double, dsub, __dsub, (double a, double b, enum cudaRoundMode mode = cudaRoundNearest), (a, b))
SIMT_BY_MODE(int, double2int, __double2int, (double a, enum cudaRoundMode mode = cudaRoundZero), (a))
SIMT_BY_MODE(unsigned int, double2uint, __double2uint, (double a, enum cudaRoundMode mode = cudaRoundZero),
             (a))
SIMT_BY_MODE(long long, double2ll, __double2ll, (double a, enum cudaRoundMode mode = cudaRoundZero), (a))
SIMT_BY_MODE(unsigned long long, double2ull, __double2ull,
             (double a, enum cudaRoundMode mode = cudaRoundZero), (a))
SIMT_BY_MODE(double, ll2double, __ll2double, (long long a, enum cudaRoundMode mode = cudaRoundNearest), (a))
SIMT_BY_MODE(double, ull2double, __ull2double,
             (unsigned long long a, enum cudaRoundMode mode = cudaRoundNearest), (a))
#undef SIMT_BY_MODE

// Exact in every mode.
inline double int2double(int a, enum cudaRoundMode = cudaRoundNearest) noexcept {
  return a;
}
inline double uint2double(unsigned int a, enum cudaRoundMode = cudaRoundNearest) noexcept {
  return a;
}
inline double float2double(float a, enum cudaRoundMode = cudaRoundNearest) noexcept {
  return a;
}

#endif
