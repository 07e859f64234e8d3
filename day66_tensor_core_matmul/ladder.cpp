// SPDX-License-Identifier: MIT
// Day 66's ladders: halves; floats as tf32; floats by three products of tf32; and a layer of a network. Who competes, on which shapes and
// inputs, measured against what. Host code only.

#include <cmath>

#include "common/ladder.h"
#include "common/problems/matmul_hostile.h"
#include "common/random.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace day66 {
namespace {

const auto matmul_inputs = [](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in); };

auto past(size_t a, size_t b) {
  return [=](auto& p, days::Shape s, days::Inputs& in) { days::matmul_inputs(p, s, in, a, b); };
}

// Both operands of a shape {m, n, k}, each from the index along k and along the other extent.
template <class MakeA, class MakeB>
auto by_place(MakeA make_a, MakeB make_b) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.m = s[0];
    p.n = s[1];
    p.k = s[2];
    const size_t n = s[1], k = s[2];
    p.a = in.fill("a", s[0] * s[2], [=](size_t i) { return make_a(i / k, i % k, k); });
    p.b = in.fill("b", s[2] * s[1], [=](size_t i) { return make_b(i % n, i / n, k); });
    p.c = in.output("c", s[0], s[1]);
  };
}

// What 16 bits of a sum could not hold, and what a tile must not do to its neighbours.
template <class Ladder>
Ladder with_hostile_halves(const Ladder& ladder) {
  return ladder.hostile("integers", days::matmul_elements(days::kWholeNumbers))
      .hostile("all equal", days::matmul_elements(days::kAllEqual))
      // Sums rise by 1024 a product, past what half can hold at the 64th, and fall again.
      .hostile("large sums", by_place([](size_t, size_t, size_t) { return 32.0; },
                                      [](size_t, size_t i, size_t k) { return i < k / 2 ? 32.0 : -32.0; }))
      // Of half the first are denormal, the second not; their products are 2^-7 times a small integer.
      .hostile("denormals",
               by_place([](size_t, size_t i, size_t) { return std::ldexp(1.0 + i % 3, -20); },
                        [](size_t at, size_t i, size_t) { return std::ldexp(1.0 - at % 4 - i % 2, 13); }))
      .hostile("NaN and infinity",  // in one row of a and in one column of b: no other element may change
               days::matmul_elements(days::kNotFinite));
}

const auto half = with_hostile_halves(
    days::ladder<Matmul>("half")
        .extents({"m", "n", "k"})
        .types<days::half, days::bf16>()
        .variant("wmma", LAUNCHER(matmul_wmma))
        .runs_on(days::sm_80)
        .variant("mma", LAUNCHER(matmul_mma))
        .runs_on(days::sm_80)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("swizzled", LAUNCHER(matmul_swizzled))
        .runs_on(days::sm_80)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("staged", LAUNCHER(matmul_staged))
        .runs_on(days::sm_80)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("wide", LAUNCHER(matmul_wide))
        .runs_on(days::sm_80)
        .needs(kWholeN, kWholeK, kAligned)
        .variant("grouped", LAUNCHER(matmul_grouped))
        .runs_on(days::sm_80)
        .exercise(LAUNCHER(exercise), "fragments by ldmatrix from tiles without bank conflicts", "wmma",
                  "swizzled", {.conflicts = 0.1, .bytes_per_request = 300})
        .needs(kWholeN, kWholeK, kAligned)
        .baseline("cuBLAS")
        .reference(LAUNCHER(days::matmul_reference))
        .parallel(LAUNCHER(days::matmul_parallel))
        // One; below, at and past a chunk, a step of mma, a tile of 64, of 128 and of 256, in each extent; primes; more
        // tiles of k than stages; no two extents alike where a mix-up could hide.
        .shapes({{1, 1, 1},
                 {1, 8, 8},
                 {8, 16, 24},
                 {3, 5, 7},
                 {64, 64, 32},
                 {65, 72, 40},
                 {127, 136, 96},
                 {128, 256, 64},
                 {129, 264, 168},
                 {9, 8, 520},
                 {200, 24, 72},
                 {33, 31, 37},
                 {131, 257, 67}})
        .gpu_shapes({{1000, 1000, 1000}, {1021, 1031, 1033}, {2056, 4104, 520}, {4096, 128, 8200}})
        .bench({{8192, 8192, 8192}, {4096, 4096, 4096}, {2047, 2049, 2053}})
        .sweep({{256, 256, 256},
                {512, 512, 512},
                {1024, 1024, 1024},
                {2047, 2049, 2053},
                {2048, 2048, 2048},
                {4096, 4096, 4096},
                {8192, 8192, 8192}})
        .show({{256, 256, 256}})
        .inputs(matmul_inputs)
        .hostile("misaligned a", past(1, 0))
        .hostile("misaligned b", past(0, 1))
        .traffic(LAUNCHER(days::matmul_traffic))
        .flops(LAUNCHER(days::matmul_flops), days::Rate::by_type)
        .check_large(LAUNCHER(days::matmul_check_large))
        .tolerance(days::dot_product([](const auto& p) { return p.k; }))
        .lesson("feed the matrix units: every fragment used four or eight times, every tile asked for three "
                "stages "
                "early."));

