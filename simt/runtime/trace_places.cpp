// SPDX-License-Identifier: MIT
//
// From an instruction's address to the expression in the source that it stands for.
#include <cctype>
#include <cstring>

#include "debug_columns.h"
#include "failures.h"
#include "trace.h"

namespace simt {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// The bracket that belongs to the one at `at`, looking backwards; npos where it is on another line.
std::size_t opening(const std::string& s, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at + 1; i-- > 0;) {
    if (s[i] == ')' || s[i] == ']' || s[i] == '}') ++depth;
    if ((s[i] == '(' || s[i] == '[' || s[i] == '{') && --depth == 0) return i;
  }
  return std::string::npos;
}
std::size_t closing(const std::string& s, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < s.size(); ++i) {
    if (s[i] == '(' || s[i] == '[' || s[i] == '{') ++depth;
    if ((s[i] == ')' || s[i] == ']' || s[i] == '}') && --depth == 0) return i;
  }
  return std::string::npos;
}

// Of the postfix expression that ends before `end`: a.b->c(x)[i].
std::size_t start_of_postfix(const std::string& s, std::size_t end) {
  std::size_t i = end;
  while (i > 0) {
    const char c = s[i - 1];
    if (is_word(c)) {
      while (i > 0 && is_word(s[i - 1])) --i;
    } else if (c == ']' || c == ')') {
      const std::size_t open = opening(s, i - 1);
      if (open == std::string::npos) return end;
      i = open;
      if (c == ')' && (i == 0 || !(is_word(s[i - 1]) || s[i - 1] == '>'))) return i;  // (e)[i]
      if (i > 0 && s[i - 1] == '>') {  // reinterpret_cast<T>(e)
        int depth = 0;
        while (i > 0) {
          --i;
          if (s[i] == '>') ++depth;
          if (s[i] == '<' && --depth == 0) break;
        }
      }
      continue;  // what is subscripted or called stands before
    } else {
      break;
    }
    if (i > 0 && s[i - 1] == '.') {
      --i;
    } else if (i > 1 && s[i - 1] == '>' && s[i - 2] == '-') {
      i -= 2;
    } else if (i > 1 && s[i - 1] == ':' && s[i - 2] == ':') {
      i -= 2;
    } else {
      break;
    }
  }
  return i;
}

// Of the prefix or postfix expression that starts at `begin`.
std::size_t end_of_unary(const std::string& s, std::size_t begin) {
  std::size_t i = begin;
  while (i < s.size() && (s[i] == '*' || s[i] == '&' || s[i] == ' ')) ++i;
  while (i < s.size()) {
    if (is_word(s[i]) || s[i] == '.') {
      ++i;
    } else if (s[i] == '(' || s[i] == '[') {
      const std::size_t close = closing(s, i);
      if (close == std::string::npos) return std::string::npos;
      i = close + 1;
    } else if (s.compare(i, 2, "->") == 0 || s.compare(i, 2, "::") == 0) {
      i += 2;
    } else if (s[i] == '<' && i > 4 && s.compare(i - 5, 5, "_cast") == 0) {
      while (i < s.size() && s[i] != '>') ++i;
      ++i;
    } else {
      break;
    }
  }
  return i;
}

std::string trimmed(const std::string& s) {
  const std::size_t first = s.find_first_not_of(" \t\r"), last = s.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : s.substr(first, last - first + 1);
}

// The initialiser of the variable named at `at`; "" where that is no declaration.
std::string initialiser(const std::string& s, std::size_t at) {
  std::size_t i = at;
  while (i < s.size() && is_word(s[i])) ++i;
  if (s.compare(i, 3, " = ") != 0) return "";
  std::size_t end = i += 3;
  while (end < s.size() && s[end] != ';' && s[end] != ',') {
    if (s[end] == '(' || s[end] == '[' || s[end] == '{') end = closing(s, end);
    if (end == std::string::npos) return "";
    ++end;
  }
  return trimmed(s.substr(i, end - i));
}

