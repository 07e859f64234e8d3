// SPDX-License-Identifier: MIT
#include "scopes.h"

#include <unordered_set>

namespace simtcc {
namespace {

using Words = std::unordered_set<std::string_view>;

bool is_class_key(std::string_view word) {
  return word == "struct" || word == "class" || word == "union";
}

}  // namespace

bool is_attribute(std::string_view word) {
  static const Words words{"__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__",
                           "__attribute__",     "__declspec",       "__align__",      "alignas",
                           "decltype",          "noexcept",         "explicit",       "__decltype"};
  return words.count(word) != 0;
}

bool is_mark(std::string_view word) {
  static const Words words{"__global__", "__device__", "__host__", "__constant__", "__managed__"};
  return words.count(word) != 0;
}

Scopes::Scopes(const Tokens& tokens) : t_(tokens) {
  read_region(0, t_.size(), Declaration::in_namespace, -1);
  owner_.assign(static_cast<std::size_t>(t_.size()), -1);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    for (int i = bodies[b].open; i <= bodies[b].close; ++i)
      owner_[static_cast<std::size_t>(i)] = static_cast<int>(b);
  }
}

const Body* Scopes::body_around(int token) const {
  const int b = owner_[static_cast<std::size_t>(token)];
  return b < 0 ? nullptr : &bodies[static_cast<std::size_t>(b)];
}

void Scopes::read_region(int begin, int end, Declaration::Scope scope, int parent) {
  for (int i = begin; i < end;) {
    const bool access =
        (t_.is(i, "public") || t_.is(i, "private") || t_.is(i, "protected")) && t_.is(i + 1, ":");
    if (t_.is(i, ";")) {
      ++i;
    } else if (access) {
      i += 2;
    } else {
      i = read_declaration(i, end, scope, parent);
    }
  }
}

// Reads the declaration that starts at i; returns the token after it.
int Scopes::read_declaration(int i, int end, Declaration::Scope scope, int parent) {
  Declaration d;
  d.scope = scope;
  for (;;) {
    if (t_.is(i, "[") && t_.is(i + 1, "[")) {
      i = t_.partner(i) + 1;
    } else if (t_.is(i, "template") || (t_.is(i, "extern") && t_.is(i + 1, "template"))) {
      if (t_.is(i, "extern")) ++i;
      if (!t_.is(i + 1, "<")) {
        d.instantiation = true;
        ++i;
        continue;
      }
      d.is_template = true;
      if (t_.is(i + 2, ">")) d.specialisation = true;
      const int close = t_.close_angle(i + 1);
      if (close < 0) t_.fail(i, "cannot read this template's parameters");
      i = close + 1;
      if (t_.is(i, "requires")) i = skip_constraint(i + 1);
    } else {
      break;
    }
  }
  d.begin = i;
  const bool names_space = t_.is(i, "namespace") || (t_.is(i, "inline") && t_.is(i + 1, "namespace"));
  const bool language = t_.is(i, "extern") && t_.is_literal(i + 1) && t_.is(i + 2, "{");
  if (names_space || language) {
    while (i < end && !t_.is(i, "{") && !t_.is(i, ";")) ++i;
    if (!t_.is(i, "{")) return i + 1;
    read_region(i + 1, t_.partner(i), Declaration::in_namespace, parent);
    return t_.partner(i) + 1;
  }
  if (t_.is(i, "using") || t_.is(i, "concept") || t_.is(i, "static_assert")) {
    while (i < end && !t_.is(i, ";")) i = t_.skip(i) + 1;
    return i + 1;
  }
  d.end = read_declarator(i, end, d, parent);
  if (d.body < 0) declarations.push_back(d);  // else read_function_body() has done it
  return d.end + 1;
}

