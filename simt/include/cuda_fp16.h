// SPDX-License-Identifier: MIT
//
// Half precision: __half, __half2 and their operations, for kernels and host code alike.
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#include "simt/push_letters.h"

#ifdef __CUDACC__
#include "cuda_runtime.h"
#endif
#include "device_functions.h"
#include "simt/float16_bits.h"

#define SIMT_HALF __half
#define SIMT_HALF2 __half2
#define SIMT_HALF_RAW __half_raw
#define SIMT_HALF2_RAW __half2_raw
#define SIMT_HALF_FORMAT simt::HalfFormat
#define SIMT_HALF_NAME(before, after) before##half##after
#define SIMT_HALF_OTHER __nv_bfloat16
#include "simt/half_operations.h"
#undef SIMT_HALF_OTHER
#undef SIMT_HALF
#undef SIMT_HALF2
#undef SIMT_HALF_RAW
#undef SIMT_HALF2_RAW
#undef SIMT_HALF_FORMAT
#undef SIMT_HALF_NAME

inline __half2 __half2half2(__half a) {
  return __half2(a, a);
}
inline float2 __half22float2(__half2 a) {
  return make_float2(a.x, a.y);
}

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)

#include "simt/pop_letters.h"

#endif
