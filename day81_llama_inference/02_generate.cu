// SPDX-License-Identifier: MIT
//
// A Llama answers a question. What it is asked stands in the words that it has learnt conversations by; --nats says how well it knows a novel.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/device.h"
#include "common/program.h"
#include "common/types.h"
#include "day81_llama_inference/model.h"
#include "serve/generator.h"
#include "serve/text.h"

namespace {

using Ids = std::vector<int32_t>;

// What a folder holds.
struct Speaker {
  serve::Model model;
  model::Tokenizer tokenizer;
  serve::ChatTemplate chat;
};
Speaker speaker_of(days::Program& program) {
  const day81::fs::path folder = day81::folder_of(program);
  const std::string forced = program.choice("--template") == "folder" ? "" : program.choice("--template");
  serve::Model model = serve::load(folder);
  model::Tokenizer tokenizer = model::Tokenizer::load(folder);
  serve::ChatTemplate chat = serve::ChatTemplate::of(folder, tokenizer, forced);
  return {std::move(model), std::move(tokenizer), std::move(chat)};
}

template <class T>
void answer(const Speaker& speaker, days::Program& program) {
  const serve::Config& config = speaker.model.config;
  const std::string question =
      program.path("--ask").empty() ? "What is the capital of France?" : program.path("--ask");
  const std::vector<serve::Message> said{{"user", question}};
  Ids ids = speaker.chat.encode(speaker.tokenizer, said);
  const auto prompt = static_cast<int>(ids.size());
  const int most = std::min(static_cast<int>(program.number("--tokens")), config.context + 1 - prompt);
  days::require(most > 0, "the question has so many tokens:", prompt, "; the model's context is",
                config.context);
  const serve::Sampling sampling{.temperature = static_cast<float>(program.number("--percent")) / 100.0f,
                                 .seed = static_cast<uint64_t>(program.number("--seed"))};
  Ids ends = speaker.chat.ends(speaker.tokenizer);
  ends.insert(ends.end(), speaker.model.ends.begin(), speaker.model.ends.end());

  serve::Generator<T> generator(speaker.model, {.sequences = 1, .pages = (prompt + most) / 16 + 1});
  std::printf("\n%s\n\n", question.c_str());
  std::fflush(stdout);
  const int slot = *generator.add(ids, sampling);
  serve::TextStream text;
  std::vector<float> logits;
  Ids written;
  for (bool going = true; going;) {
    const int32_t token = written.empty() ? serve::first_token(generator).token : generator.decode()[0].token;
    if (token < 0) throw std::runtime_error("the model's numbers are NaN or infinite");
    logits = generator.logits(slot);
    written.push_back(token);
    const bool end = std::find(ends.begin(), ends.end(), token) != ends.end();
    if (!end) std::printf("%s", text.add(speaker.tokenizer.bytes(token)).c_str());
    std::fflush(stdout);
    going = !end && std::ssize(written) < most;
  }
  std::printf("%s\n\n", text.finish().c_str());
  std::printf("%d tokens behind %d of the question, in the template %s\n", static_cast<int>(written.size()),
              prompt, speaker.chat.name().c_str());
  if (program.on("--ids")) {
    for (const int32_t token : written) std::printf("%d ", token);
    std::printf("\n");
  }
  // The last token was chosen from the logits that it has where nothing is kept.
  generator.remove(slot);
  ids.insert(ids.end(), written.begin(), written.end() - 1);
  const int anew = *generator.add(ids, {});
  serve::first_token(generator);
  const std::vector<float> expected = generator.logits(anew);
  float greatest = 0;
  for (const float value : expected) greatest = std::max(greatest, std::abs(value));
  const double part = sizeof(T) == 4 ? 1e-4 : 5e-2;
  program.compare(logits.data(), expected.data(), expected.size(),
                  "logits of the last token, beside those of the whole text at once",
                  {part * static_cast<double>(greatest), part});
}

template <class T>
void nats(const Speaker& speaker, days::Program& program) {
  const model::MappedFile novels(gpt::given_or_in_course("", "corpus/austen.txt"));
  const size_t begin = novels.bytes().find("It is a truth universally acknowledged");
  days::require(begin != std::string_view::npos,
                "corpus/austen.txt has no \"Pride and Prejudice\"; its bytes are", novels.bytes().size());
  const std::string text(novels.bytes().substr(begin, 1 << 16));
  Ids ids = speaker.tokenizer.encode(text);
  const auto count = static_cast<size_t>(program.number("--nats"));
  days::require(count <= ids.size(), "tokens of the novel's beginning are at most", ids.size());
  ids.resize(count);
  serve::Generator<T> generator(speaker.model,
                                {.sequences = 16, .chunk = 64, .pages = static_cast<int>(count) / 16 + 1});
  double sum = 0;
  const std::vector<double> chances = generator.log_chances(ids);
  for (const double chance : chances) sum -= chance;
  std::printf("%.3f nats a token, on %zu of \"Pride and Prejudice\"\n",
              sum / static_cast<double>(chances.size()), count);
}

template <class T>
void speak(days::Program& program) {
  const Speaker speaker = speaker_of(program);
  if (program.number("--nats") > 0) nats<T>(speaker, program);
  answer<T>(speaker, program);
}

}  // namespace

int main(int argc, char** argv) {
  const days::About about{
      .name = "generate",
      .does = "answers a question",
      .gpu_size = 0,
      .cpu_size = 0,
      .flags = {
          day81::model_flag(),
          days::path_flag("--ask", "a question, instead of \"What is the capital of France?\""),
          days::choice_flag("--template", "of the conversation", {"folder", "chatml", "llama3", "plain"}),
          days::choice_flag("--precision", "of weights and cache", {"fp32", "fp16", "bf16"}),
          days::number_flag("--tokens", "of an answer, at most", 100, 1, 1 << 20),
          days::number_flag("--percent", "temperature in percent; 0: always the likeliest token", 0, 0,
                            10000),
          days::number_flag("--seed", "another one, another answer", 81, 0, int64_t{1} << 62),
          days::number_flag("--nats", "so many tokens of a novel, and how unlikely they are; 0: none", 0, 0,
                            1 << 13),
          days::toggle_flag("--ids", "shows the answer's tokens by their numbers")}};
  return days::program(argc, argv, about, [](days::Program& program) {
    if (program.choice("--precision") == "fp32") return speak<float>(program);
    if (program.choice("--precision") == "fp16") return speak<days::half>(program);
    if (!days::sm_80.met(days::query_device())) return program.skip("needs sm_80");
    speak<days::bf16>(program);
  });
}
