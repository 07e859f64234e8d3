// SPDX-License-Identifier: MIT
//
// The kernel that is a token (serve/persistent.h) on GPT-2's sizes with random weights: microseconds a token, and where they go in each kind
// of stage.
//
//   cmake --preset cuda && cmake --build --preset cuda --target persistent_bench && build/cuda/bin/persistent_bench
//
// --context N (128): tokens before the one that is timed. --small: two layers of 256 and few tokens, to see that it runs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/device.h"
#include "common/graph.h"
#include "common/random.h"
#include "serve/persistent.h"
#include "tests/serve/on_device.h"

namespace {

using days::bf16;
using serve::Marks;
using serve::Persistent;
using serve::PersistentOptions;
using Ahead = PersistentOptions::Ahead;

serve::Model random_model(const serve::Config& c) {
  serve::Model model{c, {}};
  uint64_t seed = 0;
  const auto values = [&](int rows, int cols, float center, float spread) {
    ++seed;
    std::vector<float> all(static_cast<size_t>(rows) * static_cast<size_t>(cols));
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = center + spread * (static_cast<float>(days::random_bits(seed, i) >> 40) / float(1 << 23) - 1);
    return all;
  };
  const auto matrix = [&](int out, int in) {
    return values(out, in, 0, 1.7f / std::sqrt(static_cast<float>(in)));
  };
  serve::Weights& w = model.weights;
  w.tokens = values(c.padded_vocab, c.width, 0, 0.1f);
  w.positions = values(c.context, c.width, 0, 0.1f);
  for (int l = 0; l < c.layers; ++l)
    w.layers.push_back({values(1, c.width, 1, 0.1f), values(1, c.width, 0, 0.1f),
                        matrix(c.qkv_width(), c.width), values(1, c.qkv_width(), 0, 0.1f),
                        matrix(c.width, c.q_width()), values(1, c.width, 0, 0.1f),
                        values(1, c.width, 1, 0.1f), values(1, c.width, 0, 0.1f), matrix(c.inner, c.width),
                        values(1, c.inner, 0, 0.1f), matrix(c.width, c.inner), values(1, c.width, 0, 0.1f)});
  w.norm = values(1, c.width, 1, 0.1f);
  w.norm_bias = values(1, c.width, 0, 0.1f);
  return model;
}

// Microseconds of a launch among 50 of one graph: the median of 21.
double time_of(const Persistent<bf16>& kernel, const serve_test::OnDevice<bf16>& text) {
  constexpr int kLaunches = 50, kRuns = 21;
  const days::Graph graph(text.stream, [&] {
    for (int i = 0; i < kLaunches; ++i)
      kernel.queue(text.slot_of(), text.logits(), text.position(), text.stream);
  });
  cudaEvent_t begin = nullptr, end = nullptr;
  CUDA_CHECK(cudaEventCreate(&begin));
  CUDA_CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int run = 0; run < kRuns; ++run) {
    CUDA_CHECK(cudaEventRecord(begin, text.stream));
    graph.launch(text.stream);
    CUDA_CHECK(cudaEventRecord(end, text.stream));
    CUDA_CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
  }
  CUDA_CHECK(cudaEventDestroy(begin));
  CUDA_CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return 1e3 * static_cast<double>(times[kRuns / 2]) / kLaunches;
}

// What the blocks' clocks say of one launch, after others.
void print_stages(const Persistent<bf16>& kernel, const serve_test::OnDevice<bf16>& text) {
  const auto stages = static_cast<size_t>(kernel.stages()), blocks = static_cast<size_t>(kernel.blocks());
  const days::DeviceMemory memory(stages * blocks * sizeof(Marks), 0);
  for (int i = 0; i < 3; ++i)
    kernel.queue(text.slot_of(), text.logits(), text.position(), text.stream,
                 static_cast<Marks*>(memory.data()));
  std::vector<Marks> marks(stages * blocks);
  CUDA_CHECK(cudaMemcpyAsync(marks.data(), memory.data(), marks.size() * sizeof(Marks),
                             cudaMemcpyDeviceToHost, text.stream));
  CUDA_CHECK(cudaStreamSynchronize(text.stream));
  std::printf("  clocks of a stage, of all blocks: median (most)\n");
  std::printf("  %-10s %6s %15s %15s %15s\n", "stage", "times", "inputs", "products", "sending");
  for (int kind = 0; kind < 6; ++kind) {
    std::vector<long long> parts[3];
    int times = 0;
    std::string name;
    for (size_t s = 0; s < stages; ++s) {
      const bool output = s + 1 == stages;
      if ((output ? 5 : static_cast<int>(s % 5)) != kind) continue;
      name = kernel.stage_name(static_cast<int>(s));
      ++times;
      for (size_t b = 0; b < blocks; ++b) {
        const Marks& m = marks[b * stages + s];
        const bool idle = m.had == 0;  // a block without keys
        if (!idle) parts[0].push_back(m.had - m.began);
        if (!idle) parts[1].push_back(m.multiplied - m.had);
        parts[2].push_back(m.sent - m.multiplied);
      }
    }
    std::printf("  %-10s %6d", name.c_str(), times);
    for (auto& part : parts) {
      std::sort(part.begin(), part.end());
      if (part.empty()) part.push_back(0);
      std::printf(" %6lld (%6lld)", part[part.size() / 2], part.back());
    }
    std::printf("\n");
  }
  long long whole = 0;
  for (size_t b = 0; b < blocks; ++b)
    whole = std::max(whole, marks[b * stages + stages - 1].sent - marks[b * stages].began);
  std::printf("  from the first stage to the last: %lld clocks of the slowest block\n", whole);
}

