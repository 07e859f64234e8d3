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

// The length in bytes of the first word of a text, which must not be empty. As in GPT-2 a word is the first of these that the text
// begins with: an ending, which is one of 's 't 're 've 'm 'll 'd; a run of letters, of numbers, or of other characters, each with the
// space before it if there is one; a run of white space. That run leaves its last character to what follows, if something does and
// it has another. A byte that is no UTF-8 counts as one of the other characters.
size_t first_word(std::string_view text);

class Tokenizer {
 public:
  static constexpr std::string_view kEndOfText = "<|endoftext|>";

  // Makes a vocabulary of `vocab` tokens: first the 256 bytes in GPT-2's order, then vocab - 257 that are merged from pairs in the text,
  // and last <|endoftext|>. The next pair to be merged is the most frequent one; of pairs that are equally frequent it is the one with
  // the lowest ids. Throws std::invalid_argument where vocab is not 257 to 2^20, or the text has fewer pairs to merge.
  // progress(tokens so far, vocab - 1) is called at every 64th token and at the end.
  static Tokenizer train(std::string_view text, int vocab,
                         const std::function<void(int, int)>& progress = {});

  // Reads vocab.json and merges.txt of a folder, as they are written here and by Hugging Face for GPT-2. Throws FileError.
  static Tokenizer load(const std::filesystem::path& folder);
  // Writes them, and makes the folder where it is missing. Throws FileError, or std::filesystem::filesystem_error for the folder.
  void save(const std::filesystem::path& folder) const;

  // Special tokens never come from text: "<|endoftext|>" in a text is encoded as these 13 characters.
  std::vector<int32_t> encode(std::string_view text) const;
  // decode() gives the text of all ids, bytes() that of one token, as long as the Tokenizer lives. Both throw std::out_of_range for an
  // id that is not 0 to size() - 1. <|endoftext|> is no text: it becomes nothing.
  std::string decode(std::span<const int32_t> ids) const;
  std::string_view bytes(int32_t id) const;

  // How many tokens there are, <|endoftext|> among them.
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
