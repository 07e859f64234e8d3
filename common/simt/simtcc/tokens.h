// SPDX-License-Identifier: MIT
//
// Preprocessed C++ as tokens. System headers are not looked at: CUDA's words have no meaning there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simtcc {

struct Token {
  enum Kind : char { word, number, literal, punctuation };
  std::size_t begin, end;
  Kind kind;
};

/// The user's part of a preprocessed file. Indices are token numbers; -1 stands for "none".
class Tokens {
 public:
  explicit Tokens(const std::string& text);

  int size() const { return static_cast<int>(tokens_.size()); }
  const Token& operator[](int i) const { return tokens_[static_cast<std::size_t>(i)]; }
  std::string_view text(int i) const;
  bool is(int i, std::string_view what) const { return text(i) == what; }
  bool is_word(int i) const { return i >= 0 && i < size() && (*this)[i].kind == Token::word; }
  /// The partner of a bracket ( [ { or of its closing one.
  int partner(int i) const { return partner_[static_cast<std::size_t>(i)]; }
  /// Of a template argument list: from '<' to its '>' and back.
  int close_angle(int open) const;
  int open_angle(int close) const;
  /// "file.cu:12" of a token.
  std::string place(int i) const;

  /// Lines that are `#pragma ...` in the user's code: where they begin and end.
  struct Line {
    std::size_t begin, end;
  };
  const std::vector<Line>& pragmas() const { return pragmas_; }

 private:
  void lex();
  void pair_brackets();

  const std::string& text_;
  std::vector<Token> tokens_;
  std::vector<int> partner_;
  std::vector<Line> pragmas_;
};

}  // namespace simtcc
