// SPDX-License-Identifier: MIT
#include <set>
#include <string>

#include "rewrite.h"

namespace simtcc {
namespace {

class DeviceCode {
 public:
  explicit DeviceCode(const Unit& unit) : u_(unit), t_(unit.t) {}

  void run() {
    for (int i = 0; i < t_.size(); ++i) {
      const std::string_view w = t_.text(i);
      if (w == "asm" || w == "__asm__" || w == "__asm") {
        if (runs_in_kernels(i)) rewrite_asm(i);
      } else if (w == "while" && t_.is(i + 1, "(") && waits(i)) {
        rewrite_while(i);
      } else if (w == "do" && waits(i)) {
        ends_of_do_.insert(last_of_statement(t_, i + 1) + 1);
      } else if (w == "for" && t_.is(i + 1, "(") && waits(i)) {
        rewrite_for(i);
      } else if (w == "clock" && t_.is(i + 1, "(") && t_.is(i + 2, ")") && runs_in_kernels(i)) {
        rewrite_clock(i);
      } else if (w == "goto" && t_.is(i + 2, ";") && waits(i)) {
        u_.edits.before(i, "{ ::simt::tick(); ");
        u_.edits.after(i + 2, " }");
      }
    }
  }

 private:
  bool runs_in_kernels(int i) const {
    const Body* body = u_.scopes.body_around(i);
    return body && body->device;
  }
  // Threads take turns, so a loop that waits for another thread must let it run. Constant expressions never
  // wait.
  bool waits(int i) const {
    const Body* body = u_.scopes.body_around(i);
    return body && body->device && !body->is_constexpr;
  }

  // The C library's clock() counts microseconds; a kernel's counts the multiprocessor's cycles.
  void rewrite_clock(int i) {
    const bool global = t_.is(i - 1, "::") && !t_.is_word(i - 2);
    if (!t_.is(i - 1, ".") && !t_.is(i - 1, "->") && (global || !t_.is(i - 1, "::")))
      u_.edits.replace(global ? i - 1 : i, i, "::simt::device_clock");
  }

  // `while (c) s` is `for (; c;) s`, whatever c declares.
  void rewrite_while(int i) {
    const int close = t_.partner(i + 1);
    if (ends_of_do_.count(i)) {
      u_.edits.after(i + 1, "::simt::tick() && (");
      u_.edits.before(close, ")");
      return;
    }
    u_.edits.replace(i, "for");
    u_.edits.after(i + 1, "; ");
    u_.edits.before(close, "; ::simt::tick()");
  }

  void rewrite_for(int i) {
    const int close = t_.partner(i + 1);
    int parts[2], count = 0;
    for (int k = i + 2; k < close; k = t_.skip(k) + 1) {
      if (!t_.is(k, ";")) continue;
      if (count == 2) return;
      parts[count++] = k;
    }
    if (count != 2 || is_counted(parts[0], parts[1], close)) return;  // or over a range
    u_.edits.before(close, parts[1] + 1 == close ? " ::simt::tick()" : ", ::simt::tick()");
  }
  // A loop whose condition looks at what its increment changes ends by itself and stays as it is, at full
  // speed.
  bool is_counted(int first, int second, int close) const {
    for (int k = second + 1; k < close; ++k) {
      const bool changed = t_.is(k - 1, "++") || t_.is(k - 1, "--") || t_.is(k + 1, "++") ||
                           t_.is(k + 1, "--") || is_assignment(k + 1);
      if (!t_.is_word(k) || !changed) continue;
      for (int c = first + 1; c < second; ++c) {
        if (t_.is(c, t_.text(k))) return true;
      }
    }
    return false;
  }
  bool is_assignment(int i) const {
    const std::string_view w = t_.text(i);
    const bool shift = (w == "<<" && t_.is(i + 1, "=")) || (w == "<" && t_.is(i + 1, "<=")) ||
                       (w == ">" && t_.is(i + 1, ">="));
    return shift || (w.size() == 2 && w[1] == '=' && w != "==" && w != "!=" && w != "<=" && w != ">=");
  }

