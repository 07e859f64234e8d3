// SPDX-License-Identifier: MIT
//
// Tensor cores: matrix products of a warp, and the loads that bring matrices into the registers that these
// want. All 32 lanes take part. Included by common/ptx.h.
//
// Fragments, as the PTX ISA's pictures of "Matrix Fragments for mma" have them, with g = lane / 4 and t =
// lane % 4. A register holds `e` neighbours along k: 4 of s8, 2 of half and bfloat16, 1 of tf32.
//   a    (m, k)  registers 0, 1: rows g and g + 8, columns t * e and on
//                registers 2, 3: the same rows, 4 * e columns further
//   b    (k, n)  register 0: rows t * e and on, of column g
//                register 1: 4 * e rows further
//   c, d (m, n)  elements 0, 1: row g, columns 2 * t and 2 * t + 1
//                elements 2, 3: row g + 8, the same columns
#pragma once

#include "common/ptx/address.h"

#ifdef __SIMT__
#include "simt/tensor_cores.h"
#endif

namespace days::ptx {

// ldmatrix.sync.aligned.m8n8.x1|x2|x4.shared.b16: one, two or four matrices of 8x8 16-bit elements. Lane 8 *
// i + j brings the address of row j of matrix i, 16 bytes; each lane gets elements 2 * t and 2 * t + 1 of row
// g of each. kTransposed (.trans): of column g instead. Section "ldmatrix".
template <bool kTransposed = false, int kMatrices>
__device__ __forceinline__ void ldmatrix(uint32_t (&d)[kMatrices], const void* row DAYS_PTX_AND_SITE) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4, "ldmatrix loads 1, 2 or 4 matrices");
#ifdef __SIMT__
  simt::ldmatrix(d, row, kMatrices, kTransposed, site);
#else
  const uint32_t from = detail::shared_address(row);
  if constexpr (kMatrices == 1 && !kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d[0]) : "r"(from) : "memory");
  } else if constexpr (kMatrices == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(d[0])
                 : "r"(from)
                 : "memory");
  } else if constexpr (kMatrices == 2 && !kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(from)
                 : "memory");
  } else if constexpr (kMatrices == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(from)
                 : "memory");
  } else if constexpr (!kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(from)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(from)
                 : "memory");
  }
#endif
}

// stmatrix.sync.aligned.m8n8.x4.shared.b16: the way back, for compute capability 9.0 and later. Section
// "stmatrix".
template <bool kTransposed = false>
__device__ __forceinline__ void stmatrix(void* row, const uint32_t (&s)[4] DAYS_PTX_AND_SITE) {
#ifdef __SIMT__
  simt::stmatrix(row, s, 4, kTransposed, site);
#elif __CUDA_ARCH__ >= 900
  const uint32_t to = detail::shared_address(row);
  if constexpr (kTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                 "r"(s[0]), "r"(s[1]), "r"(s[2]), "r"(s[3])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(s[0]),
                 "r"(s[1]), "r"(s[2]), "r"(s[3])
                 : "memory");
  }
#endif
}

// movmatrix.sync.aligned.m8n8.trans.b16: transposes an 8x8 matrix in the warp's registers. Section
// "movmatrix".
__device__ __forceinline__ uint32_t movmatrix_trans(uint32_t value DAYS_PTX_AND_SITE) {
#ifdef __SIMT__
  return simt::movmatrix_transposed(value, site);
#else
  uint32_t moved;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(value));
  return moved;
#endif
}

// cvt.rna.tf32.f32: the nearest tf32, halves away from zero, for compute capability 8.0 and later; before,
// the float itself. Section "cvt".
__device__ __forceinline__ uint32_t cvt_rna_tf32(float x) {
  uint32_t bits = __float_as_uint(x);
#ifdef __SIMT__
  bits = __float_as_uint(simt::round_to_tf32(x));
#elif __CUDA_ARCH__ >= 800
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#endif
  return bits;
}

// cvt.rn.tf32.f32: the nearest tf32, halves to even, for compute capability 9.0 and later, where it is one machine
// instruction; before, cvt_rna_tf32, which nvcc makes of three. Section "cvt".
__device__ __forceinline__ uint32_t cvt_rn_tf32(float x) {
#ifdef __SIMT__
  return __float_as_uint(simt::round_to_tf32_even(x));
#elif __CUDA_ARCH__ >= 900
  uint32_t bits;
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
#else
  return cvt_rna_tf32(x);
#endif
}

// mma.sync.aligned.<shape>.row.col.<d>.<a>.<b>.<c>: d = a * b + c. Section "Multiply-and-Accumulate
// Instruction: mma". The name says the shape and the types of d, a, b and c. Halves of c and
// d stand two in a register.
//
// On the CPU products are exact, their sum with c is rounded once; tensor cores add with fewer bits, so the
// last bit may differ.
#ifdef __SIMT__
#define DAYS_PTX_MMA(M, N, K, D, A, C, instruction)                                                        \
  simt::mma_sync(                                                                                          \
      {M, N, K, simt::MatrixType::A, simt::MatrixType::A, simt::MatrixType::C, simt::MatrixType::D}, a, b, \
      c, d, site)
