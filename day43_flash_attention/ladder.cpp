// SPDX-License-Identifier: MIT
// The day's two ladders, the same kernels with and without a causal mask: who competes, on which shapes and
// inputs, measured against what. Host only.

#include <string>

#include "common/ladder.h"
#include "common/random.h"
#include "day43_flash_attention/attention.h"

namespace day43 {
namespace {

// Each key outweighs those before it, so the largest score so far grows with every tile, in one row in two. q
// and k are small and the scale makes up for it: where o is rescaled only for a score that is larger by some
// number, the number has to be one of scaled scores.
auto rising(bool causal) {
  const auto make = days::attention_elements(
      causal, [](int row, size_t) { return (row % 2 == 0 ? 0.5 : -0.25) / 32; },
      [](int row, size_t i) { return (0.02 * row + 0.1 * days::normal(301, i)) / 32; },
      [](int, size_t i) { return days::normal(302, i); });
  return [make](auto& p, days::Shape s, days::Inputs& in) {
    make(p, s, in);
    p.scale *= 32 * 32;
  };
}

// `prefix` goes before the rungs' names, which have to differ between the ladders of a day.
auto attention_ladder(const char* name, const std::string& prefix, bool causal) {
  const auto rung = [prefix](const char* rung_name) { return prefix + rung_name; };
  return days::ladder<Attention>(name, __builtin_FILE())
      .extents({"batch", "heads", "seq_q", "seq_k", "dim"})
      .types<float, days::half, days::bf16>()
      .variant(rung("naive").c_str(), LAUNCHER(attention_naive))
      .variant(rung("tiled").c_str(), LAUNCHER(attention_tiled))
      .variant(rung("mma").c_str(), LAUNCHER(attention_mma))
      .runs_on(days::sm_80)
      .variant(rung("async").c_str(), LAUNCHER(attention_async))
      .runs_on(days::sm_80)
      .variant(rung("skipping").c_str(), LAUNCHER(attention_skipping))
      .runs_on(days::sm_80)
      .variant(rung("wide").c_str(), LAUNCHER(attention_wide))
      .runs_on(days::sm_80)
      .variant(rung("turing").c_str(), LAUNCHER(attention_turing))
      .reference(LAUNCHER(attention_reference))
      .parallel(LAUNCHER(attention_parallel))
      // One query and one key; around the tiles of 32, 64 and 128; more keys than queries and fewer; heads
      // and batches that are odd.
      .shapes({{1, 1, 1, 1, 64},
               {3, 1, 17, 1, 128},
               {1, 1, 1, 333, 64},
               {1, 3, 63, 65, 64},
               {1, 1, 64, 64, 128},
               {1, 1, 33, 32, 64},
               {1, 1, 65, 63, 64},
               {1, 1, 127, 129, 128},
               {1, 1, 129, 127, 64},
               {1, 2, 70, 140, 64},
               {1, 1, 200, 70, 128}})
      .gpu_shapes(
          {{1, 3, 1000, 1000, 64}, {1, 2, 1023, 2049, 128}, {3, 1, 777, 129, 128}, {1, 1, 2600, 2500, 64}})
      .bench({{8, 16, 2048, 2048, 64}, {8, 8, 2048, 2048, 128}})
      .sweep({{32, 16, 512, 512, 64},
              {16, 16, 1000, 1000, 64},
              {16, 16, 1024, 1024, 64},
              {8, 16, 2047, 2049, 64},
              {8, 16, 2048, 2048, 64},
              {4, 16, 4096, 4096, 64},
              {2, 16, 8192, 8192, 64},
              {1, 16, 16384, 16384, 64},
              {16, 8, 1024, 1024, 128},
              {8, 8, 2048, 2048, 128},
              {4, 8, 4096, 4096, 128},
              {2, 8, 8192, 8192, 128},
              {1, 8, 16384, 16384, 128}},
             {.over = "seq_k", .each = "dim", .type = "bf16"})
      .show({{1, 2, 256, 256, 64}})
      .inputs(days::attention_inputs(causal))
      .hostile("rising scores", rising(causal))
      .hostile("outliers", days::attention_outliers(causal))
      .hostile("all equal", days::attention_all_equal(causal))
      .traffic(LAUNCHER(attention_traffic))
      .flops(LAUNCHER(attention_flops), days::Rate::by_type)
      .tolerance(days::AttentionTolerance{})
      .tolerance("lse", days::AttentionLseTolerance{})
      .check_large(LAUNCHER(attention_check_large));
}

// `check` judges the exercise and each rung by this ladder alone, so it has a kind of inputs with a mask. What
// huge scores do has nothing to do with a mask, and is tried once, here.
const auto attention =
    attention_ladder("attention", "", false)
        .hostile("causal", days::attention_inputs(true))
        .hostile("scores of thousands", days::attention_inputs(false, 50))
        .exercise(LAUNCHER(exercise), "attention in tiles: a key fetched once, no score stored", "naive",
                  "tiled", {.reads_per_input = 8, .wasted_sectors = 0.1, .conflicts = 0.1})
        .needs(kAligned)
        .lesson("scores live and die in registers: what is never stored need not be loaded.");

const auto causal = attention_ladder("causal", "causal_", true)
                        .lesson("half of the keys come too late: do not even look at their tiles.");

REGISTER_LADDER(attention);
REGISTER_LADDER(causal);

}  // namespace
}  // namespace day43
