// SPDX-License-Identifier: MIT
//
// Inline PTX as programs write it: instructions against values written out, also with labels, predicates and
// registers of their own; barriers by number; what is reported. The results are the same on a GPU of compute
// capability 9.0.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/ptx.h"
#include "common/ptx/logic.h"
#include "tests/ptx/managed.h"

#ifdef __SIMT__
#include "simt/tests/reports.h"
#endif

namespace ptx_test {

template <class T>
T* managed(int n) {
  T* const p = ptx_tests::managed<T>(n);
  memset(p, 0, static_cast<size_t>(n) * sizeof(T));
  return p;
}

template <class T>
std::vector<T> results(void (*kernel)(T*), int n, int threads = 1) {
  T* out = managed<T>(n);
  kernel<<<1, threads>>>(out);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<T> v(out, out + n);
  cudaFree(out);
  return v;
}

using Words = std::vector<uint32_t>;

#define INTEGER_2(text, a, b)                         \
  do {                                                \
    asm volatile(text : "=r"(*out) : "r"(a), "r"(b)); \
    ++out;                                            \
  } while (0)
#define INTEGER_3(text, a, b, c)                              \
  do {                                                        \
    asm volatile(text : "=r"(*out) : "r"(a), "r"(b), "r"(c)); \
    ++out;                                                    \
  } while (0)

__global__ void integers(uint32_t* out) {
  const uint32_t a = 0xfffffff0u, b = 7;
  INTEGER_2("add.u32 %0, %1, %2;", a, b);
  INTEGER_2("add.sat.s32 %0, %1, %2;", 0x7ffffff0, 100);
  INTEGER_2("sub.s32 %0, %1, %2;", 5, 9);
  INTEGER_2("mul.lo.u32 %0, %1, %2;", a, b);
  INTEGER_2("mul.hi.u32 %0, %1, %2;", a, b);
  INTEGER_2("mul.hi.s32 %0, %1, %2;", a, b);
  INTEGER_3("mad.lo.s32 %0, %1, %2, %3;", a, b, 3);
  INTEGER_2("div.s32 %0, %1, %2;", static_cast<uint32_t>(-7), 2);
  INTEGER_2("rem.s32 %0, %1, %2;", static_cast<uint32_t>(-7), 2);
  INTEGER_2("min.s32 %0, %1, %2;", a, b);
  INTEGER_2("min.u32 %0, %1, %2;", a, b);
  INTEGER_2("max.s32 %0, %1, %2;", a, b);
  INTEGER_3("sad.u32 %0, %1, %2, %3;", 3, 10, 100);
  INTEGER_2("mul24.lo.u32 %0, %1, %2;", 0xff000003u, 5);
  INTEGER_3("dp4a.s32.s32 %0, %1, %2, %3;", 0x01ff0203, 0x02030405, 10);
  INTEGER_3("dp4a.u32.u32 %0, %1, %2, %3;", 0x01ff0203, 0x02030405, 10);
}

__global__ void elected(int* out) {
  const bool first = days::ptx::elect_sync(), second = days::ptx::elect_sync();
  const unsigned who = __ballot_sync(~0u, first);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = __popc(who);
  if (first != second) out[threadIdx.x / 32] = -1;
}
TEST(Elect, OneLaneAndTheSameAgain) {
  int* out = managed<int>(2);
  elected<<<1, dim3(16, 4)>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 1);
  cudaFree(out);
}

// ---- lop3: any function of three bits ----

__global__ void functions(uint32_t* out) {
  using days::ptx::kA, days::ptx::kB, days::ptx::kC, days::ptx::lop3;
  out[0] = lop3<(kA & kB) | kC>(0x12345678, 0x000f000f, 0x64006400);
  out[1] = lop3<(kA & kB) ^ kC>(0x000000ff, 0x00ff00ff, 0x64806480);
  out[2] = lop3<kA ^ kB ^ kC>(0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa);
  out[3] = lop3<0xff & ~kA>(0x0000ffff, 0, 0xffffffff);
}

TEST(Lop3, LooksUpEachBit) {
  EXPECT_EQ(results<uint32_t>(functions, 4), (Words{0x64046408, 0x6480647f, 0x96969696, 0xffff0000}));
}

TEST(InlinePtx, Integers) {
  EXPECT_EQ(results(integers, 16), (Words{0xfffffff7u, 0x7fffffffu, 0xfffffffcu, 0xffffff90u, 6, 0xffffffffu,
                                          0xffffff93u, 0xfffffffdu, 0xffffffffu, 0xfffffff0u, 7, 7, 107, 15,
                                          10 + 2 - 3 + 8 + 15, 10 + 2 + 765 + 8 + 15}));
}

