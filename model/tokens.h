// SPDX-License-Identifier: MIT
//
// Text as tokens: byte pair encoding on bytes, with GPT-2's split into words and its files, vocab.json and merges.txt, or those of a
// tokenizer.json. Any bytes can be encoded, and decoding gives them back; only a tokenizer.json may lack tokens for some bytes, which then are
// left out, as Hugging Face's do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
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

// Where a text is cut before it is cut into words: nowhere, as in GPT-2, or around each character that is a number, which then is a word by
// itself and takes no space from before it, as in SmolLM2.
enum class Split : int { kNone, kDigits };
size_t first_word(std::string_view text, Split split);

class Tokenizer {
 public:
  static constexpr std::string_view kEndOfText = "<|endoftext|>";

  // Makes a vocabulary of `vocab` tokens: first the 256 bytes in GPT-2's order, then vocab - 257 that are merged from pairs in the text,
  // and last <|endoftext|>. The next pair to be merged is the most frequent one; of pairs that are equally frequent it is the one with
  // the lowest ids. Throws std::invalid_argument where vocab is not 257 to 2^20, or the text has fewer pairs to merge.
  // progress(tokens so far, vocab - 1) is called at every 64th token and at the end.
  static Tokenizer train(std::string_view text, int vocab,
                         const std::function<void(int, int)>& progress = {});

  // Reads a folder's tokenizer.json, as Hugging Face's tokenizers write it, or where there is none its vocab.json and merges.txt, as they
  // are written here and by Hugging Face for GPT-2. A tokenizer.json of another model than BPE on bytes, or another cut than those of Split,
  // is refused by name. Throws FileError.
  static Tokenizer load(const std::filesystem::path& folder);
  // Writes vocab.json and merges.txt, and makes the folder where it is missing. Throws FileError, std::filesystem::filesystem_error for the
  // folder, or std::invalid_argument where these two cannot say all of it: another split, or more special tokens.
  void save(const std::filesystem::path& folder) const;

  // Special tokens never come from text: "<|endoftext|>" in a text is encoded as these 13 characters. A folder's special tokens are
  // <|endoftext|> and the added_tokens of its tokenizer.json.
  std::vector<int32_t> encode(std::string_view text) const;
  // decode() gives the text of all ids, bytes() that of one token, as long as the Tokenizer lives. Both throw std::out_of_range for an
  // id that is not 0 to size() - 1. A special token is no text: it becomes nothing.
  std::string decode(std::span<const int32_t> ids) const;
  std::string_view bytes(int32_t id) const;

  // How many tokens there are, <|endoftext|> among them.
  int size() const { return static_cast<int>(bytes_.size()); }
  int32_t end_of_text() const { return special(std::string(kEndOfText)); }  // -1 where the files have none
  int32_t special(const std::string& name) const;                           // likewise
  Split split() const { return split_; }

 private:
  struct Merge {
    int32_t rank, id;
  };
  static uint64_t key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  class Maker;
  static Tokenizer load_json(const std::filesystem::path& file);
  void encode_word(std::string_view word, std::vector<int32_t>* ids) const;

  std::vector<std::string> bytes_;                  // of each id
  std::vector<std::pair<int32_t, int32_t>> pairs_;  // the merges, in their order
  std::unordered_map<uint64_t, Merge> merges_;      // by key(left, right)
  int32_t of_byte_[256] = {};                       // a byte's id; -1: it has none
  std::map<std::string, int32_t> special_;
  Split split_ = Split::kNone;
};

}  // namespace model
