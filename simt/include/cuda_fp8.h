// SPDX-License-Identifier: MIT
//
// Numbers of 8 bits: E4M3 (no infinity), E5M2, and E8M0, a power of two. The constructors saturate to the
// largest finite number, the functions as they are told.
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#include "simt/push_letters.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simt/small_floats.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;
#define __CUDA_FP8_TYPES_EXIST__

namespace simt {
inline const SmallFormat& fp8_format(__nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? kE4M3 : kE5M2;
}
}  // namespace simt

inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturate,
                                                 const __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8_storage_t>(
      simt::small_bits(simt::fp8_format(kind), x, saturate == __NV_SATFINITE));
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(simt::widened(x), saturate, kind);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t saturate,
                                                  const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(static_cast<float>(__half(x)), saturate, kind);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x,
                                                      const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(static_cast<float>(__nv_bfloat16(x)), saturate, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 x, const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_double_to_fp8(x.x, saturate, kind) |
                                           __nv_cvt_double_to_fp8(x.y, saturate, kind) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x, const __nv_saturation_t saturate,
                                                     const __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_float_to_fp8(x.x, saturate, kind) |
                                           __nv_cvt_float_to_fp8(x.y, saturate, kind) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x, const __nv_saturation_t saturate,
                                                       const __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_halfraw_to_fp8(__half_raw{x.x}, saturate, kind) |
                                           __nv_cvt_halfraw_to_fp8(__half_raw{x.y}, saturate, kind) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
                                                           const __nv_saturation_t saturate,
                                                           const __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8x2_storage_t>(
      __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.x}, saturate, kind) |
      __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.y}, saturate, kind) << 8);
}
inline __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t kind) {
  return __half(simt::small_value(simt::fp8_format(kind), x));
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x,
                                              const __nv_fp8_interpretation_t kind) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x & 0xff), kind).x,
                     __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), kind).x};
}

// ---- E8M0: toward zero, or up ----

inline __nv_fp8_storage_t __nv_cvt_double_to_e8m0(const double x, const __nv_saturation_t saturate,
                                                  const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp8_storage_t>(simt::power_bits(x, saturate == __NV_SATFINITE, rounding));
}
inline __nv_fp8_storage_t __nv_cvt_float_to_e8m0(const float x, const __nv_saturation_t saturate,
                                                 const enum cudaRoundMode rounding) {
  return __nv_cvt_double_to_e8m0(simt::widened(x), saturate, rounding);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(const __nv_bfloat16_raw x,
                                                       const __nv_saturation_t saturate,
                                                       const enum cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0(static_cast<float>(__nv_bfloat16(x)), saturate, rounding);
}
inline __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(const double2 x, const __nv_saturation_t saturate,
                                                       const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_double_to_e8m0(x.x, saturate, rounding) |
                                           __nv_cvt_double_to_e8m0(x.y, saturate, rounding) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(const float2 x, const __nv_saturation_t saturate,
                                                      const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_float_to_e8m0(x.x, saturate, rounding) |
                                           __nv_cvt_float_to_e8m0(x.y, saturate, rounding) << 8);
}
inline __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(const __nv_bfloat162_raw x,
                                                            const __nv_saturation_t saturate,
                                                            const enum cudaRoundMode rounding) {
  return static_cast<__nv_fp8x2_storage_t>(
      __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw{x.x}, saturate, rounding) |
      __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw{x.y}, saturate, rounding) << 8);
}
inline __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(const __nv_fp8_storage_t x) {
  return __nv_bfloat16(simt::power_value(x));
}
inline __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(const __nv_fp8x2_storage_t x) {
  return __nv_bfloat162_raw{__nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(x & 0xff)).x,
                            __nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(x >> 8)).x};
}

// ---- classes ----

#define SIMT_SMALL __nv_fp8_e4m3
#define SIMT_SMALL2 __nv_fp8x2_e4m3
#define SIMT_SMALL4 __nv_fp8x4_e4m3
#define SIMT_SMALL_NAME(name) name##e4m3
#define SIMT_SMALL_STORAGE(n) __nv_fp8##n##_storage_t
#define SIMT_SMALL_WIDTH 8
#define SIMT_SMALL_ENCODE(value) simt::small_bits(simt::kE4M3, value, true)
#define SIMT_SMALL_DECODE(bits) simt::small_value(simt::kE4M3, bits)
#define SIMT_SMALL_IS_ZERO(bits) ((bits)&0x7fu) == 0
#include "simt/small_float_types.h"

#define SIMT_SMALL __nv_fp8_e5m2
#define SIMT_SMALL2 __nv_fp8x2_e5m2
#define SIMT_SMALL4 __nv_fp8x4_e5m2
#define SIMT_SMALL_NAME(name) name##e5m2
#define SIMT_SMALL_STORAGE(n) __nv_fp8##n##_storage_t
#define SIMT_SMALL_WIDTH 8
#define SIMT_SMALL_ENCODE(value) simt::small_bits(simt::kE5M2, value, true)
#define SIMT_SMALL_DECODE(bits) simt::small_value(simt::kE5M2, bits)
#define SIMT_SMALL_IS_ZERO(bits) ((bits)&0x7fu) == 0
#include "simt/small_float_types.h"

#define SIMT_SMALL __nv_fp8_e8m0
#define SIMT_SMALL2 __nv_fp8x2_e8m0
#define SIMT_SMALL4 __nv_fp8x4_e8m0
#define SIMT_SMALL_NAME(name) name##e8m0
#define SIMT_SMALL_STORAGE(n) __nv_fp8##n##_storage_t
#define SIMT_SMALL_WIDTH 8
#define SIMT_SMALL_ENCODE(value) simt::power_bits(value, true, cudaRoundPosInf)
#define SIMT_SMALL_DECODE(bits) simt::power_value(bits)
#define SIMT_SMALL_IS_ZERO(bits) ((void)(bits), false)
#include "simt/small_float_types.h"

#include "simt/pop_letters.h"

#endif
