// SPDX-License-Identifier: MIT
// A slot is taken for a text's number for good: whoever gets it next adds tokens to the text that had it before.
// plain: tokens of all texts
// checked: tokens of all texts

#include <map>

#include "day80_gpt_inference/many.h"

std::vector<day80::Ids> write_all(day80::Slots& slots, const std::vector<day80::Wish>& wishes) {
  std::vector<day80::Ids> texts(wishes.size());
  std::map<int, size_t> text_of;
  std::map<int, int> left;
  size_t next = 0;
  const auto take = [&](const serve::Token& one) {
    texts[text_of[one.slot]].push_back(one.token);
    if (--left[one.slot] > 0) return;
    slots.end(one.slot);
    left.erase(one.slot);
  };
  while (next < wishes.size() || !left.empty()) {
    while (next < wishes.size() && slots.has_free()) {
      const serve::Token first = slots.begin(wishes[next]);
      text_of.emplace(first.slot, next);  // does nothing where the slot had a text before
      left[first.slot] = wishes[next++].tokens;
      take(first);
    }
    for (const serve::Token& one : slots.step()) take(one);
  }
  return texts;
}

int main(int argc, char** argv) {
  return day80::many_program(argc, argv, "slot_kept", "slots that are texts", write_all);
}
