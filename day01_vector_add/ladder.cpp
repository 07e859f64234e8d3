// SPDX-License-Identifier: MIT
// The day's two ladders: who competes, on which shapes and inputs, measured against what. Host code only.

#include <cmath>
#include <limits>

#include "common/ladder.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

// The values at which floating-point addition does something out of the ordinary, in pairs with each other:
// both zeros, denormals, the largest float (whose double is infinity), infinities (inf - inf is NaN) and NaN.
float special_value(size_t i) {
  using limits = std::numeric_limits<float>;
  const float values[] = {0.0f,
                          -0.0f,
                          1.0f,
                          -1.0f,
                          limits::denorm_min(),
                          -limits::denorm_min(),
                          limits::min(),
                          limits::max(),
                          -limits::max(),
                          limits::infinity(),
                          -limits::infinity(),
                          limits::quiet_NaN(),
                          limits::epsilon()};
  return values[i % std::size(values)];
}

// The partner: while special_value goes once through its 13 values, this one stays, so that all 169 pairs
// meet.
float other_special_value(size_t i) {
  return special_value(i / 13);
}

const auto vector_add =
    days::ladder<VectorAdd>("vector_add")
        .extents({"n"})
        .types<float>()
        .variant("one_each", LAUNCHER(vector_add_one_each))
        .variant("grid_stride", LAUNCHER(vector_add_grid_stride))
        .variant("float4", LAUNCHER(vector_add_float4))
        .needs(kAligned)
        .variant("shared", LAUNCHER(vector_add_shared))
        .needs(kAlignedInputs)
        .variant("streaming", LAUNCHER(vector_add_streaming))
        .needs(kAligned)
        .variant("bulk", LAUNCHER(vector_add_bulk))
        .runs_on(days::sm_90)
        .needs(kAligned)
        .exercise(LAUNCHER(exercise), "add two vectors, an element a thread", "one_each", "one_each",
                  {.wasted_sectors = 0.1})
        .baseline("CUB")
        .reference(LAUNCHER(vector_add_reference))
        .parallel(LAUNCHER(vector_add_parallel))
        // One, around a warp (32), around a block (256), around a block's tile (1024 and 4096), a prime.
        .shapes({{1},
                 {2},
                 {3},
                 {5},
                 {31},
                 {32},
                 {33},
                 {255},
                 {256},
                 {257},
                 {1023},
                 {1024},
                 {1025},
                 {4095},
                 {4096},
                 {4097},
                 {8191},
                 {1000003}})
        .gpu_shapes({{(1 << 26) + 5}})
        .bench({{1 << 28}})
        .sweep({{1000}, {1 << 14}, {1 << 18}, {1000003}, {1 << 22}, {1 << 24}, {(1 << 26) + 5}, {1 << 28}})
        .show({{1 << 20}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.n = s[0];
          p.a = in.normal("a", s[0]);
          p.b = in.normal("b", s[0]);
          p.c = in.output("c", s[0]);
        })
        .hostile("special values",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.a = in.fill("a", s[0], special_value);
                   p.b = in.fill("b", s[0], other_special_value);
                   p.c = in.output("c", s[0]);
                 })
        .hostile("misaligned a",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.a = in.normal("a", s[0]) + 1;
                   p.b = in.normal("b", s[0]);
                   p.c = in.output("c", s[0]);
                 })
        .traffic([](const auto& p) {
          return days::reads(p.a, p.n) + days::reads(p.b, p.n) + days::writes(p.c, p.n);
        })
        .tolerance(days::exact)
        .lesson("memory sets the pace: 12 bytes an addition, and the best rung moves them at the limit.");

const auto matrix_add =
    days::ladder<MatrixAdd>("matrix_add")
        .extents({"rows", "cols", "pitch"})
        .types<float>()
        .variant("wrong_way", LAUNCHER(matrix_add_wrong_way))
        .needs(kWithinPitch, kColsAlongY)
        .variant("right_way", LAUNCHER(matrix_add_right_way))
        .needs(kWithinPitch, kRowsAlongY)
        .variant("row_float4", LAUNCHER(matrix_add_row_float4))
        .needs(kWithinPitch, kWholeVectors, kAligned)
        .reference(LAUNCHER(matrix_add_reference))
        .parallel(LAUNCHER(matrix_add_parallel))
        // One, around a warp and a block's sides (32 and 8; 128 columns for row_float4), primes, dense and
        // padded rows, more rows than one step of row_float4's grid (16384), and more rows or columns than a
        // grid takes along y.
        .shapes({{1, 1, 1},
                 {1, 3, 4},
                 {1, 31, 32},
                 {7, 32, 32},
                 {8, 33, 36},
                 {9, 1, 8},
                 {33, 31, 31},
                 {31, 33, 35},
                 {65, 127, 128},
                 {63, 128, 128},
                 {2, 129, 132},
                 {257, 263, 272},
                 {3, 1021, 1024},
                 {20011, 5, 8},
                 {524281, 1, 1},
                 {1, 524281, 524284},
                 {4, 9, 8}})
        .bench({{16384, 16384, 16384}})
        .sweep(
            {{256, 256, 256}, {1021, 1023, 1024}, {2048, 2048, 2048}, {4093, 4099, 4100}, {8192, 8192, 8192}})
        .show({{1024, 1000, 1024}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.rows = s[0];
          p.cols = s[1];
          p.pitch = s[2];
          p.a = in.normal("a", s[0] * s[2]);
          p.b = in.normal("b", s[0] * s[2]);
          p.c = in.output("c", s[0], s[2]);
        })
        .hostile("special values",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.rows = s[0];
                   p.cols = s[1];
                   p.pitch = s[2];
                   p.a = in.fill("a", s[0] * s[2], special_value);
                   p.b = in.fill("b", s[0] * s[2], other_special_value);
                   p.c = in.output("c", s[0], s[2]);
                 })
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.a, elements) + days::reads(p.b, elements) + days::writes(p.c, elements);
        })
        .tolerance(days::exact)
        .lesson("let threadIdx.x run along a row: neighbours in a warp, neighbours in memory.");

REGISTER_LADDER(vector_add);
REGISTER_LADDER(matrix_add);

}  // namespace
}  // namespace day01
