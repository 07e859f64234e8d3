// SPDX-License-Identifier: MIT
//
// What a token takes, on the ladder of a step: the whole text computed again (`again`); keys and values kept (`cached`); the step's kernels as
// one graph (`graph`); five kernels a layer that read each weight once (`fused`); each of them begun before the one ahead has ended
// (`dependent`); weights of 4 and 8 bits (`quantized`); and a step of one text as one kernel (`persistent`). A rung has to say what `cached`
// says, and what its own weights say without a cache, before it is timed: from the host's call until the token is there. Weights are random,
// since a step's time does not depend on them.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/device.h"
#include "common/program.h"
#include "common/random.h"
#include "common/timing.h"
#include "common/types.h"
#include "gpt/layout.h"
#include "serve/generator.h"
#include "serve/model.h"

namespace {

using Ids = std::vector<int32_t>;
using serve::Step;

Ids some_ids(int count, int vocab, uint64_t seed) {
  Ids ids;
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i)
    ids.push_back(static_cast<int32_t>(days::uniform_integer(seed, i, 0, vocab)));
  return ids;
}
// A text and the logits that each of its tokens was chosen from.
struct Trace {
  Ids tokens;
  std::vector<std::vector<float>> logits;
};
constexpr int kChecked = 4;  // steps
template <class T>
Trace trace_of(serve::Generator<T>& generator, const Ids& prompt) {
  Trace trace;
  const int slot = *generator.add(prompt, {});
  trace.tokens.push_back(serve::first_token(generator).token);
  trace.logits.push_back(generator.logits(slot));
  for (int i = 0; i < kChecked; ++i) {
    trace.tokens.push_back(generator.decode()[0].token);
    trace.logits.push_back(generator.logits(slot));
  }
  generator.remove(slot);
  return trace;
}
// The same text's logits without a cache.
template <class T>
Trace again_of(serve::Generator<T>& generator, Ids prompt, const Ids& tokens) {
  Trace trace;
  for (const int32_t token : tokens) {
    const int slot = *generator.add(prompt, {});
    trace.tokens.push_back(serve::first_token(generator).token);
    trace.logits.push_back(generator.logits(slot));
    generator.remove(slot);
    prompt.push_back(token);
  }
  return trace;
}
// As long as both say the same; behind that, they say different texts.
void compare(days::Program& program, const Trace& got, const Trace& expected, double part,
             const std::string& name) {
  std::vector<float> ours, theirs;
  float most = 0;
  for (size_t i = 0; i < got.logits.size(); ++i) {
    ours.insert(ours.end(), got.logits[i].begin(), got.logits[i].end());
    theirs.insert(theirs.end(), expected.logits[i].begin(), expected.logits[i].end());
    for (const float value : expected.logits[i]) most = std::max(most, std::abs(value));
    if (got.tokens[i] != expected.tokens[i] && i > 0) break;
  }
  program.compare(ours.data(), theirs.data(), ours.size(), name.c_str(),
                  {part * static_cast<double>(most), part});
}

struct Rung {
  const char* name;
  std::optional<Step> step;  // none: everything again
};
constexpr Rung kLadder[] = {{"again", {}},
                            {"cached", Step::kCached},
                            {"graph", Step::kGraph},
                            {"fused", Step::kFused},
                            {"dependent", Step::kDependent},
                            {"quantized", Step::kQuantized},
                            {"persistent", Step::kPersistent}};

// A table's name stays until the program has written its results.
const char* kept(const std::string& part) {
  static std::deque<std::string> all;
  return all.emplace_back(part).c_str();
}

// What the memory's clock and width allow, bytes a second.
double peak() {
  const double clock = 1e3 * days::query_device().memory_clock_khz;
  return clock * 2 * days::device_attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
}

template <class T>
class Speed {
 public:
  Speed(days::Program& program, const serve::Model& model) : program_(program), model_(model) {}

