// SPDX-License-Identifier: MIT
//
// What a step takes for each token, added up before it is measured; then the ladder of a step: fp32 (`single`), bf16 (`half`), without
// passes that products can do at their ends (`fused`), with Hopper's products (`hopper`), and with a layer's insides computed again
// (`recompute`). Each takes the same three steps, and the losses have to agree; on a GPU more steps are timed.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/compare.h"
#include "common/program.h"
#include "common/random.h"
#include "common/types.h"
#include "gpt/cost.h"
#include "gpt/layout.h"
#include "gpt/trainer.h"
#include "model/product.h"

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

// What a large batch takes of the device's memory, and what is left of that where backward computes more again.
void show_memory() {
  constexpr gpt::StepSize kSize{64, 1024};
  const gpt::Layout layout(gpt::config_of("gpt2"));
  std::printf("GB of gpt2, %d x %d tokens:", kSize.batch, kSize.seq);
  const char* between = " ";
  for (const char* again : {"nothing", "gelu", "norm", "layer"}) {
    const size_t bytes =
        gpt::Trainer<days::bf16>::bytes_of(layout, kSize, {.recompute = gpt::recompute_of(again)});
    std::printf("%s%s %.1f", between, again, static_cast<double>(bytes) / 1e9);
    between = ", ";
  }
  std::printf("\n");
}

// A rung of the ladder: the type, what it needs, and how the step is computed.
struct Rung {
  const char* name;
  bool halves;
  int sm;  // at least; products by wgmma take no other
  gpt::Choices choices;
};

using OfKinds = std::array<double, gpt::kKinds>;

// How many kernels a step launches. What it queues of a kind is captured as a graph, which is counted and never run.
template <class T>
OfKinds launches_of(gpt::Trainer<T>& trainer, const days::Callable<>& step) {
  OfKinds launches{};
  trainer.on_kind = [&](gpt::Kind kind, bool ends) {
    if (!ends) {
      CUDA_CHECK(cudaStreamBeginCapture(trainer.stream(), cudaStreamCaptureModeThreadLocal));
      return;
    }
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamEndCapture(trainer.stream(), &graph));
    size_t count = 0;
    CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    CUDA_CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
    for (const cudaGraphNode_t node : nodes) {
      cudaGraphNodeType type;
      CUDA_CHECK(cudaGraphNodeGetType(node, &type));
      launches[static_cast<size_t>(kind)] += type == cudaGraphNodeTypeKernel;
    }
    CUDA_CHECK(cudaGraphDestroy(graph));
  };
  step();
  trainer.on_kind = nullptr;
  return launches;
}

// Milliseconds that a step's kernels of each kind take on the GPU, between two events around each run of them.
template <class T>
OfKinds milliseconds_of(gpt::Trainer<T>& trainer, const days::Callable<>& step) {
  std::vector<std::pair<gpt::Kind, cudaEvent_t>> events;  // a begin and an end in turn
  trainer.on_kind = [&](gpt::Kind kind, bool) {
    cudaEvent_t event;
    CUDA_CHECK(cudaEventCreate(&event));
    CUDA_CHECK(cudaEventRecord(event, trainer.stream()));
    events.emplace_back(kind, event);
  };
  step();
  trainer.on_kind = nullptr;
  CUDA_CHECK(cudaStreamSynchronize(trainer.stream()));
  OfKinds sums{};
  for (size_t i = 0; i < events.size(); i += 2) {
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, events[i].second, events[i + 1].second));
    sums[static_cast<size_t>(events[i].first)] += static_cast<double>(milliseconds);
  }
  for (const auto& [kind, event] : events) CUDA_CHECK(cudaEventDestroy(event));
  return sums;
}

// A line for each rung: its sum, and what the kinds have of it.
struct Split {
  const char* rung;
  OfKinds of;
};
void show(const char* title, const char* number, const std::vector<Split>& lines) {
  if (lines.empty()) return;
  std::printf("%-12s     all", title);
  for (int kind = 0; kind < gpt::kKinds; ++kind) std::printf("  %s", name_of(static_cast<gpt::Kind>(kind)));
  std::printf("\n");
  for (const Split& line : lines) {
    std::printf("%-12s", line.rung);
    std::printf(number, 8, std::accumulate(line.of.begin(), line.of.end(), 0.0));
    for (int kind = 0; kind < gpt::kKinds; ++kind)
      std::printf(number, 2 + static_cast<int>(std::strlen(name_of(static_cast<gpt::Kind>(kind)))),
                  line.of[static_cast<size_t>(kind)]);
    std::printf("\n");
  }
}