__global__ void videos(uint32_t* out) {
  const uint32_t a = 0x01ff8040u, b = 0x030180c0u;
  INTEGER_3("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;", a, b, 1000);
  INTEGER_3("vabsdiff4.s32.s32.s32 %0, %1, %2, %3;", a, b, 0);
  INTEGER_3("vadd4.u32.u32.u32 %0, %1, %2, %3;", a, b, 0);
  INTEGER_3("vadd4.u32.u32.u32.sat %0, %1, %2, %3;", a, b, 0);
  INTEGER_3("vsub4.s32.s32.s32.sat %0, %1, %2, %3;", a, b, 0);
  INTEGER_3("vavrg4.u32.u32.u32 %0, %1, %2, %3;", a, b, 0);
  INTEGER_3("vmin4.s32.s32.s32 %0, %1, %2, %3;", a, b, 0);
  INTEGER_3("vmax2.u32.u32.u32.add %0, %1, %2, %3;", a, b, 5);
}

TEST(InlinePtx, BytesAndHalvesOfAWord) {
  // Bytes from the top, a: 1, 255 (-1), 128 (-128), 64; b: 3, 1, 128 (-128), 192 (-64).
  EXPECT_EQ(results(videos, 8), (Words{1000 + 2 + 254 + 0 + 128, 0x02020080u, 0x04000000u, 0x04ffffffu,
                                       0xfefe007fu, 0x02808080u, 0x01ff80c0u, 5 + 0x0301 + 0x80c0}));
}

__global__ void bits(uint32_t* out) {
  INTEGER_3("lop3.b32 %0, %1, %2, %3, 0x96;", 0xf0f0u, 0xff00u, 0xaaaau);
  INTEGER_3("lop3.b32 %0, %1, %2, %3, 0xE8;", 0xf0f0u, 0xff00u, 0xaaaau);
  INTEGER_3("prmt.b32 %0, %1, %2, %3;", 0x33221100u, 0x77665584u, 0x7c40u);
  INTEGER_3("shf.l.wrap.b32 %0, %1, %2, %3;", 0x80000001u, 0x00000001u, 4);
  INTEGER_3("shf.r.clamp.b32 %0, %1, %2, %3;", 0x80000001u, 0x12345678u, 40);
  INTEGER_2("shl.b32 %0, %1, %2;", 3, 32);
  INTEGER_2("shr.s32 %0, %1, %2;", 0x80000000u, 40);
  INTEGER_2("shr.u32 %0, %1, %2;", 0x80000000u, 31);
  INTEGER_3("bfe.u32 %0, %1, %2, %3;", 0xabcd1234u, 8, 12);
  INTEGER_3("bfe.s32 %0, %1, %2, %3;", 0xabcd1234u, 24, 16);
  asm volatile("bfi.b32 %0, %1, %2, 4, 8;" : "=r"(*out++) : "r"(0xffu), "r"(0x12345678u));
  asm volatile("brev.b32 %0, %1;" : "=r"(*out++) : "r"(0x00000013u));
  asm volatile("popc.b32 %0, %1;" : "=r"(*out++) : "r"(0xf0f01u));
  asm volatile("popc.b64 %0, %1;" : "=r"(*out++) : "l"(0xf00000000000000full));
  asm volatile("clz.b32 %0, %1;" : "=r"(*out++) : "r"(0x00010000u));
  asm volatile("bfind.u32 %0, %1;" : "=r"(*out++) : "r"(0x00010000u));
  asm volatile("bfind.s32 %0, %1;" : "=r"(*out++) : "r"(0xffff0000u));
  asm volatile("bfind.shiftamt.u32 %0, %1;" : "=r"(*out++) : "r"(0x00010000u));
  asm volatile("bfind.u32 %0, %1;" : "=r"(*out++) : "r"(0u));
  asm volatile("not.b32 %0, %1;" : "=r"(*out++) : "r"(0x0000ffffu));
  asm volatile("{ .reg .b64 t; mov.b64 t, {%1, %2}; shr.u64 t, t, 16; cvt.u32.u64 %0, t; }"
               : "=r"(*out++)
               : "r"(0x11112222u), "r"(0x33334444u));
  asm volatile("{ .reg .b32 lo; mov.b64 {lo, %0}, %1; }" : "=r"(*out++) : "l"(0x0123456789abcdefull));
}