  void run() {
    const bool gpu = days::on_gpu();
    std::vector<int> batches = {1, 8, 32}, contexts = {128, 1023}, prompts = {512, 1024};
    if (!gpu) batches = {1, 3}, contexts = {12}, prompts = {};
    if (const auto n = static_cast<int>(program_.number("--batch")); n > 0) batches = {n};
    if (const auto n = static_cast<int>(program_.number("--context")); n > 0) contexts = {n}, prompts.clear();
    for (const int batch : batches) {
      // A rung's generator serves all contexts; a table is of one.
      std::vector<std::vector<Row>> tables(contexts.size());
      Trace cached;
      for (const Rung& rung : kLadder) {
        if (program_.choice("--rung") != "all" && program_.choice("--rung") != rung.name) continue;
        const Step step = rung.step.value_or(Step::kCached);
        const std::string lacking = serve::Generator<T>::lacks(model_.config, step);
        if (!lacking.empty()) {
          std::printf("%-10s %s\n", rung.name, lacking.c_str());
          continue;
        }
        if ((!rung.step || step == Step::kPersistent) && batch > 1) continue;
        serve::Generator<T> generator(model_,
                                      {.sequences = batch, .chunk = rung.step ? 512 : 1024, .step = step});
        check(generator, rung, &cached);
        for (size_t i = 0; i < contexts.size(); ++i)
          if (contexts[i] <= model_.config.context)
            tables[i].push_back(row_of(generator, rung, batch, contexts[i]));
      }
      for (size_t i = 0; i < contexts.size(); ++i) show(tables[i], batch, contexts[i]);
    }
    for (const int tokens : prompts)
      if (tokens <= model_.config.context && program_.choice("--rung") == "all") prefill(tokens);
  }

 private:
  struct Row {
    const char* rung;
    int launches;
    double bytes;
    days::Timing timing;
    bool limited;  // by a step's bytes of the weights as they are
  };

  void check(serve::Generator<T>& generator, const Rung& rung, Trace* cached) {
    if (!rung.step) return;
    const serve::Config& c = model_.config;
    const Ids prompt = some_ids(std::min(40, c.context / 2), c.vocab, 1);
    const Trace trace = trace_of(generator, prompt);
    const std::string name = std::string("logits of ") + rung.name;
    const double part = std::is_same_v<T, float> ? 1e-5 : 3e-2;
    compare(program_, trace, again_of(generator, prompt, trace.tokens), part,
            name + ", beside the whole text's");
    if (*rung.step == Step::kCached) *cached = trace;
    if (cached->tokens.empty()) return;  // this rung alone was asked for
    if (*rung.step == Step::kQuantized) {
      double off = 0, all = 0;
      for (size_t i = 0; i < trace.logits[0].size(); ++i) {
        const double expected = static_cast<double>(cached->logits[0][i]);
        const double is_off = static_cast<double>(trace.logits[0][i]) - expected;
        off += is_off * is_off;
        all += expected * expected;
      }
      std::printf("quantized: weights move by %.1f%% of their size, logits by %.1f%%\n",
                  100 * generator.quantization_error(), 100 * std::sqrt(off / all));
    } else if (*rung.step == Step::kGraph) {
      compare(program_, trace, *cached, 0, name + ", beside those of cached");
    } else {
      compare(program_, trace, *cached, part, name + ", beside those of cached");
    }
  }

  Row row_of(serve::Generator<T>& generator, const Rung& rung, int batch, int context) {
    const serve::Config& c = model_.config;
    if (!rung.step) {
      // As many kernels as a step, which takes the last tokens by one more.
      Row row{rung.name, generator.launches(1) - 1, generator.step_bytes(1, context), {}, false};
      std::vector<double> seconds;
      for (int run = 0; days::on_gpu() && run < std::min(10, runs()); ++run)
        seconds.push_back(days::cpu_seconds([&] {
          const int slot = *generator.add(some_ids(context, c.vocab, 1), {});
          serve::first_token(generator);
          generator.remove(slot);
        }));
      row.timing = days::summarize(seconds);
      return row;
    }
    Row row{rung.name,
            generator.launches(batch),
            generator.step_bytes(batch, context),
            {},
            *rung.step != Step::kQuantized};
    // Steps around this length; no further than the context.
    const int steps = days::on_gpu() ? std::min(runs(), context) : 2;
    const int begin = std::max(1, std::min(context - steps / 2, c.context - steps));
    std::vector<int> slots;
    for (int i = 0; i < batch; ++i)
      slots.push_back(*generator.add(some_ids(begin, c.vocab, static_cast<uint64_t>(i)), {}));
    while (generator.has_prompts()) generator.prefill();
    std::vector<double> seconds;
    for (int i = 0; i < steps; ++i) {
      const double took = days::cpu_seconds([&] { generator.decode(); });
      if (days::on_gpu() && i > 0) seconds.push_back(took);
    }
    for (const int slot : slots) generator.remove(slot);
    row.timing = days::summarize(seconds);
    return row;
  }
  int runs() const { return static_cast<int>(program_.number("--runs")); }

