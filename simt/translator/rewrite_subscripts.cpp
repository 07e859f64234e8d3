// SPDX-License-Identifier: MIT
//
// An element of an array that is used through a reference, `return data[i];` of a function that returns a T&,
// or `T& x = data[i];`. To the compiler that takes the element's address, for which the index may be one past
// the last. But such a reference is made to be used: in checked builds the index is compared, unless all is
// inside of `&v[n]`, the address past the end of an object whose operator[] it calls. Likewise `data[i] = x;` and
// `x = data[i];` where the elements are objects of a class: only the compiler knows whether they are.
#include "rewrite.h"

namespace simtcc {
namespace {

// The last [ of `name.name[...]->name[index]`, which starts at token i; -1 where there is something else.
int last_subscript(const Tokens& t, int i) {
  if (t.is(i, "::")) ++i;
  for (int last = -1;; last = -1) {
    if (!t.is_word(i++)) return -1;
    for (; t.is(i, "["); i = t.partner(i) + 1) last = i;
    if (!t.is(i, ".") && !t.is(i, "->") && !t.is(i, "::")) return last;
    ++i;
  }
}

// Whether the & at token i takes an address: it has no left operand.
bool takes_address(const Tokens& t, int i) {
  const int p = i - 1;
  if (t.is_word(p)) return t.is(p, "return");
  return !t.is(p, ")") && !t.is(p, "]") && !t.is(p, "}") && !t.is(p, ">") && !t.is_literal(p) &&
         t[p].kind != Token::number;
}

void allow_past_end(const Unit& u, int i) {
  const int open = last_subscript(u.t, i + 1);
  if (open < 0) return;
  const int close = u.t.partner(open);
  // What follows belongs to the operand, or ends a template's arguments, which are constants.
  for (const char* next : {"(", "++", "--", ">", "{"})
    if (u.t.is(close + 1, next)) return;
  u.edits.before(i, "(::simt::AddressOnly(), ");
  u.edits.after(close, ")");
}

// Whether a function's result is a reference: `T& f(...)`, `auto f(...) -> T&`.
bool returns_reference(const Unit& u, const Body& body) {
  const Tokens& t = u.t;
  if (body.parameters < 0) return false;
  for (int i = t.partner(body.parameters) + 1; i < body.open; ++i)
    if (t.is(i, "->")) return t.is(body.open - 1, "&");
  if (body.declaration < 0) return false;
  const int name = u.scopes.declarations[static_cast<std::size_t>(body.declaration)].name;
  int before = name - 1;  // of X<T>::name: the X
  while (t.is(before, "::")) {
    --before;
    if (t.is(before, ">")) before = t.open_angle(before) - 1;
    if (!t.is_word(before)) return false;
    --before;
  }
  return name >= 0 && t.is(before, "&");
}

void compare_index(const Unit& u, int first, int open, const std::string& comparison) {
  const Tokens& t = u.t;
  const int close = t.partner(open);
  if (close == open + 1 || t.is(open + 1, "{") || u.t.split(open, close).size() != 1) return;
  for (int i = open + 1; i < close; ++i)
    if (t.is(i, "...")) return;
  const std::string array = t.text_of(first, open - 1);
  if (array.find('\n') != std::string::npos) return;
  u.edits.after(open, "::simt::" + comparison + "<decltype((" + array + "))>(");
  u.edits.before(close, ")");
}

bool begins_statement(const Tokens& t, int i) {
  for (const char* before : {";", "{", "}", ")", "else", "do"})
    if (t.is(i - 1, before)) return true;
  return false;
}

}  // namespace

void compare_subscripts(const Unit& u) {
  const Tokens& t = u.t;
  for (int i = 0; i < t.size(); ++i) {
    const Body* around = t.is(i, "&") ? u.scopes.body_around(i) : nullptr;
    if (around && around->device && !around->is_constexpr && takes_address(t, i)) allow_past_end(u, i);
    const Body* body = u.scopes.body_around(i);
    if (!body || !body->device) continue;
    if (t.is(i, "return") || t.is(i, "=")) {
      const bool result = t.is(i, "return"), declares = t.is_word(i - 1) && t.is(i - 2, "&");
      if (result && !returns_reference(u, *body)) continue;
      const int open = last_subscript(t, i + 1);
      if (open >= 0 && t.is(t.partner(open) + 1, ";"))
        compare_index(u, i + 1, open, result || declares ? "element_index" : "object_index");
    } else if (begins_statement(t, i) && !t.is(i, "auto")) {  // auto [x] = y;
      const int open = last_subscript(t, i);
      if (open >= 0 && t.is(t.partner(open) + 1, "=")) compare_index(u, i, open, "object_index");
    }
  }
}

}  // namespace simtcc
