// SPDX-License-Identifier: MIT
#include "tokens.h"

#include <cctype>
#include <cstring>

namespace simtcc {
namespace {

bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80);
}
bool in_word(char c) {
  return starts_word(c) || std::isdigit(static_cast<unsigned char>(c));
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c));
}

// A line marker is `# 12 "file" flags`; flag 3 says system header.
bool is_marker(std::string_view line) {
  return line.size() > 2 && line[0] == '#' && line[1] == ' ' && is_digit(line[2]);
}
bool marks_system(std::string_view line) {
  const auto quote = line.rfind('"');
  return line.find("\"<") != std::string_view::npos ||
         (quote != std::string_view::npos && line.find('3', quote) != std::string_view::npos);
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

void Tokens::lex() {
  const std::string& s = text_;
  const std::size_t n = s.size();
  bool system = false, line_start = true;
  std::size_t i = 0;
  auto add = [&](std::size_t end, Token::Kind kind) {
    tokens_.push_back({i, end, kind});
    i = end;
  };
  while (i < n) {
    if (line_start) {
      line_start = false;
      std::size_t end = s.find('\n', i);
      if (end == std::string::npos) end = n;
      const std::string_view line(s.data() + i, end - i);
      if (!line.empty() && line[0] == '#') {
        if (is_marker(line)) {
          system = marks_system(line);
        } else if (!system && line.compare(0, 7, "#pragma") == 0) {
          pragmas_.push_back({i, end});
        }
        i = end;
        continue;
      }
      if (system) {
        i = end;
        continue;
      }
    }
    const char c = s[i];
    if (c == '\n') {
      line_start = true;
      ++i;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
    } else if (starts_word(c)) {
      std::size_t end = i;
      while (end < n && in_word(s[end])) ++end;
      if (end < n && s[end] == '"' && s[end - 1] == 'R') {  // a raw string
        const std::size_t open = s.find('(', end);
        const std::string close = ")" + s.substr(end + 1, open - end - 1) + "\"";
        add(s.find(close, open) + close.size(), Token::literal);
      } else {
        add(end, Token::word);
      }
    } else if (is_digit(c) || (c == '.' && i + 1 < n && is_digit(s[i + 1]))) {
      std::size_t end = i + 1;
      const bool hex = c == '0' && end < n && (s[end] == 'x' || s[end] == 'X');
      while (end < n &&
             (in_word(s[end]) || s[end] == '.' || (s[end] == '\'' && end + 1 < n && in_word(s[end + 1])) ||
              ((s[end] == '+' || s[end] == '-') && std::strchr(hex ? "pP" : "eEpP", s[end - 1])))) {
        ++end;
      }
      add(end, Token::number);
    } else if (c == '"' || c == '\'') {
      std::size_t end = i + 1;
      while (end < n && s[end] != c) end += s[end] == '\\' ? 2 : 1;
      add(end + 1, Token::literal);
    } else {
      std::size_t length = 1;
      for (const char* p : {"<<<", ">>>"}) {
        if (s.compare(i, 3, p) == 0) length = 3;
      }
      for (const char* p : {"::", "->", "<=", ">=", "&&", "||", "==", "!="}) {
        if (length == 1 && s.compare(i, 2, p) == 0) length = 2;
      }
      add(i + length, Token::punctuation);
    }
  }
}

void Tokens::pair_brackets() {
  partner_.assign(tokens_.size(), -1);
  std::vector<int> open;
  for (int i = 0; i < size(); ++i) {
    if ((*this)[i].kind != Token::punctuation) continue;
    const std::string_view t = text(i);
    if (t == "(" || t == "[" || t == "{") {
      open.push_back(i);
    } else if ((t == ")" || t == "]" || t == "}") && !open.empty()) {
      partner_[static_cast<std::size_t>(i)] = open.back();
      partner_[static_cast<std::size_t>(open.back())] = i;
      open.pop_back();
    }
  }
}

int Tokens::close_angle(int open) const {
  int depth = 0;
  for (int i = open; i < size(); ++i) {
    if (is(i, "<")) ++depth;
    if (is(i, ">")) --depth;
    if (is(i, ">>>")) depth -= 3;
    if (depth <= 0) return i;
    if ((is(i, "(") || is(i, "[") || is(i, "{")) && partner(i) > i) i = partner(i);
    if (is(i, ";")) return -1;
  }
  return -1;
}

int Tokens::open_angle(int close) const {
  int depth = 0;
  for (int i = close; i >= 0; --i) {
    if (is(i, ">")) ++depth;
    if (is(i, ">>>")) depth += 3;
    if (is(i, "<") && --depth == 0) return i;
    if ((is(i, ")") || is(i, "]") || is(i, "}")) && partner(i) >= 0) i = partner(i);
    if (is(i, ";")) return -1;
  }
  return -1;
}

std::string Tokens::place(int i) const {
  const std::size_t at = (*this)[i].begin;
  std::size_t marker = at;
  long lines = 0;
  while (marker > 0) {
    const std::size_t start = text_.rfind('\n', marker - 1);
    const std::size_t begin = start == std::string::npos ? 0 : start + 1;
    const std::string_view line(text_.data() + begin, marker - begin);
    if (is_marker(line)) {
      const auto open = line.find('"'), close = line.rfind('"');
      return std::string(line.substr(open + 1, close - open - 1)) + ":" +
             std::to_string(std::atol(line.data() + 2) + lines - 1);
    }
    if (begin == 0) break;
    marker = begin - 1;
    ++lines;
  }
  return "?";
}

}  // namespace simtcc