// What stands at a column, as g++ counts it: of p[i] it names the ], of an array's a[i] the [, of *p the *,
// of a store the =, of p.x the dot, of T v = a[i] the v; clang names the start of what is loaded. "" where
// that is none of these.
std::string expression_at(const std::string& s, int column) {
  if (column < 1 || static_cast<std::size_t>(column) > s.size()) return "";
  const std::size_t at = static_cast<std::size_t>(column) - 1;
  std::size_t begin = std::string::npos, end = std::string::npos;
  const bool assigns = s[at] == '=' ||
                       (at + 1 < s.size() && s[at + 1] == '=' && std::strchr("+-*/%&|^", s[at])) ||
                       s.compare(at, 3, "<<=") == 0 || s.compare(at, 3, ">>=") == 0;
  if (s[at] == ']' || s[at] == '[') {
    end = s[at] == '[' ? closing(s, at) + 1 : at + 1;
    begin = start_of_postfix(s, s[at] == '[' ? at : end);
    while (end > 0 && end < s.size() && s[end] == '[') end = closing(s, end) + 1;
    if (end == 0) return "";
  } else if (assigns || s.compare(at, 2, "++") == 0 || s.compare(at, 2, "--") == 0) {
    end = s.find_last_not_of(' ', at - (at > 0)) + 1;
    begin = start_of_postfix(s, end);
    while (begin > 0 && begin < end && s[begin - 1] == '*' && (begin < 2 || !is_word(s[begin - 2]))) --begin;
    if (begin == end) {  // ++a[i]
      begin = at + 2;
      end = end_of_unary(s, begin);
    }
  } else if (s[at] == '*') {
    begin = at, end = end_of_unary(s, at);
  } else if (s[at] == '.' || s.compare(at, 2, "->") == 0) {
    begin = start_of_postfix(s, at);
    end = at + (s[at] == '.' ? 1 : 2);
    while (end < s.size() && is_word(s[end])) ++end;
  } else if (is_word(s[at])) {
    if (const std::string value = initialiser(s, at); !value.empty()) return value;
    begin = at, end = end_of_unary(s, at);
    if (s.substr(begin, end - begin).find_first_of("[(.>") == std::string::npos) return "";
  }
  if (begin == std::string::npos || end == std::string::npos || end <= begin) return "";
  return trimmed(s.substr(begin, end - begin));
}

bool is_store(Operation operation) {
  return operation == Operation::global_store || operation == Operation::shared_store;
}

// What a line assigns or assigns to, where an inlined function does it (a vector type's assignment, __ldg).
std::string side_of_assignment(const std::string& s, bool left) {
  std::size_t depth = 0;
  for (std::size_t i = 1; i + 2 < s.size(); ++i) {
    if (s[i] == '(' || s[i] == '[' || s[i] == '{') ++depth;
    if ((s[i] == ')' || s[i] == ']' || s[i] == '}') && depth > 0) --depth;
    if (depth == 0 && s.compare(i, 3, " = ") == 0) {
      const std::size_t end = s.find(';', i);
      return left ? expression_at(s, static_cast<int>(i) + 2) : trimmed(s.substr(i + 3, end - i - 3));
    }
  }
  return "";
}

// Of a call's arguments the one that is read: g++ names the call's parenthesis for an argument that is no more than an element, as in
// `atomicAdd(&h[i], s[i])`. Where several could be meant, the call.
std::string argument_read(const std::string& s, std::size_t open) {
  const std::size_t close = closing(s, open);
  if (close == std::string::npos) return "";
  std::string found;
  int candidates = 0;
  for (std::size_t begin = open + 1; begin < close;) {
    std::size_t end = begin;
    while (end < close && s[end] != ',') {
      if (s[end] == '(' || s[end] == '[' || s[end] == '{') end = closing(s, end);
      if (end == std::string::npos) return "";
      ++end;
    }
    const std::string argument = trimmed(s.substr(begin, end - begin));
    begin = end + 1;
    const bool reads = !argument.empty() && argument[0] != '&' &&
                       end_of_unary(argument, 0) == argument.size() &&
                       (argument.find_first_of("[.>") != std::string::npos || argument[0] == '*');
    if (!reads) continue;
    found = argument;
    ++candidates;
  }
  if (candidates < 2) return found;
  const std::size_t start = start_of_postfix(s, open);
  return trimmed(s.substr(start, close + 1 - start));
}

