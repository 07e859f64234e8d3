// SPDX-License-Identifier: MIT
// The day's two ladders, the same kernels with and without a causal mask: who competes, on which shapes and inputs,
// measured against what. Host only.

#include <string>

#include "common/ladder.h"
#include "common/random.h"
#include "common/scalar.h"
#include "day19_self_attention/attention.h"

namespace day19 {
namespace {

// Each key outweighs those before it, so the largest score so far grows all along a row, in one row in two.
auto rising(bool causal) {
  return days::attention_elements(
      causal, [](int row, size_t) { return row % 2 == 0 ? 0.5 : -0.25; },
      [](int row, size_t i) { return 0.02 * row + 0.1 * days::normal(301, i); },
      [](int, size_t i) { return days::normal(302, i); });
}

// The inputs of a maker, and how many heads are stored at once.
template <class Make>
auto stored(Make make) {
  return [make](auto& p, days::Shape s, days::Inputs& in) {
    make(p, s, in);
    p.at_once = static_cast<int>(days::scalar("at_once", 0));
  };
}

// `prefix` goes before the rungs' names, which have to differ between the ladders of a day.
auto self_ladder(const char* name, const std::string& prefix, bool causal) {
  const auto rung = [prefix](const char* rung_name) { return prefix + rung_name; };
  return days::ladder<SelfAttention>(name, __builtin_FILE())
      .extents({"batch", "heads", "seq_q", "seq_k", "dim"})
      .types<float, days::half, days::bf16>()
      .variant(rung("three").c_str(), LAUNCHER(self_three))
      .workspace(LAUNCHER(three_workspace))
      .variant(rung("in_place").c_str(), LAUNCHER(self_in_place))
      .workspace(LAUNCHER(in_place_workspace))
      .variant(rung("tiled").c_str(), LAUNCHER(self_tiled))
      .workspace(LAUNCHER(tiles_workspace))
      .variant(rung("tensor").c_str(), LAUNCHER(self_tensor))
      .workspace(LAUNCHER(tiles_workspace))
      .runs_on(days::sm_80)
      .variant(rung("lower").c_str(), LAUNCHER(self_lower))
      .workspace(LAUNCHER(tiles_workspace))
      .runs_on(days::sm_80)
      .reference(LAUNCHER(attention_reference))
      .parallel(LAUNCHER(attention_parallel))
      // One query and one key; around the tiles of 64 and 128; more keys than queries and fewer; two walks of 512 keys;
      // heads and batches that are odd.
      .shapes({{1, 1, 1, 1, 64},
               {3, 1, 17, 1, 128},
               {1, 1, 3, 601, 64},
               {1, 3, 63, 65, 64},
               {1, 1, 64, 64, 128},
               {1, 1, 65, 63, 64},
               {1, 1, 129, 127, 64},
               {1, 2, 70, 140, 64},
               {1, 1, 200, 70, 128}})
      .gpu_shapes(
          {{1, 3, 1000, 1000, 64}, {1, 2, 1023, 2049, 128}, {3, 1, 777, 129, 128}, {1, 1, 2600, 2500, 64}})
      .bench({{8, 16, 2048, 2048, 64}, {8, 8, 2048, 2048, 128}})
      .sweep({{32, 16, 512, 512, 64},
              {16, 16, 1024, 1024, 64},
              {8, 16, 2047, 2049, 64},
              {8, 16, 2048, 2048, 64},
              {4, 16, 4096, 4096, 64},
              {2, 16, 8192, 8192, 64},
              {1, 16, 16384, 16384, 64},
              {16, 8, 1024, 1024, 128},
              {8, 8, 2048, 2048, 128},
              {4, 8, 4096, 4096, 128},
              {1, 8, 16384, 16384, 128}},
             {.over = "seq_k", .each = "dim", .type = "bf16"})
      .show({{1, 2, 256, 256, 64}})
      .inputs(stored(days::attention_inputs(causal)))
      .hostile("rising scores", stored(rising(causal)))
      .hostile("outliers", stored(days::attention_outliers(causal)))
      .hostile("all equal", stored(days::attention_all_equal(causal)))
      .traffic(LAUNCHER(attention_traffic))
      .flops(LAUNCHER(attention_flops), days::Rate::by_type)
      .tolerance(days::AttentionTolerance{})
      .tolerance("lse", days::AttentionLseTolerance{})
      .check_large(LAUNCHER(attention_check_large));
}

// `check` judges the exercise and each rung by this ladder alone, so it has a kind of inputs with a mask.
const auto self =
    self_ladder("self", "", false)
        .hostile("causal", stored(days::attention_inputs(true)))
        .hostile("scores of thousands", stored(days::attention_inputs(false, 50)))
        .exercise(LAUNCHER(exercise), "weights of 16 bits where their scores were: half of the memory",
                  "three", "in_place", {.launches = 3, .workspace = 800000})
        .workspace(LAUNCHER(in_place_workspace))
        .lesson(
            "what lies between two products goes to memory and back, and that takes longer than they do.");

const auto causal =
    self_ladder("self_causal", "causal_", true)
        .lesson("half of the matrix is never looked at: neither compute nor store nor read it.");

REGISTER_LADDER(self);
REGISTER_LADDER(causal);

}  // namespace
}  // namespace day19
