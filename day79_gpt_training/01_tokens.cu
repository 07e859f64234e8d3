// SPDX-License-Identifier: MIT
//
// A text becomes tokens. A tokenizer is trained on it: the pair of neighbours that occurs most often becomes a token, again and again,
// until there are as many as asked for. Then the text is written as numbers, the last tenth for validation.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "common/program.h"
#include "gpt/files.h"
#include "model/tokens.h"

namespace {

// A token as it is read: with its spaces and line ends visible.
std::string shown(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += byte == '\n' ? "\\n" : byte == ' ' ? "_" : std::string(1, byte);
  return text;
}

void tokens(days::Program& program) {
  const std::filesystem::path text = gpt::given_or_in_course(program.file("--text"), "corpus/austen.txt");
  const std::filesystem::path folder = gpt::given_or_in_course(program.path("--out"), "build/gpt/tokens");
  const int vocab = static_cast<int>(program.number("--vocab"));
  const auto most = static_cast<size_t>(program.number("--bytes"));
  const size_t count = gpt::write_tokens(text, most, vocab, folder, [&](int done, int of) {
    program.progress(static_cast<size_t>(done), static_cast<size_t>(of), "token");
  });

  const model::Tokenizer tokenizer = model::Tokenizer::load(folder);
  const model::MappedFile file(text);
  const std::string_view bytes = file.bytes().substr(0, most);
  std::printf("%zu bytes are %zu tokens of %d: %.2f bytes a token\n", bytes.size(), count, vocab,
              static_cast<double>(bytes.size()) / static_cast<double>(count));
  std::printf("first merged:");
  for (int32_t id = 256; id < std::min(268, vocab - 1); ++id)
    std::printf(" %s", shown(tokenizer.bytes(id)).c_str());
  std::printf("\nlast merged: ");
  for (int32_t id = std::max(256, vocab - 9); id < vocab - 1; ++id)
    std::printf(" %s", shown(tokenizer.bytes(id)).c_str());
  std::printf("\n");

  // What the files hold is the text again, to the byte.
  std::vector<int32_t> ids;
  for (const char* name : {"train.bin", "val.bin"})
    for (const uint16_t id : gpt::read_tokens(folder / name, vocab)) ids.push_back(id);
  const std::string back = tokenizer.decode(ids);
  if (back.size() != bytes.size())
    throw model::FileError("the tokens are " + std::to_string(back.size()) + " bytes");
  program.compare(reinterpret_cast<const uint8_t*>(back.data()),
                  reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), "the decoded text");
}

}  // namespace

int main(int argc, char** argv) {
  const days::About about{
      .name = "tokens",
      .does = "a text becomes tokens, by a tokenizer that is trained on it",
      .gpu_size = 0,
      .cpu_size = 0,
      .flags = {days::file_flag("--text", "what is read, instead of six novels of Jane Austen"),
                days::path_flag("--out", "the folder that is written, instead of build/gpt/tokens"),
                days::number_flag("--vocab", "tokens", 512, 257, 65536),
                days::number_flag("--bytes", "of the text, at most", 1 << 28, 1, 1 << 28)}};
  return days::program(argc, argv, about, [](days::Program& program) { tokens(program); });
}
