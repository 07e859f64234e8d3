// SPDX-License-Identifier: MIT
// The day's ladders: who competes, on which shapes and inputs, measured against what. Host only.

#include <cmath>
#include <cstdint>
#include <limits>

#include "common/ladder.h"
#include "common/scalar.h"
#include "day62_histogram_and_sort/check.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/histogram.h"
#include "day62_histogram_and_sort/radix_sort.h"
#include "day62_histogram_and_sort/top_k.h"

namespace day62 {
namespace {

// What an input is filled with: values(name, n, inputs).
auto random_values() {
  return [](const char* name, days::Extent n, days::Inputs& in) { return in.uniform(name, n); };
}
// function(i) for each element.
template <class F>
auto each(F function) {
  return [=](const char* name, days::Extent n, days::Inputs& in) { return in.fill(name, n, function); };
}
auto all_equal(double value) {
  return [=](const char* name, days::Extent n, days::Inputs& in) { return in.constant(name, n, value); };
}

// ---- histogram ----

// Keys some bytes past an aligned address.
template <class Values>
auto histogram_of(Values values, int from = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.keys = values("keys", s[0], in) + from;
    p.counts = in.output("counts", kBins);
  };
}

const auto histogram =
    days::ladder<Histogram>("histogram")
        .extents({"n"})
        .types<uint8_t>()
        .variant("global", LAUNCHER(histogram_global))
        .variant("block", LAUNCHER(histogram_block))
        .variant("warp", LAUNCHER(histogram_warp))
        .variant("thread", LAUNCHER(histogram_thread))
        .baseline("CUB")
        .workspace(LAUNCHER(histogram_cub_workspace))
        .exercise(LAUNCHER(exercise), "a histogram whose threads meet within their block alone", "global",
                  "block", {.atomics_per_input = 0.1})
        .reference(LAUNCHER(histogram_reference))
        .by_rows(LAUNCHER(histogram_parallel))
        .parallel(LAUNCHER(histogram_parallel))
        // One; around a vector of 16, a warp's and a block's vectors; enough that a thread of `thread` counts the
        // same key more than 255 times on the CPU backend.
        .shapes({{1}, {15}, {16}, {17}, {31}, {257}, {2047}, {2048}, {2049}, {4111}, {65537}, {2500003}})
        .gpu_shapes({{67108879}, {2147483649}})
        .bench({{1 << 30}})
        .sweep({{1 << 14},
                {1 << 16},
                {1 << 18},
                {1000003},
                {1 << 22},
                {1 << 24},
                {1 << 26},
                {100000007},
                {1 << 28},
                {1 << 30}},
               {.over = "n"})
        .show({{1 << 20}})
        .inputs(histogram_of(random_values()))
        .hostile("all equal", histogram_of(all_equal(255)))
        .hostile("two keys",
                 histogram_of(each([](size_t i) { return i * 2654435761u >> 13 & 1 ? 7.0 : 8.0; })))
        .hostile("long runs",
                 histogram_of(each([](size_t i) { return static_cast<double>(i / 1000 % 256); })))
        .hostile("misaligned keys", histogram_of(random_values(), 1))
        .hostile("misaligned by 15", histogram_of(random_values(), 15))
        .traffic([](const auto& p) {
          return days::reads(p.keys, static_cast<double>(p.n)) + days::writes(p.counts, kBins);
        })
        .tolerance(days::exact)
        .lesson("every thread wants the same place: give each a private one, then merge.");
REGISTER_LADDER(histogram);

// ---- compaction ----

constexpr float kThreshold = 0.25f;
constexpr double kKeptShare = 0.4013;  // of N(0, 1)

// x some elements past an aligned address, and y as many as `to`.
template <class Values>
auto elements_of(Values values, int from = 0, int to = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.threshold = static_cast<float>(days::scalar("threshold", kThreshold));
    p.x = values("x", s[0], in) + from;
    p.y = in.output("y", s[0]) + to;
    p.count = in.output("count", 1);
  };
}
auto normal_values() {
  return [](const char* name, days::Extent n, days::Inputs& in) { return in.normal(name, n); };
}
// What a comparison may get wrong: the threshold itself, its neighbours, NaN, infinities.
double special_value(size_t i) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float values[] = {kThreshold,
                          std::nextafter(kThreshold, 1.0f),
                          std::nextafter(kThreshold, 0.0f),
                          std::nanf(""),
                          kInfinity,
                          -kInfinity,
                          1.0f};
  return static_cast<double>(values[i % 7]);
}

