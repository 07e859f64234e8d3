// SPDX-License-Identifier: MIT
#include "host_loop.h"

#include <algorithm>
#include <unordered_set>

namespace simtcc {

bool HostLoop::read() {
  if (has_structured_binding() || never_ends() || has_cases_of_others()) return false;
  for (int i = first; i <= last; ++i)
    if (!read_token(i)) return false;
  for (const auto& [text, depth] : indexed) {
    const std::string root = text.substr(0, text.find('.'));
    if (inside.count(root) || changed.count(root) || changed.count(text)) return false;
  }
  return std::none_of(roots.begin(), roots.end(),
                      [&](const std::string& root) { return changed.count(root); });
}

// Their names may not be captured.
bool HostLoop::has_structured_binding() const {
  for (int i = body_.open; i < last; ++i) {
    if (!t_.is(i, "auto")) continue;
    const int next = t_.is(i + 1, "&") || t_.is(i + 1, "&&") ? i + 2 : i + 1;
    if (t_.is(next, "[")) return true;
  }
  return false;
}

// What follows such a loop may need no return of its own.
bool HostLoop::never_ends() const {
  const int open = first + 1, close = t_.partner(open);
  if (t_.is(first, "while")) return close == open + 2;
  for (int i = open + 1; i < close; i = t_.skip(i) + 1)
    if (t_.is(i, ";")) return t_.is(i + 1, ";");
  return false;
}

bool HostLoop::has_cases_of_others() const {
  bool cases = false;
  for (int i = first; i <= last; ++i) {
    if (t_.is(i, "switch")) return false;
    cases = cases || t_.is(i, "case") || (t_.is(i, "default") && t_.is(i + 1, ":"));
  }
  return cases;
}

// ---- what the loop says ----

bool HostLoop::read_token(int i) {
  const std::string_view w = t_.text(i);
  if (t_.is_literal(i) || t_[i].kind == Token::number) return true;
  if (!t_.is_word(i)) return read_punctuation(i);
  if (is_refused(w)) return false;
  if (t_.is(i - 1, ".")) return read_member(i);
  if (w == "return") return read_return(i);
  if (w == "auto" && t_.is(i + 1, "[")) return false;
  if (t_.is(i + 1, "::")) return w == "std" && read_std(i + 2);
  if (t_.is(i - 1, "::")) return true;  // read_std() has
  if (w == "static_cast") return is_cast_to_number(i + 1);
  if (t_.is(i + 1, "("))
    return takes_parenthesis(w) ||
           (declares(i) ? is_number_type(t_.text(i - 1)) && read_declaration(i) : functions_.is(w));
  if (is_keyword(w)) return true;
  if (t_.is_word(i + 1)) return !is_keyword(t_.text(i + 1)) || t_.is(i + 1, "const");  // a type
  if (t_.is(i - 1, "(") && t_.is(i + 1, ")") && begins_operand(i + 2) && !takes_parenthesis(t_.text(i - 2)))
    return false;  // a cast
  if (declares(i) || is_further_name(i)) return read_declaration(i);
  if (is_type_of_declaration(i)) return true;
  return read_name(i);
}

// An index of a member: of what is named, not of what is computed or declared by the loop.
bool HostLoop::read_member(int i) {
  if (t_.is(i + 1, "(")) return is_size(i - 2);
  int root = i;
  while (t_.is(root - 1, ".") && t_.is_word(root - 2)) root -= 2;
  return !t_.is(i + 1, "[") || (!t_.is(root - 1, ".") && !inside.count(t_.string(root)));
}

bool HostLoop::read_punctuation(int i) {
  const std::string_view w = t_.text(i);
  if (w == "->" || w == "<<<" || w == "#" || w == "...") return false;
  if (w == "::") return t_.is(i - 1, "std");
  if (w == "[") return t_.is_word(i - 1) || t_.is(i - 1, "]");
  if (w == "{") return !t_.is_word(i - 1) || t_.is(i - 1, "else") || t_.is(i - 1, "do");
  // What follows a pointer or takes an address has no left operand.
  if (w == "*" && !has_left_operand(i)) return false;
  if (w == "&" || w == "&&") {
    if (!has_left_operand(i)) return false;
    if (declares_after(i)) return w == "&" && (is_type_word(i - 1) || t_.is(i - 1, "auto"));
  }
  if (w == "*" && declares_after(i)) return is_type_word(i - 1);
  if ((w == "*" || w == "&") && begins_type_before(i) && !begins_parenthesis(i) && t_.is_word(i + 1))
    return false;                                   // a declaration without a value
  if (w == ")" && t_.is(i - 1, "*")) return false;  // a cast to a pointer
  return true;
}

bool HostLoop::has_left_operand(int i) const {
  const int p = i - 1;
  if (t_.is(p, ")")) {
    const std::string_view w = t_.text(t_.partner(p) - 1);  // `if (c) *p = x;`
    return w != "if" && w != "constexpr" && w != "for" && w != "while" && w != "switch";
  }
  return (t_.is_word(p) && !t_.is(p, "return") && !t_.is(p, "case") && !t_.is(p, "else") &&
          !t_.is(p, "do")) ||
         t_.is(p, "]") || t_[p].kind == Token::number;
}

bool HostLoop::begins_operand(int i) const {
  return t_.is_word(i) || t_[i].kind == Token::number || t_.is(i, "(");
}

bool HostLoop::is_type_word(int i) const {
  return t_.is_word(i) && (is_number_type(t_.text(i)) || begins_type(i));
}

// `T` or `const T` at the start of a statement or of a for.
bool HostLoop::begins_type(int i) const {
  if (t_.is(i - 1, "const")) --i;
  return t_.is(i - 1, ";") || t_.is(i - 1, "{") || t_.is(i - 1, "}") || t_.is(i - 1, "(") ||
         t_.is(i - 1, ")");
}

// Whether `* x =`, `& x :` follows, which is a declaration where a type stands before.
bool HostLoop::declares_after(int i) const {
  return t_.is_word(i + 1) && !is_keyword(t_.text(i + 1)) && (t_.is(i + 2, "=") || t_.is(i + 2, ":")) &&
         begins_type_before(i);
}

bool HostLoop::begins_type_before(int i) const {
  int k = i - 1;
  while (t_.is_word(k) || t_.is(k, "::")) --k;
  return t_.is(k, ";") || t_.is(k, "{") || t_.is(k, "}") || t_.is(k, "(") || t_.is(k, ")");
}

bool HostLoop::begins_parenthesis(int i) const {
  int k = i - 1;
  while (t_.is_word(k)) --k;
  return t_.is(k, "(");
}

bool HostLoop::is_type_of_declaration(int i) const {
  return (t_.is(i + 1, "*") || t_.is(i + 1, "&")) && declares_after(i + 1);
}

// `int x`, `auto& x`, `const float* x`: a name of the loop's own.
bool HostLoop::declares(int i) const {
  if (!t_.is_word(i) || is_keyword(t_.text(i))) return false;
  if (t_.is(i - 1, "*") || t_.is(i - 1, "&")) return declares_after(i - 1);
  return t_.is_word(i - 1) && !t_.is(i - 1, "return") && !t_.is(i - 1, "else") && !t_.is(i - 1, "case") &&
         !t_.is(i - 1, "do");
}

// `int i = 0, j = n;`: the j.
bool HostLoop::is_further_name(int i) const {
  if (!t_.is(i - 1, ",") ||
      !(t_.is(i + 1, "=") || t_.is(i + 1, ",") || t_.is(i + 1, ";") || t_.is(i + 1, "[")))
    return false;
  int k = i - 2;
  for (; k >= first && !t_.is(k, ";") && !t_.is(k, "{") && !t_.is(k, "(") && !t_.is(k, "}"); --k)
    if (t_.closes(k)) k = t_.partner(k);
  return t_.is(k + 1, "const") || t_.is(k + 1, "auto") ||
         (t_.is_word(k + 1) && is_number_type(t_.text(k + 1))) || (t_.is_word(k + 1) && t_.is_word(k + 2));
}

bool HostLoop::read_declaration(int i) {
  const std::string name = t_.string(i);
  inside.insert(name);
  if (t_.is(i - 1, "*")) {  // from sums of pointers and numbers, it goes where those go
    for (int k = i + 2; !t_.is(k, ";") && !t_.is(k, ","); ++k) {
      if (k >= last || !t_.is(i + 1, "=")) return false;
      const bool sum = t_.is(k, "+") || t_.is(k, "-") || t_.is(k, "*") || t_.is(k, "(") || t_.is(k, ")") ||
                       t_.is(k, "/") || t_[k].kind == Token::number;
      if (t_.is_word(k) && !is_keyword(t_.text(k)) && !t_.is(k + 1, "(")) {
        const std::string root = t_.string(k);
        if (!pointers_.count(root) && !numbers_.count(root) && (inside.count(root) || !is_local(root)))
          return false;
        if (!inside.count(root)) roots.insert(root);
      } else if (!sum) {
        return false;
      }
    }
    pointers_.insert(name);
  } else if (t_.is(i + 1, "[")) {
    if (!is_number_type(t_.text(i - 1)) && !t_.is(i - 1, ",")) return false;
    arrays_.insert(name);
  } else if (is_number_type(t_.text(i - 1))) {
    numbers_.insert(name);
  }
  return true;
}

// In range-for a name's elements are what the loop uses.
bool HostLoop::is_range(int i) const {
  return t_.is(i - 1, ":") && t_.is(i + 1, ")") && t_.is(t_.partner(i + 1) - 1, "for");
}

bool HostLoop::read_name(int i) {
  const std::string name = t_.string(i);
  if (inside.count(name)) {
    if (t_.is(i + 1, "[")) return arrays_.count(name) || (pointers_.count(name) && depth_of(i) == 1);
    return !pointers_.count(name) || !is_changed_to(i);
  }
  if (is_range(i)) {
    if (!is_local(name)) return false;
    indexed[name] = std::max(indexed[name], 1);
    ranges.insert(name);
    return true;
  }
  int end = i;  // of `a.b.c`
  while (t_.is(end + 1, ".") && t_.is_word(end + 2)) end += 2;
  if (t_.is(end + 1, "[")) {
    if ((end != i && !is_local(name)) || has_variable_extent(name)) return false;
    const std::string text = t_.text_of(i, end);
    if (text.find('\n') != std::string::npos) return false;
    indexed[text] = std::max(indexed[text], depth_of(end));
    return true;
  }
  if (is_size(i)) {
    indexed[name] = std::max(indexed[name], 1);
    sized.insert(name);
    return is_local(name);
  }
  if (end != i) {
    if (t_.is(end + 1, "(")) return false;
    members.insert(t_.text_of(i, end));
    if (is_changed(end) || is_changed(i)) changed.insert(t_.text_of(i, end));
    return t_.text_of(i, end).find('\n') == std::string::npos;
  }
  if (has_template_arguments(i)) return false;
  if (is_changed(i)) changed.insert(name);
  if (!is_local(name)) return !is_reference(name);
  if (is_another_name(name)) {
    members.insert(name);
  } else if (!is_constant(name)) {
    locals.insert(name);
  }
  return true;
}

// Something else may name the same variable, or be named by it: a copy would not see what is stored there.
bool HostLoop::is_another_name(const std::string& name) const {
  if (any_declaration(name, [&](int k) { return t_.is(k - 1, "&") || t_.is(k - 1, "&&"); })) return true;
  for (int k = body_.open; k < first; ++k)
    if (t_.is(k, name) && t_.is(k - 1, "&") && (t_.is(k - 2, "=") || t_.is(k - 2, "{"))) return true;
  return any_reference_to(name);
}

bool HostLoop::any_reference_to(const std::string& name) const {  // T& x = name;
  for (int k = body_.open; k < first; ++k)
    if (t_.is(k, name) && t_.is(k - 1, "=") && (t_.is(k - 3, "&") || t_.is(k - 3, "&&"))) return true;
  return false;
}

// float x[n]: no template takes one.
bool HostLoop::has_variable_extent(const std::string& name) {
  return any_declaration(name, [&](int k) {
    if (!t_.is(k + 1, "[") || !t_.is_word(k - 1)) return false;
    for (int i = k + 2; i < t_.partner(k + 1); ++i)
      if (t_.is_word(i) && is_local(t_.string(i)) && !is_constant(t_.string(i))) return true;
    return false;
  });
}

// `const int n = 8;` and the like may stand where the language wants a constant.
bool HostLoop::is_constant(const std::string& name) {
  return any_declaration(name, [&](int k) {
    int word = k - 1;
    bool integer = true, constant = false;
    for (; t_.is_word(word) || t_.is(word, "::"); --word) {
      integer = integer && !t_.is(word, "float") && !t_.is(word, "double");
      constant = constant || t_.is(word, "const") || t_.is(word, "constexpr");
    }
    if (!integer || !constant || !t_.is(k + 1, "=")) return false;
    for (int i = k + 2; !t_.is(i, ";") && !t_.is(i, ","); ++i) {
      const bool call = t_.is(i, "(") && t_.is_word(i - 1);
      if (i >= first || call || t_.is(i, ".") || t_.is(i, "->") || t_.is(i, "[")) return false;
      if (t_.is_word(i) && is_local(t_.string(i)) && !is_constant(t_.string(i))) return false;
    }
    return true;
  });
}

bool HostLoop::has_template_arguments(int i) const {
  const int close = t_.is(i + 1, "<") ? t_.close_angle(i + 1) : -1;
  if (close < 0) return false;
  for (int k = i + 2; k < close; ++k)
    if (t_.is(k, "&&") || t_.is(k, "||") || t_.is(k, "?")) return false;
  return t_.is_word(close + 1) || t_.is(close + 1, "(") || t_.is(close + 1, "{") || t_.is(close + 1, "::");
}

// How many [] follow.
int HostLoop::depth_of(int i) const {
  int depth = 0;
  for (int k = i + 1; t_.is(k, "["); k = t_.partner(k) + 1) ++depth;
  return depth;
}

bool HostLoop::is_size(int i) const {
  return t_.is_word(i) && t_.is(i + 1, ".") && t_.is(i + 2, "size") && t_.is(i + 3, "(") &&
         t_.is(i + 4, ")") && !t_.is(i - 1, ".");
}

bool HostLoop::is_changed(int i) const {
  return t_.is(i - 1, "++") || t_.is(i - 1, "--") || t_.is(i + 1, "++") || t_.is(i + 1, "--") ||
         is_changed_to(i);
}

bool HostLoop::is_changed_to(int i) const {
  const std::string_view w = t_.text(i + 1);
  const bool shift = (w == "<<" && t_.is(i + 2, "=")) ||
                     (w == ">" && (t_.is(i + 2, ">=") || (t_.is(i + 2, ">") && t_.is(i + 3, "="))));
  return w == "=" || shift ||
         (w.size() == 2 && w[1] == '=' && w != "==" && w != "!=" && w != "<=" && w != ">=");
}

bool HostLoop::read_std(int i) {
  if (!t_.is_word(i)) return false;
  if (t_.is(i + 1, "(")) return functions_.is(t_.text(i)) || is_number_type(t_.text(i));
  return is_number_type(t_.text(i));
}

bool HostLoop::is_cast_to_number(int open) const {
  const int close = t_.close_angle(open);
  if (close < 0 || !t_.is(close + 1, "(")) return false;
  for (int k = open + 1; k < close; ++k)
    if (!is_number_type(t_.text(k)) && !t_.is(k, "std") && !t_.is(k, "::") && !t_.is(k, "const"))
      return false;
  return true;
}

// The value of a return that the loop ends with: constants, so that it may stand behind the loop.
bool HostLoop::read_return(int i) {
  int end = i + 1;
  for (; !t_.is(end, ";"); ++end) {
    const bool constant = t_.is(end, "true") || t_.is(end, "false") || t_.is(end, "nullptr") ||
                          t_.is(end, "-") || t_.is(end, "(") || t_.is(end, ")") ||
                          t_[end].kind == Token::number;
    if (!constant || end >= last) return false;
  }
  returns[i] = end;
  return true;
}

// ---- names of the function around it ----

// Whether the function declares it before the loop, as a variable or a parameter.
bool HostLoop::is_local(const std::string& name) {
  const auto known = locality_.find(name);
  if (known != locality_.end()) return known->second;
  return locality_[name] = any_declaration(name, [](int) { return true; });
}

bool HostLoop::is_declared_at(int k) const {
  static const std::unordered_set<std::string_view> none{"return", "else",  "new",    "delete",  "goto",
                                                         "case",   "throw", "sizeof", "operator"};
  const int p = k - 1;
  const bool before = (t_.is_word(p) && !none.count(t_.text(p))) || t_.is(p, ">") || t_.is(p, "*") ||
                      t_.is(p, "&") || t_.is(p, "&&") || t_.is(p, ",");
  if (!before) return false;
  for (const char* next : {"=", ";", ",", ")", "{", "[", ":", "("})
    if (t_.is(k + 1, next)) return true;
  return false;
}

// A variable elsewhere that may be another name of anything.
bool HostLoop::is_reference(const std::string& name) const {
  for (int k = 1; k < t_.size(); ++k)
    if (t_.is(k, name) && (t_.is(k - 1, "&") || t_.is(k - 1, "&&")) &&
        (t_.is(k + 1, "=") || t_.is(k + 1, ";")))
      return true;
  return false;
}

}  // namespace simtcc
