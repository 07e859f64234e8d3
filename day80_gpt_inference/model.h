// SPDX-License-Identifier: MIT
// Day 80: the model that its programs write with: a folder, day 79's last checkpoint, or a small one that is trained here and now.
#pragma once

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/program.h"
#include "gpt/files.h"
#include "gpt/layout.h"
#include "gpt/loader.h"
#include "gpt/trainer.h"
#include "model/tokens.h"
#include "serve/chat.h"
#include "serve/model.h"

namespace day80 {

inline days::Flag model_flag() {
  return days::path_flag("--model", "a model's folder, instead of day 79's last checkpoint");
}

// Trains `tiny` for a moment, as day 79 does for longer, and returns the folder.
inline std::filesystem::path train_here(const std::filesystem::path& out, days::Program& program) {
  constexpr int kSeq = 64;
  const int steps = days::on_gpu() ? 1000 : 30, batch = days::on_gpu() ? 32 : 2;
  std::printf("no model is here yet: trains a small one for a moment (./days run 79 does it for longer)\n");
  std::fflush(stdout);
  const std::filesystem::path data = out / "tokens";
  const gpt::Layout layout(gpt::config_of("tiny"));
  gpt::write_tokens(gpt::given_or_in_course("", "corpus/austen.txt"), 1 << 18, layout.config.vocab, data);
  const std::vector<uint16_t> tokens = gpt::read_tokens(data / "train.bin", layout.config.vocab);
  const gpt::Loader loader(tokens, kSeq, 80);
  gpt::Trainer<float> trainer(layout, {batch, kSeq});
  const std::vector<float> zeros(layout.elements);
  trainer.put({gpt::initial_weights(layout, 80), zeros, zeros, 0});
  gpt::Checkpoint state;
  state.config = layout.config;
  std::vector<int32_t> inputs, targets;
  for (int step = 0; step < steps; ++step) {
    loader.read(state.samples, batch, &inputs, &targets);
    state.samples += static_cast<uint64_t>(batch);
    trainer.begin(trainer.tokens());
    trainer.accumulate(inputs, targets);
    trainer.update(gpt::learning_rate(step, steps, steps / 10, 2e-3));
    program.progress(static_cast<size_t>(step + 1), static_cast<size_t>(steps), "step");
  }
  state.memory = trainer.get();
  return gpt::save(out, layout, state, data);
}

inline days::Flag template_flag() {
  return days::choice_flag("--template", "of a conversation: the folder's own, or one of these",
                           {"folder", "chatml", "llama3", "plain"});
}

struct Speaker {
  serve::Model model;
  model::Tokenizer tokenizer;
  serve::ChatTemplate chat;
  std::vector<int32_t> ends;  // tokens that end a text
};
// chat: a program's --template; without it nobody talks, and the folder's template may be an unknown one.
inline Speaker speaker_of(days::Program& program, const std::string& chat = "plain") {
  std::filesystem::path folder = program.path("--model");
  if (folder.empty()) {
    const std::filesystem::path tiny = gpt::given_or_in_course("", "build/gpt/tiny"),
                                own = gpt::given_or_in_course("", "build/gpt/day80");
    std::optional<std::filesystem::path> found = gpt::newest(tiny);
    if (!found) found = gpt::newest(own);
    folder = found ? *found : train_here(own, program);
  }
  serve::Model model = serve::load(folder);
  model::Tokenizer tokenizer = model::Tokenizer::load(folder);
  serve::ChatTemplate form = serve::ChatTemplate::of(folder, tokenizer, chat == "folder" ? "" : chat);
  Speaker speaker{std::move(model), std::move(tokenizer), std::move(form), {}};
  speaker.ends = speaker.chat.ends(speaker.tokenizer);
  speaker.ends.insert(speaker.ends.end(), speaker.model.ends.begin(), speaker.model.ends.end());
  const int vocab = speaker.model.config.vocab;
  if (speaker.tokenizer.size() > vocab)
    throw model::FileError(folder.string() + ": its tokenizer has " +
                           std::to_string(speaker.tokenizer.size()) + " tokens, and the model " +
                           std::to_string(vocab));
  std::printf("model: %s\n", std::filesystem::relative(folder).c_str());
  return speaker;
}

}  // namespace day80