TEST(InlinePtx, Bits) {
  EXPECT_EQ(results(bits, 22), (Words{0xf0f0u ^ 0xff00u ^ 0xaaaau,
                                      0xfaa0u,
                                      0x77ff8400u,
                                      0x18u,
                                      0x12345678u,
                                      0,
                                      0xffffffffu,
                                      1,
                                      0xd12u,
                                      0xffffffabu,
                                      0x12345ff8u,
                                      0xc8000000u,
                                      9,
                                      8,
                                      15,
                                      16,
                                      15,
                                      15,
                                      0xffffffffu,
                                      0xffff0000u,
                                      0x44441111u,
                                      0x01234567u}));
}

// 128 + 128 bits with a carry through all words, and a product of 64 x 64 bits by its halves.
__global__ void carries(uint32_t* out) {
  asm volatile(
      "add.cc.u32 %0, %4, %8;\n\t"
      "addc.cc.u32 %1, %5, %9;\n\t"
      "addc.cc.u32 %2, %6, %10;\n\t"
      "addc.u32 %3, %7, %11;"
      : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
      : "r"(0xffffffffu), "r"(0xffffffffu), "r"(5), "r"(0), "r"(1), "r"(0), "r"(0xfffffffau), "r"(7));
  asm volatile("sub.cc.u32 %0, %2, %4; subc.u32 %1, %3, %5;"
               : "=r"(out[4]), "=r"(out[5])
               : "r"(1), "r"(5), "r"(2), "r"(3));
  asm volatile(
      "mul.lo.u32 %0, %2, %3;\n\t"
      "mul.hi.u32 %1, %2, %3;\n\t"
      "mad.lo.cc.u32 %0, %4, %4, %0;\n\t"
      "madc.hi.u32 %1, %4, %4, %1;"
      : "=&r"(out[6]), "=&r"(out[7])
      : "r"(0xffffffffu), "r"(0xffffffffu), "r"(0x80000001u));
}

TEST(InlinePtx, Carries) {
  EXPECT_EQ(results(carries, 8), (Words{0, 0, 0, 8, 0xffffffffu, 1, 2, 0x3fffffffu}));
}

#define FLOAT_2(text, a, b)                           \
  do {                                                \
    asm volatile(text : "=f"(*out) : "f"(a), "f"(b)); \
    ++out;                                            \
  } while (0)

__global__ void floats(float* out) {
  const float third = 1.0f / 3, tiny = 1e-40f;
  FLOAT_2("add.rn.f32 %0, %1, %2;", 1.0f, 0x1p-24f);
  FLOAT_2("add.rp.f32 %0, %1, %2;", 1.0f, 0x1p-24f);
  FLOAT_2("add.rz.f32 %0, %1, %2;", 1.0f, 0x1.8p-24f);
  FLOAT_2("add.rm.f32 %0, %1, %2;", -1.0f, -0x1p-30f);
  FLOAT_2("add.sat.f32 %0, %1, %2;", 1.0f, 2.0f);
  FLOAT_2("add.ftz.f32 %0, %1, %2;", tiny, 0.0f);
  FLOAT_2("mul.f32 %0, %1, %2;", third, 3.0f);
  FLOAT_2("fma.rn.f32 %0, %1, %2, 0fBF800000;", third, 3.0f);
  FLOAT_2("div.rn.f32 %0, %1, %2;", 1.0f, 3.0f);
  FLOAT_2("min.f32 %0, %1, %2;", 1.0f, 2.0f);
  FLOAT_2("max.f32 %0, %1, %2;", 1.0f, 2.0f);
  asm volatile("neg.f32 %0, %1;" : "=f"(*out++) : "f"(2.5f));
  asm volatile("abs.f32 %0, %1;" : "=f"(*out++) : "f"(-2.5f));
  asm volatile("sqrt.rn.f32 %0, %1;" : "=f"(*out++) : "f"(2.0f));
  asm volatile("ex2.approx.f32 %0, %1;" : "=f"(*out++) : "f"(3.0f));
  asm volatile("lg2.approx.f32 %0, %1;" : "=f"(*out++) : "f"(8.0f));
  asm volatile("rcp.approx.f32 %0, %1;" : "=f"(*out++) : "f"(4.0f));
  asm volatile("rsqrt.approx.f32 %0, %1;" : "=f"(*out++) : "f"(4.0f));
  asm volatile("mov.f32 %0, 0f40490FDB;" : "=f"(*out++));
  asm volatile("{ .reg .f64 t; cvt.f64.f32 t, %1; add.f64 t, t, 0d3FF0000000000000; cvt.rn.f32.f64 %0, t; }"
               : "=f"(*out++)
               : "f"(1.5f));
}

