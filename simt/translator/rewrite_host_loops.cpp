// SPDX-License-Identifier: MIT
//
// Loops of host code in checked builds. There the compiler calls the checker before each access, and a loop
// over host memory, a reference on the CPU say, would take several times as long for nothing. So a loop whose
// accesses all begin at a few names is written twice:
//
//   { if (!(stays_home<1>(a) && stays_home<1>(b))) { the loop }
//     else { its own copies of what it uses; [&]() no_sanitize { the loop }(); copies back } }
//
// stays_home<1>(a) looks once at where a[...] lies and what it is (simt/host_loops.h); HostLoop has made sure
// that nothing else is followed. All other loops stay as they are, but for those within.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "host_loop.h"

namespace simtcc {
namespace {

bool is_inlined(std::string_view word) {  // of simt/host_loops.h
  static const std::unordered_set<std::string_view> words{"abs", "fabs", "sqrt", "max", "min"};
  return words.count(word) != 0;
}

class Writer {
 public:
  Writer(const Unit& unit, const HostLoop& loop, int number)
      : u_(unit), t_(unit.t), loop_(loop), prefix_("simt_" + std::to_string(number) + "_") {}

  void run() {
    write_guard();
    write_copy();
  }

 private:
  void write_guard() {
    for (const std::string& root : loop_.roots) guarded_[root] = 1;
    for (const auto& [text, depth] : loop_.indexed) guarded_[text] = std::max(guarded_[text], depth);
    for (const std::string& name : loop_.locals) guarded_[name] = std::max(guarded_[name], 0);
    for (const std::string& text : loop_.members) guarded_[text] = std::max(guarded_[text], 0);
    std::string guard = "true";
    for (const auto& [text, depth] : guarded_)
      guard += " && ::simt::host_loop::stays_home<" + std::to_string(depth) + ">(" + text + ")";
    u_.edits.before(loop_.first, "{ if (!(" + guard + ")) { ");
  }

  std::string outer(const std::string& name) {
    const auto [it, added] = numbered_.insert({name, static_cast<int>(numbered_.size())});
    return prefix_ + std::to_string(it->second);
  }

  void write_copy() {
    std::string before, inside, after;
    const auto add = [&](const std::string& key, const std::string& value) {
      const std::string copy = outer(key);
      before += "auto&& " + copy + " = " + value + "; ";
      inside += "auto&& " + copy + "i = ::simt::host_loop::copy(" + copy + "); ";
      return copy;
    };
    for (const auto& [text, depth] : loop_.indexed) {
      add(text + "[", "::simt::host_loop::base(" + text + ")");
      if (loop_.sized.count(text)) add(text + ".size()", text + ".size()");
      if (loop_.ranges.count(text)) add(text + ":", "::simt::host_loop::range(" + text + ")");
    }
    for (const std::string& name : loop_.locals) {
      const std::string copy = add(name, "::simt::host_loop::copy(" + name + ")");
      if (!loop_.changed.count(name)) continue;
      inside_after_ += "::simt::host_loop::give_back(" + copy + ", " + copy + "i); ";
      after += "::simt::host_loop::give_back(" + name + ", " + copy + "); ";
    }
    std::string results;
    int code = 0;
    for (const auto& [first, end] : loop_.returns)
      results += "if (simt_left == " + std::to_string(++code) + ") " + t_.text_of(first, end) + " ";
    const std::string text = "} else {" + marker(loop_.last) + before + "const int simt_left = [&]() " +
                             unwatched() + " -> int { " + inside + copy_of_loop() + inside_after_ +
                             "return 0; }(); (void)simt_left; " + after + results + "} }";
    u_.edits.after(loop_.last, text);
  }

  // The loop again, in terms of its copies. Each token keeps its line, but is marked as a system header's, of
  // which compilers say no warnings: they have said them of the loop itself.
  std::string copy_of_loop() {
    std::string out;
    long line = -1;
    int code = 0;
    for (int i = loop_.first; i <= loop_.last; ++i) {
      const Tokens::Place place = t_.place(t_[i].begin);
      if (place.line != line) out += marker(i);
      line = place.line;
      out += copied(i, &code);
      if (!t_.touches_next(i)) out += " ";
    }
    return out;
  }

