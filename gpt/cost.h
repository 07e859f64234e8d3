// SPDX-License-Identifier: MIT
//
// What a training step takes for each token, added up from the model's sizes: operations of products and of attention, and the bytes of
// all passes that are neither.
#pragma once

#include "gpt/layout.h"
#include "gpt/trainer.h"

namespace gpt {

struct Cost {
  double products, attention;  // FLOP a token, forward and backward
  double passes, logits;       // bytes a token: of norms, sums, moved rows; and of the loss
  double optimizer;            // bytes a step
};

// seq: tokens of a sequence; attention alone depends on it. each: bytes of an activation, 4 for float and 2 for bf16.
inline Cost cost_of(const Layout& layout, int seq, int each, const Choices& choices = {}) {
  const Config& c = layout.config;
  const double width = c.width, layers = c.layers, vocab = c.padded_vocab;
  double matrices = vocab * width;  // the embedding is multiplied with once, as the last product
  for (const Parameter& p : layout.parameters)
    if (p.decays && p.offset != layout.tokens && p.offset != layout.positions)
      matrices += static_cast<double>(p.elements);
  Cost cost{};
  // A weight: a multiplication and an addition forward, and twice that backward, for the data and for the weight.
  cost.products = 6 * matrices;
  // A token sees half of the others: q k^T and p v forward, five such products backward, 2 operations each.
  const double attention = 2 * width * (seq / 2.0);
  cost.attention = 7 * attention * layers;
  // Rows of `width` elements. Forward: two norms (2 each), heads split (6) and joined (2).
  double forward = 2 * 2 + 6 + 2;
  // Backward: sums over rows (9), two norms that add to the residual's gradient (4 each).
  double backward = 9 + 2 * 4;
  const double last = choices.fused ? 0 : 2 + 3;  // of the last product: its bias, the residual
  if (!choices.fused) {
    forward += 6 + 2 + 3 + 8 + 8 + last;  // biases, the residual and GELU
    backward += 2 * 2 + 12;               // a norm's gradient is written and then added, and GELU's slope
  }
  double again = 0;
  if (choices.recompute == Recompute::kGelu) again = 8;
  if (choices.recompute == Recompute::kNorm) again = 8 + 2 * 2;
  if (choices.recompute == Recompute::kLayer) {
    again = forward - last;
    cost.products += 2 * (3 + 1 + 4) * width * width * (layers - 1);
    cost.attention += 2 * attention * (layers - 1);
  }
  const double rows = layers * (forward + backward) + (layers - 1) * again;
  // And once: the embedding's row and its position (2 + 3), the last norm (2 + 3), the embeddings' gradients (1 + 1).
  cost.passes = (rows + 2 + 3 + 2 + 3 + 2) * width * each;
  cost.logits = 3 * vocab * each;  // read for the sum, read and written for the gradient
  // Cleared (4), its norm (4), and the step: gradient, weight, m and v in, the last three out, and a copy.
  cost.optimizer = static_cast<double>(layout.elements) * (4 + 4 + 28 + (each < 4 ? each : 0));
  return cost;
}

}  // namespace gpt