TEST(InlinePtx, Floats) {
  const float third = 1.0f / 3;
  EXPECT_EQ(results(floats, 20), (std::vector<float>{1,           1 + 0x1p-23f,
                                                     1,           -1 - 0x1p-23f,
                                                     1,           0,
                                                     1,           __builtin_fmaf(third, 3, -1),
                                                     third,       1,
                                                     2,           -2.5f,
                                                     2.5f,        1.41421356f,
                                                     8,           3,
                                                     0.25f,       0.5f,
                                                     3.14159274f, 2.5f}));
}

__global__ void conversions(uint32_t* out) {
  asm volatile("cvt.rzi.s32.f32 %0, %1;" : "=r"(*out++) : "f"(-2.7f));
  asm volatile("cvt.rni.s32.f32 %0, %1;" : "=r"(*out++) : "f"(2.5f));
  asm volatile("cvt.rmi.s32.f32 %0, %1;" : "=r"(*out++) : "f"(-2.1f));
  asm volatile("cvt.rpi.u32.f32 %0, %1;" : "=r"(*out++) : "f"(2.1f));
  asm volatile("cvt.rzi.u32.f32 %0, %1;" : "=r"(*out++) : "f"(-5.0f));
  asm volatile("cvt.rzi.s32.f32 %0, %1;" : "=r"(*out++) : "f"(1e20f));
  asm volatile("cvt.rn.f32.s32 %0, %1;" : "=r"(*out++) : "r"(16777217));
  asm volatile("cvt.rp.f32.s32 %0, %1;" : "=r"(*out++) : "r"(16777217));
  asm volatile("cvt.sat.u8.s32 %0, %1;" : "=r"(*out++) : "r"(300));
  asm volatile("cvt.sat.s8.s32 %0, %1;" : "=r"(*out++) : "r"(-300));
  asm volatile("cvt.s32.s8 %0, %1;" : "=r"(*out++) : "r"(0x80));
  asm volatile("{ .reg .f16 h; cvt.rn.f16.f32 h, %1; mov.b16 %0, h; }"
               : "=h"(*reinterpret_cast<uint16_t*>(out))
               : "f"(1.5f));
  ++out;
  asm volatile("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(*out++) : "f"(1.0f), "f"(-2.0f));
  asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(*out++) : "f"(1.0f), "f"(-2.0f));
  asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(*out++) : "f"(1.0f + 0x1p-11f));
  asm volatile("cvt.rn.tf32.f32 %0, %1;" : "=r"(*out++) : "f"(1.0f + 0x1p-11f));
  asm volatile("cvt.rn.tf32.f32 %0, %1;" : "=r"(*out++) : "f"(1.0f + 3 * 0x1p-11f));
  asm volatile("fma.rn.f16x2 %0, %1, %2, %3;"
               : "=r"(*out++)
               : "r"(0x3c004000), "r"(0x40004200), "r"(0x3c003c00));
  asm volatile("add.rn.bf16x2 %0, %1, %2;" : "=r"(*out++) : "r"(0x3f804000), "r"(0x3f803f80));
}

TEST(InlinePtx, Conversions) {
  EXPECT_EQ(results(conversions, 19),
            (Words{0xfffffffeu, 2, 0xfffffffdu, 3, 0, 0x7fffffffu, 0x4b800000u, 0x4b800001u, 255, 0xffffff80u,
                   0xffffff80u, 0x3e00u, 0x3c00c000u, 0x3f80c000u, 0x3f802000u, 0x3f800000u, 0x3f804000u,
                   0x42004700u, 0x40004040u}));
}

__global__ void predicates(uint32_t* out) {
  for (uint32_t i = 0; i < 4; ++i) {
    asm volatile(
        "{\n"
        "  .reg .pred p, q;\n"
        "  setp.lt.u32 p|q, %1, 2;\n"
        "  mov.u32 %0, 100;\n"
        "  @p add.u32 %0, %0, 1;\n"
        "  @!p add.u32 %0, %0, 2;\n"
        "  setp.eq.or.u32 q, %1, 3, p;  // another condition\n"
        "  @q add.u32 %0, %0, 10;\n"
        "  selp.u32 %0, %0, 7, q;\n"
        "}"
        : "=&r"(out[i])
        : "r"(i));
  }
  asm volatile("{ .reg .pred p; setp.ltu.f32 p, %1, 0f00000000; selp.u32 %0, 1, 0, p; }"
               : "=r"(out[4])
               : "f"(__int_as_float(0x7fffffff)));
  asm volatile("slct.s32.s32 %0, 5, 6, %1;" : "=r"(out[5]) : "r"(-1));
  asm volatile("set.gt.u32.s32 %0, %1, 3;" : "=r"(out[6]) : "r"(4));
}

