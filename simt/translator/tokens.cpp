// SPDX-License-Identifier: MIT
#include "tokens.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

namespace simtcc {
namespace {

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80);
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c));
}
bool in_word(char c) {
  return starts_word(c) || is_digit(c);
}

}  // namespace

Tokens::Tokens(const std::string& text) : text_(text) {
  lex();
  pair_brackets();
}

std::string_view Tokens::text(int i) const {
  if (i < 0 || i >= size()) return {};
  const Token& t = (*this)[i];
  return std::string_view(text_).substr(t.begin, t.end - t.begin);
}

std::string Tokens::text_of(int first, int last) const {
  if (first > last) return {};
  return text_.substr((*this)[first].begin, (*this)[last].end - (*this)[first].begin);
}

// A line marker is `# 12 "file" flags`. Flag 1 enters a file, 3 says that it is a system header. A marker
// without flag 1 only moves within files already known; g++ puts 3 there, too, around what a system header's
// macro expanded to in the user's own line, and that is the user's code. Returns whether a system header's
// text follows.
bool Tokens::read_marker(std::size_t begin, std::size_t end) {
  const std::string_view line(text_.data() + begin, end - begin);
  const auto open = line.find('"'), close = line.rfind('"');
  if (open == std::string_view::npos || close == open) return false;
  const std::string_view file = line.substr(open, close - open + 1), flags = line.substr(close + 1);
  const bool enters = flags.find('1') != std::string_view::npos;
  const bool system = flags.find('3') != std::string_view::npos;
  if (enters || !is_system_.count(file)) {
    is_system_[file] = (enters && system) || line[open + 1] == '<';  // "<built-in>"
  }
  const std::size_t kept = system && !enters ? flags.find('3') : std::string_view::npos;
  markers_.push_back({std::min(end + 1, text_.size()),
                      {file, std::atol(line.data() + 2),
                       kept == std::string_view::npos ? std::string_view{} : flags.substr(kept - 1)}});
  return is_system_[file];
}

std::size_t Tokens::end_of_word(std::size_t i, Token::Kind* kind) const {
  *kind = Token::word;
  const std::size_t begin = i, n = text_.size();
  while (i < n && in_word(text_[i])) ++i;
  if (i >= n || text_[i] != '"' || text_[i - 1] != 'R' || i - begin > 3) return i;
  *kind = Token::literal;  // a raw string
  const std::size_t open = text_.find('(', i);
  const std::string close = ")" + text_.substr(i + 1, open - i - 1) + "\"";
  const std::size_t end = text_.find(close, open);
  return end == std::string::npos ? n : end + close.size();
}

std::size_t Tokens::end_of_number(std::size_t i) const {
  const std::size_t n = text_.size();
  const bool hex = text_[i] == '0' && i + 1 < n && (text_[i + 1] == 'x' || text_[i + 1] == 'X');
  for (++i; i < n; ++i) {
    const char c = text_[i];
    const bool separator = c == '\'' && i + 1 < n && in_word(text_[i + 1]);
    const bool sign = (c == '+' || c == '-') && std::strchr(hex ? "pP" : "eEpP", text_[i - 1]);
    if (!in_word(c) && c != '.' && !separator && !sign) break;
  }
  return i;
}

