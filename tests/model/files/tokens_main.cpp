// SPDX-License-Identifier: MIT
//
// The tokenizer for tokenizers.py: `train FILE VOCAB FOLDER`, and `encode FOLDER`, which reads texts from standard input, each
// behind a line with its number of bytes, and writes a line of ids for each.
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "model/tokens.h"

int main(int argc, char** argv) try {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "train" && argc == 5) {
    const model::MappedFile text(argv[2]);
    model::Tokenizer::train(text.bytes(), std::stoi(argv[3])).save(argv[4]);
  } else if (command == "encode" && argc == 3) {
    const model::Tokenizer tokenizer = model::Tokenizer::load(argv[2]);
    for (std::string line, text; std::getline(std::cin, line);) {
      text.resize(std::stoul(line));
      std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
      std::cin.ignore(1);
      const auto ids = tokenizer.encode(text);
      if (tokenizer.decode(ids) != text) throw std::runtime_error("a text does not come back");
      for (const int32_t id : ids) std::printf("%d ", id);
      std::printf("\n");
    }
  } else {
    std::fprintf(stderr, "usage: tokens train FILE VOCAB FOLDER | tokens encode FOLDER\n");
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
