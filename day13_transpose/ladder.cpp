// SPDX-License-Identifier: MIT
// The day's two ladders: the transpose, and the copy of the same bytes that it is measured against. Host
// only.

#include <cmath>
#include <limits>

#include "common/ladder.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

// A transpose moves bits and does no arithmetic: denormals, both zeros, infinities and NaN arrive as they
// are.
double special_value(size_t i) {
  using limits = std::numeric_limits<float>;
  const double values[] = {0.0,
                           -0.0,
                           limits::denorm_min(),
                           -limits::min() / 2,
                           limits::max(),
                           limits::infinity(),
                           -limits::infinity(),
                           limits::quiet_NaN(),
                           6e-8,  // fp16's least denormal
                           65504.0,
                           1.0};
  return values[i % 11];
}

// Matrices `from` and `to` elements past an aligned address, `in` filled by values(count, inputs).
template <class Values>
auto matrices(Values values, int from = 0, int to = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.in = values(s[0] * s[1], in) + from;
    p.out = in.output("out", s[1], s[0]) + to;
  };
}
auto random_values() {
  return [](days::Extent n, days::Inputs& in) { return in.normal("in", n); };
}

const auto transpose =
    days::ladder<Transpose>("transpose")
        .extents({"rows", "cols"})
        .types<float, days::half, uint8_t>()
        .variant("naive", LAUNCHER(transpose_naive))
        .needs(kRowsBy8)
        .variant("shared", LAUNCHER(transpose_shared))
        .needs(kRowsBy32)
        .variant("padded", LAUNCHER(transpose_padded))
        .needs(kRowsBy32)
        .variant("swizzled", LAUNCHER(transpose_swizzled))
        .needs(kRowsBy32)
        .variant("several", LAUNCHER(transpose_several))
        .variant("down", LAUNCHER(transpose_down))
        .variant("aligned", LAUNCHER(transpose_aligned))
        .variant("vectorised", LAUNCHER(transpose_vectorised))
        .needs(kWholeVectors)
        .variant("bulk", LAUNCHER(transpose_bulk))
        .runs_on(days::sm_90)
        .needs(kWholeBulks)
        .exercise(LAUNCHER(exercise), "a transpose of whole rows, without bank conflicts", "naive", "padded",
                  {.wasted_sectors = 0.1, .conflicts = 0.1})
        .needs(kRowsBy32)
        .baseline("cuBLAS geam")
        .reference(LAUNCHER(transpose_reference))
        .by_rows(LAUNCHER(transpose_parallel))
        .parallel(LAUNCHER(transpose_parallel))
        // One; a row, a column; around the tiles of 32, 64 and 128; primes; whole vectors that are no whole
        // tile, of 4, 8 and 16 elements; never square where a mix-up of the extents could hide.
        .shapes({{1, 1},    {2, 3},    {1, 300},  {300, 1},   {31, 33},   {32, 32},  {33, 31},
                 {63, 65},  {64, 64},  {65, 63},  {127, 129}, {128, 128}, {61, 251}, {257, 67},
                 {36, 100}, {68, 132}, {72, 136}, {264, 8},   {8, 520},   {144, 80}, {272, 304}})
        .gpu_shapes({{524281, 1}, {2097121, 1}, {1021, 4099}, {2048, 1040}})
        .bench({{16384, 16384}, {16381, 16381}, {16380, 16380}, {4096, 4096}})
        .sweep({{256, 256},
                {1021, 1023},
                {1024, 1024},
                {2048, 2048},
                {4093, 4099},
                {4096, 4096},
                {8192, 8192},
                {16384, 16384},
                {16381, 16381}})
        .show({{1024, 1024}})
        .inputs(matrices(random_values()))
        .hostile("special values",
                 matrices([](days::Extent n, days::Inputs& in) { return in.fill("in", n, special_value); }))
        .hostile("misaligned in", matrices(random_values(), 1, 0))
        .hostile("misaligned out", matrices(random_values(), 0, 3))
        .hostile("out 16 bytes on",  // whole vectors, but its rows start within a sector
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   matrices(random_values(), 0, 16 / int{sizeof(*p.out)})(p, s, in);
                 })
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.in, elements) + days::writes(p.out, elements);
        })
        .tolerance(days::exact)
        .lesson("turn the tile in shared memory, so that both sides of it are read and written by rows.");

const auto copy =
    days::ladder<Copy2D>("copy")
        .extents({"rows", "cols"})
        .types<float>()
        .variant("element", LAUNCHER(copy_element))
        .needs(kRowsBy8)
        .baseline("cudaMemcpy2D")
        .reference(LAUNCHER(copy_reference))
        .by_rows(LAUNCHER(copy_parallel))
        .parallel(LAUNCHER(copy_parallel))
        .shapes({{1, 1}, {2, 3}, {1, 300}, {300, 1}, {7, 33}, {8, 32}, {9, 31}, {61, 67}, {524281, 1}})
        .bench({{16384, 16384}})
        .sweep({{256, 256}, {1021, 1023}, {4096, 4096}, {16384, 16384}})
        .show({{1024, 1024}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.rows = s[0];
          p.cols = s[1];
          p.in = in.normal("in", s[0] * s[1]);
          p.out = in.output("out", s[0], s[1]);
        })
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.in, elements) + days::writes(p.out, elements);
        })
        .tolerance(days::exact)
        .lesson("the copy is what a transpose is measured against.");

REGISTER_LADDER(transpose);
REGISTER_LADDER(copy);

}  // namespace
}  // namespace day13