#else
#define DAYS_PTX_MMA(M, N, K, D, A, C, instruction) instruction
#endif

// Registers of a, b, and elements or registers of d by their letter: "f" floats, "r" 32-bit registers.
#define DAYS_PTX_ASM_2_1_4(name, letter)                                                \
  asm volatile(name " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"             \
               : "=" letter(d[0]), "=" letter(d[1]), "=" letter(d[2]), "=" letter(d[3]) \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), letter(c[0]), letter(c[1]), letter(c[2]), letter(c[3]))
#define DAYS_PTX_ASM_4_2_4(name, letter)                                                         \
  asm volatile(name " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"       \
               : "=" letter(d[0]), "=" letter(d[1]), "=" letter(d[2]), "=" letter(d[3])          \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), letter(c[0]), \
                 letter(c[1]), letter(c[2]), letter(c[3]))
#define DAYS_PTX_ASM_2_1_2(name, letter)                   \
  asm volatile(name " {%0, %1}, {%2, %3}, {%4}, {%5, %6};" \
               : "=" letter(d[0]), "=" letter(d[1])        \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), letter(c[0]), letter(c[1]))
#define DAYS_PTX_ASM_4_2_2(name, letter)                                                         \
  asm volatile(name " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"                           \
               : "=" letter(d[0]), "=" letter(d[1])                                              \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), letter(c[0]), \
                 letter(c[1]))
#define DAYS_PTX_ASM_1_1_2(name, letter)               \
  asm volatile(name " {%0, %1}, {%2}, {%3}, {%4, %5};" \
               : "=" letter(d[0]), "=" letter(d[1])    \
               : "r"(a[0]), "r"(b[0]), letter(c[0]), letter(c[1]))