// Both operands of each product are rounded to 11 bits, to the nearest: a product is off by 2^-10 of itself at most,
// and the errors of k of them add up like random signs.
struct RoundedToTf32 {
  template <class T, class Problem, class Inputs>
  days::Bound operator()(days::Type<T>, const Problem& p, Inputs& in) const {
    const double size = std::sqrt(static_cast<double>(p.k)) * in.template rms<T>();
    const days::Bound sum = days::dot_product([](const auto& q) { return q.k; })(days::Type<T>{}, p, in);
    return {sum.absolute + std::ldexp(size, -9), sum.relative + std::ldexp(1.0, -10)};
  }
};

template <class Ladder>
Ladder of_floats(const Ladder& rows) {
  return days::with_hostile_matmuls(
      rows.reference(LAUNCHER(days::matmul_reference))
          .parallel(LAUNCHER(days::matmul_parallel))
          .shapes({{1, 1, 1},
                   {1, 4, 4},
                   {3, 5, 7},
                   {65, 68, 36},
                   {128, 256, 16},
                   {130, 260, 100},
                   {9, 8, 260},
                   {131, 131, 67}})
          .gpu_shapes({{1000, 1000, 1000}, {1021, 1031, 1033}, {2056, 4104, 520}})
          .bench({{4096, 4096, 4096}, {8192, 8192, 8192}, {2047, 2049, 2053}})
          .sweep({{512, 512, 512},
                  {1024, 1024, 1024},
                  {2047, 2049, 2053},
                  {4096, 4096, 4096},
                  {8192, 8192, 8192}})
          .show({{256, 256, 256}})
          .inputs(matmul_inputs)
          .hostile("misaligned a", past(1, 0))
          .hostile("misaligned b", past(0, 1))
          .traffic(LAUNCHER(days::matmul_traffic)));
}

const auto tf32 = of_floats(days::ladder<Matmul>("tf32")
                                .extents({"m", "n", "k"})
                                .types<float>()
                                .variant("tf32", LAUNCHER(matmul_tf32))
                                .runs_on(days::sm_80)
                                .baseline("cuBLAS TF32"))
                      .flops(LAUNCHER(days::matmul_flops), days::Rate::mma_tf32)
                      .tolerance(RoundedToTf32{})
                      .lesson("tf32 is a float with a short fraction: fast, and off in the fourth digit.");