  const char* unwatched() const {
    return u_.options.inlined ? "__attribute__((no_sanitize(\"thread\"), no_sanitize(\"bounds-strict\")))"
                              : "__attribute__((no_sanitize(\"thread\"), no_sanitize(\"array-bounds\"), "
                                "disable_sanitizer_instrumentation))";
  }
  std::string marker(int i) const {
    const Tokens::Place place = t_.place(t_[i].begin);
    return "\n# " + std::to_string(place.line) + " " + std::string(place.file) + " 3\n";
  }

  std::string copied(int& i, int* code) {
    const std::string name = t_.string(i);
    if (const auto found = loop_.returns.find(i); found != loop_.returns.end()) {
      i = found->second;
      return "return " + std::to_string(++*code) + ";";
    }
    if (!t_.is_word(i) || t_.is(i - 1, ".")) return name;
    if (name == "std" && t_.is(i + 1, "::") && is_inlined(t_.text(i + 2)) && t_.is(i + 3, "(")) {
      i += 2;
      return "::simt::host_loop::" + t_.string(i);
    }
    if (loop_.inside.count(name) || is_keyword(name) || t_.is(i - 1, "::")) return name;
    if (loop_.is_range(i) && loop_.ranges.count(name)) return outer(name + ":") + "i";
    int end = i;
    while (t_.is(end + 1, ".") && t_.is_word(end + 2)) end += 2;
    if (t_.is(end + 1, "[") && loop_.indexed.count(t_.text_of(i, end))) {
      const std::string copy = outer(t_.text_of(i, end) + "[") + "i";
      i = end;
      return copy;
    }
    if (loop_.is_size(i) && loop_.sized.count(name)) {
      i += 4;
      return outer(name + ".size()") + "i";
    }
    return loop_.locals.count(name) && !t_.is(i + 1, ".") && !t_.is(i + 1, "(") ? outer(name) + "i" : name;
  }

  const Unit& u_;
  const Tokens& t_;
  const HostLoop& loop_;
  const std::string prefix_;
  std::string inside_after_;
  std::map<std::string, int> guarded_, numbered_;
};

class HostLoops {
 public:
  explicit HostLoops(const Unit& unit) : u_(unit), t_(unit.t), functions_(unit) {}

  void run() {
    for (int i = 0; i < t_.size(); ++i) {
      if (t_.is(i, "do") && u_.scopes.body_around(i)) ends_of_do_.insert(last_of_statement(t_, i + 1) + 1);
      const bool loop = (t_.is(i, "for") && t_.is(i + 1, "(")) || (t_.is(i, "while") && t_.is(i + 1, "("));
      const Body* body = loop ? u_.scopes.body_around(i) : nullptr;
      if (!body || !is_hosts(*body) || follows_pragma(i)) continue;
      if (ends_of_do_.count(i)) continue;
      const int last = last_of_statement(t_, i);
      if (last >= body->close || has_pragma(i, last)) continue;
      HostLoop read(u_, functions_, *body, i, last);
      if (!read.read()) continue;
      Writer(u_, read, count_++).run();
      i = last;
    }
  }

 private:
  // In a function of a namespace, which has no `this`, or in a lambda there.
  bool is_hosts(const Body& innermost) const {
    for (const Body* body = &innermost;; body = &u_.scopes.bodies[static_cast<std::size_t>(body->parent)]) {
      if (body->device || body->is_constexpr) return false;
      const bool captures_some =
          body->introducer >= 0 && !t_.is(body->introducer + 1, "&") && !t_.is(body->introducer + 1, "=");
      if (captures_some) return false;  // what the loop does not need the address of may not be there
      if (body->parent >= 0) continue;
      if (body->declaration < 0) return false;
      const Declaration& d = u_.scopes.declarations[static_cast<std::size_t>(body->declaration)];
      return d.scope == Declaration::in_namespace && !d.qualified;
    }
  }
  bool follows_pragma(int i) const { return i > 0 && has_pragma(i - 1, i); }
  bool has_pragma(int first, int last) const {
    const auto& lines = t_.pragmas();
    const auto it =
        std::lower_bound(lines.begin(), lines.end(), t_[first].begin,
                         [](const Tokens::Line& line, std::size_t at) { return line.begin < at; });
    return it != lines.end() && it->begin < t_[last].end;
  }

  const Unit& u_;
  const Tokens& t_;
  NumberFunctions functions_;
  std::set<int> ends_of_do_;  // the `while` of a do-while
  int count_ = 0;
};

}  // namespace

void spare_host_loops(const Unit& u) {
  HostLoops(u).run();
}

}  // namespace simtcc