// What both ladders of a compaction share.
template <class Ladder>
Ladder compaction_cases(const Ladder& ladder) {
  return ladder.reference(LAUNCHER(compaction_reference))
      .by_rows(LAUNCHER(compaction_parallel))
      .parallel(LAUNCHER(compaction_parallel))
      // One; around a warp and a tile of 4,096; more tiles than a warp of look_back sees at once.
      .shapes({{1}, {31}, {33}, {1000}, {4095}, {4096}, {4097}, {20011}, {135169}})
      .gpu_shapes({{67108879}})
      .bench({{1 << 28}})
      .sweep({{1 << 14}, {1 << 16}, {1 << 18}, {1000003}, {1 << 22}, {1 << 24}, {100000007}, {1 << 28}},
             {.over = "n"})
      .show({{1 << 18}})
      .inputs(elements_of(normal_values()))
      .hostile("all kept", elements_of(all_equal(1)))
      .hostile("none kept", elements_of(all_equal(kThreshold)))
      .hostile("one of a hundred kept", elements_of(each([](size_t i) { return i % 100 == 96 ? 1.0 : 0.0; })))
      .hostile("special values", elements_of(each(special_value)))
      .hostile("misaligned", elements_of(normal_values(), 1, 3))
      .traffic([](const auto& p) {  // as many are kept as of N(0, 1)
        const double n = static_cast<double>(p.n);
        return days::reads(p.x, n) + days::writes(p.y, kKeptShare * n) + days::writes(p.count, 1);
      });
}

const auto compaction =
    compaction_cases(days::ladder<Compaction>("compaction")
                         .extents({"n"})
                         .types<float>()
                         .variant("one_each", LAUNCHER(compaction_one_each))
                         .variant("one_warp", LAUNCHER(compaction_one_warp))
                         .variant("one_block", LAUNCHER(compaction_one_block)))
        .check(LAUNCHER(check_compaction))
        .lesson("one asks for the places of many: a warp by a ballot, a block by a scan.");
REGISTER_LADDER(compaction);

const auto compaction_stable =
    compaction_cases(days::ladder<Compaction>("compaction_stable")
                         .extents({"n"})
                         .types<float>()
                         .variant("two_reads", LAUNCHER(compaction_two_reads))
                         .workspace(LAUNCHER(two_reads_workspace))
                         .variant("look_back", LAUNCHER(compaction_look_back))
                         .workspace(LAUNCHER(look_back_workspace))
                         .baseline("CUB")
                         .workspace(LAUNCHER(compaction_cub_workspace)))
        .check(LAUNCHER(check_stable_compaction))
        .lesson("publish your own sum at once, and look back at the others' instead of waiting for all.");
REGISTER_LADDER(compaction_stable);

// ---- radix sort ----

template <class Values>
auto keys_of(Values values, int from = 0, int to = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.in = values("in", s[0], in) + from;
    p.out = in.output("out", s[0]) + to;
  };
}

const auto radix_sort =
    days::ladder<RadixSort>("radix_sort")
        .extents({"n"})
        .types<uint32_t>()
        .variant("scatter", LAUNCHER(radix_sort_scatter))
        .workspace(LAUNCHER(tiles_workspace))
        .variant("staged", LAUNCHER(radix_sort_staged))
        .workspace(LAUNCHER(tiles_workspace))
        .variant("onesweep", LAUNCHER(radix_sort_onesweep))
        .workspace(LAUNCHER(onesweep_workspace))
        .baseline("CUB")
        .workspace(LAUNCHER(radix_sort_cub_workspace))
        .reference(LAUNCHER(radix_sort_reference))
        .by_rows(LAUNCHER(radix_sort_parallel))
        .parallel(LAUNCHER(radix_sort_parallel))
        // One; around a warp and the tiles of 4,096 and 7,296; several tiles of each.
        .shapes({{1}, {33}, {1000}, {4096}, {4097}, {7296}, {7297}, {16411}})
        .gpu_shapes({{1048577}, {50000017}})
        .bench({{1 << 26}})
        .sweep({{1 << 12},
                {1 << 14},
                {1 << 16},
                {1 << 18},
                {1000003},
                {1 << 22},
                {1 << 24},
                {30000001},
                {1 << 26},
                {100000007}},
               {.over = "n"})
        .show({{1 << 16}})
        .inputs(keys_of(random_values()))
        .hostile("all equal", keys_of(all_equal(7)))
        .hostile("all the largest", keys_of(all_equal(4294967295.0)))
        .hostile("sorted", keys_of(each([](size_t i) { return static_cast<double>(i * 40009); })))
        .hostile("reversed",
                 keys_of(each([](size_t i) { return 4294967295.0 - static_cast<double>(i * 40009); })))
        .hostile("two keys",
                 keys_of(each([](size_t i) { return i * 2654435761u >> 13 & 1 ? 256.0 : 4294967295.0; })))
        .hostile(
            "the highest byte alone",
            keys_of(each([](size_t i) { return static_cast<double>((i * 2654435761u >> 7 & 255) << 24); })))
        .hostile("misaligned", keys_of(random_values(), 1, 3))
        .traffic([](const auto& p) {
          const double n = static_cast<double>(p.n);
          return days::reads(p.in, n) + days::writes(p.out, n);
        })
        .tolerance(days::exact)
        .lesson(
            "rank within private counters, sort the tile before it is written, and look back instead of "
            "reading twice.");