// Three steps on the same tokens, and their losses; then their kernels, and on a GPU their times.
template <class T>
std::vector<float> steps(days::Program& program, const gpt::Layout& layout, const gpt::Memory& start,
                         const gpt::StepSize& size, const Rung& rung, std::vector<Split>* launches,
                         std::vector<Split>* times) {
  const auto n = static_cast<size_t>(size.batch) * static_cast<size_t>(size.seq);
  Ids inputs(n), targets(n);
  for (size_t i = 0; i < n; ++i) {
    inputs[i] = static_cast<int32_t>(days::uniform_integer(1, i, 0, layout.config.vocab));
    targets[i] = static_cast<int32_t>(days::uniform_integer(2, i, 0, layout.config.vocab));
  }
  gpt::Trainer<T> trainer(layout, size, {}, rung.choices);
  trainer.put(start);
  const auto step = [&] {
    trainer.begin(static_cast<int64_t>(n));
    trainer.accumulate(inputs, targets);
    trainer.update(1e-3);
  };
  std::vector<float> losses;
  for (int i = 0; i < 3; ++i) {
    step();
    losses.push_back(static_cast<float>(trainer.loss_sum() / static_cast<double>(n)));
  }
  const gpt::Cost cost = gpt::cost_of(layout, size.seq, sizeof(T), rung.choices);
  std::printf("%-10s loss %.4f, %.4f, %.4f; %7.1f MB; passes of a token %7.1f KB\n", rung.name,
              static_cast<double>(losses[0]), static_cast<double>(losses[1]), static_cast<double>(losses[2]),
              static_cast<double>(trainer.bytes()) / 1e6, cost.passes / 1e3);
  if (days::on_gpu()) {
    const days::Timing timing = days::time_streams(std::vector<cudaStream_t>{trainer.stream()},
                                                   static_cast<int>(program.number("--runs")), step);
    program.row(rung.name, timing);
    std::printf("%-10s %.2f ms a step, %.0f tokens/s, %.1f TFLOP/s\n", rung.name, 1e3 * timing.seconds,
                static_cast<double>(n) / timing.seconds,
                static_cast<double>(n) * (cost.products + cost.attention) / timing.seconds / 1e12);
    times->push_back({rung.name, milliseconds_of(trainer, step)});
  }
  launches->push_back({rung.name, launches_of(trainer, step)});
  return losses;
}

int batch_that_fits(const gpt::Layout& layout, int seq, bool fp32) {
  size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  for (int batch = 64; batch > 1; batch /= 2) {
    const gpt::StepSize size{batch, seq};
    const size_t bytes = fp32 ? gpt::Trainer<float>::bytes_of(layout, size, {.fused = false})
                              : gpt::Trainer<days::bf16>::bytes_of(layout, size, {.fused = false});
    if (bytes < free - free / 16) return batch;
  }
  return 1;
}

void speed(days::Program& program) {
  show_costs();
  show_memory();
  const gpt::Layout layout(gpt::config_of(program.choice("--size")));
  const int seq = std::min(static_cast<int>(program.number("--seq")), layout.config.context);
  const bool fp32 = !program.on("--no-fp32") || model::target_here().sm < 80;
  const gpt::StepSize size{program.number("--batch") > 0 ? static_cast<int>(program.number("--batch"))
                                                         : batch_that_fits(layout, seq, fp32),
                           seq};
  const std::vector<float> zeros(layout.elements);
  const gpt::Memory start{gpt::initial_weights(layout, 79), zeros, zeros, 0};
  std::printf("a step here: %d x %d tokens of %s\n", size.batch, size.seq, program.choice("--size").c_str());
  program.table({.unit = "token",
                 .units = static_cast<double>(size.batch) * size.seq,
                 .part = program.choice("--size").c_str()});
  using model::Path;
  const Rung ladder[] = {
      {"single", false, 0, {.fused = false, .path = Path::kAutomatic}},
      {"half", true, 80, {.fused = false, .path = Path::kMma}},
      {"fused", true, 80, {.path = Path::kMma}},
      {"hopper", true, 90, {.path = Path::kWgmma}},
      {"recompute",
       true,
       80,
       {.path = Path::kAutomatic, .recompute = gpt::recompute_of(program.choice("--recompute"))}},
  };
  const int sm = model::target_here().sm;
  std::vector<Split> launches, times;
  std::vector<float> first, last;
  for (const Rung& rung : ladder) {
    if (!rung.halves && !fp32) continue;
    if (rung.choices.path == Path::kWgmma ? sm != rung.sm : sm < rung.sm) {
      std::printf("%-10s needs sm_%d, not sm_%d\n", rung.name, rung.sm, sm);
      continue;
    }
    const std::vector<float> losses =
        rung.halves ? steps<days::bf16>(program, layout, start, size, rung, &launches, &times)
                    : steps<float>(program, layout, start, size, rung, &launches, &times);
    const std::string what = std::string("losses of ") + rung.name;
    if (first.empty()) {
      // It begins where all tokens are equally likely, and learns: the same tokens are likelier in the next step.
      const auto start = static_cast<float>(std::log(layout.config.vocab));
      program.compare(&losses[0], &start, 1, "the first loss", {0.2, 0});
      if (!(losses[2] < losses[0])) program.compare(&losses[2], &losses[0], 1, "the third loss");
      first = losses;
    } else if (rung.choices.recompute != gpt::Recompute::kNothing) {
      program.compare(losses.data(), last.data(), losses.size(), what.c_str());  // the same bits
    } else {
      program.compare(losses.data(), first.data(), losses.size(), what.c_str(), {0, 5e-3});
    }
    last = losses;
  }
  show("launches", "%*.0f", launches);
  show("milliseconds", "%*.2f", times);
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
          days::number_flag("--batch", "sequences at once; 0: as many as the memory holds, 64 at most",
                            gpu ? 0 : 1, 0, 4096),
          days::number_flag("--seq", "tokens of a sequence, at most the context", gpu ? 1024 : 32, 1, 1024),
          days::number_flag("--runs", "steps that are timed", 10, 1, 1000),
          days::choice_flag("--recompute", "what `recompute` computes again in backward",
                            {"layer", "norm", "gelu"}),
          days::toggle_flag("--no-fp32", "leaves out `single`, which takes more memory")}};
  return days::program(argc, argv, about, [](days::Program& program) { speed(program); });
}