const auto fp32 =
    of_floats(days::ladder<Matmul>("fp32")
                  .extents({"m", "n", "k"})
                  .types<float>()
                  .variant("three", LAUNCHER(matmul_three))
                  .runs_on(days::sm_80)
                  .rate(days::Rate::mma_tf32)
                  .baseline("cuBLAS fp32"))
        .flops(LAUNCHER(days::matmul_flops), days::Rate::ffma)
        .check_large(LAUNCHER(days::matmul_check_large))
        .tolerance(days::dot_product([](const auto& p) { return p.k; }))
        .lesson("three products of 11 bits are one of 22: a float's digits at a third of tf32's rate.");

// The sum is made, and perhaps rounded, before the bias is added: its error is of its own size.
struct RoundedTwice {
  template <class T, class Problem, class Inputs>
  days::Bound operator()(days::Type<T>, const Problem& p, Inputs& in) const {
    const days::Bound sum = days::dot_product([](const auto& q) { return q.k; })(days::Type<T>{}, p, in);
    const double size =
        4 * (std::sqrt(static_cast<double>(p.k)) * in.rms("a") * in.rms("b") + in.rms("bias"));
    return {sum.absolute + days::TypeInfo<T>::kEpsilon * size, sum.relative + days::TypeInfo<T>::kEpsilon};
  }
};

// Rounds the product before the bias is added, as two launches would.
template <class T>
void linear_parallel(const Linear<T>& p) {
  days::matmul_parallel(p);
  for (int64_t i = 0; i < int64_t{p.m} * p.n; ++i) {
    const double x = days::to_double(p.c[i]) + days::to_double(p.bias[i % p.n]);
    p.c[i] = days::from_double<T>(x < 0 ? 0 : x);
  }
}
template <class T>
void linear_reference(const Linear<T>& p) {
  for (int row = 0; row < p.m; ++row) {
    for (int col = 0; col < p.n; ++col) {
      const double x = days::matmul_element(p, row, col) + days::to_double(p.bias[col]);
      p.c[int64_t{row} * p.n + col] = days::from_double<T>(x < 0 ? 0 : x);
    }
  }
}

// The inputs of `make`, and a bias.
template <class Make>
auto biased(Make make) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    make(p, s, in);
    p.bias = in.normal("bias", s[1]);
  };
}

const auto linear =
    days::ladder<Linear>("linear")
        .extents({"m", "n", "k"})
        .types<days::half, days::bf16>()
        .variant("fused", LAUNCHER(linear_fused))
        .runs_on(days::sm_80)
        .reference(LAUNCHER(linear_reference))
        .by_rows([](const auto& p) { return static_cast<size_t>(p.m); },
                 [](auto p, size_t begin, size_t end) {
                   p.a += begin * static_cast<size_t>(p.k);
                   p.c += begin * static_cast<size_t>(p.n);
                   p.m = static_cast<int>(end - begin);
                   return p;
                 })
        .parallel(LAUNCHER(linear_parallel))
        .shapes({{1, 1, 1}, {65, 72, 40}, {129, 264, 72}, {33, 31, 37}})
        .gpu_shapes({{1000, 1000, 1000}, {1021, 1031, 1033}})
        .bench({{4096, 4096, 512}, {8192, 8192, 128}})
        .sweep({{4096, 4096, 64}, {4096, 4096, 256}, {4096, 4096, 1024}})
        .show({{256, 256, 64}})
        .inputs(biased(matmul_inputs))
        .hostile("misaligned", biased(past(1, 1)))
        .hostile("NaN and infinity", biased(days::matmul_elements(days::kNotFinite)))
        .traffic([](const auto& p) { return days::matmul_traffic(p) + days::reads(p.bias, 1.0 * p.n); })
        .flops(LAUNCHER(days::matmul_flops), days::Rate::by_type)
        .tolerance(RoundedTwice{})
        .lesson("a lane knows its columns: finish the sums where they are.");

REGISTER_LADDER(half);
REGISTER_LADDER(tf32);
REGISTER_LADDER(fp32);
REGISTER_LADDER(linear);

}  // namespace
}  // namespace day66
