// SPDX-License-Identifier: MIT
// Day 67's ladder: who competes, on which shapes and inputs, measured against what. Host code only.

#include <cmath>

#include "common/ladder.h"
#include "common/problems/matmul_hostile.h"
#include "day67_hopper_matmul/matmul.h"
#include "day67_hopper_matmul/other_types.h"

namespace day67 {
namespace {

auto past(size_t a, size_t b) {
  return [=](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in, a, b); };
}

const auto half =
    days::ladder<Product>("half")
        .extents({"m", "n", "k"})
        .types<days::half, days::bf16>()
        .variant("warpgroup", LAUNCHER(matmul_warpgroup))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("copied", LAUNCHER(matmul_copied))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("ring", LAUNCHER(matmul_ring))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("roles", LAUNCHER(matmul_roles))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("persistent", LAUNCHER(matmul_persistent))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("clusters", LAUNCHER(matmul_clusters))
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .exercise(LAUNCHER(exercise), "tiles that the copy engine brings, where threads brought them",
                  "warpgroup", "copied", {.under_way = 30000})
        .runs_on(days::sm_90a)
        .needs(kWholeN, kWholeK, kAligned)
        .baseline("cuBLASLt")
        .reference(LAUNCHER(days::matmul_reference))
        .parallel(LAUNCHER(days::matmul_parallel))
        // A chunk in each extent; below, at and past a warpgroup's rows, a tile, a slab and a stage; more stages than the ring has; more tiles
        // than the CPU's device has multiprocessors, an odd number of them down.
        .shapes({{1, 8, 8},
                 {63, 64, 72},
                 {65, 72, 40},
                 {64, 136, 328},
                 {129, 264, 64},
                 {127, 256, 128},
                 {300, 520, 72}})
        .gpu_shapes(
            {{1000, 1000, 1000}, {1021, 1032, 1040}, {2056, 4104, 520}, {4096, 128, 8200}, {8200, 768, 768}})
        .bench({{8192, 8192, 8192}, {4096, 4096, 4096}, {65536, 768, 768}, {65536, 768, 3072}})
        .sweep(
            {{512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}})
        .show({{256, 256, 256}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in); })
        .hostile("misaligned a", past(1, 0))
        .hostile("misaligned b", past(0, 1))
        .hostile("integers", days::matmul_elements(days::kWholeNumbers))
        .hostile("all equal", days::matmul_elements(days::kAllEqual))
        .hostile("NaN and infinity",  // in one row of a and in one column of b: no other element may change
                 days::matmul_elements(days::kNotFinite))
        .traffic(LAUNCHER(days::matmul_traffic))
        .flops(LAUNCHER(days::matmul_flops), days::Rate::wgmma_by_type)
        .check_large(LAUNCHER(days::matmul_check_large))
        .tolerance(days::dot_product([](const auto& p) { return p.k; }))
        .lesson("one thread asks, four warps multiply, and the rest is who waits for whom.");

// ---- fp8 ----

// The product as gemm_cpu.h knows it: b comes by columns, and c has a type of its own.
template <class T>
auto as_gemm(const ByteMatmul<T>& p) {
  return days::BasicGemm<T, days::bf16, float>{p.a, p.b, p.c,  p.m,  p.n,          p.k,         p.k,
                                               p.k, p.n, 1.0f, 0.0f, days::Op::kN, days::Op::kT};
}
template <class T>
void byte_reference(const ByteMatmul<T>& p) {
  days::gemm_reference(as_gemm(p));
}
template <class T>
void byte_parallel(const ByteMatmul<T>& p) {
  days::gemm_parallel(as_gemm(p));
}

// What tensor cores may be off by that add numbers of 8 bits to one sum from end to end. They cut each summand off 13 bits below the first
// one of the largest, which is the sum so far. Where all have one sign the sum grows evenly, and of each product at most that much
// of the sum is lost: k / 2 times 2^-13 of the whole. Where signs are random, so is what is cut off: k losses, each spread over a unit of
// 2^-13 of a sum of sqrt(k), make 0.4 * k * 2^-13 at most; five such are allowed.
days::Bound cut_sums(double k, double rms_a, double rms_b) {
  const double cut = std::ldexp(k, -13);
  return {2 * cut * rms_a * rms_b + days::TypeInfo<days::bf16>::kDenormMin,
          cut / 2 + days::TypeInfo<days::bf16>::kEpsilon};
}
struct CutSums {
  template <class T, class Problem, class Inputs>
  days::Bound operator()(days::Type<T>, const Problem& p, Inputs& in) const {
    return cut_sums(p.k, in.rms("a"), in.rms("b"));
  }
};
template <class T>
days::Report byte_check_large(const ByteMatmul<T>& p) {
  return days::gemm_check_large(as_gemm(p), [&](double rms) { return cut_sums(p.k, rms, 1); });
}