void bench(int argc, char** argv) {
  int context = 128;
  bool small = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--small") == 0) {
      small = true;
    } else if (std::strcmp(argv[i], "--context") == 0 && i + 1 < argc) {
      context = std::atoi(argv[++i]);
    } else {
      throw std::invalid_argument(std::string("flags are --context N and --small, not ") + argv[i]);
    }
  }
  const serve::Config config = small ? serve::Config{.layers = 2,
                                                     .width = 256,
                                                     .heads = 4,
                                                     .kv_heads = 4,
                                                     .head_dim = 64,
                                                     .inner = 1024,
                                                     .vocab = 1000,
                                                     .padded_vocab = 1000,
                                                     .context = 64}
                                     : serve::Config{.layers = 12,
                                                     .width = 768,
                                                     .heads = 12,
                                                     .kv_heads = 12,
                                                     .head_dim = 64,
                                                     .inner = 3072,
                                                     .vocab = 50257,
                                                     .padded_vocab = 50304,
                                                     .context = 1024};
  if (small) context = 40;
  days::require(context >= 0 && context < config.context, "--context is 0 to", config.context - 1);
  serve_test::OnDevice<bf16> text(random_model(config));

  struct Row {
    const char* name;
    PersistentOptions options;
    bool whole;  // with its stages
  };
  std::vector<Row> rows = {
      {"registers, barriers", {.ahead = Ahead::kRegisters, .barriers = true}, true},
      {"registers", {.ahead = Ahead::kRegisters}, true},
  };
  const bool ring = days::device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
  if (ring) {
    rows.push_back({"ring, barriers", {.ahead = Ahead::kRing, .barriers = true}, true});
    rows.push_back({"ring", {.ahead = Ahead::kRing}, true});
    if (!small) {
      rows.push_back({"ring of 8 pieces", {.ahead = Ahead::kRing, .pieces = 8}, false});
      rows.push_back({"ring, pause 20 ns", {.ahead = Ahead::kRing, .pause = 20}, false});
      rows.push_back({"ring, pause 100 ns", {.ahead = Ahead::kRing, .pause = 100}, true});
      rows.push_back({"ring, pieces of 6 KB", {.ahead = Ahead::kRing, .piece_bytes = 6144}, false});
      rows.push_back({"ring, 64 keys a block", {.ahead = Ahead::kRing, .keys_of_block = 64}, true});
      rows.push_back({"ring, 256 keys a block", {.ahead = Ahead::kRing, .keys_of_block = 256}, false});
    }
  }
  std::printf("context %d, bf16; clock at most %d MHz\n", context,
              days::device_attribute(cudaDevAttrClockRate) / 1000);
  std::vector<float> first;
  for (const Row& row : rows) {
    const Persistent<bf16> kernel(config, text.on_device, text.slots(), row.options);
    std::vector<float> logits;
    text.begin(0);
    for (int i = 0; i <= context; ++i)
      logits = text.step(i * 7919 % config.vocab, [&](const int32_t* slot, float* to, int32_t* position) {
        kernel.queue(slot, to, position, text.stream);
      });
    if (first.empty()) first = logits;
    double off = 0, most = 0;
    for (size_t i = 0; i < logits.size(); ++i) {
      const double by = std::abs(static_cast<double>(logits[i]) - static_cast<double>(first[i]));
      off = by <= off ? off : by;
      most = std::max(most, std::abs(static_cast<double>(first[i])));
    }
    const double us = time_of(kernel, text), bytes = static_cast<double>(kernel.bytes(context));
    std::printf(
        "%-24s %7.1f us a token, %5.0f GB/s; %d waits, %.1f MB ahead, %d blocks, %zu KB shared; off by "
        "%.1e\n",
        row.name, us, bytes / us / 1e3, kernel.waits(context),
        static_cast<double>(kernel.bytes_ahead()) / 1e6, kernel.blocks(), kernel.shared_bytes() / 1024,
        off / most);
    std::fflush(stdout);
    if (row.whole) print_stages(kernel, text);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    bench(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
