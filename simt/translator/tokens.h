// SPDX-License-Identifier: MIT
//
// Preprocessed C++ as tokens. System headers are not looked at: CUDA's words have no meaning there.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace simtcc {

/// What the user must mend: "file.cu:12: error: ...".
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Token {
  enum Kind : char { word, number, literal, punctuation };
  std::size_t begin, end;
  Kind kind;
};

/// The user's part of a preprocessed file. Indices are token numbers; -1 stands for "none", and every
/// question about a token that does not exist has the answer no.
class Tokens {
 public:
  /// `text` must outlive this object.
  explicit Tokens(const std::string& text);

  const std::string& source() const { return text_; }
  int size() const { return static_cast<int>(tokens_.size()); }
  const Token& operator[](int i) const { return tokens_[static_cast<std::size_t>(i)]; }
  std::string_view text(int i) const;
  std::string string(int i) const { return std::string(text(i)); }
  /// The source from token `first` to token `last`.
  std::string text_of(int first, int last) const;
  bool is(int i, std::string_view what) const { return text(i) == what; }
  bool is_word(int i) const { return i >= 0 && i < size() && (*this)[i].kind == Token::word; }
  bool is_literal(int i) const { return i >= 0 && i < size() && (*this)[i].kind == Token::literal; }
  /// True where token i + 1 begins at the end of token i: `>>` is two such tokens.
  bool touches_next(int i) const { return i + 1 < size() && (*this)[i].end == (*this)[i + 1].begin; }

  /// The partner of a bracket ( [ { or of its closing one.
  int partner(int i) const { return partner_[static_cast<std::size_t>(i)]; }
  bool opens(int i) const { return is(i, "(") || is(i, "[") || is(i, "{"); }
  bool closes(int i) const { return is(i, ")") || is(i, "]") || is(i, "}"); }
  /// The last token of the bracketed group that starts at i, or i itself.
  int skip(int i) const { return opens(i) ? partner(i) : i; }
  /// Of a template argument list: from '<' to its '>' and back; -1 where it is no such list.
  int close_angle(int open) const;
  int open_angle(int close) const;
  /// Splits the tokens strictly between `open` and `close` at commas: first and last token of each part.
  std::vector<std::pair<int, int>> split(int open, int close) const;

  /// Where a byte of the text came from.
  struct Place {
    std::string_view file;  // as in the line marker, quoted
    long line = 0;
    std::string_view flags;  // " 3 4": expanded from a system header's macro
  };
  Place place(std::size_t at) const;
  /// Throws an Error about token i.
  [[noreturn]] void fail(int i, const std::string& what) const;

  /// Lines that are `#pragma ...` in the user's code: where they begin and end.
  struct Line {
    std::size_t begin, end;
  };
  const std::vector<Line>& pragmas() const { return pragmas_; }

 private:
  void lex();
  std::size_t end_of_word(std::size_t i, Token::Kind* kind) const;
  std::size_t end_of_number(std::size_t i) const;
  std::size_t end_of_punctuation(std::size_t i) const;
  bool read_marker(std::size_t begin, std::size_t end);
  void pair_brackets();

  struct Marker {
    std::size_t next;  // first byte after the marker's line
    Place place;
  };
  const std::string& text_;
  std::vector<Token> tokens_;
  std::vector<int> partner_;
  std::vector<Line> pragmas_;
  std::vector<Marker> markers_;
  std::unordered_map<std::string_view, bool> is_system_;
};

}  // namespace simtcc
