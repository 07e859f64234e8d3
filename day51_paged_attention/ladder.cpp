// SPDX-License-Identifier: MIT
// Day 51's ladder: who competes, on which shapes and inputs, measured against what. Host code only.

#include "common/ladder.h"
#include "day51_paged_attention/paged_attention.h"

namespace day51 {
namespace {

using days::Tables;

const auto paged_attention =
    days::ladder<PagedDecode>("paged_attention")
        .extents({"sequences", "heads", "kv_heads", "longest", "page", "dim"})
        .types<days::half, days::bf16>()
        .variant("chased", LAUNCHER(paged_chased))
        .runs_on(days::sm_80)
        .variant("ahead", LAUNCHER(paged_ahead))
        .runs_on(days::sm_80)
        .variant("chunks", LAUNCHER(paged_chunks))
        .runs_on(days::sm_80)
        .workspace(LAUNCHER(partials_workspace))
        .variant("shares", LAUNCHER(paged_shares))
        .needs(kFewSequences)
        .runs_on(days::sm_80)
        .workspace(LAUNCHER(partials_workspace))
        .exercise(LAUNCHER(exercise), "each tile's rows looked up once, a tile ahead", "chased", "ahead",
                  {.reads_per_input = 1.12, .wasted_sectors = 0.1})
        .reference(LAUNCHER(days::paged_decode_reference))
        .by_rows(days::kPagedSequences, days::kSomePagedSequences)
        .parallel(LAUNCHER(days::paged_decode_parallel))
        // One row; around a page, a tile of 16, a chunk of 256; pages of 1, of sizes that are no power of two, larger than
        // a chunk; groups of 1, 2, 3, 5, 8, 12 and 72 queries; more sequences than a warp has lanes,
        // and, eight queries at a time, more chunks than the CPU's device has warps: a share has two, of two eights as well.
        .shapes({{1, 1, 1, 1, 16, 64},
                 {2, 4, 2, 17, 16, 128},
                 {3, 3, 1, 49, 12, 64},
                 {4, 12, 1, 97, 1, 64},
                 {2, 5, 1, 300, 64, 128},
                 {7, 2, 2, 258, 8, 64},
                 {3, 8, 1, 1000, 256, 64},
                 {37, 72, 1, 33, 5, 64}})
        .gpu_shapes({{64, 8, 1, 32768, 16, 64}, {33, 32, 8, 1000, 16, 128}})
        .bench({{64, 32, 8, 8192, 16, 128}})
        .sweep({{64, 32, 8, 8192, 1, 128},
                {64, 32, 8, 8192, 16, 128},
                {64, 32, 8, 8192, 256, 128},
                {32, 32, 8, 4096, 16, 128},
                {8, 32, 8, 32768, 16, 128},
                {1, 32, 8, 65536, 16, 128}},
               {.type = "bf16"})
        .show({{4, 8, 2, 512, 16, 64}})
        .inputs(days::paged_inputs())
        .hostile("unused rows are NaN", days::paged_nan_unused())
        .hostile("old numbers behind the table's end",
                 days::paged_nan_unused(days::random_lengths, Tables::kStale))
        .hostile("shared pages", days::paged_nan_unused(days::equal_lengths, Tables::kShared))
        .hostile("one long", days::paged_nan_unused(days::one_long))
        .hostile("empty slots", days::paged_nan_unused(days::empty_slots, Tables::kStale))
        .hostile("rising scores", days::paged_rising())
        .hostile("a NaN in a key", days::paged_nan_keys())
        .hostile("scores of thousands", days::paged_inputs(days::random_lengths, Tables::kPlain, 50))
        .traffic(LAUNCHER(days::paged_decode_traffic))
        .tolerance(days::PagedDecodeTolerance{})
        .tolerance("k", days::exact)
        .tolerance("v", days::exact)
        .tolerance("lse", days::PagedDecodeLseTolerance{})
        .lesson("a table turns one wait into two: ask a tile ahead; and share out chunks, not sequences.");
REGISTER_LADDER(paged_attention);

}  // namespace
}  // namespace day51
