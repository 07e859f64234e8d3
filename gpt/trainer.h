// SPDX-License-Identifier: MIT
//
// A GPT that is trained: its weights and what the optimizer keeps for them, the memory of a step, and the step. Every kernel of it
// stands in a day, in model/product.h or in gpt/ops.h. All memory is taken in the constructor.
//
//   gpt::Trainer<float> trainer(layout, {.batch = 4, .seq = 64});
//   const std::vector<float> zeros(layout.elements);
//   trainer.put({gpt::initial_weights(layout, seed), zeros, zeros, 0});  // until then the memory holds NaN
//   trainer.begin(valid);                  // gradients are 0; all parts of the step together have `valid` targets
//   for (const Part& part : parts) trainer.accumulate(part.inputs, part.targets);
//   trainer.update(1e-3);                  // AdamW, and the step is counted
//   trainer.loss_sum() / valid;            // the step's loss, before the update
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/types.h"
#include "gpt/layout.h"
#include "model/product.h"

namespace gpt {

// The target of a token that has no loss.
inline constexpr int32_t kIgnored = -100;

// What a step's kernels do.
enum class Kind : int { kProducts, kAttention, kNorms, kPasses, kLoss, kOptimizer };
inline constexpr int kKinds = 6;
const char* name_of(Kind);

// What is computed at once: at most 65536 sequences of at most the context's tokens, and at most 2^24 tokens in all.
struct StepSize {
  int batch = 0, seq = 0;
};
// AdamW; day53_adam/adam.h has its formula.
struct Optimizer {
  double b1 = 0.9, b2 = 0.95;  // how much a step leaves of the running means, of g and of g * g
  double eps = 1e-8;           // is added to the root of the mean of g * g
  double decay = 0.1;          // rate * decay of a weight is taken away where Parameter::decays
  float max_norm = 1;  // positive; gradients with a larger norm are scaled to it. Infinity turns it off
};

// What backward computes again instead of keeping it for each layer; each also what stands before it.
enum class Recompute : int {
  kNothing,
  kGelu,   // GELU's results: a pass
  kNorm,   // what leaves the norms: two passes
  kLayer,  // all but what enters a layer: its forward, without the last product
};
// Of "nothing", "gelu", "norm" or "layer"; throws std::invalid_argument for another.
Recompute recompute_of(const std::string& name);
// How a step is computed. All are right; `fused` and `path` decide where sums are rounded, and `recompute` changes no bit.
struct Choices {
  // Biases, GELU, its slope and the residual are taken in at the ends of the products, and a norm's gradient is added to the
  // residual's where it is made. Else each of them is a kernel of its own.
  bool fused = true;
  // Of all products; one that does not take them makes the constructor throw. On a CPU the plainest kernel is the fastest: its tiles
  // are small, and so are models there.
#ifdef __SIMT__
  model::Path path = model::Path::kSimple;
#else
  model::Path path = model::Path::kAutomatic;
#endif
  Recompute recompute = Recompute::kNothing;
};

// All that a training goes on from, on the host, each array in the layout's order with its gaps: (layout.elements).
struct Memory {
  std::vector<float> weights, m, v;  // m and v: the optimizer's means of g and of g * g
  int64_t step = 0;                  // steps that are done
};

// T: float, or bf16 for the weights that are multiplied, the activations and their gradients; all else is fp32.
// Every function throws days::CudaError where the device fails.
template <class T>
class Trainer {
 public:
  // Throws std::invalid_argument where the sizes are none or do not fit the layout.
  Trainer(const Layout& layout, const StepSize& size, const Optimizer& optimizer = {},
          const Choices& choices = {});
  ~Trainer();

  // What bytes() of such a trainer would be, without taking them; it throws as the constructor does.
  static size_t bytes_of(const Layout& layout, const StepSize& size, const Choices& choices = {});

  int tokens() const;    // batch * seq, what accumulate() and losses() take
  size_t bytes() const;  // of the device's memory

  // Sets what the training goes on from, and has to come first. The rows of padding in the embedding are 0 in all three arrays. Throws
  // std::invalid_argument where a length is wrong. put(), get() and gradients() wait for the device.
  void put(const Memory& memory);
  Memory get() const;

  // Begins a step: gradients are 0. valid: how many targets of the whole step, all its parts, are not ignored; the loss is their mean.
  // Throws std::invalid_argument where it is not positive.
  void begin(int64_t valid);
  // Runs forward and backward of (batch, seq) tokens, and adds to the gradients and to the sum of the losses. It waits for none of that,
  // at most for the part before the last one. Throws std::invalid_argument where begin() is missing, a length is not tokens(), or a token
  // or target is not in the vocabulary; a target may be kIgnored.
  void accumulate(std::span<const int32_t> inputs, std::span<const int32_t> targets);
  // Waits for all that is queued, and returns the sum of the losses of all parts since begin().
  double loss_sum() const;
  // Runs forward alone, waits for the losses, and returns their sum. It overwrites activations and keeps gradients, so that it may stand
  // anywhere in a step. Throws as accumulate() does, but needs no begin().
  double losses(std::span<const int32_t> inputs, std::span<const int32_t> targets);
  // Takes a step of AdamW with gradients scaled to max_norm at most, waits for it, and returns the norm they had before. Where that
  // is infinite or NaN, weights, m and v stay as they were and the step is not counted. Either way begin() is needed again. Throws
  // std::invalid_argument where max_norm is not positive.
  float update(double rate);

  // Runs forward of 1 to seq tokens, waits, and returns the logits of the token that comes after the last of them: (vocab), without the
  // padding. It overwrites activations and keeps gradients. Throws std::invalid_argument for another length or a token that is not in
  // the vocabulary.
  std::vector<float> next(std::span<const int32_t> sequence);

  // The sums since begin(), in the layout's order: (layout.elements), gaps included.
  std::vector<float> gradients() const;
  // Called on the host in every accumulate() when the kernels are queued that add this part to a layer's gradients: the last layer
  // first, -1 for the embeddings at the end. The gradients of the last norm are there at the first call. Only in the step's last part
  // are these gradients complete. Work that is then queued into stream() finds them there, and this accumulate() writes them no more.
  std::function<void(int layer)> on_layer_done;
  // Called on the host in begin(), accumulate(), losses(), next() and update() where kernels of a kind are queued into stream(): before
  // them, and behind them with `ends`. Nothing waits or copies in between, so they can be timed there, or captured.
  std::function<void(Kind kind, bool ends)> on_kind;
  cudaStream_t stream() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpt
