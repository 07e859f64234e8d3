// SPDX-License-Identifier: MIT
// Texts are taken three at a time, and the next three begin when all of these are done: slots are idle.
// plain: steps
// checked: steps

#include <algorithm>
#include <map>

#include "day80_gpt_inference/many.h"

std::vector<day80::Ids> write_all(day80::Slots& slots, const std::vector<day80::Wish>& wishes) {
  std::vector<day80::Ids> texts(wishes.size());
  for (size_t begin = 0; begin < wishes.size(); begin += 3) {
    std::map<int, size_t> text_of;
    const auto take = [&](const serve::Token& one) {
      const size_t i = text_of[one.slot];
      texts[i].push_back(one.token);
      if (std::ssize(texts[i]) < wishes[i].tokens) return;
      slots.end(one.slot);
      text_of.erase(one.slot);
    };
    for (size_t i = begin; i < std::min(begin + 3, wishes.size()); ++i) {
      while (!slots.has_free()) slots.step();
      const serve::Token first = slots.begin(wishes[i]);
      text_of[first.slot] = i;
      take(first);
    }
    while (!text_of.empty())
      for (const serve::Token& one : slots.step()) take(one);
  }
  return texts;
}

int main(int argc, char** argv) {
  return day80::many_program(argc, argv, "batches", "three texts at a time", write_all);
}