REGISTER_LADDER(radix_sort);

// ---- top-k ----

// x, values and indices some elements past an aligned address.
template <class Values>
auto rows_of(Values values, int from = 0, int to = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.k = s[2];
    p.x = (values("x", s[0] * s[1], in) + from).as(s[0], s[1]);
    p.values = in.output("values", s[0], s[2]) + to;
    p.indices = in.output("indices", s[0], s[2]) + to;
  };
}
// What has no place in an order of numbers, or two.
double special_logit(size_t i) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double values[] = {-kInfinity, std::nan(""), -0.0, 0.0, kInfinity, -std::nan(""), -1e-40, 1.0, -3e38};
  return values[i * 7 % 9];
}

const auto top_k =
    days::ladder<TopK>("top_k")
        .extents({"rows", "cols", "k"})
        .types<float, days::bf16>()
        .variant("repeated_max", LAUNCHER(top_k_repeated_max))
        .variant("radix_select", LAUNCHER(top_k_radix_select))
        .variant("slices", LAUNCHER(top_k_slices))
        .needs(kColsOfSlices, kRowsOfSlices)
        .workspace(LAUNCHER(slices_workspace))
        .reference(LAUNCHER(top_k_reference))
        .by_rows([](const auto& p) { return p.rows; },
                 [](auto p, size_t begin, size_t end) {
                   p.rows = static_cast<int>(end - begin);
                   p.x += begin * static_cast<size_t>(p.cols);
                   p.values += begin * static_cast<size_t>(p.k);
                   p.indices += begin * static_cast<size_t>(p.k);
                   return p;
                 })
        .parallel(LAUNCHER(top_k_parallel))
        // One; all of a short row; the largest k, of all and of more; around a slice of 8,192; slices with less than k.
        .shapes({{1, 1, 1},
                 {3, 5, 5},
                 {1, 256, 256},
                 {1, 300, 256},
                 {2, 1000, 50},
                 {3, 1025, 7},
                 {1, 8191, 3},
                 {2, 8193, 20},
                 {1, 16421, 40},
                 {5, 257, 1}})
        .gpu_shapes({{64, 128256, 50}, {1, 1048576, 256}, {70001, 64, 8}, {2, 3000017, 40}})
        .bench({{64, 128256, 50}})
        .sweep({{1, 128256, 50},
                {8, 128256, 50},
                {64, 32000, 50},
                {64, 50257, 50},
                {64, 128256, 1},
                {64, 128256, 256},
                {512, 128256, 50},
                {16384, 256, 8}})
        .show({{4, 32768, 50}})
        .inputs(rows_of(normal_values()))
        .hostile("all equal", rows_of(all_equal(-2)))
        .hostile("few values",
                 rows_of(each([](size_t i) { return static_cast<double>(i * 2654435761u >> 9 & 3); })))
        .hostile("special values", rows_of(each(special_logit)))
        .hostile("ascending", rows_of(each([](size_t i) { return static_cast<double>(i) - 1000; })))
        .hostile("close together",
                 rows_of(each([](size_t i) { return 1 + static_cast<double>(i * 40009 % 8191) * 0x1p-23; })))
        .hostile("misaligned", rows_of(normal_values(), 1, 3))
        .traffic([](const auto& p) {
          const double out = 1.0 * p.rows * p.k;
          return days::reads(p.x, 1.0 * p.rows * p.cols) + days::writes(p.values, out) +
                 days::writes(p.indices, out);
        })
        .tolerance(days::exact)
        .check("indices", LAUNCHER(check_indices))
        .lesson(
            "count digits from the highest down, in as many blocks as the row fills, and merge by counting "
            "who is larger.");
REGISTER_LADDER(top_k);

}  // namespace
}  // namespace day62