// Reads specifiers, declarator, initialiser and body; returns the last token.
int Scopes::read_declarator(int i, int end, Declaration& d, int parent) {
  bool named = false;      // the name is known
  bool class_key = false;  // `struct` and the like may be followed by a class body
  for (; i < end; ++i) {
    const std::string_view w = t_.text(i);
    if (w == ";") return i;
    if (w == "{") {
      if (d.parameters >= 0) return read_function_body(i, d, parent);
      if (class_key) {
        read_region(i + 1, t_.partner(i), Declaration::in_class, parent);
        class_key = false;
      } else if (!t_.is(d.begin, "enum")) {
        named = true;
        read_code(i + 1, t_.partner(i), parent);
      }
      i = t_.partner(i);
    } else if (w == "(") {
      const bool attribute = is_attribute(t_.text(i - 1));
      if (!attribute && d.parameters < 0 && !named) named = read_parenthesis(i, d) >= 0;
      if (!attribute) read_code(i + 1, t_.partner(i), parent);  // default arguments
      i = t_.partner(i);
    } else if (w == "[") {
      if (!t_.is(i + 1, "[") && d.parameters < 0) named = d.name >= 0;
      i = t_.partner(i);
    } else if (w == "<" && t_.is_word(i - 1)) {
      const int close = t_.close_angle(i);
      if (close > 0) i = close;
    } else if (w == "=") {
      int last = i;
      while (last + 1 < end && !t_.is(last + 1, ";")) last = t_.skip(last + 1);
      read_code(i + 1, last + 1, parent);
      named = true;
      i = last;
    } else if (w == ":" && d.parameters >= 0) {  // a constructor's initialisers
      while (i < end && !t_.is(i, ";")) {
        while (i < end && !t_.is(i, "(") && !t_.is(i, "{")) ++i;
        if (i >= end) break;
        read_code(i + 1, t_.partner(i), parent);
        i = t_.partner(i) + (t_.is(t_.partner(i) + 1, "...") ? 2 : 1);
        if (!t_.is(i, ",")) break;
      }
      --i;
    } else if (w == ",") {
      named = named || d.name >= 0;
    } else if (w == "operator") {
      d.name = i;
      if (t_.is(i + 1, "(")) i = t_.partner(i + 1);
      while (i + 1 < end && !t_.is(i + 1, "(")) ++i;
    } else if (w == "requires" && d.parameters >= 0) {
      i = skip_constraint(i + 1) - 1;
    } else if (t_.is_word(i)) {
      read_word(i, d);
      if (is_class_key(w) && !t_.is(i - 1, "enum")) class_key = class_body(i, end) > 0;
      if (!named && d.parameters < 0 && !is_attribute(w) && !is_mark(w)) {
        d.name = i;
        d.qualified = t_.is(i - 1, "::");
      }
    }
  }
  return end - 1;
}

void Scopes::read_word(int i, Declaration& d) {
  const std::string_view w = t_.text(i);
  if (is_mark(w) && d.first_mark < 0) d.first_mark = i;
  if (w == "__global__") d.global = true;
  if (w == "__device__") d.device = true;
  if (w == "__host__") d.host = true;
  if (w == "__shared__") d.shared = true;
  if (w == "__device__" || w == "__constant__" || w == "__managed__") d.variable_space = true;
  if (w == "static") d.is_static = true;
  if (w == "extern") d.is_extern = true;  // also extern "C"
  if (w == "friend") d.is_friend = true;
  if (w == "inline" || w == "__inline__") d.is_inline = true;
  if (w == "constexpr" || w == "consteval") d.is_constexpr = true;
  if (w == "__launch_bounds__" && t_.is(i + 1, "(")) d.launch_bounds = i + 1;
  if (w == "__cluster_dims__" && t_.is(i + 1, "(")) d.cluster_dims = i + 1;
}

// A ( that is no attribute's: of the parameter list, or around a declarator, `(*name)(int)`. Returns the
// name.
int Scopes::read_parenthesis(int i, Declaration& d) const {
  const bool pointer = t_.is(i + 1, "*") || t_.is(i + 1, "&") || (t_.is(i + 2, "::") && t_.is(i + 3, "*"));
  if (!pointer || t_.is(i - 1, "operator") || (d.name >= 0 && t_.is(d.name, "operator"))) {
    d.parameters = i;
    return d.name;
  }
  d.name = -1;
  for (int k = i + 1; k < t_.partner(i); k = t_.skip(k) + 1) {
    if (t_.is_word(k) && !t_.is(k, "const")) d.name = k;
  }
  return d.name;
}

int Scopes::read_function_body(int brace, Declaration& d, int parent) {
  d.body = brace;
  Body body{brace, t_.partner(brace)};
  body.parent = parent;
  body.declaration = static_cast<int>(declarations.size());
  body.parameters = d.parameters;
  body.device = d.global || d.device;
  body.device_only = body.device && !d.host;
  body.is_constexpr = d.is_constexpr;
  // What is declared inside (members of local classes) comes after; keep this function's place in the list.
  declarations.push_back(d);
  bodies.push_back(body);
  const int index = static_cast<int>(bodies.size()) - 1;
  const std::size_t place = declarations.size() - 1;
  read_code(brace + 1, body.close, index);
  declarations[place].end = body.close;
  return body.close;
}

