// SPDX-License-Identifier: MIT
// The day's two ladders, the same kernels with and without a causal mask: who competes, on which shapes and
// inputs, measured against what. Host only.

#include <string>

#include "common/ladder.h"
#include "common/random.h"
#include "day47_flash_attention_backward/backward.h"

namespace day47 {
namespace {

using days::BackwardKind;

// One key in fifty is thirty times as long as the others and takes all the weight or none, one value in seventy is
// large.
double outliers(char name, int row, int) {
  if (name == 'k') return row % 50 == 7 ? 30 : 1;
  return name == 'v' && row % 70 == 69 ? 100 : 1;
}
// Gradients of 0 in one row of three, and of +10,000 and -10,000 by turns in the others.
double steep(char name, int row, int column) {
  if (name != 'd')
    return days::normal(311 + static_cast<uint64_t>(name), static_cast<uint64_t>(row * 128 + column));
  return row % 3 == 2 ? 0 : row % 3 == 0 ? 1e4 : -1e4;
}
// One query's gradient is NaN, in the first head, so that all dk and dv of its keys are.
double lost(char name, int row, int head) {
  return name == 'd' && head == 0 && row == 0 ? NAN : 1;
}

// `prefix` goes before the rungs' names, which have to differ between the ladders of a day.
auto backward_ladder(const char* name, const std::string& prefix, bool causal) {
  const auto rung = [prefix](const char* rung_name) { return prefix + rung_name; };
  return days::ladder<AttentionBackward>(name, __builtin_FILE())
      .extents({"batch", "heads", "kv_heads", "seq_q", "seq_k", "dim"})
      .types<float, days::half, days::bf16>()
      .variant(rung("naive").c_str(), LAUNCHER(backward_naive))
      .workspace(LAUNCHER(rows_workspace))
      .variant(rung("tiled").c_str(), LAUNCHER(backward_tiled))
      .workspace(LAUNCHER(rows_workspace))
      .variant(rung("keys").c_str(), LAUNCHER(backward_keys))
      .runs_on(days::sm_80)
      .workspace(LAUNCHER(keys_workspace))
      .variant(rung("apart").c_str(), LAUNCHER(backward_apart))
      .runs_on(days::sm_80)
      .workspace(LAUNCHER(rows_workspace))
      .reference(LAUNCHER(attention_backward_reference))
      .bench({{8, 16, 16, 2048, 2048, 64}, {8, 8, 8, 2048, 2048, 128}})
      .sweep({{32, 16, 16, 512, 512, 64},
              {16, 16, 16, 1024, 1024, 64},
              {8, 16, 4, 2048, 2048, 64},
              {8, 16, 16, 2047, 2049, 64},
              {8, 16, 16, 2048, 2048, 64},
              {4, 16, 16, 4096, 4096, 64},
              {1, 16, 16, 16384, 16384, 64},
              {16, 8, 8, 1024, 1024, 128},
              {8, 8, 8, 2048, 2048, 128},
              {4, 8, 8, 4096, 4096, 128},
              {1, 8, 8, 16384, 16384, 128}},
             {.over = "seq_k", .each = "dim", .type = "bf16"})
      .show({{1, 2, 2, 256, 256, 64}})
      .inputs(days::attention_backward_inputs({.causal = causal}))
      .traffic(LAUNCHER(attention_backward_traffic))
      .flops(LAUNCHER(attention_backward_flops), days::Rate::by_type)
      .tolerance(days::AttentionBackwardTolerance{})
      .check_large(LAUNCHER(attention_backward_check_large));
}

// `check` judges the exercise and each rung by this ladder alone, so it has kinds of inputs with a mask.
const auto backward =
    backward_ladder("backward", "", false)
        // One query and one key; around the tiles of 16, 32, 64 and 128; more keys than queries and fewer; heads that share
        // keys, and batches that are odd.
        .shapes({{1, 1, 1, 1, 1, 64},
                 {3, 1, 1, 17, 1, 128},
                 {1, 2, 1, 1, 139, 64},
                 {1, 4, 2, 65, 65, 64},
                 {1, 3, 1, 33, 70, 128},
                 {1, 1, 1, 129, 127, 64},
                 {1, 1, 1, 131, 40, 128}})
        .gpu_shapes({{1, 4, 2, 1000, 1000, 64}, {1, 2, 2, 1023, 2049, 128}, {3, 2, 1, 777, 129, 128}})
        .hostile("packed, causal", days::attention_backward_inputs({.causal = true, .packed = true}))
        .hostile("outliers", days::attention_backward_inputs({.factor = outliers}))
        .hostile("steep gradients",
                 days::attention_backward_inputs({.causal = true, .scale_v = 0.05, .instead = steep}))
        .hostile("NaN in one head's gradient", days::attention_backward_inputs({.factor = lost}))
        .hostile("scores of thousands", days::attention_backward_inputs({.scale_qk = 50}))
        .exercise(LAUNCHER(exercise), "the gradients in tiles: a row fetched once for many others", "naive",
                  "tiled", {.reads_per_input = 8, .wasted_sectors = 0.1, .conflicts = 0.1})
        .needs(kAligned)
        .workspace(LAUNCHER(rows_workspace))
        .lesson("backward makes the weights again: one number a row brings them back.");

const auto causal =
    backward_ladder("causal_backward", "causal_", true)
        .shapes({{1, 2, 2, 200, 200, 64}, {1, 2, 1, 70, 150, 128}, {1, 1, 1, 150, 70, 64}})
        .gpu_shapes({{1, 4, 2, 1000, 1000, 64}, {1, 2, 2, 1023, 2049, 128}})
        .hostile("outliers", days::attention_backward_inputs({.causal = true, .factor = outliers}))
        .lesson("a block of keys has no business with the queries before it.");

REGISTER_LADDER(backward);
REGISTER_LADDER(causal);

}  // namespace
}  // namespace day47
