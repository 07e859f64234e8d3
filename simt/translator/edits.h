// SPDX-License-Identifier: MIT
//
// Changes to the text, collected and then applied at once. What is not changed keeps its file, line and
// column: after a change that moves text, a line marker and blanks put the rest of the line back into its
// place, so that the compiler's messages and the debugger speak of the .cu file, to the column.
#pragma once

#include <string>
#include <vector>

#include "tokens.h"

namespace simtcc {

class Edits {
 public:
  explicit Edits(const Tokens& tokens) : t_(tokens) {}

  /// Where several texts come before one token, those of lower order come first.
  void before(int token, std::string text, int order = 0) { add(t_[token].begin, 0, std::move(text), order); }
  void after(int token, std::string text, int order = 0) { add(t_[token].end, 0, std::move(text), order); }
  void replace(int first, int last, std::string text) {
    add(t_[first].begin, t_[last].end - t_[first].begin, std::move(text));
  }
  void replace(int token, std::string text) { replace(token, token, std::move(text)); }
  void remove(int token) { replace(token, token, ""); }
  void replace_line(const Tokens::Line& line, std::string text) {
    add(line.begin, line.end - line.begin, std::move(text));
  }

  /// Text that puts what follows it at the line and column that the byte `at` has in the user's file.
  std::string relocated(std::size_t at) const;
  std::string apply();

 private:
  struct Edit {
    std::size_t at, length;
    std::string text;
    int order;
  };
  void add(std::size_t at, std::size_t length, std::string text, int order = 0) {
    edits_.push_back({at, length, std::move(text), order});
  }
  std::size_t column(const std::string& text, std::size_t at) const;
  void catch_up(std::string& out, std::size_t from, std::size_t to, bool lines_moved) const;

  const Tokens& t_;
  std::vector<Edit> edits_;
};

}  // namespace simtcc
