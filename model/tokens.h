// SPDX-License-Identifier: MIT
//
// Text as tokens: byte pair encoding on bytes, with GPT-2's split into words and its files, vocab.json and merges.txt. Any bytes can
// be encoded, and decoding gives them back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/files.h"

namespace model {

// The length of the first word of a text that is not empty. A text is cut as GPT-2 does it: 's 't 're 've 'm 'll 'd, letters,
// numbers, or anything else, each with a space before it if there is one; spaces. Of several spaces before a word the last one
// belongs to it. What is no UTF-8 counts byte by byte as anything else.
size_t first_word(std::string_view text);

class Tokenizer {
 public:
  static constexpr std::string_view kEndOfText = "<|endoftext|>";

  // `vocab` tokens: the 256 bytes in GPT-2's order, vocab - 257 that it merges from what the text has, <|endoftext|>. Merged is what
  // occurs most often; of pairs that occur as often, the one with the lower ids. Throws std::invalid_argument where the text has
  // fewer pairs to merge. progress(tokens, of): now and then.
  static Tokenizer train(std::string_view text, int vocab,
                         const std::function<void(int, int)>& progress = {});

  // Of a folder with vocab.json and merges.txt, as they are written here and by Hugging Face for GPT-2. Throws FileError.
  static Tokenizer load(const std::filesystem::path& folder);
  void save(const std::filesystem::path& folder) const;

  // Special tokens never come from text: "<|endoftext|>" in a text is encoded as these 13 characters.
  std::vector<int32_t> encode(std::string_view text) const;
  // Throws std::out_of_range for an id that there is not. <|endoftext|> is no text: it becomes nothing.
  std::string decode(std::span<const int32_t> ids) const;
  std::string_view bytes(int32_t id) const;  // of one token

  int size() const { return static_cast<int>(bytes_.size()); }
  int32_t end_of_text() const { return end_of_text_; }  // -1 where the files have none

 private:
  struct Merge {
    int32_t rank, id;
  };
  static uint64_t key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  void encode_word(std::string_view word, std::vector<int32_t>* ids) const;

  std::vector<std::string> bytes_;                  // of each id
  std::vector<std::pair<int32_t, int32_t>> pairs_;  // the merges, in their order
  std::unordered_map<uint64_t, Merge> merges_;      // by key(left, right)
  int32_t of_byte_[256] = {};                       // a byte's id
  int32_t end_of_text_ = -1;
};

}  // namespace model
