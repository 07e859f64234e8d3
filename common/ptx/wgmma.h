// SPDX-License-Identifier: MIT
//
// Matrix products of a warpgroup, for compute capability 9.0 alone (code for 90a). Four warps, 128 threads, the first of which is a
// multiple of four, take part; b, and a as well unless it is in registers, are read from shared memory, by descriptor, and d is added up
// in the registers of the group. Products run on their own: what they read may be read at any time until wgmma_wait_group() says that
// they have ended, and until then d is theirs. Not included by common/ptx.h, as few files want it. On architectures other than 90a these
// do nothing; the CPU backend has them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <type_traits>

#include "common/ptx/address.h"

#ifdef __SIMT__
#include "simt/warpgroups.h"
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define DAYS_PTX_WGMMA 1
#endif

namespace days::ptx {

// How the 16-byte pieces of a tile change places, as cuTensorMapEncodeTiled's swizzles of the same widths leave them.
enum class WgmmaSwizzle : uint64_t { none = 0, bytes128 = 1, bytes64 = 2, bytes32 = 3 };

// Where a tile of a warpgroup's product lies in shared memory; section "Matrix Descriptor Format". Below, `width` is 128, 64 or 32 bytes,
// that of the swizzle, and a matrix is (rows, k): the rows of a, the columns of b.
//
// Along k (Major::k): a row has `width` bytes of k, 8 rows are a block of 8 * width bytes at a multiple of that, and the next 8 rows begin
//   `stride` bytes further. The next step along k, 32 bytes, begins 32 bytes further: descriptor + 2. `leading` is not used.
// Along rows (Major::rows, 16-bit types alone): a line has `width` bytes of rows, one k; 8 lines are a block; the next 8 k begin `stride`
//   bytes further, the next `width` bytes of rows `leading` bytes further.
// Without swizzle a block is 8 pieces of 16 bytes one after the other. Along k: the next 8 rows `stride`, the next 16 bytes of k
//   `leading` bytes further. Along rows: the next 8 k `leading`, the next 16 bytes of rows `stride` bytes further.
//
// The defaults are those of rows of 128 bytes along k, one under the other.
__device__ __forceinline__ uint64_t wgmma_descriptor(const void* tile, uint32_t leading = 16,
                                                     uint32_t stride = 1024,
                                                     WgmmaSwizzle swizzle = WgmmaSwizzle::bytes128) {
#ifdef __SIMT__
  const uint64_t address =
      __cvta_generic_to_shared(tile) & 0x7ffff;  // the CPU backend's shared memory needs a bit more
#else
  const uint64_t address = detail::shared_address(tile) & 0x3ffff;
#endif
  return address >> 4 | uint64_t{(leading & 0x3ffff) >> 4} << 16 | uint64_t{(stride & 0x3ffff) >> 4} << 32 |
         static_cast<uint64_t>(swizzle) << 62;
}

// wgmma.fence.sync.aligned: before the first product, and wherever a thread has touched registers of d, or of a, since the last
// one. Section "wgmma.fence".
__device__ __forceinline__ void wgmma_fence(DAYS_PTX_SITE) {
#ifdef __SIMT__
  simt::wgmma_fence(site);
#elif defined(DAYS_PTX_WGMMA)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

// wgmma.commit_group.sync.aligned: the products since the last one are a group. Section "wgmma.commit_group".
__device__ __forceinline__ void wgmma_commit_group(DAYS_PTX_SITE) {
#ifdef __SIMT__
  simt::wgmma_commit_group(site);
#elif defined(DAYS_PTX_WGMMA)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

// wgmma.wait_group.sync.aligned: until at most kPending groups are unfinished. Section "wgmma.wait_group".
template <int kPending>
__device__ __forceinline__ void wgmma_wait_group(DAYS_PTX_SITE) {
#ifdef __SIMT__
  simt::wgmma_wait_group(kPending, site);
#elif defined(DAYS_PTX_WGMMA)
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#endif
}

// The element types of a and b: __half, __nv_bfloat16, Tf32, __nv_fp8_e4m3, __nv_fp8_e5m2 (each of the two with the other, too) and int8_t.
struct Tf32 {};
// Along what the elements that lie side by side are neighbours.
enum class Major { k, rows };

namespace detail {

enum class WgmmaType { half, bfloat16, tf32, e4m3, e5m2, e4m3_e5m2, e5m2_e4m3, int8 };
template <class A, class B>
__host__ __device__ constexpr WgmmaType wgmma_type() {
  constexpr bool kSame = std::is_same_v<A, B>;
  if constexpr (kSame && std::is_same_v<A, __half>) {
    return WgmmaType::half;
  } else if constexpr (kSame && std::is_same_v<A, __nv_bfloat16>) {
    return WgmmaType::bfloat16;
  } else if constexpr (kSame && std::is_same_v<A, Tf32>) {
    return WgmmaType::tf32;
  } else if constexpr (kSame && std::is_same_v<A, int8_t>) {
    return WgmmaType::int8;
  } else if constexpr (std::is_same_v<A, __nv_fp8_e4m3>) {
    static_assert(kSame || std::is_same_v<B, __nv_fp8_e5m2>, "wgmma has no product of these two types");
    return kSame ? WgmmaType::e4m3 : WgmmaType::e4m3_e5m2;
  } else {
    static_assert(std::is_same_v<A, __nv_fp8_e5m2> && (kSame || std::is_same_v<B, __nv_fp8_e4m3>),
                  "wgmma has no product of these two types");
    return kSame ? WgmmaType::e5m2 : WgmmaType::e5m2_e4m3;
  }
}
template <class A>
using WgmmaSum = std::conditional_t<std::is_same_v<A, int8_t>, int32_t, float>;

template <class A, class B, Major kA, Major kB, int kColumns>
__host__ __device__ constexpr void check_wgmma() {
  static_assert(kColumns % 8 == 0 && kColumns >= 8 && kColumns <= 256,
                "d has 8 to 256 columns, a multiple of 8");
  static_assert(!std::is_same_v<A, int8_t> || kColumns <= 24 || kColumns % 16 == 0,
                "from 32 columns on int8's are a multiple of 16");
  static_assert(
      (kA == Major::k && kB == Major::k) || std::is_same_v<A, __half> || std::is_same_v<A, __nv_bfloat16>,
      "types other than those of 16 bits lie along k");
}

#ifdef __SIMT__
constexpr simt::WgmmaShape wgmma_shape(WgmmaType type, int columns, bool a_by_rows, bool b_by_rows) {
  using M = simt::MatrixType;
  constexpr M kA[] = {M::f16, M::bf16, M::tf32, M::e4m3, M::e5m2, M::e4m3, M::e5m2, M::s8};
  constexpr M kB[] = {M::f16, M::bf16, M::tf32, M::e4m3, M::e5m2, M::e5m2, M::e4m3, M::s8};
  const auto i = static_cast<int>(type);
  return {columns, kA[i], kB[i], a_by_rows, b_by_rows};
}
#elif defined(DAYS_PTX_WGMMA)
template <int kColumns>
struct Wgmma;

// d as operands, 4 registers a step of 8 columns.
#define DAYS_PTX_D4(l, i) "+" l(d[i]), "+" l(d[(i) + 1]), "+" l(d[(i) + 2]), "+" l(d[(i) + 3])
#define DAYS_PTX_D8(l) DAYS_PTX_D4(l, 0)
#define DAYS_PTX_D16(l) DAYS_PTX_D8(l), DAYS_PTX_D4(l, 4)
#define DAYS_PTX_D24(l) DAYS_PTX_D16(l), DAYS_PTX_D4(l, 8)
#define DAYS_PTX_D32(l) DAYS_PTX_D24(l), DAYS_PTX_D4(l, 12)
#define DAYS_PTX_D40(l) DAYS_PTX_D32(l), DAYS_PTX_D4(l, 16)
#define DAYS_PTX_D48(l) DAYS_PTX_D40(l), DAYS_PTX_D4(l, 20)
#define DAYS_PTX_D56(l) DAYS_PTX_D48(l), DAYS_PTX_D4(l, 24)
#define DAYS_PTX_D64(l) DAYS_PTX_D56(l), DAYS_PTX_D4(l, 28)
#define DAYS_PTX_D72(l) DAYS_PTX_D64(l), DAYS_PTX_D4(l, 32)
#define DAYS_PTX_D80(l) DAYS_PTX_D72(l), DAYS_PTX_D4(l, 36)
#define DAYS_PTX_D88(l) DAYS_PTX_D80(l), DAYS_PTX_D4(l, 40)
#define DAYS_PTX_D96(l) DAYS_PTX_D88(l), DAYS_PTX_D4(l, 44)
#define DAYS_PTX_D104(l) DAYS_PTX_D96(l), DAYS_PTX_D4(l, 48)
#define DAYS_PTX_D112(l) DAYS_PTX_D104(l), DAYS_PTX_D4(l, 52)
#define DAYS_PTX_D120(l) DAYS_PTX_D112(l), DAYS_PTX_D4(l, 56)
#define DAYS_PTX_D128(l) DAYS_PTX_D120(l), DAYS_PTX_D4(l, 60)
#define DAYS_PTX_D136(l) DAYS_PTX_D128(l), DAYS_PTX_D4(l, 64)
#define DAYS_PTX_D144(l) DAYS_PTX_D136(l), DAYS_PTX_D4(l, 68)
#define DAYS_PTX_D152(l) DAYS_PTX_D144(l), DAYS_PTX_D4(l, 72)
#define DAYS_PTX_D160(l) DAYS_PTX_D152(l), DAYS_PTX_D4(l, 76)
#define DAYS_PTX_D168(l) DAYS_PTX_D160(l), DAYS_PTX_D4(l, 80)
#define DAYS_PTX_D176(l) DAYS_PTX_D168(l), DAYS_PTX_D4(l, 84)
#define DAYS_PTX_D184(l) DAYS_PTX_D176(l), DAYS_PTX_D4(l, 88)
#define DAYS_PTX_D192(l) DAYS_PTX_D184(l), DAYS_PTX_D4(l, 92)
#define DAYS_PTX_D200(l) DAYS_PTX_D192(l), DAYS_PTX_D4(l, 96)
#define DAYS_PTX_D208(l) DAYS_PTX_D200(l), DAYS_PTX_D4(l, 100)
#define DAYS_PTX_D216(l) DAYS_PTX_D208(l), DAYS_PTX_D4(l, 104)
#define DAYS_PTX_D224(l) DAYS_PTX_D216(l), DAYS_PTX_D4(l, 108)
#define DAYS_PTX_D232(l) DAYS_PTX_D224(l), DAYS_PTX_D4(l, 112)
#define DAYS_PTX_D240(l) DAYS_PTX_D232(l), DAYS_PTX_D4(l, 116)
#define DAYS_PTX_D248(l) DAYS_PTX_D240(l), DAYS_PTX_D4(l, 120)
#define DAYS_PTX_D256(l) DAYS_PTX_D248(l), DAYS_PTX_D4(l, 124)
#define DAYS_PTX_R8 "%0, %1, %2, %3"
#define DAYS_PTX_R16 DAYS_PTX_R8 ", %4, %5, %6, %7"
#define DAYS_PTX_R24 DAYS_PTX_R16 ", %8, %9, %10, %11"
#define DAYS_PTX_R32 DAYS_PTX_R24 ", %12, %13, %14, %15"
#define DAYS_PTX_R40 DAYS_PTX_R32 ", %16, %17, %18, %19"
#define DAYS_PTX_R48 DAYS_PTX_R40 ", %20, %21, %22, %23"
#define DAYS_PTX_R56 DAYS_PTX_R48 ", %24, %25, %26, %27"
#define DAYS_PTX_R64 DAYS_PTX_R56 ", %28, %29, %30, %31"
#define DAYS_PTX_R72 DAYS_PTX_R64 ", %32, %33, %34, %35"
#define DAYS_PTX_R80 DAYS_PTX_R72 ", %36, %37, %38, %39"
#define DAYS_PTX_R88 DAYS_PTX_R80 ", %40, %41, %42, %43"
#define DAYS_PTX_R96 DAYS_PTX_R88 ", %44, %45, %46, %47"
#define DAYS_PTX_R104 DAYS_PTX_R96 ", %48, %49, %50, %51"
#define DAYS_PTX_R112 DAYS_PTX_R104 ", %52, %53, %54, %55"
#define DAYS_PTX_R120 DAYS_PTX_R112 ", %56, %57, %58, %59"
#define DAYS_PTX_R128 DAYS_PTX_R120 ", %60, %61, %62, %63"
#define DAYS_PTX_R136 DAYS_PTX_R128 ", %64, %65, %66, %67"
#define DAYS_PTX_R144 DAYS_PTX_R136 ", %68, %69, %70, %71"
#define DAYS_PTX_R152 DAYS_PTX_R144 ", %72, %73, %74, %75"
#define DAYS_PTX_R160 DAYS_PTX_R152 ", %76, %77, %78, %79"
#define DAYS_PTX_R168 DAYS_PTX_R160 ", %80, %81, %82, %83"
#define DAYS_PTX_R176 DAYS_PTX_R168 ", %84, %85, %86, %87"
#define DAYS_PTX_R184 DAYS_PTX_R176 ", %88, %89, %90, %91"
#define DAYS_PTX_R192 DAYS_PTX_R184 ", %92, %93, %94, %95"
#define DAYS_PTX_R200 DAYS_PTX_R192 ", %96, %97, %98, %99"
#define DAYS_PTX_R208 DAYS_PTX_R200 ", %100, %101, %102, %103"
#define DAYS_PTX_R216 DAYS_PTX_R208 ", %104, %105, %106, %107"
#define DAYS_PTX_R224 DAYS_PTX_R216 ", %108, %109, %110, %111"
#define DAYS_PTX_R232 DAYS_PTX_R224 ", %112, %113, %114, %115"
#define DAYS_PTX_R240 DAYS_PTX_R232 ", %116, %117, %118, %119"
#define DAYS_PTX_R248 DAYS_PTX_R240 ", %120, %121, %122, %123"
#define DAYS_PTX_R256 DAYS_PTX_R248 ", %124, %125, %126, %127"

// One instruction. n: columns; k, types: of its name; l: the constraint of d; %i to %o: the numbers of the operands behind d.
#define DAYS_PTX_SHARED_A(n, k, types, l, i, j, p, rest, ...)                                              \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #p ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n "k" #k \
               "." types " {" DAYS_PTX_R##n "}, %" #i ", %" #j ", p" rest ";\n}"                           \
               : DAYS_PTX_D##n(l)                                                                          \
               : "l"(a), "l"(b), "r"(static_cast<int>(add))__VA_ARGS__                                     \
               : "memory")
#define DAYS_PTX_REGISTER_A(n, k, types, l, i, j, m, o, q, p, rest, ...)                                   \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #p ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n "k" #k \
               "." types " {" DAYS_PTX_R##n "}, {%" #i ", %" #j ", %" #m ", %" #o "}, %" #q ", p" rest     \
                                            ";\n}"                                                         \
               : DAYS_PTX_D##n(l)                                                                          \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add))__VA_ARGS__ \
               : "memory")
#define DAYS_PTX_WITH ,  // before further operands
#define DAYS_PTX_MAJORS DAYS_PTX_WITH "n"(static_cast<int>(kA)), "n"(static_cast<int>(kB))
#define DAYS_PTX_MAJOR DAYS_PTX_WITH "n"(static_cast<int>(kB))
#define DAYS_PTX_WGMMA_OF(n, i, j, m, o, q, p, r)                                                           \
  template <>                                                                                               \
  struct Wgmma<n> {                                                                                         \
    template <WgmmaType kType, Major kA, Major kB, class Sum>                                               \
    static __device__ __forceinline__ void run(Sum (&d)[n / 2], uint64_t a, uint64_t b, bool add) {         \
      if constexpr (kType == WgmmaType::half) {                                                             \
        DAYS_PTX_SHARED_A(n, 16, "f32.f16.f16", "f", i, j, m, ", 1, 1, %" #o ", %" #q, DAYS_PTX_MAJORS);    \
      } else if constexpr (kType == WgmmaType::bfloat16) {                                                  \
        DAYS_PTX_SHARED_A(n, 16, "f32.bf16.bf16", "f", i, j, m, ", 1, 1, %" #o ", %" #q, DAYS_PTX_MAJORS);  \
      } else if constexpr (kType == WgmmaType::tf32) {                                                      \
        DAYS_PTX_SHARED_A(n, 8, "f32.tf32.tf32", "f", i, j, m, ", 1, 1");                                   \
      } else if constexpr (kType == WgmmaType::e4m3) {                                                      \
        DAYS_PTX_SHARED_A(n, 32, "f32.e4m3.e4m3", "f", i, j, m, ", 1, 1");                                  \
      } else if constexpr (kType == WgmmaType::e5m2) {                                                      \
        DAYS_PTX_SHARED_A(n, 32, "f32.e5m2.e5m2", "f", i, j, m, ", 1, 1");                                  \
      } else if constexpr (kType == WgmmaType::e4m3_e5m2) {                                                 \
        DAYS_PTX_SHARED_A(n, 32, "f32.e4m3.e5m2", "f", i, j, m, ", 1, 1");                                  \
      } else if constexpr (kType == WgmmaType::e5m2_e4m3) {                                                 \
        DAYS_PTX_SHARED_A(n, 32, "f32.e5m2.e4m3", "f", i, j, m, ", 1, 1");                                  \
      } else {                                                                                              \
        DAYS_PTX_SHARED_A(n, 32, "s32.s8.s8", "r", i, j, m, "");                                            \
      }                                                                                                     \
    }                                                                                                       \
    template <WgmmaType kType, Major kB, class Sum>                                                         \
    static __device__ __forceinline__ void run(Sum (&d)[n / 2], const uint32_t (&a)[4], uint64_t b,         \
                                               bool add) {                                                  \
      if constexpr (kType == WgmmaType::half) {                                                             \
        DAYS_PTX_REGISTER_A(n, 16, "f32.f16.f16", "f", i, j, m, o, q, p, ", 1, 1, %" #r, DAYS_PTX_MAJOR);   \
      } else if constexpr (kType == WgmmaType::bfloat16) {                                                  \
        DAYS_PTX_REGISTER_A(n, 16, "f32.bf16.bf16", "f", i, j, m, o, q, p, ", 1, 1, %" #r, DAYS_PTX_MAJOR); \
      } else if constexpr (kType == WgmmaType::tf32) {                                                      \
        DAYS_PTX_REGISTER_A(n, 8, "f32.tf32.tf32", "f", i, j, m, o, q, p, ", 1, 1");                        \
      } else if constexpr (kType == WgmmaType::e4m3) {                                                      \
        DAYS_PTX_REGISTER_A(n, 32, "f32.e4m3.e4m3", "f", i, j, m, o, q, p, ", 1, 1");                       \
      } else if constexpr (kType == WgmmaType::e5m2) {                                                      \
        DAYS_PTX_REGISTER_A(n, 32, "f32.e5m2.e5m2", "f", i, j, m, o, q, p, ", 1, 1");                       \
      } else if constexpr (kType == WgmmaType::e4m3_e5m2) {                                                 \
        DAYS_PTX_REGISTER_A(n, 32, "f32.e4m3.e5m2", "f", i, j, m, o, q, p, ", 1, 1");                       \
      } else if constexpr (kType == WgmmaType::e5m2_e4m3) {                                                 \
        DAYS_PTX_REGISTER_A(n, 32, "f32.e5m2.e4m3", "f", i, j, m, o, q, p, ", 1, 1");                       \
      } else {                                                                                              \
        DAYS_PTX_REGISTER_A(n, 32, "s32.s8.s8", "r", i, j, m, o, q, p, "");                                 \
      }                                                                                                     \
    }                                                                                                       \
  };
DAYS_PTX_WGMMA_OF(8, 4, 5, 6, 7, 8, 9, 10)
DAYS_PTX_WGMMA_OF(16, 8, 9, 10, 11, 12, 13, 14)
DAYS_PTX_WGMMA_OF(24, 12, 13, 14, 15, 16, 17, 18)
DAYS_PTX_WGMMA_OF(32, 16, 17, 18, 19, 20, 21, 22)
DAYS_PTX_WGMMA_OF(40, 20, 21, 22, 23, 24, 25, 26)
DAYS_PTX_WGMMA_OF(48, 24, 25, 26, 27, 28, 29, 30)
DAYS_PTX_WGMMA_OF(56, 28, 29, 30, 31, 32, 33, 34)
DAYS_PTX_WGMMA_OF(64, 32, 33, 34, 35, 36, 37, 38)
DAYS_PTX_WGMMA_OF(72, 36, 37, 38, 39, 40, 41, 42)
DAYS_PTX_WGMMA_OF(80, 40, 41, 42, 43, 44, 45, 46)
DAYS_PTX_WGMMA_OF(88, 44, 45, 46, 47, 48, 49, 50)
DAYS_PTX_WGMMA_OF(96, 48, 49, 50, 51, 52, 53, 54)
DAYS_PTX_WGMMA_OF(104, 52, 53, 54, 55, 56, 57, 58)
DAYS_PTX_WGMMA_OF(112, 56, 57, 58, 59, 60, 61, 62)
DAYS_PTX_WGMMA_OF(120, 60, 61, 62, 63, 64, 65, 66)
DAYS_PTX_WGMMA_OF(128, 64, 65, 66, 67, 68, 69, 70)
DAYS_PTX_WGMMA_OF(136, 68, 69, 70, 71, 72, 73, 74)
DAYS_PTX_WGMMA_OF(144, 72, 73, 74, 75, 76, 77, 78)
DAYS_PTX_WGMMA_OF(152, 76, 77, 78, 79, 80, 81, 82)
DAYS_PTX_WGMMA_OF(160, 80, 81, 82, 83, 84, 85, 86)
DAYS_PTX_WGMMA_OF(168, 84, 85, 86, 87, 88, 89, 90)
DAYS_PTX_WGMMA_OF(176, 88, 89, 90, 91, 92, 93, 94)
DAYS_PTX_WGMMA_OF(184, 92, 93, 94, 95, 96, 97, 98)
DAYS_PTX_WGMMA_OF(192, 96, 97, 98, 99, 100, 101, 102)
DAYS_PTX_WGMMA_OF(200, 100, 101, 102, 103, 104, 105, 106)
DAYS_PTX_WGMMA_OF(208, 104, 105, 106, 107, 108, 109, 110)
DAYS_PTX_WGMMA_OF(216, 108, 109, 110, 111, 112, 113, 114)
DAYS_PTX_WGMMA_OF(224, 112, 113, 114, 115, 116, 117, 118)
DAYS_PTX_WGMMA_OF(232, 116, 117, 118, 119, 120, 121, 122)
DAYS_PTX_WGMMA_OF(240, 120, 121, 122, 123, 124, 125, 126)
DAYS_PTX_WGMMA_OF(248, 124, 125, 126, 127, 128, 129, 130)
DAYS_PTX_WGMMA_OF(256, 128, 129, 130, 131, 132, 133, 134)
#undef DAYS_PTX_D4
#undef DAYS_PTX_WITH
#undef DAYS_PTX_MAJORS
#undef DAYS_PTX_MAJOR
#undef DAYS_PTX_SHARED_A
#undef DAYS_PTX_REGISTER_A
#undef DAYS_PTX_WGMMA_OF
#undef DAYS_PTX_D8
#undef DAYS_PTX_D16
#undef DAYS_PTX_D24
#undef DAYS_PTX_D32
#undef DAYS_PTX_D40
#undef DAYS_PTX_D48
#undef DAYS_PTX_D56
#undef DAYS_PTX_D64
#undef DAYS_PTX_D72
#undef DAYS_PTX_D80
#undef DAYS_PTX_D88
#undef DAYS_PTX_D96
#undef DAYS_PTX_D104
#undef DAYS_PTX_D112
#undef DAYS_PTX_D120
#undef DAYS_PTX_D128
#undef DAYS_PTX_D136
#undef DAYS_PTX_D144
#undef DAYS_PTX_D152
#undef DAYS_PTX_D160
#undef DAYS_PTX_D168
#undef DAYS_PTX_D176
#undef DAYS_PTX_D184
#undef DAYS_PTX_D192
#undef DAYS_PTX_D200
#undef DAYS_PTX_D208
#undef DAYS_PTX_D216
#undef DAYS_PTX_D224
#undef DAYS_PTX_D232
#undef DAYS_PTX_D240
#undef DAYS_PTX_D248
#undef DAYS_PTX_D256
#undef DAYS_PTX_R8
#undef DAYS_PTX_R16
#undef DAYS_PTX_R24
#undef DAYS_PTX_R32
#undef DAYS_PTX_R40
#undef DAYS_PTX_R48
#undef DAYS_PTX_R56
#undef DAYS_PTX_R64
#undef DAYS_PTX_R72
#undef DAYS_PTX_R80
#undef DAYS_PTX_R88
#undef DAYS_PTX_R96
#undef DAYS_PTX_R104
#undef DAYS_PTX_R112
#undef DAYS_PTX_R120
#undef DAYS_PTX_R128
#undef DAYS_PTX_R136
#undef DAYS_PTX_R144
#undef DAYS_PTX_R152
#undef DAYS_PTX_R160
#undef DAYS_PTX_R168
#undef DAYS_PTX_R176
#undef DAYS_PTX_R184
#undef DAYS_PTX_R192
#undef DAYS_PTX_R200
#undef DAYS_PTX_R208
#undef DAYS_PTX_R216
#undef DAYS_PTX_R224
#undef DAYS_PTX_R232
#undef DAYS_PTX_R240
#undef DAYS_PTX_R248
#undef DAYS_PTX_R256
#endif

}  // namespace detail

// wgmma.mma_async.sync.aligned.m64n<2 * kCount>k<32 bytes>.<type of d>.<A>.<B>: d = a * b + d, or a * b where `add` is false. A call takes
// 32 bytes along k: 16 of half and bfloat16, 8 of tf32, 32 of fp8 and int8. kA, kB: along what a and b lie. Section "wgmma.mma_async".
//
// d: element (row, column) of the 64 x 2 * kCount is that of lane 4 * (row % 8) + column % 8 / 2 of warp row / 16, register
// column / 8 * 4 + row % 16 / 8 * 2 + column % 2.
//
// On the CPU products are exact, and their sum with d is rounded once; tensor cores add with fewer bits, of fp8 with 13 behind the
// largest's first (SIMT_FP8_SUMS=13 does so on the CPU, too).
template <class A, class B = A, Major kA = Major::k, Major kB = Major::k, int kCount>
__device__ __forceinline__ void wgmma(detail::WgmmaSum<A> (&d)[kCount], uint64_t a, uint64_t b,
                                      bool add = true DAYS_PTX_AND_SITE) {
  detail::check_wgmma<A, B, kA, kB, 2 * kCount>();
#ifdef __SIMT__
  simt::wgmma(
      detail::wgmma_shape(detail::wgmma_type<A, B>(), 2 * kCount, kA == Major::rows, kB == Major::rows), d,
      nullptr, a, b, add, site);
#elif defined(DAYS_PTX_WGMMA)
  detail::Wgmma<2 * kCount>::template run<detail::wgmma_type<A, B>(), kA, kB>(d, a, b, add);
#else
  static_cast<void>(d), static_cast<void>(a), static_cast<void>(b), static_cast<void>(add);
#endif
}

// The same with a in registers: each warp has its 16 rows, laid out as a of mma.sync's m16n8k<32 bytes> (common/ptx/matrix.h). They are
// the product's, too, until it has ended.
template <class A, class B = A, Major kB = Major::k, int kCount>
__device__ __forceinline__ void wgmma(detail::WgmmaSum<A> (&d)[kCount], const uint32_t (&a)[4], uint64_t b,
                                      bool add = true DAYS_PTX_AND_SITE) {
  detail::check_wgmma<A, B, Major::k, kB, 2 * kCount>();
#ifdef __SIMT__
  simt::wgmma(detail::wgmma_shape(detail::wgmma_type<A, B>(), 2 * kCount, false, kB == Major::rows), d, a, 0,
              b, add, site);
#elif defined(DAYS_PTX_WGMMA)
  detail::Wgmma<2 * kCount>::template run<detail::wgmma_type<A, B>(), kB>(d, a, b, add);
#else
  static_cast<void>(d), static_cast<void>(a), static_cast<void>(b), static_cast<void>(add);
#endif
}

#undef DAYS_PTX_WGMMA

}  // namespace days::ptx
