// SPDX-License-Identifier: MIT
//
// A model writes a text, on a rung of a ladder: with the whole text computed again for each token; with keys and values kept, so that a
// token is computed once; and with the kernels of a step launched as one graph. Each says the same.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/device.h"
#include "common/program.h"
#include "common/types.h"
#include "day80_gpt_inference/model.h"
#include "model/files.h"
#include "model/tokens.h"
#include "serve/generator.h"
#include "serve/text.h"

namespace {

using Ids = std::vector<int32_t>;

// The token behind `ids`, as if nothing of them were known, and its logits.
template <class T>
int32_t again(serve::Generator<T>& generator, const Ids& ids, const serve::Sampling& sampling,
              std::vector<float>* logits) {
  const int slot = *generator.add(ids, sampling);
  const int32_t token = serve::first_token(generator).token;
  *logits = generator.logits(slot);
  generator.remove(slot);
  return token;
}

template <class T>
void generate(days::Program& program) {
  const day80::Speaker speaker = day80::speaker_of(program);
  const serve::Config& config = speaker.model.config;
  const std::string& rung = program.choice("--rung");
  const std::string prompt_file = program.file("--prompt");
  const std::string prompt =
      prompt_file.empty() ? "It was" : std::string(model::MappedFile(prompt_file).bytes());
  const serve::Sampling sampling{.temperature = static_cast<float>(program.number("--percent")) / 100.0f,
                                 .top_k = static_cast<int>(program.number("--top-k")),
                                 .top_p = static_cast<float>(program.number("--top-p")) / 100.0f,
                                 .seed = static_cast<uint64_t>(program.number("--seed"))};
  Ids ids = speaker.tokenizer.encode(prompt);
  if (ids.empty()) ids.push_back(std::max(0, speaker.tokenizer.end_of_text()));
  const auto prompt_length = static_cast<int>(ids.size());
  // The last token need not be computed with, so that a text may be one longer than the context.
  const int tokens =
      std::min(static_cast<int>(program.number("--tokens")), config.context + 1 - prompt_length);
  days::require(tokens > 0, "the prompt has so many tokens:", prompt_length, "; the model's context is",
                config.context);

  serve::Generator<T> generator(
      speaker.model, {.sequences = 1, .step = rung == "graph" ? serve::Step::kGraph : serve::Step::kCached});
  std::vector<std::vector<float>> logits(static_cast<size_t>(tokens));
  serve::TextStream text;
  std::printf("\n%s", prompt.c_str());
  double seconds = 0;
  int slot = -1;
  if (rung != "again") slot = *generator.add(ids, sampling);
  for (int i = 0; i < tokens; ++i) {
    std::vector<float>& these = logits[static_cast<size_t>(i)];
    const auto begin = std::chrono::steady_clock::now();
    int32_t token = -1;
    if (rung == "again") {
      token = again(generator, ids, sampling, &these);
    } else {
      token = i == 0 ? serve::first_token(generator).token : generator.decode()[0].token;
    }
    // The first token is the prompt's.
    if (i > 0) seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (token < 0) throw std::runtime_error("the model's numbers are NaN or infinite");
    if (rung != "again") these = generator.logits(slot);
    ids.push_back(token);
    if (token < speaker.tokenizer.size()) std::printf("%s", text.add(speaker.tokenizer.bytes(token)).c_str());
    std::fflush(stdout);
  }
  std::printf("%s\n\n", text.finish().c_str());
  if (slot >= 0) generator.remove(slot);
  std::printf("%d tokens behind %d of the prompt, on the rung %s\n", tokens, prompt_length, rung.c_str());
  if (days::on_gpu() && tokens > 1) std::printf("%.1f us a token\n", seconds / (tokens - 1) * 1e6);

  // Each of these tokens was chosen from the logits that it has where nothing is kept.
  const int looked = std::min(tokens, static_cast<int>(program.number("--check")));
  std::vector<float> got, expected;
  for (int i = 0; i < looked; ++i) {
    std::vector<float> anew;
    again(generator, Ids(ids.begin(), ids.begin() + prompt_length + i), sampling, &anew);
    const std::vector<float>& these = logits[static_cast<size_t>(i)];
    got.insert(got.end(), these.begin(), these.end());
    expected.insert(expected.end(), anew.begin(), anew.end());
  }
  float most = 0;
  for (const float value : expected) most = std::max(most, std::abs(value));
  const double part = std::is_same_v<T, float> ? 1e-5 : 3e-2;
  program.compare(got.data(), expected.data(), got.size(), "logits, beside those of the whole text at once",
                  {part * static_cast<double>(most), part});
}

}  // namespace

int main(int argc, char** argv) {
  const days::About about{
      .name = "generate",
      .does = "writes a text",
      .gpu_size = 0,
      .cpu_size = 0,
      .type = "fp32",
      .flags = {
          day80::model_flag(), days::choice_flag("--rung", "of the ladder", {"graph", "cached", "again"}),
          days::choice_flag("--precision", "of weights and cache", {"fp32", "bf16"}),
          days::file_flag("--prompt", "a file with the text's beginning, instead of \"It was\""),
          days::number_flag("--tokens", "that it writes", 40, 1, 1 << 20),
          days::number_flag("--percent", "temperature in percent; 0: always the likeliest token", 80, 0,
                            10000),
          days::number_flag("--top-k", "of so many likeliest tokens alone; 0: of all", 0, 0, 256),
          days::number_flag("--top-p", "of the likeliest that have so many percent", 100, 0, 100),
          days::number_flag("--seed", "another one, another text", 80, 0, int64_t{1} << 62),
          days::number_flag("--check", "tokens that are computed once more without a cache", 6, 0, 1 << 20)}};
  return days::program(argc, argv, about, [](days::Program& program) {
    if (program.choice("--precision") == "fp32") return generate<float>(program);
    if (!days::sm_80.met(days::query_device())) return program.skip("needs sm_80");
    generate<days::bf16>(program);
  });
}