TEST(InlinePtx, Predicates) {
  EXPECT_EQ(results(predicates, 7), (Words{111, 111, 7, 112, 1, 6, 0xffffffffu}));
}

// Fibonacci's numbers by a loop of labels; the second block reuses the names.
__global__ void loops(uint32_t* out) {
  for (int i = 0; i < 2; ++i) {
    asm volatile(
        "{\n\t"
        ".reg .u32 r<3>;\n\t"
        ".reg .pred %%done;\n\t"
        "mov.u32 r0, 0; mov.u32 r1, 1; mov.u32 %0, 0;\n\t"
        "AGAIN:\n\t"
        "setp.ge.u32 %%done, %0, %1;\n\t"
        "@%%done bra END;\n\t"
        "add.u32 r2, r0, r1; mov.u32 r0, r1; mov.u32 r1, r2;\n\t"
        "add.u32 %0, %0, 1;\n\t"
        "bra AGAIN;\n\t"
        "END: mov.u32 %0, r0;\n\t"
        "}"
        : "=&r"(out[i])
        : "r"(10 + i));
  }
}

TEST(InlinePtx, LabelsAndLoops) {
  EXPECT_EQ(results(loops, 2), (Words{55, 89}));
}

__global__ void specials(uint32_t* out) {
  uint32_t v[8];
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(v[0]));
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(v[1]));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(v[2]));
  asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(v[3]));
  asm volatile("mov.u32 %0, %%ntid.x;" : "=r"(v[4]));
  asm volatile("mov.u32 %0, %%nctaid.y;" : "=r"(v[5]));
  unsigned long long before, after;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
  v[6] = after >= before;
  asm volatile("{ .reg .u32 s, n; mov.u32 s, %%smid; mov.u32 n, %%nsmid; set.lt.u32.u32 %0, s, n; }"
               : "=r"(v[7]));
  if (threadIdx.x == 37)
    for (int i = 0; i < 8; ++i) out[i] = v[i];
}

TEST(InlinePtx, SpecialRegisters) {
  EXPECT_EQ(results(specials, 8, 64), (Words{37, 5, 31, 0xffffffe0u, 64, 1, 1, 0xffffffffu}));
}

__device__ uint32_t only_read[2] = {79, 80};  // as ld.global.nc asks

__global__ void memory(uint32_t* out) {
  __shared__ alignas(16) uint32_t tile[8];
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(1), "r"(2), "r"(3), "r"(4)
               : "memory");
  asm volatile("st.volatile.shared.u32 [%0+16], %1;" ::"r"(at), "r"(0x8899aabb) : "memory");
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2+8];" : "=r"(out[0]), "=r"(out[1]) : "r"(at));
  asm volatile("ld.shared.s8 %0, [%1+16];" : "=r"(out[2]) : "r"(at));
  asm volatile("ld.shared.u8 %0, [%1+19];" : "=r"(out[3]) : "r"(at));
  asm volatile("st.global.cs.u32 [%0], %1;" ::"l"(out + 4), "r"(77) : "memory");
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(out[5]) : "l"(out + 4) : "memory");
  asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(out + 6), "r"(78) : "memory");
  asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1+-8];"
               : "=r"(out[7])
               : "l"(only_read + 2)
               : "memory");
  asm volatile("{ .reg .u64 p; cvta.to.shared.u64 p, %1; ld.shared.u32 %0, [p]; }"
               : "=r"(out[8])
               : "l"(tile + 3));
  asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(out[9]) : "l"(tile));
  asm volatile("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(out[10]) : "l"(tile));
  asm volatile("atom.shared.add.u32 %0, [%1], 5;" : "=r"(out[11]) : "r"(at) : "memory");
  asm volatile("atom.global.cas.b32 %0, [%1], 78, 80;" : "=r"(out[12]) : "l"(out + 6) : "memory");
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(out + 6) : "memory");
  asm volatile("atom.max.s32 %0, [%1], %2;" : "=r"(out[13]) : "l"(tile), "r"(-1) : "memory");
  asm volatile("red.shared.add.f32 [%0], %1;" ::"r"(at + 4), "f"(0.0f) : "memory");
  asm volatile("membar.gl; fence.acq_rel.gpu; prefetch.global.L2 [%0];" ::"l"(out) : "memory");
  out[14] = tile[0];
}

