// SPDX-License-Identifier: MIT
//
// A GPT that is trained: its weights and what the optimizer keeps for them, the memory of a step, and the step. Every kernel of it
// stands in a day, in model/product.h or in gpt/ops.h. All memory is taken in the constructor.
//
//   gpt::Trainer<float> trainer(layout, {.batch = 4, .seq = 64});
//   trainer.begin(trainer.tokens());       // gradients are 0, a step has so many targets
//   double sum = trainer.accumulate(inputs, targets);   // once for each part of the batch
//   trainer.update(1e-3);                  // AdamW, and the step is counted
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/types.h"
#include "gpt/layout.h"

namespace gpt {

// What a target is that has no loss.
inline constexpr int32_t kIgnored = -100;

struct StepSize {
  int batch = 0, seq = 0;  // sequences that are computed at once, and their tokens
};
struct Optimizer {
  double b1 = 0.9, b2 = 0.95, eps = 1e-8, decay = 0.1;
  float max_norm = 1;
};

// All that a training goes on from, on the host, each array in the layout's order.
struct Memory {
  std::vector<float> weights, m, v;
  int64_t step = 0;
};

// T: float, or bf16 for the weights that are multiplied, the activations and their gradients; all else is fp32.
template <class T>
class Trainer {
 public:
  // Throws std::invalid_argument where the sizes do not fit the layout.
  Trainer(const Layout& layout, const StepSize& size, const Optimizer& optimizer = {});
  ~Trainer();

  int tokens() const;    // of accumulate()
  size_t bytes() const;  // of the device's memory

  // What it goes on from. put() throws std::invalid_argument where a length is wrong.
  void put(const Memory& memory);
  Memory get() const;

  // A step begins: gradients are 0. valid: targets of the whole step that are not ignored, over which the loss is a mean.
  void begin(int64_t valid);
  // Forward and backward of tokens(), (batch, seq); adds to the gradients, and returns the sum of the losses.
  double accumulate(std::span<const int32_t> inputs, std::span<const int32_t> targets);
  // The loss alone, its sum.
  double losses(std::span<const int32_t> inputs, std::span<const int32_t> targets);
  // AdamW with gradients scaled to max_norm at most. The norm, which is infinite or no number where the step was left out.
  float update(double rate);

  // Logits of the position `at` of sequence 0 after a forward of these tokens, at most seq: without what is behind the vocabulary.
  std::vector<float> next(std::span<const int32_t> sequence);

  std::vector<float> gradients() const;
  // Called when the gradients of a layer are complete, the last layer first; -1: those of the embeddings. They may be read then in
  // the order of the stream, and by nobody else be written.
  std::function<void(int layer)> on_layer_done;
  cudaStream_t stream() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpt
