// SPDX-License-Identifier: MIT
// Day 80: what judges who writes many texts with few slots, for the program and for the exercise: each text has to be what it is alone, and
// no slot may be idle while a text waits.
#pragma once

#include <algorithm>
#include <cstdio>
#include <vector>

#include "common/compare.h"
#include "common/program.h"
#include "common/random.h"
#include "gpt/layout.h"
#include "serve/generator.h"
#include "serve/model.h"

namespace day80 {

using Ids = std::vector<int32_t>;

struct Wish {
  Ids prompt;
  int tokens;  // that are to be written, at least one
  serve::Sampling sampling;
};

// A generator that counts its steps.
class Slots {
 public:
  Slots(const serve::Model& model, int slots) : generator_(model, {.sequences = slots}) {}

  // Gives a prompt a slot, computes it, and returns the slot and the text's first token.
  serve::Token begin(const Wish& wish) {
    const auto slot = generator_.add(wish.prompt, wish.sampling);
    days::require(slot.has_value(), "no slot is free; of those that are taken", taken_);
    ++taken_;
    return serve::first_token(generator_);
  }
  bool has_free() const { return generator_.free_slots() > 0; }
  // The next token of each text that has a slot.
  std::vector<serve::Token> step() {
    ++steps_;
    return generator_.decode();
  }
  // Frees the slot.
  void end(int slot) {
    generator_.remove(slot);
    --taken_;
  }
  int steps() const { return steps_; }

 private:
  serve::Generator<float> generator_;
  int steps_ = 0, taken_ = 0;
};

// Writes all texts: of each wish its tokens.
using Writer = std::vector<Ids> (*)(Slots& slots, const std::vector<Wish>& wishes);

inline int many_program(int argc, char** argv, const char* name, const char* does, Writer writer) {
  const days::About about{.name = name,
                          .does = does,
                          .gpu_size = 0,
                          .cpu_size = 0,
                          .flags = {days::choice_flag("--size", "of the model", {"tiny"})}};
  return days::program(argc, argv, about, [writer](days::Program& program) {
    constexpr int kSlots = 3;
    constexpr int kTokens[] = {12, 3, 3, 1, 6, 2, 5, 4};
    const gpt::Layout layout(gpt::config_of(program.choice("--size")));
    const serve::Model model{serve::config_of(layout.config),
                             serve::weights_of(layout, gpt::initial_weights(layout, 80))};
    std::vector<Wish> wishes;
    for (size_t i = 0; i < std::size(kTokens); ++i) {
      Wish wish{{}, kTokens[i], {.temperature = 1, .seed = i}};
      for (uint64_t t = 0; t < 3 + 2 * i; ++t)
        wish.prompt.push_back(static_cast<int32_t>(days::uniform_integer(i, t, 0, layout.config.vocab)));
      wishes.push_back(wish);
    }

    Ids expected, got;
    std::vector<size_t> lengths;
    Slots one(model, 1);
    for (const Wish& wish : wishes) {
      serve::Token token = one.begin(wish);
      for (int i = 1; i < wish.tokens; ++i) {
        expected.push_back(token.token);
        token = one.step()[0];
      }
      expected.push_back(token.token);
      one.end(token.slot);
    }

    Slots slots(model, kSlots);
    const std::vector<Ids> texts = writer(slots, wishes);
    days::require(texts.size() == wishes.size(), "there are eight texts to write, not", texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      // A text that is too short or too long is wrong in its own place, not in those behind it.
      for (size_t t = 0; t < static_cast<size_t>(wishes[i].tokens); ++t)
        got.push_back(t < texts[i].size() ? texts[i][t] : -1);
      if (std::ssize(texts[i]) > wishes[i].tokens) got.back() = -2;
    }
    program.compare(got.data(), expected.data(), got.size(), "tokens of all texts");
    // A slot that is free is given away before the next step: then the longest text decides, or the sum of all.
    constexpr int kFewest = 11;
    const int most = std::max(slots.steps(), kFewest), fewest = kFewest;
    std::printf("%d texts, %d slots: %d steps\n", static_cast<int>(wishes.size()), kSlots, slots.steps());
    program.compare(&most, &fewest, 1, "steps");
  });
}

}  // namespace day80
