// SPDX-License-Identifier: MIT
// Day 49's ladder: who competes, on which shapes and inputs, measured against what. Host code only.

#include "common/ladder.h"
#include "day49_kv_cache/decode.h"

namespace day49 {
namespace {

const auto decode =
    days::ladder<Decode>("decode")
        .extents({"batch", "heads", "capacity", "dim"})
        .types<float, days::half, days::bf16>()
        .variant("block", LAUNCHER(decode_block))
        .needs(days::kDecodeAligned)
        .variant("warps", LAUNCHER(decode_warps))
        .needs(days::kDecodeAligned)
        .variant("split", LAUNCHER(decode_split))
        .needs(days::kDecodeAligned)
        .workspace(LAUNCHER(split_workspace))
        .variant("ticket", LAUNCHER(decode_ticket))
        .needs(days::kDecodeAligned)
        .workspace(LAUNCHER(ticket_workspace))
        .setup(LAUNCHER(decode_tickets))
        .variant("ring", LAUNCHER(decode_ring))
        .runs_on(days::sm_80)
        .needs(days::kDecodeAligned)
        .workspace(LAUNCHER(ticket_workspace))
        .setup(LAUNCHER(decode_tickets))
        .exercise(LAUNCHER(exercise), "attention of one token, no barrier between keys", "block", "warps",
                  {.bytes_per_request = 400})
        .needs(days::kDecodeAligned)
        .reference(LAUNCHER(decode_reference))
        .by_rows(days::kSequences, days::kSomeSequences)
        .parallel(LAUNCHER(decode_parallel))
        // An empty cache; around a request, a tile and a chunk; several chunks, the last of one key; heads and
        // sequences that are odd.
        .shapes({{1, 1, 1, 64},
                 {1, 2, 65, 64},
                 {5, 1, 34, 128},
                 {2, 1, 257, 64},
                 {3, 2, 300, 128},
                 {2, 1, 769, 64}})
        .gpu_shapes(
            {{3, 5, 300, 128}, {2, 1, 2049, 128}, {1, 8, 65536, 128}, {64, 8, 1024, 128}, {7, 3, 5000, 64}})
        .bench({{32, 8, 4096, 128}, {1, 8, 65536, 128}})
        .sweep({{1, 8, 256, 128},
                {1, 8, 1024, 128},
                {1, 8, 4096, 128},
                {1, 8, 16384, 128},
                {1, 8, 65536, 128},
                {64, 8, 256, 128},
                {64, 8, 1023, 128},
                {64, 8, 4096, 128},
                {32, 8, 4096, 128},
                {64, 12, 1024, 64}},
               {.over = "capacity", .each = "batch", .type = "bf16"})
        .show({{1, 2, 1024, 128}})
        .inputs(days::decode_inputs())
        .hostile("uneven, NaN behind", days::decode_nan_behind(days::uneven_lengths))
        .hostile("rising scores", days::decode_rising(days::full_cache))
        .hostile("scores of thousands", days::decode_inputs(days::uneven_lengths, 50))
        .hostile("outliers", days::decode_outliers(days::full_cache))
        .hostile("all equal", days::decode_all_equal(days::uneven_lengths))
        .hostile("NaN in keys", days::decode_nan_keys(days::full_cache))
        .hostile("no such length", days::decode_nan_behind(days::lengths_out_of_range))
        .hostile("packed", days::decode_packed(days::uneven_lengths))
        .traffic(LAUNCHER(decode_traffic))
        .tolerance(days::DecodeTolerance{.rounds = true})  // as PyTorch's kernels do
        .tolerance("lse", days::DecodeLseTolerance{})
        .tolerance("k", days::exact)
        .tolerance("v", days::exact)
        .lesson(
            "one query is all bytes: cut the keys until every multiprocessor has some, and mend the sums.");

REGISTER_LADDER(decode);

}  // namespace
}  // namespace day49
