// SPDX-License-Identifier: MIT
//
// Numbers of 6 bits, each in a byte of its own: E2M3 and E3M2. They have neither infinity nor NaN; what is
// too large becomes the largest number, NaN the largest positive one.
#ifndef __CUDA_FP6_H__
#define __CUDA_FP6_H__

#include "simt/push_letters.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simt/small_floats.h"

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;
#define __CUDA_FP6_TYPES_EXIST__

namespace simt {
inline const SmallFormat& fp6_format(__nv_fp6_interpretation_t kind) {
  return kind == __NV_E2M3 ? kE2M3 : kE3M2;
}
}  // namespace simt

inline __nv_fp6_storage_t __nv_cvt_double_to_fp6(const double x, const __nv_fp6_interpretation_t kind,
                                                 const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp6_storage_t>(simt::small_bits(simt::fp6_format(kind), x, true, rounding));
}
inline __nv_fp6_storage_t __nv_cvt_float_to_fp6(const float x, const __nv_fp6_interpretation_t kind,
                                                const enum cudaRoundMode rounding) {
  return __nv_cvt_double_to_fp6(simt::widened(x), kind, rounding);
}
inline __nv_fp6_storage_t __nv_cvt_halfraw_to_fp6(const __half_raw x, const __nv_fp6_interpretation_t kind,
                                                  const enum cudaRoundMode rounding) {
  return __nv_cvt_float_to_fp6(static_cast<float>(__half(x)), kind, rounding);
}
inline __nv_fp6_storage_t __nv_cvt_bfloat16raw_to_fp6(const __nv_bfloat16_raw x,
                                                      const __nv_fp6_interpretation_t kind,
                                                      const enum cudaRoundMode rounding) {
  return __nv_cvt_float_to_fp6(static_cast<float>(__nv_bfloat16(x)), kind, rounding);
}
inline __nv_fp6x2_storage_t __nv_cvt_double2_to_fp6x2(const double2 x, const __nv_fp6_interpretation_t kind,
                                                      const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp6x2_storage_t>(__nv_cvt_double_to_fp6(x.x, kind, rounding) |
                                           __nv_cvt_double_to_fp6(x.y, kind, rounding) << 8);
}
inline __nv_fp6x2_storage_t __nv_cvt_float2_to_fp6x2(const float2 x, const __nv_fp6_interpretation_t kind,
                                                     const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp6x2_storage_t>(__nv_cvt_float_to_fp6(x.x, kind, rounding) |
                                           __nv_cvt_float_to_fp6(x.y, kind, rounding) << 8);
}
inline __nv_fp6x2_storage_t __nv_cvt_halfraw2_to_fp6x2(const __half2_raw x,
                                                       const __nv_fp6_interpretation_t kind,
                                                       const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp6x2_storage_t>(__nv_cvt_halfraw_to_fp6(__half_raw{x.x}, kind, rounding) |
                                           __nv_cvt_halfraw_to_fp6(__half_raw{x.y}, kind, rounding) << 8);
}
inline __nv_fp6x2_storage_t __nv_cvt_bfloat16raw2_to_fp6x2(const __nv_bfloat162_raw x,
                                                           const __nv_fp6_interpretation_t kind,
                                                           const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp6x2_storage_t>(
      __nv_cvt_bfloat16raw_to_fp6(__nv_bfloat16_raw{x.x}, kind, rounding) |
      __nv_cvt_bfloat16raw_to_fp6(__nv_bfloat16_raw{x.y}, kind, rounding) << 8);
}
inline __half_raw __nv_cvt_fp6_to_halfraw(const __nv_fp6_storage_t x, const __nv_fp6_interpretation_t kind) {
  return __half(simt::small_value(simt::fp6_format(kind), x));
}
inline __half2_raw __nv_cvt_fp6x2_to_halfraw2(const __nv_fp6x2_storage_t x,
                                              const __nv_fp6_interpretation_t kind) {
  return __half2_raw{__nv_cvt_fp6_to_halfraw(static_cast<__nv_fp6_storage_t>(x & 0xff), kind).x,
                     __nv_cvt_fp6_to_halfraw(static_cast<__nv_fp6_storage_t>(x >> 8), kind).x};
}

#define SIMT_SMALL __nv_fp6_e2m3
#define SIMT_SMALL2 __nv_fp6x2_e2m3
#define SIMT_SMALL4 __nv_fp6x4_e2m3
#define SIMT_SMALL_NAME(name) name##e2m3
#define SIMT_SMALL_STORAGE(n) __nv_fp6##n##_storage_t
#define SIMT_SMALL_WIDTH 8
#define SIMT_SMALL_ENCODE(value) simt::small_bits(simt::kE2M3, value, true)
#define SIMT_SMALL_DECODE(bits) simt::small_value(simt::kE2M3, bits)
#define SIMT_SMALL_IS_ZERO(bits) ((bits)&0x1fu) == 0
#include "simt/small_float_types.h"

#define SIMT_SMALL __nv_fp6_e3m2
#define SIMT_SMALL2 __nv_fp6x2_e3m2
#define SIMT_SMALL4 __nv_fp6x4_e3m2
#define SIMT_SMALL_NAME(name) name##e3m2
#define SIMT_SMALL_STORAGE(n) __nv_fp6##n##_storage_t
#define SIMT_SMALL_WIDTH 8
#define SIMT_SMALL_ENCODE(value) simt::small_bits(simt::kE3M2, value, true)
#define SIMT_SMALL_DECODE(bits) simt::small_value(simt::kE3M2, bits)
#define SIMT_SMALL_IS_ZERO(bits) ((bits)&0x1fu) == 0
#include "simt/small_float_types.h"

#include "simt/pop_letters.h"

#endif
