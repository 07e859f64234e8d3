// SPDX-License-Identifier: MIT
//
// What a token takes: weights of SmolLM2-135M's shapes, with random numbers in them, since none of these times depends on what they say.
// Each rung of day 80's ladder takes its turn. Without a GPU two layers of it are computed, and nothing is timed.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/device.h"
#include "common/program.h"
#include "common/random.h"
#include "common/timing.h"
#include "common/types.h"
#include "serve/generator.h"
#include "serve/model.h"

namespace {

using Ids = std::vector<int32_t>;

serve::Config shape(int layers, int vocab) {
  return {.layers = layers,
          .width = 576,
          .heads = 9,
          .kv_heads = 3,
          .head_dim = 64,
          .inner = 1536,
          .vocab = vocab,
          .padded_vocab = vocab,
          .context = 8192,
          .norm = serve::Norm::kRms,
          .inner_kind = serve::Inner::kSwiGlu,
          .places = serve::Places::kTurned,
          .eps = 1e-5f,
          .base = 100000,
          .has_biases = false};
}
// Each weight is uniform, and as large as keeps a row's size.
serve::Model random_model(const serve::Config& c) {
  serve::Model model{c, {}};
  uint64_t stream = 81;
  const auto matrix = [&](int rows, int cols) {
    std::vector<float> values(static_cast<size_t>(rows) * static_cast<size_t>(cols));
    const float most = std::sqrt(3.0f / static_cast<float>(cols));
    ++stream;
    for (size_t i = 0; i < values.size(); ++i) values[i] = most * (2 * days::uniform(stream, i) - 1);
    return values;
  };
  const std::vector<float> ones(static_cast<size_t>(c.width), 1.0f);
  model.weights.tokens = matrix(c.padded_vocab, c.width);
  for (int l = 0; l < c.layers; ++l) {
    serve::Weights::Layer layer;
    layer.norm1 = layer.norm2 = ones;
    layer.qkv = matrix(c.qkv_width(), c.width);
    layer.proj = matrix(c.width, c.q_width());
    layer.first = matrix(c.first_width(), c.width);
    layer.down = matrix(c.width, c.inner);
    model.weights.layers.push_back(std::move(layer));
  }
  model.weights.norm = ones;
  return model;
}

template <class T>
void speed(days::Program& program) {
  const bool timed = days::on_gpu();
  const serve::Config config = timed ? shape(30, 49152) : shape(2, 512);
  const serve::Model model = random_model(config);
  const std::vector<int> contexts = timed ? std::vector<int>{128, 4096} : std::vector<int>{20};
  const int steps = timed ? 64 : 2, pages = (contexts.back() + steps + 16) / 16 + 1;
  const auto prompt_of = [&](int length) {
    Ids ids;
    for (int i = 0; i < length; ++i)
      ids.push_back(
          static_cast<int32_t>(days::uniform_integer(81, static_cast<uint64_t>(i), 0, config.vocab)));
    return ids;
  };
  for (const int context : contexts) {
    const std::string part = "behind " + std::to_string(context) + " tokens";
    std::printf("\n%-22s launches  MB a token\n", part.c_str());
    program.table({.unit = "token", .units = 1, .part = context == contexts[0] ? "short" : "long"});
    for (int rung = 0; rung <= static_cast<int>(serve::kLastStep); ++rung) {
      const auto step = static_cast<serve::Step>(rung);
      const std::string lacking = serve::Generator<T>::lacks(config, step);
      if (!lacking.empty()) {
        std::printf("%-22s %s\n", name_of(step), lacking.c_str());
        continue;
      }
      serve::Generator<T> generator(model, {.sequences = 1, .pages = pages, .step = step});
      Ids text = prompt_of(context);
      const int slot = *generator.add(text, {});
      int32_t token = serve::first_token(generator).token;
      std::vector<double> seconds;
      for (int i = 0; i < steps; ++i) {
        text.push_back(token);
        seconds.push_back(days::cpu_seconds([&] { token = generator.decode()[0].token; }));
        days::require(token >= 0, "numbers are NaN or infinite behind tokens:", text.size());
      }
      const std::vector<float> logits = generator.logits(slot);
      generator.remove(slot);
      std::printf("%-22s %8d %11.2f\n", name_of(step), generator.launches(1),
                  generator.step_bytes(1, context) / 1e6);
      if (timed) program.row(name_of(step), days::summarize(seconds));
      // The last token's logits, beside those of the whole text at once.
      const int anew = *generator.add(text, {});
      serve::first_token(generator);
      const std::vector<float> expected = generator.logits(anew);
      float most = 0;
      for (const float value : expected) most = std::max(most, std::abs(value));
      const double bound = sizeof(T) == 4 ? 1e-4 : 5e-2;
      const std::string what = std::string("logits of ") + name_of(step);
      program.compare(logits.data(), expected.data(), expected.size(), what.c_str(),
                      {bound * static_cast<double>(most), bound});
    }
  }
  if (!timed) return;
  serve::Generator<T> generator(model, {.sequences = 1, .pages = 33});
  std::vector<double> seconds;
  for (int i = 0; i < 12; ++i) {
    const int slot = *generator.add(prompt_of(512), {});
    seconds.push_back(days::cpu_seconds([&] { serve::first_token(generator); }));
    generator.remove(slot);
  }
  program.table({.unit = "token", .units = 512, .part = "prompt of 512"});
  program.row("prefill", days::summarize(seconds));
}

}  // namespace

int main(int argc, char** argv) {
  const days::About about{
      .name = "speed",
      .does = "what a token takes, with random weights",
      .gpu_size = 0,
      .cpu_size = 0,
      .flags = {days::choice_flag("--precision", "of weights and cache", {"bf16", "fp16", "fp32"})}};
  return days::program(argc, argv, about, [](days::Program& program) {
    if (program.choice("--precision") == "fp32") return speed<float>(program);
    if (program.choice("--precision") == "fp16") return speed<days::half>(program);
    if (!days::sm_80.met(days::query_device())) return program.skip("needs sm_80");
    speed<days::bf16>(program);
  });
}
