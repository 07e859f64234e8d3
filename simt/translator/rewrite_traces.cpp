// SPDX-License-Identifier: MIT
//
// Marks for the tracer (runtime/trace*.cpp), which must know when lanes of a warp do the same thing:
//
//   for (...) body     { ::simt::TraceLoop simt_loop1(1); for (...) { simt_loop1.next(); body } }
//   if (c)             if (::simt::trace_branch(static_cast<bool>(c)))     and so while, do, for
//   c ? a : b          ::simt::trace_choice(static_cast<bool>(c)) ? a : b
//
// The loop's mark ends with its scope, however it is left. What the compiler may do to the code stays the
// same.
#include <set>
#include <string>

#include "rewrite.h"

namespace simtcc {
namespace {

constexpr int kInner = -1;  // of texts that end at one byte, the inner ones come first

class Traces {
 public:
  explicit Traces(const Unit& unit) : u_(unit), t_(unit.t) {}

  void run() {
    for (int i = 0; i < t_.size(); ++i) {
      if (!marked(i)) continue;
      const std::string_view w = t_.text(i);
      if (w == "for" && t_.is(i + 1, "(")) {
        mark_for(i);
      } else if (w == "while" && t_.is(i + 1, "(")) {
        mark_condition(i + 2, t_.partner(i + 1));
        if (!ends_of_do_.count(i)) mark_loop(i, t_.partner(i + 1) + 1);
      } else if (w == "do") {
        ends_of_do_.insert(last_of_statement(t_, i + 1) + 1);
        mark_loop(i, i + 1);
      } else if (w == "if" && t_.is(i + 1, "(")) {
        mark_if(i);
      } else if (w == "?") {
        mark_choice(i);
      }
    }
  }

 private:
  // Device code; what is constant takes no branch.
  bool marked(int i) const {
    const Body* body = u_.scopes.body_around(i);
    return body && body->device && !body->is_constexpr;
  }

  void mark_for(int i) {
    const int close = t_.partner(i + 1);
    int parts[2], count = 0;
    for (int k = i + 2; k < close; k = t_.skip(k) + 1) {
      if (t_.is(k, ";") && count < 2) parts[count++] = k;
    }
    if (count == 2) mark_condition(parts[0] + 1, parts[1]);  // else over a range
    mark_loop(i, close + 1);
  }

  void mark_if(int i) {
    const int close = t_.partner(i + 1);
    int first = i + 2;
    for (int k = first; k < close; k = t_.skip(k) + 1) {
      if (t_.is(k, ";")) first = k + 1;
    }
    mark_condition(first, close);
  }

  // The tokens from `first` up to but not including `end`.
  void mark_condition(int first, int end, const std::string& marker = "trace_branch") {
    if (first >= end || declares(first, end)) return;
    u_.edits.before(first, "::simt::" + marker + "(static_cast<bool>(");
    u_.edits.before(end, "))", kInner);
  }

  // if (T* p = f())
  bool declares(int first, int end) const {
    for (int k = first + 2; k < end; k = t_.skip(k) + 1) {
      if (!t_.is(k, "=") || !t_.is_word(k - 1)) continue;
      const int before = t_.is(k - 2, "*") || t_.is(k - 2, "&") || t_.is(k - 2, "&&") ? k - 3 : k - 2;
      if (before >= first && (t_.is_word(before) || t_.is(before, ">"))) return true;
    }
    return false;
  }

  // `first` is the loop's first token, `body` that of the statement it repeats.
  void mark_loop(int first, int body) {
    const int last = last_of_statement(t_, first), last_of_body = last_of_statement(t_, body);
    if (entered_from_outside(body, last_of_body)) return;
    const std::string id = std::to_string(++count_);
    u_.edits.before(first, "{ ::simt::TraceLoop simt_loop" + id + "(" + id + "); ");
    u_.edits.before(body, "{ simt_loop" + id + ".next(); ");
    u_.edits.after(last_of_body, " }", kInner);
    u_.edits.after(last, " }", kInner);
  }

  // By a case of a switch around the loop, or by goto: neither may pass a declaration.
  bool entered_from_outside(int first, int last) const {
    for (int k = first; k <= last; ++k) {
      if (t_.is(k, "switch") && t_.is(k + 1, "(")) {
        k = last_of_statement(t_, k);
      } else if (t_.is(k, "case") || (t_.is(k, "default") && t_.is(k + 1, ":"))) {
        return true;
      }
    }
    const Body* body = u_.scopes.body_around(first);
    for (int k = body->open; k < body->close; ++k) {
      if (!t_.is(k, "goto") || (k >= first && k <= last)) continue;
      for (int label = first; label < last; ++label) {
        if (t_.is(label, t_.text(k + 1)) && t_.is(label + 1, ":")) return true;
      }
    }
    return false;
  }

  // c ? a : b; everything that binds weaker than ?: begins the condition.
  void mark_choice(int question) {
    int first = question;
    for (int k = question - 1; k >= 0 && !begins_choice(k, question); --k) {
      if (t_.closes(k)) k = t_.partner(k);
      if (t_.is(k, ">") && t_.open_angle(k) >= 0) k = t_.open_angle(k);
      first = k;
    }
    if (first < question) mark_condition(first, question, "trace_choice");
  }
  bool begins_choice(int k, int question) const {
    static const std::set<std::string_view> stops{
        ";",         "{",        "(",  "[",  ",",  "=",  "?",  ":",  "return", "case", "else", "do", "throw",
        "co_return", "co_yield", "+=", "-=", "*=", "/=", "%=", "&=", "|=",     "^=",   "<<=",  ">>="};
    if (stops.count(t_.text(k))) return true;
    if (t_.is(k, "}")) return ends_statement(k);
    if ((t_.is(k, ">=") || t_.is(k, "<=")) && t_.touches_next(k - 1))  // the end of >>= and <<=
      return t_.is(k - 1, t_.text(k).substr(0, 1));
    return t_.is(k, "<") && t_.close_angle(k) > question;
  }

  // Not the } of T{1} in an expression.
  bool ends_statement(int brace) const {
    const int before = t_.partner(brace) - 1;
    return t_.is_word(brace + 1) || t_.is_literal(brace + 1) || t_.is(brace + 1, "(") ||
           !t_.is_word(before) || t_.is(before, "else") || t_.is(before, "do");
  }

  const Unit& u_;
  const Tokens& t_;
  std::set<int> ends_of_do_;  // the `while` of a do-while
  int count_ = 0;
};

}  // namespace

void mark_for_traces(const Unit& u) {
  Traces(u).run();
}

}  // namespace simtcc
