// SPDX-License-Identifier: MIT
//
// bfloat16: __nv_bfloat16, __nv_bfloat162 and their operations, for kernels and host code alike.
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#include "simt/push_letters.h"

#ifdef __CUDACC__
#include "cuda_runtime.h"
#endif
#include "cuda_fp16.h"  // as NVIDIA's header does
#include "device_functions.h"
#include "simt/float16_bits.h"

#define SIMT_HALF __nv_bfloat16
#define SIMT_HALF2 __nv_bfloat162
#define SIMT_HALF_RAW __nv_bfloat16_raw
#define SIMT_HALF2_RAW __nv_bfloat162_raw
#define SIMT_HALF_FORMAT simt::Bfloat16Format
#define SIMT_HALF_NAME(before, after) before##bfloat16##after
#define SIMT_HALF_OTHER __half
#include "simt/half_operations.h"
#undef SIMT_HALF_OTHER
#undef SIMT_HALF
#undef SIMT_HALF2
#undef SIMT_HALF_RAW
#undef SIMT_HALF2_RAW
#undef SIMT_HALF_FORMAT
#undef SIMT_HALF_NAME

inline __half::__half(const __nv_bfloat16& x) : __half(static_cast<float>(x)) {}
inline __nv_bfloat16::__nv_bfloat16(const __half& x) : __nv_bfloat16(static_cast<float>(x)) {}

inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) {
  return __nv_bfloat162(a, a);
}
inline float2 __bfloat1622float2(__nv_bfloat162 a) {
  return make_float2(a.x, a.y);
}

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)

#include "simt/pop_letters.h"

#endif
