// SPDX-License-Identifier: MIT
// Day 50's ladder: who competes, on which shapes and inputs, measured against what. Host code only.

#include <limits>

#include "common/ladder.h"
#include "common/random.h"
#include "day50_gqa/gqa.h"

namespace day50 {
namespace {

// Inputs of which query h of its group is what one(h, i) makes of element i of q.
template <class One>
auto queries(One one) {
  return [one](auto& p, days::Shape s, days::Inputs& in) {
    const size_t heads = static_cast<size_t>(s[1]), group = heads / static_cast<size_t>(s[2]);
    const size_t dim = static_cast<size_t>(s[4]);
    days::decode_arrays(days::uneven_lengths, [=](auto& q, days::Inputs& to) {
      const days::Extent row = days::Extent{q.batch} * q.kv_heads * q.dim, cache = row * q.capacity;
      q.q = to.fill("q", days::Extent{q.batch} * q.heads * q.dim,
                    [=](size_t i) { return one(static_cast<int>(i / dim % heads % group), i); });
      q.k_new = to.normal("k_new", row);
      q.v_new = to.normal("v_new", row);
      q.k = to.normal("k", cache).as(q.batch, q.kv_heads, q.capacity, q.dim);
      q.v = to.normal("v", cache).as(q.batch, q.kv_heads, q.capacity, q.dim);
    })(p, s, in);
  };
}

// One query of a group has scores of thousands, the next is zeros, the others' scores are tiny: each has a maximum and
// a sum of its own.
double one_loud(int head, size_t i) {
  const double x = days::normal(501, i);
  return head % 4 == 1 ? 1000 * x : head % 4 == 2 ? 0 : x / 1000;
}

// A NaN in one query of a group, the last one.
double one_nan(int head, size_t i) {
  return head % 4 == 3 && i % 64 == 5 ? std::numeric_limits<double>::quiet_NaN() : days::normal(502, i);
}

const auto gqa =
    days::ladder<Decode>("gqa")
        .extents({"batch", "heads", "kv_heads", "capacity", "dim"})
        .types<float, days::half, days::bf16>()
        .variant("repeated", LAUNCHER(gqa_repeated))
        .needs(days::kDecodeAligned)
        .workspace(LAUNCHER(gqa_workspace))
        .setup(LAUNCHER(gqa_tickets))
        .variant("shared", LAUNCHER(gqa_shared))
        .needs(days::kDecodeAligned)
        .workspace(LAUNCHER(gqa_workspace))
        .setup(LAUNCHER(gqa_tickets))
        .variant("rows", LAUNCHER(gqa_rows))
        .needs(days::kDecodeAligned)
        .runs_on(days::sm_80)
        .workspace(LAUNCHER(gqa_workspace))
        .setup(LAUNCHER(gqa_tickets))
        .variant("columns", LAUNCHER(gqa_columns))
        .needs(days::kDecodeAligned)
        .runs_on(days::sm_80)
        .workspace(LAUNCHER(gqa_workspace))
        .setup(LAUNCHER(gqa_tickets))
        .variant("ring", LAUNCHER(gqa_ring))
        .needs(days::kDecodeAligned)
        .runs_on(days::sm_80)
        .workspace(LAUNCHER(gqa_workspace))
        .setup(LAUNCHER(gqa_tickets))
        .exercise(LAUNCHER(exercise), "a key asked for once, by a block that has all queries of its group",
                  "repeated", "shared", {.reads_per_input = 1.1, .wasted_sectors = 0.1})
        .needs(days::kDecodeAligned)
        .workspace(LAUNCHER(gqa_workspace))
        .setup(LAUNCHER(gqa_tickets))
        .reference(LAUNCHER(days::decode_reference))
        .parallel(LAUNCHER(days::decode_parallel))
        // Groups of 1, 2, 3, 4, 5, 7, 8, 12, 16 and 20; around slices of 16 keys, tiles of 32 and 64, chunks of 512.
        .shapes({{1, 1, 1, 1, 64},
                 {1, 2, 1, 65, 128},
                 {3, 3, 1, 33, 64},
                 {1, 8, 2, 130, 128},
                 {2, 5, 1, 300, 64},
                 {1, 14, 2, 64, 128},
                 {1, 8, 1, 1030, 64},
                 {1, 12, 1, 513, 128},
                 {2, 16, 1, 79, 64},
                 {1, 20, 1, 18, 128}})
        .gpu_shapes({{4, 56, 8, 5000, 128}, {5, 20, 4, 1537, 64}, {1, 64, 1, 2049, 128}})
        .bench({{32, 64, 8, 4096, 128}, {1, 32, 8, 65536, 128}})
        .sweep({{32, 8, 8, 4096, 128},
                {32, 16, 8, 4096, 128},
                {32, 32, 8, 4096, 128},
                {32, 40, 8, 4096, 128},
                {32, 56, 8, 4096, 128},
                {32, 64, 8, 4096, 128},
                {32, 96, 8, 4096, 128},
                {32, 128, 8, 4096, 128}},
               {.over = "heads", .each = "dim", .type = "bf16"})
        .show({{1, 8, 1, 1024, 128}})
        .inputs(days::decode_inputs())
        .hostile("uneven lengths", days::decode_packed(days::uneven_lengths))
        .hostile("no room", days::decode_inputs(days::lengths_out_of_range))
        .hostile("NaN behind", days::decode_nan_behind(days::uneven_lengths))
        .hostile("NaN keys", days::decode_nan_keys(days::uneven_lengths))
        .hostile("rising scores", days::decode_rising(days::full_cache))
        .hostile("one loud query", queries(one_loud))
        .hostile("one NaN query", queries(one_nan))
        .traffic(LAUNCHER(days::decode_traffic))
        .tolerance(days::DecodeTolerance{true})
        .tolerance("lse", days::DecodeLseTolerance{})
        .lesson("heads that share keys are the columns of one tile.");

REGISTER_LADDER(gqa);

}  // namespace
}  // namespace day50