// From `struct` to the { of its definition; -1 for any other use of the word.
int Scopes::class_body(int i, int end) const {
  bool bases = false;
  for (int k = i + 1; k < end; ++k) {
    if (t_.is(k, "{")) return k;
    if (t_.is(k, ":")) bases = true;
    if (t_.is(k, "<")) {
      const int close = t_.close_angle(k);
      if (close < 0) return -1;
      k = close;
    } else if (t_.is(k, "(") && is_attribute(t_.text(k - 1))) {
      k = t_.partner(k);
    } else if (t_.is(k, "[") && t_.is(k + 1, "[")) {
      k = t_.partner(k);
    } else if (!t_.is_word(k) && !t_.is(k, "::") && !t_.is(k, ":") && !t_.is(k, "...") &&
               !(bases && t_.is(k, ","))) {
      return -1;
    }
  }
  return -1;
}

// Statements and expressions: looks for lambdas and for local classes, whose members are declarations again.
void Scopes::read_code(int begin, int end, int parent) {
  for (int i = begin; i < end; ++i) {
    if (t_.is(i, "[")) {
      const int last = t_.is(i + 1, "[") ? t_.partner(i) : read_lambda(i, parent);
      if (last > 0) i = last;
    } else if (t_.is_word(i) && is_class_key(t_.text(i)) && !t_.is(i - 1, "enum")) {
      const int brace = class_body(i, end);
      if (brace < 0) continue;
      read_region(brace + 1, t_.partner(brace), Declaration::in_class, parent);
      i = t_.partner(brace);
    }
  }
}

// Reads the lambda whose captures start at `introducer`; returns its last token, or -1 if it is none.
int Scopes::read_lambda(int introducer, int parent) {
  static const Words before{"return", "co_return", "co_yield", "case", "else",
                            "do",     "throw",     "and",      "or",   "not"};
  const int p = introducer - 1;
  const bool value_before =
      (t_.is_word(p) && !before.count(t_.text(p))) || t_.is(p, ")") || t_.is(p, "]") || t_.is_literal(p);
  if (value_before) return -1;  // a subscript
  Body body{-1, -1};
  body.introducer = introducer;
  body.parent = parent;
  if (parent >= 0) {
    body.device = bodies[static_cast<std::size_t>(parent)].device;
    body.device_only = bodies[static_cast<std::size_t>(parent)].device_only;
  }
  body.open = lambda_body(introducer, body);
  if (body.open < 0) return -1;
  body.close = t_.partner(body.open);
  read_code(introducer + 1, body.open, parent);  // captures and default arguments
  bodies.push_back(body);
  read_code(body.open + 1, body.close, static_cast<int>(bodies.size()) - 1);
  return body.close;
}

int Scopes::lambda_body(int introducer, Body& body) const {
  bool device = false, host = false;
  int i = t_.partner(introducer) + 1;
  if (t_.is(i, "<")) i = t_.close_angle(i) + 1;
  for (bool returns = false; i > 0 && i < t_.size(); ++i) {
    if (t_.is(i, "{")) {
      if (device) body.device = true;
      if (device && !host) body.device_only = true;
      return i;
    }
    if (t_.is(i, "__device__")) device = true;
    if (t_.is(i, "__host__")) host = true;
    if (t_.is(i, "constexpr")) body.is_constexpr = true;
    if (t_.is(i, "->")) returns = true;
    if (t_.is(i, "requires")) {
      i = skip_constraint(i + 1) - 1;
    } else if (t_.is(i, "(") || (t_.is(i, "[") && t_.is(i + 1, "["))) {
      if (t_.is(i, "(") && body.parameters < 0) body.parameters = i;
      i = t_.partner(i);
    } else if (returns && t_.is(i, "<") && t_.is_word(i - 1)) {
      const int close = t_.close_angle(i);
      if (close < 0) return -1;
      i = close;
    } else if (!t_.is_word(i) &&
               !(returns && (t_.is(i, "->") || t_.is(i, "::") || t_.is(i, "*") || t_.is(i, "&")))) {
      return -1;
    }
  }
  return -1;
}

// Past the constraint after `requires`: primary expressions joined by && and ||.
int Scopes::skip_constraint(int i) const {
  for (;;) {
    if (t_.is(i, "requires")) {
      ++i;
      if (t_.is(i, "(")) i = t_.partner(i) + 1;
      i = t_.partner(i) + 1;
    } else if (t_.is(i, "(")) {
      i = t_.partner(i) + 1;
    } else {
      if (t_.is(i, "::")) ++i;
      while (t_.is_word(i)) {
        ++i;
        if (t_.is(i, "<")) i = t_.close_angle(i) + 1;
        if (!t_.is(i, "::")) break;
        ++i;
      }
    }
    if (!t_.is(i, "&&") && !t_.is(i, "||")) return i;
    ++i;
  }
}

}  // namespace simtcc
