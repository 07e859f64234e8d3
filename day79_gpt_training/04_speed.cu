// SPDX-License-Identifier: MIT
//
// What a step takes for each token, added up before it is measured; then, on a GPU, what it took. Without one the two trainers take the
// same three steps, and their losses have to agree.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/device.h"
#include "common/program.h"
#include "common/random.h"
#include "common/types.h"
#include "gpt/cost.h"
#include "gpt/layout.h"
#include "gpt/trainer.h"

namespace {

using Ids = std::vector<int32_t>;

void show_costs() {
  std::printf("a token:      products   attention     passes       loss   optimizer, a step\n");
  for (const char* size : {"tiny", "small", "gpt2"}) {
    const gpt::Layout layout(gpt::config_of(size));
    const gpt::Cost cost = gpt::cost_of(layout, layout.config.context, 2);
    std::printf("%-8s %7.1f MFLOP %5.1f MFLOP %7.1f KB %7.1f KB %9.1f MB\n", size, cost.products / 1e6,
                cost.attention / 1e6, cost.passes / 1e3, cost.logits / 1e3, cost.optimizer / 1e6);
  }
}

// Steps, each on the same tokens, and their losses.
template <class T>
std::vector<float> steps(days::Program& program, const gpt::Layout& layout, const gpt::StepSize& size,
                         const char* rung) {
  const auto n = static_cast<size_t>(size.batch) * static_cast<size_t>(size.seq);
  Ids inputs(n), targets(n);
  for (size_t i = 0; i < n; ++i) {
    inputs[i] = static_cast<int32_t>(days::uniform_integer(1, i, 0, layout.config.vocab));
    targets[i] = static_cast<int32_t>(days::uniform_integer(2, i, 0, layout.config.vocab));
  }
  gpt::Trainer<T> trainer(layout, size);
  const std::vector<float> zeros(layout.elements);
  trainer.put({gpt::initial_weights(layout, 79), zeros, zeros, 0});
  std::vector<float> losses;
  const auto step = [&] {
    trainer.begin(static_cast<int64_t>(n));
    losses.push_back(static_cast<float>(trainer.accumulate(inputs, targets) / static_cast<double>(n)));
    trainer.update(1e-3);
  };
  for (int i = 0; i < 3; ++i) step();
  std::printf("%-8s loss %.4f, %.4f, %.4f; %.1f MB of memory\n", rung, static_cast<double>(losses[0]),
              static_cast<double>(losses[1]), static_cast<double>(losses[2]),
              static_cast<double>(trainer.bytes()) / 1e6);
  if (days::on_gpu()) {
    const days::Timing timing = days::time_streams(std::vector<cudaStream_t>{trainer.stream()},
                                                   static_cast<int>(program.number("--runs")), step);
    const gpt::Cost cost = gpt::cost_of(layout, size.seq, sizeof(T));
    program.row(rung, timing);
    std::printf("%-8s %.2f ms a step, %.0f tokens/s, %.1f TFLOP/s\n", rung, 1e3 * timing.seconds,
                static_cast<double>(n) / timing.seconds,
                static_cast<double>(n) * (cost.products + cost.attention) / timing.seconds / 1e12);
  }
  losses.resize(3);
  return losses;
}

void speed(days::Program& program) {
  show_costs();
  const gpt::Layout layout(gpt::config_of(program.choice("--size")));
  const gpt::StepSize size{static_cast<int>(program.number("--batch")),
                           std::min(static_cast<int>(program.number("--seq")), layout.config.context)};
  program.table({.unit = "token",
                 .units = static_cast<double>(size.batch) * size.seq,
                 .part = program.choice("--size").c_str()});
  std::vector<float> halves, floats;
  const bool tensor_cores = days::sm_80.met(days::query_device());
  if (tensor_cores) halves = steps<days::bf16>(program, layout, size, "half");
  if (program.on("--no-fp32") && tensor_cores) {
    // A first step that learns, at least: the same tokens are likelier in the next.
    const float most = halves[0];
    if (!(halves[2] < most)) program.compare(&halves[2], &most, 1, "the third loss");
    const auto start = static_cast<float>(std::log(layout.config.vocab));
    program.compare(&halves[0], &start, 1, "the first loss", {0.2, 0});
    return;
  }
  floats = steps<float>(program, layout, size, "single");
  if (tensor_cores) {
    program.compare(halves.data(), floats.data(), floats.size(), "losses of half", {0, 5e-3});
  } else {
    const auto start = static_cast<float>(std::log(layout.config.vocab));
    program.compare(&floats[0], &start, 1, "the first loss", {0.2, 0});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool gpu = days::on_gpu();
  const days::About about{
      .name = "speed",
      .does = "what a step takes for each token: added up, and on a GPU measured",
      .gpu_size = 0,
      .cpu_size = 0,
      .type = "bf16",
      .flags = {
          days::choice_flag("--size", "of the model",
                            gpu ? std::vector<std::string>{"gpt2", "small", "tiny"}
                                : std::vector<std::string>{"tiny", "small", "gpt2"}),
          days::number_flag("--batch", "sequences at once", gpu ? 16 : 1, 1, 4096),
          days::number_flag("--seq", "tokens of a sequence, at most the context", gpu ? 1024 : 32, 1, 1024),
          days::number_flag("--runs", "steps that are timed", 10, 1, 1000),
          days::toggle_flag("--no-fp32", "leaves out `single`, which takes more memory")}};
  return days::program(argc, argv, about, [](days::Program& program) { speed(program); });
}
