// SPDX-License-Identifier: MIT
//
// A conversation: what is said goes behind what was said before, whose keys and values are still there. Ctrl-C ends an answer, and at a
// prompt the program. A model that has seen novels alone goes on with a line, and does not answer it; day 81's does.

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/program.h"
#include "day80_gpt_inference/model.h"
#include "model/tokens.h"
#include "serve/generator.h"
#include "serve/text.h"

namespace {

using Ids = std::vector<int32_t>;

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);
void interrupt(int) {
  interrupted = true;
}

class Conversation {
 public:
  Conversation(const day80::Speaker& speaker, const serve::Sampling& sampling)
      : speaker_(speaker), sampling_(sampling), generator_(speaker.model, {.sequences = 1}) {}

  // Says a line, and shows the answer: up to its end, or so many tokens. Who has learnt no conversations answers up to a line's end.
  void say(const std::string& line, int most) {
    if (line.empty()) return;
    Ids said = as_tokens(line, slot_ < 0);
    if (said.empty()) return;
    if (std::ssize(said) >= generator_.config().context) {
      std::printf("(that is longer than the model's context)\n");
      return;
    }
    if (slot_ >= 0 && std::ssize(ids_) + std::ssize(said) >= generator_.config().context) {
      std::printf("(the context is full: the conversation begins again)\n");
      forget();
      said = as_tokens(line, true);
    }
    ids_.insert(ids_.end(), said.begin(), said.end());
    if (slot_ >= 0) {
      generator_.extend(slot_, said);
    } else {
      slot_ = *generator_.add(said, sampling_);
    }
    interrupted = false;
    serve::TextStream text(is_plain() ? std::vector<std::string>{"\n"} : std::vector<std::string>{});
    serve::Token next = serve::first_token(generator_);
    for (int i = 0;;) {
      if (next.token < 0) throw std::runtime_error("the model's numbers are NaN or infinite");
      ids_.push_back(next.token);
      logits_ = generator_.logits(slot_);
      if (next.token < speaker_.tokenizer.size())
        std::printf("%s", text.add(speaker_.tokenizer.bytes(next.token)).c_str());
      std::fflush(stdout);
      const bool full = generator_.length(slot_) >= generator_.config().context;
      if (++i >= most || full || interrupted || text.stopped() ||
          std::find(speaker_.ends.begin(), speaker_.ends.end(), next.token) != speaker_.ends.end())
        break;
      next = generator_.decode()[0];
    }
    std::printf("%s%s\n", text.finish().c_str(), interrupted ? " (interrupted)" : "");
  }

  // The last token was chosen from the logits that the whole conversation has at once.
  void check(days::Program& program) {
    if (ids_.empty()) return program.skip("nothing was said");
    forget_slot();
    const int slot = *generator_.add(std::span(ids_).first(ids_.size() - 1), sampling_);
    serve::first_token(generator_);
    const std::vector<float> expected = generator_.logits(slot);
    generator_.remove(slot);
    float most = 0;
    for (const float value : expected) most = std::max(most, std::abs(value));
    program.compare(logits_.data(), expected.data(), expected.size(), "logits of the last token",
                    {1e-5 * static_cast<double>(most), 1e-5});
  }

 private:
  bool is_plain() const { return speaker_.chat.name() == "plain"; }
  // What is said, with the marks between it and what was said before.
  Ids as_tokens(const std::string& line, bool first) const {
    if (is_plain()) return speaker_.tokenizer.encode(line);
    if (first) return speaker_.chat.encode(speaker_.tokenizer, std::vector<serve::Message>{{"user", line}});
    Ids ids = speaker_.chat.encode_more(speaker_.tokenizer, {"user", line});
    if (ids[0] == ids_.back()) ids.erase(ids.begin());  // the answer has ended itself
    return ids;
  }
  void forget_slot() {
    if (slot_ >= 0) generator_.remove(slot_);
    slot_ = -1;
  }
  void forget() {
    forget_slot();
    ids_.clear();
  }

  const day80::Speaker& speaker_;
  serve::Sampling sampling_;
  serve::Generator<float> generator_;
  int slot_ = -1;
  Ids ids_;  // all that was said; the last token is not in the cache
  std::vector<float> logits_;
};

}  // namespace

int main(int argc, char** argv) {
  const days::About about{
      .name = "chat",
      .does = "a conversation",
      .gpu_size = 0,
      .cpu_size = 0,
      .type = "fp32",
      .flags = {
          day80::model_flag(), day80::template_flag(),
          days::toggle_flag("--talk", "you say the lines, until Ctrl-D; without it the program says three"),
          days::number_flag("--tokens", "of an answer, at most", 24, 1, 1 << 20),
          days::number_flag("--percent", "temperature in percent; 0: always the likeliest token", 80, 0,
                            10000),
          days::number_flag("--seed", "another one, another answer", 80, 0, int64_t{1} << 62)}};
  return days::program(argc, argv, about, [](days::Program& program) {
    const day80::Speaker speaker = day80::speaker_of(program, program.choice("--template"));
    Conversation conversation(speaker,
                              {.temperature = static_cast<float>(program.number("--percent")) / 100.0f,
                               .seed = static_cast<uint64_t>(program.number("--seed"))});
    const auto most = static_cast<int>(program.number("--tokens"));
    if (program.on("--talk")) {
      // Without SA_RESTART a Ctrl-C at the prompt ends the reading, too.
      struct sigaction action {};
      action.sa_handler = interrupt;
      sigaction(SIGINT, &action, nullptr);
      for (std::string line; std::printf("> "), std::fflush(stdout), std::getline(std::cin, line);)
        conversation.say(line, most);
      std::printf("\n");
    } else {
      for (const char* line : {"It was", " and she", " Mr. Darcy"}) {
        std::printf(">%s\n", line);
        conversation.say(line, most);
      }
    }
    conversation.check(program);
  });
}