TEST(InlinePtx, Memory) {
  EXPECT_EQ(results(memory, 15), (Words{3, 4, 0xffffffbbu, 0x88, 77, 77, 81, 79, 4, 1, 0, 1, 78, 6, 6}));
}

// Vectors, each element for itself, by 64 threads at once; atom gives back what was there before.
__global__ void vectors(float* out) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(out), "f"(1.0f), "f"(2.0f),
               "f"(3.0f), "f"(static_cast<float>(threadIdx.x))
               : "memory");
  asm volatile("red.global.add.v2.f32 [%0+16], {%1, %1};" ::"l"(out), "f"(0.5f) : "memory");
  if (threadIdx.x == 0) {
    float a = 5, b = 6, c = 7, d = 8;
    asm volatile("atom.global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%0, %1, %2, %3};"
                 : "+f"(a), "+f"(b), "+f"(c), "+f"(d)
                 : "l"(out + 8)
                 : "memory");
    out[12] = a, out[13] = b, out[14] = c, out[15] = d;
    // Of bf16 2 in each: 0x3f80 is 1, 0x4000 is 2, 0x4040 is 3.
    asm volatile("red.global.add.noftz.v2.bf16x2 [%0], {%1, %1};" ::"l"(out + 16), "r"(0x3f804000)
                 : "memory");
    asm volatile("red.global.max.noftz.v4.bf16x2 [%0], {%1, %1, %1, %1};" ::"l"(out + 16), "r"(0x40003f80)
                 : "memory");
  }
}

TEST(InlinePtx, AtomicsOnVectors) {
  const std::vector<float> v = results(vectors, 20, 64);
  EXPECT_EQ(std::vector<float>(v.begin(), v.begin() + 16),
            (std::vector<float>{64, 128, 192, 2016, 32, 32, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0}));
  Words bits(4);
  memcpy(bits.data(), &v[16], 16);
  EXPECT_EQ(bits, (Words{0x40004000u, 0x40004000u, 0x40003f80u, 0x40003f80u}));
}

__global__ void together(uint32_t* out) {
  const uint32_t lane = threadIdx.x;
  uint32_t v[8];
  asm volatile("shfl.sync.bfly.b32 %0, %1, 5, 0x1f, 0xffffffff;" : "=r"(v[0]) : "r"(lane));
  asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 4, 0x181f, 0xffffffff; selp.u32 %1, 1, 0, p; }"
               : "=r"(v[1]), "=r"(v[2])
               : "r"(lane));
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 20; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(v[3])
               : "r"(lane));
  asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(v[4]) : "r"(lane / 8));
  asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(v[5]) : "r"(lane));
  asm volatile("activemask.b32 %0;" : "=r"(v[6]));
  asm volatile("{ .reg .pred p; .reg .b32 r; elect.sync r|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(v[7]));
  for (int i = 0; i < 8; ++i) out[lane * 8 + static_cast<uint32_t>(i)] = v[i];
}

TEST(InlinePtx, WarpOperations) {
  const Words v = results(together, 256, 32);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const bool inside = lane % 8 < 4;  // segments of 8
    const Words expected = {
        lane ^ 5, inside ? lane + 4 : lane, inside, 0xffe00000u, 0xffu << lane / 8 * 8, 496, 0xffffffffu,
        lane == 0};
    for (uint32_t i = 0; i < 8; ++i) {
      ASSERT_EQ(v[lane * 8 + i], expected[i]) << lane << " " << i;
    }
  }
}

__global__ void copies(const uint32_t* in, uint32_t* out) {
  __shared__ alignas(16) uint32_t tile[3][32];
  __shared__ uint64_t barrier;
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(&tile[0][0]));
  const auto bar = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
  const uint32_t t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at + 4 * t), "l"(in + t) : "memory");
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at + 128 + 4 * t), "l"(in + 32 + t),
               "n"(4), "r"(t < 9 ? 4 : 0)
               : "memory");
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group %0;" ::"n"(0));
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(1));
    asm volatile("fence.proxy.async.shared::cta;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(128) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at +
                                                                                                        256),
        "l"(in + 64), "r"(128), "r"(bar)
        : "memory");
  }
  asm volatile("bar.sync 0;");
  asm volatile(
      "{\n"
      ".reg .pred P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}" ::"r"(bar),
      "r"(0)
      : "memory");
  for (uint32_t i = 0; i < 3; ++i) out[i * 32 + t] = tile[i][t];
}

TEST(InlinePtx, AsynchronousCopies) {
  uint32_t *in = managed<uint32_t>(96), *out = managed<uint32_t>(96);
  for (uint32_t i = 0; i < 96; ++i) in[i] = i + 1;
  copies<<<1, 32>>>(in, out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (uint32_t i = 0; i < 96; ++i) ASSERT_EQ(out[i], i >= 41 && i < 64 ? 0 : i + 1) << i;
  cudaFree(in), cudaFree(out);
}

__global__ void product(float* out) {
  __shared__ alignas(16) unsigned short ones[16][8];
  const uint32_t lane = threadIdx.x;
  for (int i = 0; i < 4; ++i) ones[lane / 2][lane % 2 * 4 + static_cast<uint32_t>(i)] = 0x3c00;
  __syncwarp();
  const auto row = static_cast<uint32_t>(__cvta_generic_to_shared(ones[lane % 16]));
  uint32_t b[2];
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(b[0]), "=r"(b[1])
               : "r"(row));
  const uint32_t g = 0x3c003c00u + lane / 4 * 0;
  float d[4];
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\n"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(g), "r"(g), "r"(g), "r"(g), "r"(b[0]), "r"(b[1]), "f"(1.0f), "f"(2.0f), "f"(3.0f), "f"(4.0f));
  for (uint32_t i = 0; i < 4; ++i) out[lane * 4 + i] = d[i];
}

TEST(InlinePtx, TensorCores) {
  const std::vector<float> v = results(product, 128, 32);
  for (int i = 0; i < 128; ++i) ASSERT_EQ(v[static_cast<size_t>(i)], static_cast<float>(17 + i % 4));
}

// ---- barriers by number ----

// Two halves of the block, each with its own barrier; then one half tells the other.
__global__ void halves(uint32_t* out) {
  __shared__ uint32_t tile[128], total[2];
  const uint32_t t = threadIdx.x, half = t / 64;
  tile[t] = t;
  days::ptx::bar_sync(1 + half, 64);
  if (t % 64 == 0) {
    total[half] = 0;
    for (uint32_t i = 0; i < 64; ++i) total[half] += tile[half * 64 + i];
  }
  if (half == 0) {
    __syncwarp();
    days::ptx::bar_arrive(5, 128);
  } else {
    asm volatile("bar.sync 5, 128;" ::: "memory");
    if (t == 64) out[0] = total[0], out[1] = total[1];
  }
  uint32_t count;
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 10; bar.red.popc.u32 %0, 3, 128, p; }"
               : "=r"(count)
               : "r"(t));
  if (t == 127) out[2] = count;
}

TEST(NamedBarriers, PartsOfABlock) {
  EXPECT_EQ(results(halves, 3, 128), (Words{2016, 6112, 10}));
}

#ifdef __SIMT__

__device__ float eight[8];

std::string line_start(int line) {
  return "\ntests/ptx/ptx_test.cu:" + std::to_string(line) + "  ";
}

constexpr int kFirstMisuse = __LINE__ + 5;
__global__ void misuse(int what) {
  __shared__ alignas(16) uint32_t tile[4];
  uint32_t r = what == 100 ? 1 : 0;
  switch (what) {
    case 0:
      asm volatile("frobnicate.b32 %0, %1;" : "=r"(r) : "r"(1));
      break;
    case 1:
      asm volatile("mov.u32 %0, %%nowhere;" : "=r"(r));
      break;
    case 2:
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r) : "l"(&tile[0]));
      break;
    case 3:
      asm volatile("ld.shared.v2.u32 {%0, %0}, [%1];" : "+r"(r) : "r"(4));
      break;
    case 4:
      asm volatile("trap;");
      break;
    case 5:
      days::ptx::bar_sync(2, 33);
      break;
    case 6:
      days::ptx::bar_sync(16, 32);
      break;
    case 7:
      days::ptx::red_add_v4(eight + 2, make_float4(1, 2, 3, 4));
      break;
    case 8:
      asm volatile("red.global.add.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(eight), "r"(r));
      break;
    case 9:
      asm volatile("red.global.add.v2.f32 [%0], {%1, %1, %1, %1};" ::"l"(eight), "f"(1.0f));
      break;
    case 10:
      asm volatile("red.global.add.v4.f32 [%0], %1;" ::"l"(eight), "f"(1.0f));
      break;
    case 11:
      asm volatile("red.shared.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"r"(0), "f"(1.0f));
      break;
    case 12:
      asm volatile("red.global.max.v4.bf16x2 [%0], {%1, %1, %1, %1};" ::"l"(eight), "r"(r));
      break;
    case 13:
      asm volatile("red.global.add.noftz.f32 [%0], %1;" ::"l"(eight), "f"(1.0f));
      break;
    case 14:
      asm volatile("red.global.min.noftz.bf16x2 [%0], %1;" ::"l"(eight), "r"(r));
      break;
    case 15:
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%0], [0], 16;" ::"l"(eight));
      break;
  }
}