// Each element of a and of b from its index; b's as that of (k, n) it is made from, so that columns are what the values speak of.
auto byte_elements(const days::MatmulValues& values) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.m = s[0];
    p.n = s[1];
    p.k = s[2];
    const size_t n = s[1], k = s[2];
    p.a = in.fill("a", s[0] * s[2], values.a);
    p.b = in.fill("b", s[1] * s[2], [=](size_t i) { return values.b(i % k * n + i / k); });
    p.c = in.output("c", s[0], s[1]);
  };
}
auto byte_past(size_t a, size_t b) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.m = s[0];
    p.n = s[1];
    p.k = s[2];
    p.a = in.normal("a", s[0] * s[2]) + a;
    p.b = in.normal("b", s[1] * s[2]) + b;
    p.c = in.output("c", s[0], s[1]);
  };
}

// cuBLASLt has no kernel of fp8 for others.
constexpr auto kByteN16 = days::multiple_of("n", 16, [](const auto& p) { return p.n; });

const auto fp8 =
    days::ladder<ByteMatmul>("fp8")
        .extents({"m", "n", "k"})
        .types<days::fp8_e4m3, days::fp8_e5m2>()
        .variant("one", LAUNCHER(matmul_one))
        .runs_on(days::sm_90a)
        .needs(kByteN8, kByteK16, kByteAligned)
        .variant("promoted", LAUNCHER(matmul_promoted))
        .runs_on(days::sm_90a)
        .needs(kByteN8, kByteK16, kByteAligned)
        .baseline("cuBLASLt")
        .needs(kByteN16)
        .baseline("cuBLASLt fast")
        .needs(kByteN16)
        .reference(LAUNCHER(byte_reference))
        .parallel(LAUNCHER(byte_parallel))
        // The last two have to be refused: rows of a and b, and of c, that do not begin at multiples of 16 bytes.
        .shapes({{1, 8, 16}, {65, 72, 144}, {129, 272, 656}, {3, 8, 24}, {3, 20, 16}})
        .gpu_shapes({{1000, 1000, 1008}, {1021, 1040, 1040}, {2056, 4112, 528}})
        .bench({{8192, 8192, 8192}, {4096, 4096, 4096}})
        .sweep({{1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}})
        .show({{256, 256, 1024}})
        .inputs(byte_past(0, 0))
        .hostile("misaligned a", byte_past(1, 0))
        .hostile("misaligned b", byte_past(0, 1))
        .hostile("integers", byte_elements(days::kWholeNumbers))
        .hostile("all positive",  // each sum grows to the end, and what is cut off of its summands with it
                 byte_elements({[](size_t i) { return 0.5 + 0.125 * static_cast<double>(i * 7 % 11); },
                                [](size_t i) { return 0.75 + 0.25 * static_cast<double>(i * 5 % 7); }}))
        .hostile("NaN", byte_elements(days::kNotFinite))
        .traffic([](const auto& p) {
          return days::reads(p.a, 1.0 * p.m * p.k) + days::reads(p.b, 1.0 * p.k * p.n) +
                 days::writes(p.c, 1.0 * p.m * p.n);
        })
        .flops([](const auto& p) { return 2.0 * p.m * p.n * p.k; }, days::Rate::wgmma_fp8)
        .check_large(LAUNCHER(byte_check_large))
        .tolerance("c", CutSums{})
        .lesson("twice the pace for half the bits, and for sums of 13: add them up yourself now and then.");

// ---- fp32 ----

const auto fp32 = days::with_hostile_matmuls(
    days::ladder<WideMatmul>("fp32")
        .extents({"m", "n", "k"})
        .types<float>()
        .variant("three", LAUNCHER(matmul_three))
        .runs_on(days::sm_90a)
        .needs(kWideN, kWideK, kByteAligned)
        .rate(days::Rate::wgmma_tf32)
        .workspace(LAUNCHER(three_workspace))
        .baseline("cuBLAS fp32")
        .reference(LAUNCHER(days::matmul_reference))
        .parallel(LAUNCHER(days::matmul_parallel))
        // The last two have to be refused, as in fp8.
        .shapes({{1, 2, 4}, {65, 134, 36}, {129, 72, 164}, {3, 4, 6}, {3, 5, 8}})
        .gpu_shapes({{1000, 1000, 1000}, {1021, 1030, 1032}, {2056, 4104, 520}})
        .bench({{8192, 8192, 8192}, {4096, 4096, 4096}})
        .sweep({{1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}})
        .show({{256, 256, 256}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in); })
        .hostile("misaligned a", past(1, 0))
        .hostile("misaligned b", past(0, 1))
        .traffic(LAUNCHER(days::matmul_traffic))
        .flops(LAUNCHER(days::matmul_flops), days::Rate::ffma)
        .check_large(LAUNCHER(days::matmul_check_large))
        .tolerance(days::dot_product([](const auto& p) { return p.k; }))
        .lesson("a third of tf32's pace is twice that of fp32, and every digit is there."));

REGISTER_LADDER(half);
REGISTER_LADDER(fp8);
REGISTER_LADDER(fp32);

}  // namespace
}  // namespace day67