// Macros move columns: then the nearest place that could be meant.
std::string expression_near(const std::string& s, int column, Operation operation) {
  if (std::string exact = expression_at(s, column); !exact.empty()) return exact;
  const int length = static_cast<int>(s.size());
  if (column >= 1 && column <= length && s[static_cast<std::size_t>(column) - 1] == '(' &&
      !is_store(operation)) {
    if (std::string argument = argument_read(s, static_cast<std::size_t>(column) - 1); !argument.empty())
      return argument;
  }
  for (int distance = 1; distance < length; ++distance) {
    for (const int near : {column - distance, column + distance}) {
      if (near < 1 || near > length) continue;
      const char c = s[static_cast<std::size_t>(near) - 1];
      if (is_store(operation) ? c == '=' : c == ']') return expression_at(s, near);
    }
  }
  return "";
}

// What a helper in a header stores to, where the line that calls it assigns the helper's result: that line's left side is
// another variable, often none in memory at all. "" where no helper of the user's stores there.
std::string store_of_helper(const std::vector<Line>& lines, std::size_t caller, int column) {
  std::size_t helper = 0;
  while (helper < caller && !lines[helper].user) ++helper;
  if (helper == caller) return "";
  const std::string source = source_line(lines[helper].file, lines[helper].line);
  const std::string text = helper == 0 && column > 0
                               ? expression_near(source, column, Operation::shared_store)
                               : side_of_assignment(source, true);
  const std::string file = lines[helper].file.substr(lines[helper].file.rfind('/') + 1);
  return text.empty() ? "" : text + " (" + file + ":" + std::to_string(lines[helper].line) + ")";
}

std::string without_comment(const std::string& text) {
  return trimmed(text.substr(0, text.find("//")));
}

}  // namespace

std::map<Place, SourcePlace> source_places(const std::vector<Place>& places) {
  std::vector<const void*> addresses;
  for (const Place& place : places) addresses.push_back(place.address);
  const std::map<const void*, SourceColumn> columns = columns_of(addresses);
  std::map<Place, SourcePlace> result;
  for (const auto& [address, operation] : places) {
    SourcePlace& place = result[{address, operation}];
    const std::vector<Line> lines = lines_of(const_cast<void*>(address));
    if (lines.empty()) continue;
    // A helper in a header is shown as the line of the kernel's file that called it. Outside are the
    // runtime's.
    std::size_t outermost = lines.size() - 1, chosen = 0;
    while (outermost > 0 && !lines[outermost].user) --outermost;
    place.kernel_file = lines[outermost].file;
    while (lines[chosen].file != place.kernel_file) ++chosen;
    place.file = shown_path(lines[chosen].file);
    place.line = lines[chosen].line;
    place.kernel_file = shown_path(place.kernel_file);
    const auto column = columns.find(address);
    if (chosen == 0 && column != columns.end() && column->second.line == place.line &&
        operation != Operation::branch)
      place.text = expression_near(source_line(lines[0].file, place.line), column->second.column, operation);
    if (place.text.empty() && operation != Operation::branch)
      place.text = side_of_assignment(source_line(lines[chosen].file, place.line), is_store(operation));
    if (!place.text.empty() && chosen > 0 && is_store(operation)) {
      const int known =
          column != columns.end() && column->second.line == lines[0].line ? column->second.column : 0;
      if (std::string own = store_of_helper(lines, chosen, known); !own.empty()) place.text = own;
    }
    if (place.text.empty()) place.text = without_comment(source_text(lines[chosen].file, place.line));
  }
  return result;
}

}  // namespace simt