TEST(InlinePtx, MisuseIsReported) {
  const char* const expected[] = {"inline PTX: simt does not know the instruction frobnicate.b32 [simt-ptx]",
                                  "simt does not know the register %nowhere",
                                  "is no address of shared memory [simt-oob-shared]",
                                  "misaligned access [simt-misaligned]",
                                  "trap in inline PTX [simt-trap]",
                                  "barrier 2 for 33 threads [simt-barrier-divergence]",
                                  "barrier 16: a block has barriers 0 to 15",
                                  "misaligned atomic operation of 16 bytes [simt-misaligned]",
                                  "simt does not know the instruction red.global.add.v4.u32",
                                  "simt does not know the instruction red.global.add.v2.f32",
                                  "simt does not know the instruction red.global.add.v4.f32",
                                  "simt does not know the instruction red.shared.add.v4.f32",
                                  "simt does not know the instruction red.global.max.v4.bf16x2",
                                  "simt does not know the instruction red.global.add.noftz.f32",
                                  "simt does not know the instruction red.global.min.noftz.bf16x2",
                                  "simt does not know the instruction cp.reduce.async.bulk.global"};
  for (int what = 0; what < 16; ++what) {
    const std::string text = report_of([&] { misuse<<<1, 1>>>(what); });
    EXPECT_HAS(text, expected[what]);
    if (what != 7) {  // that one's line is in common/ptx
      EXPECT_HAS(text, line_start(kFirstMisuse + 1 + 3 * what));
    }
  }
}

constexpr int kReadBack = __LINE__ + 3;
__global__ void reads_back(uint32_t* x, bool writes) {
  uint32_t r;
  if (writes) x[1] = 7;
  asm volatile("ld.global.nc.v2.u32 {%0, %0}, [%1];" : "=r"(r) : "l"(x));
  if (!writes) x[2] = r;
}

TEST(InlinePtx, ReadOnlyLoadsAreOfWhatTheKernelDoesNotWrite) {
  if (!simt::checked_build) GTEST_SKIP() << "a checked build finds this";
  uint32_t* x = managed<uint32_t>(4);
  reads_back<<<1, 1>>>(x, false);
  reads_back<<<1, 1>>>(x, false);  // what it writes lies beside
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const std::string text = report_of([&] { reads_back<<<1, 1>>>(x, true); });
  EXPECT_HAS(text, "ld.global.nc of what its own kernel writes [simt-race-global]");
  EXPECT_HAS(text, line_start(kReadBack) + "if (writes) x[1] = 7;    the kernel writes");
  EXPECT_HAS(text, line_start(kReadBack + 1));
}

constexpr int kHalfLine = __LINE__ + 3;
__global__ void half_comes(int threads) {
  if (threadIdx.x < 32) {
    days::ptx::bar_sync(4, 64);
  } else if (threads != 64) {
    days::ptx::bar_sync(4, static_cast<uint32_t>(threads));
  }
}

TEST(NamedBarriers, MismatchesAreReported) {
  std::string text = report_of([] { half_comes<<<1, 128>>>(64); });
  EXPECT_HAS(text, "a part of the block never comes to the barrier [simt-barrier-divergence]");
  EXPECT_HAS(text, line_start(kHalfLine));
  EXPECT_HAS(text, "32 of the 64 threads that barrier 4 needs have come");
  text = report_of([] { half_comes<<<1, 128>>>(96); });
  EXPECT_HAS(text, "threads name different numbers of threads at barrier 4 [simt-barrier-divergence]");
}

#endif  // __SIMT__

}  // namespace ptx_test
