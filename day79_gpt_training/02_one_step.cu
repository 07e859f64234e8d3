// SPDX-License-Identifier: MIT
//
// A step of `tiny`, beside the same in double on the CPU: the loss, and the gradient of each of its 28 tensors. The reference is checked
// itself: a weight is moved a little up and down, and the loss must move as its gradient says.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "common/compare.h"
#include "common/device.h"
#include "common/program.h"
#include "common/random.h"
#include "common/types.h"
#include "gpt/layout.h"
#include "gpt/reference.h"
#include "gpt/trainer.h"

namespace {

using Ids = std::vector<int32_t>;

// Weights in which every tensor matters: at a training's start biases are 0, and attention hardly looks anywhere.
std::vector<float> telling_weights(const gpt::Layout& layout) {
  std::vector<float> weights = gpt::initial_weights(layout, 79);
  for (const gpt::Parameter& p : layout.parameters) {
    for (size_t i = 0; i < p.elements; ++i) {
      float& w = weights[p.offset + i];
      w = p.decays ? 2.5f * w : w + 0.1f * static_cast<float>(days::normal(80, p.offset + i));
    }
  }
  return weights;
}

Ids random_tokens(uint64_t seed, size_t n, int vocab) {
  Ids ids(n);
  for (size_t i = 0; i < n; ++i) ids[i] = static_cast<int32_t>(days::uniform_integer(seed, i, 0, vocab));
  return ids;
}

// 200 weights of all tensors, each moved by h to both sides. What is left is h^2 times a third derivative, and what subtracting two
// losses loses.
void check_reference(days::Program& program, const gpt::Layout& layout, std::vector<double> weights) {
  constexpr int kSeq = 3, kWeights = 200;
  constexpr double kMove = 1e-4;
  const Ids inputs = random_tokens(1, kSeq, layout.config.vocab),
            targets = random_tokens(2, kSeq, layout.config.vocab);
  const gpt::Reference whole = gpt::reference(layout, weights, inputs, targets, kSeq, true);
  const double largest =
      std::abs(*std::max_element(whole.gradients.begin(), whole.gradients.end(),
                                 [](double a, double b) { return std::abs(a) < std::abs(b); }));
  std::vector<float> moved, said;
  for (int i = 0; i < kWeights; ++i) {
    const gpt::Parameter& p = layout.parameters[static_cast<size_t>(i) % layout.parameters.size()];
    auto at = static_cast<size_t>(
        days::uniform_integer(3, static_cast<uint64_t>(i), 0, static_cast<int64_t>(p.elements)));
    if (p.offset == layout.positions)
      at %= kSeq * static_cast<size_t>(layout.config.width);  // others have no gradient
    double& w = weights[p.offset + at];
    const double before = w;
    w = before + kMove;
    const double up = gpt::reference(layout, weights, inputs, targets, kSeq, false).loss;
    w = before - kMove;
    const double down = gpt::reference(layout, weights, inputs, targets, kSeq, false).loss;
    w = before;
    moved.push_back(static_cast<float>((up - down) / (2 * kMove)));
    said.push_back(static_cast<float>(whole.gradients[p.offset + at]));
  }
  program.compare(said.data(), moved.data(), moved.size(), "the reference's gradients",
                  {1e-7 * largest + 1e-9, 1e-5});
}

template <class T>
void check_step(days::Program& program, const gpt::Layout& layout, double most) {
  const gpt::StepSize size{static_cast<int>(program.number("--batch")),
                           static_cast<int>(program.number("--seq"))};
  const auto n = static_cast<size_t>(size.batch) * static_cast<size_t>(size.seq);
  const Ids inputs = random_tokens(4, n, layout.config.vocab);
  Ids targets = random_tokens(5, n, layout.config.vocab);
  targets[n / 2] = gpt::kIgnored;
  const auto valid = static_cast<int64_t>(n - 1);
  const std::vector<float> weights = telling_weights(layout);
  const std::vector<float> zeros(layout.elements);

  gpt::Trainer<T> trainer(layout, size);
  trainer.put({weights, zeros, zeros, 0});
  trainer.begin(valid);
  trainer.accumulate(inputs, targets);
  const double loss = trainer.loss_sum() / static_cast<double>(valid);
  const std::vector<float> gradients = trainer.gradients();
  const gpt::Reference truth =
      gpt::reference(layout, {weights.begin(), weights.end()}, inputs, targets, size.seq, true);

  std::printf("loss %.6f, in double %.6f\n", loss, truth.loss);
  std::printf("%-36s %16s %10s\n", "gradient of", "its length", "error");
  std::vector<float> errors;
  for (const gpt::Parameter& p : layout.parameters) {
    double square = 0, off = 0;
    for (size_t i = p.offset; i < p.offset + p.elements; ++i) {
      square += truth.gradients[i] * truth.gradients[i];
      off += (static_cast<double>(gradients[i]) - truth.gradients[i]) *
             (static_cast<double>(gradients[i]) - truth.gradients[i]);
    }
    errors.push_back(static_cast<float>(std::sqrt(off / square)));
    std::printf("%-36s %16.6g %10.1e\n", p.name.c_str() + sizeof "transformer", std::sqrt(square),
                static_cast<double>(errors.back()));
  }
  const auto expected_loss = static_cast<float>(truth.loss), got = static_cast<float>(loss);
  program.compare(&got, &expected_loss, 1, "loss", {0, most});
  const std::vector<float> none(errors.size());
  program.compare(errors.data(), none.data(), none.size(), "error of the gradients", {most, 0});
}

void one_step(days::Program& program) {
  const gpt::Layout layout(gpt::config_of("tiny"));
  const bool halves = program.choice("--precision") == "bf16";
  if (halves && !days::sm_80.met(days::query_device())) return program.skip("needs sm_80");
  const std::vector<float> weights = telling_weights(layout);
  check_reference(program, layout, {weights.begin(), weights.end()});
  if (halves) {
    check_step<days::bf16>(program, layout, 1.5e-2);
  } else {
    check_step<float>(program, layout, 2e-6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const days::About about{.name = "one_step",
                          .does = "a training step beside the same in double",
                          .gpu_size = 0,
                          .cpu_size = 0,
                          .type = "fp32",
                          .flags = {days::choice_flag("--precision", "of activations", {"fp32", "bf16"}),
                                    days::number_flag("--batch", "sequences", 2, 1, 64),
                                    days::number_flag("--seq", "tokens of each", 24, 2, 64)}};
  return days::program(argc, argv, about, [](days::Program& program) { one_step(program); });
}