  // asm volatile("..." : "=r"(x) : "r"(y) : "memory") becomes ::simt::ptx("...", {{"=r", x}}, {{"r", y}}).
  void rewrite_asm(int i) {
    int open = i + 1;
    while (t_.is(open, "volatile") || t_.is(open, "__volatile__") || t_.is(open, "inline")) ++open;
    if (!t_.is(open, "(")) return;
    const int close = t_.partner(open);
    bool empty = true;  // a barrier to the compiler: means the same here
    for (int k = open + 1; t_.is_literal(k); ++k) empty = empty && t_.text(k) == "\"\"";
    if (empty) return;
    u_.edits.replace(i, open - 1, "::simt::ptx");
    const char* const separators[] = {", {", "}, {", "}"};
    int section = 0;
    for (int k = open + 1; k < close; ++k) {
      if (t_.is(k, ":") || t_.is(k, "::")) {
        std::string text;
        for (std::size_t colons = t_.text(k).size(); colons > 0 && section < 3; --colons)
          text += separators[section++];
        if (section < 3) {
          u_.edits.replace(k, text);
        } else {  // clobbers say nothing to us
          u_.edits.replace(k, close - 1, text);
          break;
        }
      } else if (t_.is_literal(k) && section > 0) {
        u_.edits.before(k, t_.is(k - 1, ")") ? ", {" : "{");  // nvcc does without the comma
        u_.edits.after(k, ", ");
      } else if (t_.is(k, "[") && section > 0 && t_.is_literal(t_.partner(k) + 1)) {
        t_.fail(k, "inline PTX has no named operands");
      } else if (t_.is(k, "(")) {
        k = t_.partner(k);
        u_.edits.after(k, "}");
      }
    }
    std::string rest;
    while (section < 3) rest += separators[section++];
    u_.edits.before(close, rest);
  }

  const Unit& u_;
  const Tokens& t_;
  std::set<int> ends_of_do_;  // the `while` of a do-while
};

}  // namespace

// Past attributes, labels and cases.
static int begin_of_statement(const Tokens& t, int i) {
  for (;;) {
    if (t.is(i, "[") && t.is(i + 1, "[")) {
      i = t.partner(i) + 1;  // [[likely]]
    } else if (t.is(i, "case")) {
      int choices = 0;
      for (++i; i < t.size() && !(t.is(i, ":") && choices == 0); i = t.skip(i) + 1)
        choices += t.is(i, "?") ? 1 : t.is(i, ":") ? -1 : 0;
      ++i;
    } else if (t.is_word(i) && t.is(i + 1, ":")) {
      i += 2;
    } else {
      return i;
    }
  }
}

int last_of_statement(const Tokens& t, int i) {
  i = begin_of_statement(t, i);
  if (t.is(i, "{")) return t.partner(i);
  if (t.is(i, "try")) {
    int last = t.partner(i + 1);
    while (t.is(last + 1, "catch")) last = t.partner(t.partner(last + 2) + 1);
    return last;
  }
  if (t.is(i, "if") || t.is(i, "for") || t.is(i, "while") || t.is(i, "switch")) {
    int open = i + 1;  // if constexpr (, if consteval {
    while (open < t.size() && !t.is(open, "(") && !t.is(open, "{")) ++open;
    const int last = last_of_statement(t, t.is(open, "{") ? open : t.partner(open) + 1);
    return t.is(i, "if") && t.is(last + 1, "else") ? last_of_statement(t, last + 2) : last;
  }
  if (t.is(i, "do")) i = last_of_statement(t, i + 1) + 1;
  while (i < t.size() && !t.is(i, ";")) i = t.skip(i) + 1;
  return i;
}

void rewrite_device_code(const Unit& u) {
  DeviceCode(u).run();
}

}  // namespace simtcc