__device__ __forceinline__ void mma_m16n8k8_f32_f16_f16_f32(float (&d)[4], const uint32_t (&a)[2],
                                                            const uint32_t (&b)[1],
                                                            const float (&c)[4] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 8, f32, f16, f32,
               DAYS_PTX_ASM_2_1_4("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "f"));
}
__device__ __forceinline__ void mma_m16n8k8_f16_f16_f16_f16(uint32_t (&d)[2], const uint32_t (&a)[2],
                                                            const uint32_t (&b)[1],
                                                            const uint32_t (&c)[2] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 8, f16, f16, f16,
               DAYS_PTX_ASM_2_1_2("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "r"));
}
__device__ __forceinline__ void mma_m8n8k16_s32_s8_s8_s32(int32_t (&d)[2], const uint32_t (&a)[1],
                                                          const uint32_t (&b)[1],
                                                          const int32_t (&c)[2] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(8, 8, 16, s32, s8, s32,
               DAYS_PTX_ASM_1_1_2("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", "r"));
}
__device__ __forceinline__ void mma_m8n8k16_s32_u8_u8_s32(int32_t (&d)[2], const uint32_t (&a)[1],
                                                          const uint32_t (&b)[1],
                                                          const int32_t (&c)[2] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(8, 8, 16, s32, u8, s32,
               DAYS_PTX_ASM_1_1_2("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32", "r"));
}

// Compute capability 8.0 and later.
#if !defined(__SIMT__) && !(__CUDA_ARCH__ >= 800)
#undef DAYS_PTX_MMA
#define DAYS_PTX_MMA(M, N, K, D, A, C, instruction) static_cast<void>(d)
#endif
__device__ __forceinline__ void mma_m16n8k16_f32_f16_f16_f32(float (&d)[4], const uint32_t (&a)[4],
                                                             const uint32_t (&b)[2],
                                                             const float (&c)[4] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 16, f32, f16, f32,
               DAYS_PTX_ASM_4_2_4("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f"));
}
__device__ __forceinline__ void mma_m16n8k16_f16_f16_f16_f16(uint32_t (&d)[2], const uint32_t (&a)[4],
                                                             const uint32_t (&b)[2],
                                                             const uint32_t (&c)[2] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 16, f16, f16, f16,
               DAYS_PTX_ASM_4_2_2("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "r"));
}
__device__ __forceinline__ void mma_m16n8k8_f32_bf16_bf16_f32(float (&d)[4], const uint32_t (&a)[2],
                                                              const uint32_t (&b)[1],
                                                              const float (&c)[4] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 8, f32, bf16, f32,
               DAYS_PTX_ASM_2_1_4("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "f"));
}
__device__ __forceinline__ void mma_m16n8k16_f32_bf16_bf16_f32(float (&d)[4], const uint32_t (&a)[4],
                                                               const uint32_t (&b)[2],
                                                               const float (&c)[4] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 16, f32, bf16, f32,
               DAYS_PTX_ASM_4_2_4("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "f"));
}
__device__ __forceinline__ void mma_m16n8k4_f32_tf32_tf32_f32(float (&d)[4], const uint32_t (&a)[2],
                                                              const uint32_t (&b)[1],
                                                              const float (&c)[4] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 4, f32, tf32, f32,
               DAYS_PTX_ASM_2_1_4("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "f"));
}
__device__ __forceinline__ void mma_m16n8k8_f32_tf32_tf32_f32(float (&d)[4], const uint32_t (&a)[4],
                                                              const uint32_t (&b)[2],
                                                              const float (&c)[4] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 8, f32, tf32, f32,
               DAYS_PTX_ASM_4_2_4("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "f"));
}
__device__ __forceinline__ void mma_m16n8k16_s32_s8_s8_s32(int32_t (&d)[4], const uint32_t (&a)[2],
                                                           const uint32_t (&b)[1],
                                                           const int32_t (&c)[4] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 16, s32, s8, s32,
               DAYS_PTX_ASM_2_1_4("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", "r"));
}
__device__ __forceinline__ void mma_m16n8k32_s32_s8_s8_s32(int32_t (&d)[4], const uint32_t (&a)[4],
                                                           const uint32_t (&b)[2],
                                                           const int32_t (&c)[4] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 32, s32, s8, s32,
               DAYS_PTX_ASM_4_2_4("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "r"));
}
__device__ __forceinline__ void mma_m16n8k16_s32_u8_u8_s32(int32_t (&d)[4], const uint32_t (&a)[2],
                                                           const uint32_t (&b)[1],
                                                           const int32_t (&c)[4] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 16, s32, u8, s32,
               DAYS_PTX_ASM_2_1_4("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32", "r"));
}
__device__ __forceinline__ void mma_m16n8k32_s32_u8_u8_s32(int32_t (&d)[4], const uint32_t (&a)[4],
                                                           const uint32_t (&b)[2],
                                                           const int32_t (&c)[4] DAYS_PTX_AND_SITE) {
  DAYS_PTX_MMA(16, 8, 32, s32, u8, s32,
               DAYS_PTX_ASM_4_2_4("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", "r"));
}

// mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64: a (8, 4): row g, column t; b (4, 8): row t, column g; c
// and d as elements 0 and 1 above. Section as above.
__device__ __forceinline__ void mma_m8n8k4_f64_f64_f64_f64(double (&d)[2], double a, double b,
                                                           const double (&c)[2] DAYS_PTX_AND_SITE) {
#ifdef __SIMT__
  using simt::MatrixType;
  simt::mma_sync({8, 8, 4, MatrixType::f64, MatrixType::f64, MatrixType::f64, MatrixType::f64}, &a, &b, c, d,
                 site);
#elif __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=d"(d[0]), "=d"(d[1])
               : "d"(a), "d"(b), "d"(c[0]), "d"(c[1]));
#endif
}

// mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 and its kind of e5m2, four numbers in a register: for
// compute capability 8.9 and later. Section as above.
__device__ __forceinline__ void mma_m16n8k32_f32_e4m3_e4m3_f32(float (&d)[4], const uint32_t (&a)[4],
                                                               const uint32_t (&b)[2],
                                                               const float (&c)[4] DAYS_PTX_AND_SITE) {
#ifdef __SIMT__
  using simt::MatrixType;
  simt::mma_sync({16, 8, 32, MatrixType::e4m3, MatrixType::e4m3, MatrixType::f32, MatrixType::f32}, a, b, c,
                 d, site);
#elif __CUDA_ARCH__ >= 890
  DAYS_PTX_ASM_4_2_4("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "f");
#endif
}
__device__ __forceinline__ void mma_m16n8k32_f32_e5m2_e5m2_f32(float (&d)[4], const uint32_t (&a)[4],
                                                               const uint32_t (&b)[2],
                                                               const float (&c)[4] DAYS_PTX_AND_SITE) {
#ifdef __SIMT__
  using simt::MatrixType;
  simt::mma_sync({16, 8, 32, MatrixType::e5m2, MatrixType::e5m2, MatrixType::f32, MatrixType::f32}, a, b, c,
                 d, site);
#elif __CUDA_ARCH__ >= 890
  DAYS_PTX_ASM_4_2_4("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", "f");
#endif
}

#undef DAYS_PTX_MMA
#undef DAYS_PTX_ASM_2_1_4
#undef DAYS_PTX_ASM_4_2_4
#undef DAYS_PTX_ASM_2_1_2
#undef DAYS_PTX_ASM_4_2_2
#undef DAYS_PTX_ASM_1_1_2

}  // namespace days::ptx
