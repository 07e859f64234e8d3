// SPDX-License-Identifier: MIT
//
// More texts than slots. A step costs the same whether one text is written or all slots are full, so that a slot which a text leaves is given
// to the next one at once, in the middle of all others: continuous batching.

#include <map>

#include "day80_gpt_inference/many.h"

namespace {

using day80::Ids;
using day80::Wish;

std::vector<Ids> write_all(day80::Slots& slots, const std::vector<Wish>& wishes) {
  std::vector<Ids> texts(wishes.size());
  std::map<int, size_t> text_of;  // by slot
  size_t next = 0;
  const auto take = [&](const serve::Token& one) {
    const size_t i = text_of[one.slot];
    texts[i].push_back(one.token);
    if (std::ssize(texts[i]) < wishes[i].tokens) return;
    slots.end(one.slot);
    text_of.erase(one.slot);
  };
  while (next < wishes.size() || !text_of.empty()) {
    while (next < wishes.size() && slots.has_free()) {
      const serve::Token first = slots.begin(wishes[next]);
      text_of[first.slot] = next++;
      take(first);
    }
    for (const serve::Token& one : slots.step()) take(one);
  }
  return texts;
}

}  // namespace

int main(int argc, char** argv) {
  return day80::many_program(argc, argv, "many", "eight texts with three slots", write_all);
}
