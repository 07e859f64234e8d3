// SPDX-License-Identifier: MIT
//
// A conversation as the tokens that a model has learnt it as.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokens.h"
#include "serve/api.h"

namespace serve {

// Who says what is told a model by marks, which are special tokens. A folder has a program for them, in Jinja; here are those that are
// known, chosen by that program's text:
//   chatml  <|im_start|>user, a line's end, what is said, <|im_end|>, a line's end; SmolLM2's begins with a system's message of its own
//   llama3  <|begin_of_text|> once; <|start_header_id|>user<|end_header_id|>, two lines' ends, what is said, trimmed, <|eot_id|>
//   plain   what is said, each with a line's end, for models that have learnt no conversations
class ChatTemplate {
 public:
  // Of a folder's tokenizer_config.json or chat_template.jinja; plain where it has neither. forced: "chatml", "llama3" or "plain" whatever
  // the folder says; "" is none. Throws model::FileError where the folder's is unknown, or one of its marks is none of the tokenizer's.
  static ChatTemplate of(const std::filesystem::path& folder, const model::Tokenizer& tokenizer,
                         const std::string& forced = "");

  // The tokens of a conversation, up to where the model has to answer. The texts' own marks stay text.
  std::vector<int32_t> encode(const model::Tokenizer&, std::span<const Message>) const;
  // Those behind an answer, from its end on, which the answer has not got: another message, up to where the model has to answer.
  std::vector<int32_t> encode_more(const model::Tokenizer&, const Message&) const;

  const std::string& name() const { return name_; }
  // Tokens that end an answer.
  std::vector<int32_t> ends(const model::Tokenizer&) const;

 private:
  ChatTemplate(std::string name, std::string system) : name_(std::move(name)), system_(std::move(system)) {}
  void say(const model::Tokenizer&, const Message&, std::vector<int32_t>* ids) const;
  void ask(const model::Tokenizer&, std::vector<int32_t>* ids) const;

  std::string name_;
  std::string system_;  // a system's message where the conversation has none; "" is none
};

}  // namespace serve
