// SPDX-License-Identifier: MIT
//
// Exercise: more texts than slots. `./days check 80` copies this file to my/day80.cu.
//
// Goal: every text is what it would be alone, and no slot is idle while a text waits.
//
//  1. slots.begin(wish) computes a prompt and returns {slot, token}: the text's slot and its first token.
//  2. slots.step() returns the next {slot, token} of each text that has a slot; slots.end(slot) frees one.
//  3. A text that has wish.tokens tokens is done. Who gets its slot, and when? slots.has_free() says whether there is one.

#include <map>

#include "day80_gpt_inference/many.h"

// Writes all texts, and returns the tokens of each.
std::vector<day80::Ids> write_all(day80::Slots& slots, const std::vector<day80::Wish>& wishes) {
  std::vector<day80::Ids> texts(wishes.size());
  for (size_t i = 0; i < wishes.size(); ++i) {  // your code: so far one text after the other
    serve::Token one = slots.begin(wishes[i]);
    texts[i].push_back(one.token);
    while (std::ssize(texts[i]) < wishes[i].tokens) {
      one = slots.step()[0];
      texts[i].push_back(one.token);
    }
    slots.end(one.slot);
  }
  return texts;
}

int main(int argc, char** argv) {
  return day80::many_program(argc, argv, "exercise", "your texts", write_all);
}
