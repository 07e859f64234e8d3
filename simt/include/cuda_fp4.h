// SPDX-License-Identifier: MIT
//
// Numbers of 4 bits, two in a byte: E2M1. They have neither infinity nor NaN; what is too large becomes the
// largest number, NaN the largest positive one.
#ifndef __CUDA_FP4_H__
#define __CUDA_FP4_H__

#include "simt/push_letters.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simt/small_floats.h"

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;
#define __CUDA_FP4_TYPES_EXIST__

namespace simt {
inline const SmallFormat& fp4_format(__nv_fp4_interpretation_t) {
  return kE2M1;
}
}  // namespace simt

inline __nv_fp4_storage_t __nv_cvt_double_to_fp4(const double x, const __nv_fp4_interpretation_t kind,
                                                 const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp4_storage_t>(simt::small_bits(simt::fp4_format(kind), x, true, rounding));
}
inline __nv_fp4_storage_t __nv_cvt_float_to_fp4(const float x, const __nv_fp4_interpretation_t kind,
                                                const enum cudaRoundMode rounding) {
  return __nv_cvt_double_to_fp4(simt::widened(x), kind, rounding);
}
inline __nv_fp4_storage_t __nv_cvt_halfraw_to_fp4(const __half_raw x, const __nv_fp4_interpretation_t kind,
                                                  const enum cudaRoundMode rounding) {
  return __nv_cvt_float_to_fp4(static_cast<float>(__half(x)), kind, rounding);
}
inline __nv_fp4_storage_t __nv_cvt_bfloat16raw_to_fp4(const __nv_bfloat16_raw x,
                                                      const __nv_fp4_interpretation_t kind,
                                                      const enum cudaRoundMode rounding) {
  return __nv_cvt_float_to_fp4(static_cast<float>(__nv_bfloat16(x)), kind, rounding);
}
inline __nv_fp4x2_storage_t __nv_cvt_double2_to_fp4x2(const double2 x, const __nv_fp4_interpretation_t kind,
                                                      const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp4x2_storage_t>(__nv_cvt_double_to_fp4(x.x, kind, rounding) |
                                           __nv_cvt_double_to_fp4(x.y, kind, rounding) << 4);
}
inline __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(const float2 x, const __nv_fp4_interpretation_t kind,
                                                     const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp4x2_storage_t>(__nv_cvt_float_to_fp4(x.x, kind, rounding) |
                                           __nv_cvt_float_to_fp4(x.y, kind, rounding) << 4);
}
inline __nv_fp4x2_storage_t __nv_cvt_halfraw2_to_fp4x2(const __half2_raw x,
                                                       const __nv_fp4_interpretation_t kind,
                                                       const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp4x2_storage_t>(__nv_cvt_halfraw_to_fp4(__half_raw{x.x}, kind, rounding) |
                                           __nv_cvt_halfraw_to_fp4(__half_raw{x.y}, kind, rounding) << 4);
}
inline __nv_fp4x2_storage_t __nv_cvt_bfloat16raw2_to_fp4x2(const __nv_bfloat162_raw x,
                                                           const __nv_fp4_interpretation_t kind,
                                                           const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp4x2_storage_t>(
      __nv_cvt_bfloat16raw_to_fp4(__nv_bfloat16_raw{x.x}, kind, rounding) |
      __nv_cvt_bfloat16raw_to_fp4(__nv_bfloat16_raw{x.y}, kind, rounding) << 4);
}
inline __half_raw __nv_cvt_fp4_to_halfraw(const __nv_fp4_storage_t x, const __nv_fp4_interpretation_t kind) {
  return __half(simt::small_value(simt::fp4_format(kind), x));
}
inline __half2_raw __nv_cvt_fp4x2_to_halfraw2(const __nv_fp4x2_storage_t x,
                                              const __nv_fp4_interpretation_t kind) {
  return __half2_raw{__nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(x & 0xf), kind).x,
                     __nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(x >> 4), kind).x};
}

#define SIMT_SMALL __nv_fp4_e2m1
#define SIMT_SMALL2 __nv_fp4x2_e2m1
#define SIMT_SMALL4 __nv_fp4x4_e2m1
#define SIMT_SMALL_NAME(name) name##e2m1
#define SIMT_SMALL_STORAGE(n) __nv_fp4##n##_storage_t
#define SIMT_SMALL_WIDTH 4
#define SIMT_SMALL_ENCODE(value) simt::small_bits(simt::kE2M1, value, true)
#define SIMT_SMALL_DECODE(bits) simt::small_value(simt::kE2M1, bits)
#define SIMT_SMALL_IS_ZERO(bits) ((bits)&0x7u) == 0
#include "simt/small_float_types.h"

#include "simt/pop_letters.h"

#endif