// '>' stays alone (it may close a template argument list), unless it is part of an arrow or a comparison.
std::size_t Tokens::end_of_punctuation(std::size_t i) const {
  for (const std::string_view p : {"<<<", "<=>", "...", "::", "->", "<=", ">=", "&&", "||", "==", "!=",
                                   "<<",  "++",  "--",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="}) {
    if (text_.compare(i, p.size(), p) == 0) return i + p.size();
  }
  return i + 1;
}

void Tokens::lex() {
  const std::string& s = text_;
  const std::size_t n = s.size();
  bool system = false, line_start = true;
  for (std::size_t i = 0; i < n;) {
    const char c = s[i];
    if (line_start && (system || c == '#')) {
      const std::size_t end = std::min(s.find('\n', i), n);
      if (c == '#' && i + 2 < end && s[i + 1] == ' ' && is_digit(s[i + 2])) {
        system = read_marker(i, end);
      } else if (c == '#' && !system && s.compare(i, 7, "#pragma") == 0) {
        pragmas_.push_back({i, end});
      }
      i = end + 1;
      continue;
    }
    line_start = c == '\n';
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
      continue;
    }
    Token::Kind kind = Token::punctuation;
    std::size_t end;
    if (starts_word(c)) {
      end = end_of_word(i, &kind);
    } else if (is_digit(c) || (c == '.' && i + 1 < n && is_digit(s[i + 1]))) {
      kind = Token::number;
      end = end_of_number(i);
    } else if (c == '"' || c == '\'') {
      kind = Token::literal;
      for (end = i + 1; end < n && s[end] != c; ++end) end += s[end] == '\\';
      end = std::min(end + 1, n);
    } else {
      end = end_of_punctuation(i);
    }
    tokens_.push_back({i, end, kind});
    i = end;
  }
}

// Every bracket gets a partner; what is not balanced gets an error here rather than a confusing one later.
void Tokens::pair_brackets() {
  partner_.assign(tokens_.size(), -1);
  std::vector<int> open;
  for (int i = 0; i < size(); ++i) {
    if ((*this)[i].kind != Token::punctuation) continue;
    if (opens(i)) {
      open.push_back(i);
    } else if (closes(i)) {
      const char* expected = is(i, ")") ? "(" : is(i, "]") ? "[" : "{";
      // Before a } it is the ( that was forgotten: its line is the one to mend.
      if (!open.empty() && is(i, "}") && !is(open.back(), "{"))
        fail(open.back(), "'" + string(open.back()) + "' is never closed");
      if (open.empty() || !is(open.back(), expected)) {
        fail(i, "'" + string(i) + "' without its '" + expected + "'");
      }
      partner_[static_cast<std::size_t>(i)] = open.back();
      partner_[static_cast<std::size_t>(open.back())] = i;
      open.pop_back();
    }
  }
  if (!open.empty()) fail(open.back(), "'" + string(open.back()) + "' is never closed");
}

int Tokens::close_angle(int open) const {
  int depth = 0;
  for (int i = open; i < size(); ++i) {
    if (is(i, "<")) ++depth;
    if (is(i, ">") && --depth == 0) return i;
    if (is(i, ";") || closes(i) || is(i, "<<<")) return -1;
    i = skip(i);
  }
  return -1;
}

int Tokens::open_angle(int close) const {
  int depth = 0;
  for (int i = close; i >= 0; --i) {
    if (is(i, ">")) ++depth;
    if (is(i, "<") && --depth == 0) return i;
    if (is(i, ";") || opens(i)) return -1;
    if (closes(i)) i = partner(i);
  }
  return -1;
}

std::vector<std::pair<int, int>> Tokens::split(int open, int close) const {
  std::vector<std::pair<int, int>> parts;
  int first = open + 1;
  for (int i = first; i <= close; ++i) {
    if (i == close || is(i, ",")) {
      if (i > first) parts.push_back({first, i - 1});
      first = i + 1;
    } else if (is(i, "<") && is_word(i - 1)) {
      const int end = close_angle(i);
      if (end > 0 && end < close) i = end;  // else a comparison
    } else {
      i = skip(i);
    }
  }
  return parts;
}

Tokens::Place Tokens::place(std::size_t at) const {
  const auto after =
      std::upper_bound(markers_.begin(), markers_.end(), at,
                       [](std::size_t position, const Marker& m) { return position < m.next; });
  if (after == markers_.begin()) return {"\"<input>\"", 1, {}};
  const Marker& marker = *(after - 1);
  Place place = marker.place;
  place.line += std::count(text_.begin() + static_cast<std::ptrdiff_t>(marker.next),
                           text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return place;
}

void Tokens::fail(int i, const std::string& what) const {
  const Place p = place((*this)[i].begin);
  throw Error(std::string(p.file.substr(1, p.file.size() - 2)) + ":" + std::to_string(p.line) +
              ": error: " + what);
}

}  // namespace simtcc