  void show(const std::vector<Row>& rows, int batch, int context) {
    if (rows.empty()) return;
    const std::string part = "batch " + std::to_string(batch) + ", context " + std::to_string(context);
    program_.table(
        {.limit = "memory", .unit = "token", .units = static_cast<double>(batch), .part = kept(part)});
    std::printf("\n%-22s launches  MB a step", part.c_str());
    if (days::on_gpu()) std::printf("  us a step   GB/s  of %.2f TB/s", peak() / 1e12);
    std::printf("\n");
    for (const Row& row : rows) {
      std::printf("%-22s %8d %10.2f", row.rung, row.launches, row.bytes / 1e6);
      if (days::on_gpu()) {
        const double rate = row.bytes / row.timing.seconds;
        std::printf(" %10.1f %6.0f %11.0f%%", 1e6 * row.timing.seconds, rate / 1e9, 100 * rate / peak());
        program_.row(row.rung, row.timing, row.limited ? row.bytes / peak() : 0);
      }
      std::printf("\n");
    }
  }

  void prefill(int tokens) {
    serve::Generator<T> generator(model_, {.sequences = 1});
    const Ids prompt = some_ids(tokens, model_.config.vocab, 2);
    std::vector<double> seconds;
    for (int run = 0; run < 12; ++run) {
      const int slot = *generator.add(prompt, {});
      const double took = days::cpu_seconds([&] { serve::first_token(generator); });
      generator.remove(slot);
      if (run > 1) seconds.push_back(took);
    }
    const days::Timing timing = days::summarize(seconds);
    const std::string part = "prompt of " + std::to_string(tokens);
    program_.table({.unit = "token", .units = static_cast<double>(tokens), .part = kept(part)});
    program_.row("prefill", timing);
    std::printf("\n%s tokens: %.0f us, %.0f tokens/s\n", part.c_str(), 1e6 * timing.seconds,
                tokens / timing.seconds);
  }

  days::Program& program_;
  const serve::Model& model_;
};

void speed(days::Program& program) {
  const gpt::Layout layout(gpt::config_of(program.choice("--size")));
  const serve::Model model{serve::config_of(layout.config),
                           serve::weights_of(layout, gpt::initial_weights(layout, 80))};
  if (program.choice("--precision") == "fp32") return Speed<float>(program, model).run();
  if (!days::sm_80.met(days::query_device())) return program.skip("needs sm_80");
  if (program.choice("--precision") == "fp16") return Speed<days::half>(program, model).run();
  Speed<days::bf16>(program, model).run();
}

}  // namespace

int main(int argc, char** argv) {
  const bool gpu = days::on_gpu();
  const days::About about{
      .name = "speed",
      .does = "what a token takes on each rung of a step's ladder",
      .gpu_size = 0,
      .cpu_size = 0,
      .type = "bf16",
      .flags = {days::choice_flag("--size", "of the model, whose weights are random",
                                  gpu ? std::vector<std::string>{"gpt2", "small", "tiny"}
                                      : std::vector<std::string>{"tiny", "small", "gpt2"}),
                days::choice_flag(
                    "--rung", "of the ladder",
                    {"all", "again", "cached", "graph", "fused", "dependent", "quantized", "persistent"}),
                days::choice_flag("--precision", "of weights and cache", {"bf16", "fp16", "fp32"}),
                days::number_flag("--batch", "texts at once; 0: one, some and many", 0, 0, 1024),
                days::number_flag("--context", "tokens before the step; 0: few and many", 0, 0, 1023),
                days::number_flag("--runs", "steps that are timed", 48, 2, 1000)}};
  return days::program(argc, argv, about, [](days::Program& program) { speed(program); });
}
