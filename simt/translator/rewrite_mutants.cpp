// SPDX-License-Identifier: MIT
//
// What a mutant is, and how a build holds it beside the right code:
//
//   a < b            a < ::simt::Less(17) > b         becomes <=; two operators of one precedence in the place of
//   a == b           a == ::simt::Equal(17) == b      one, so that nobody needs to know where operands begin
//   v[i]             v[::simt::mutant(17) + (i)]      the next element
//   8                (8 + ::simt::mutant(17))         one more; after + or - none; of hexadecimals the last bit
//   a && b           a && (::simt::mutant(17) || b)   b is not asked; likewise a || b
//   if (c) return;   if (!::simt::mutant(17) && (c))  never; with other statements: always
//   sum += x;        (::simt::mutant(17) ? void() : static_cast<void>(sum += x));
//   __syncthreads();    likewise is left out; so is each call whose result nobody takes
//
// Constants of the language (template arguments, extents of arrays, constexpr) have no variants: a program
// that runs cannot choose there.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "mutants.h"
#include "rewrite.h"

namespace simtcc {
namespace {

// Inside of what other rewriting puts at the same byte. What is opened last is closed first: each closing has a number
// of its own, below those before it.
constexpr int kOpens = 1, kCloses = -1;

template <std::size_t N>
bool one_of(std::string_view word, const std::string_view (&list)[N]) {
  for (const std::string_view w : list)
    if (w == word) return true;
  return false;
}

std::uint32_t hash(const std::string& text) {
  std::uint32_t h = 2166136261u;  // FNV-1a
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return h < 2 ? h + 2 : h;  // 0 and 1 have a meaning of their own (runtime/mutants.cpp)
}

class Mutate {
 public:
  explicit Mutate(const Unit& unit)
      : u_(unit), t_(unit.t), constant_(unit.t.size(), false), around_(unit.t.size(), -1) {}

  void run() {
    find_brackets();
    for (int i = 0; i < t_.size(); ++i) {
      if (in_device_code(i)) mark_constants(i);
    }
    for (int i = 0; i < t_.size(); ++i) {
      if (!in_device_code(i) || constant_[i]) continue;
      const std::string_view w = t_.text(i);
      if (t_[i].kind == Token::number) {
        change_number(i);
      } else if (w == "[") {
        change_index(i);
      } else if (w == "<" || w == ">" || w == "<=" || w == ">=" || w == "==" || w == "!=") {
        change_comparison(i);
      } else if (w == "&&" || w == "||") {
        leave_out_operand(i);
      } else if (w == "if" && t_.is(i + 1, "(")) {
        change_guard(i);
      }
      if (starts_statement(i)) leave_out_statement(i);
    }
  }

 private:
  bool in_device_code(int i) const {
    const Body* body = u_.scopes.body_around(i);
    return body && body->device;
  }
  void find_brackets() {
    std::vector<int> open;
    for (int i = 0; i < t_.size(); ++i) {
      if (t_.closes(i)) open.pop_back();
      around_[i] = open.empty() ? -1 : open.back();
      if (t_.opens(i)) open.push_back(i);
    }
  }
  bool blank_before(int i) const { return i > 0 && !t_.touches_next(i - 1); }
  bool blank_after(int i) const { return !t_.touches_next(i); }
  int end_of_statement(int i) const {
    while (i < t_.size() && !t_.is(i, ";") && !t_.closes(i)) i = t_.skip(i) + 1;
    return i;
  }
  void mark(int first, int last) {
    for (int k = first; k <= last && k < t_.size(); ++k) constant_[k] = true;
  }

  // ---- what has to be a constant ----

  void mark_constants(int i) {
    static constexpr std::string_view kOperators[] = {
        "static_assert", "_Static_assert", "alignas", "__align__",     "sizeof", "alignof",
        "decltype",      "noexcept",       "typeid",  "__attribute__", "assert"};
    static constexpr std::string_view kDeclarations[] = {"constexpr", "using", "typedef", "__shared__",
                                                         "enum"};
    const std::string_view w = t_.text(i);
    if (one_of(w, kOperators) && t_.is(i + 1, "(")) {
      mark(i, t_.partner(i + 1));
    } else if (w == "asm" || w == "__asm__" || w == "__asm") {
      mark(i, end_of_statement(i));
    } else if (w == "constexpr" && t_.is(i - 1, "if")) {
      mark(i - 1, t_.partner(i + 1));
    } else if (one_of(w, kDeclarations) && !t_.is(i + 1, "{")) {  // not of `[] constexpr {`
      mark(i, end_of_statement(i));
    } else if (w == "const" || w == "static") {
      if (is_constant_declaration(i)) mark(i, end_of_statement(i));
    } else if (w == "case") {
      int end = i;
      while (end < t_.size() && !t_.is(end, ":") && !t_.is(end, ";")) end = t_.skip(end) + 1;
      mark(i, end);
    } else if (w == "operator") {
      mark(i, i + 1);
    } else if (w == "<" && begins_arguments(i)) {
      mark(i, t_.close_angle(i));
    } else if (w == "<<<") {
      int end = i;
      while (end < t_.size() && !t_.is(end, ";") &&
             !(t_.is(end, ">") && t_.is(end + 1, ">") && t_.is(end + 2, ">")))
        end = t_.skip(end) + 1;
      mark(i, end + 2);
    } else if (w == "[" && (t_.is(i + 1, "[") || is_extent(i))) {
      mark(i, t_.partner(i));
    }
  }

  // `const int kRows = 4 * kWarp;`: an array's extent elsewhere, perhaps.
  bool is_constant_declaration(int i) const {
    const int end = end_of_statement(i);
    int value = i;
    while (value < end && !t_.is(value, "=") && !t_.is(value, "{")) value = t_.skip(value) + 1;
    for (int k = value + 1; k < end; ++k) {
      const std::string_view w = t_.text(k);
      const bool named_constant =
          w.size() > 1 && (w[0] == 'k' || (w[0] >= 'A' && w[0] <= 'Z')) && w[1] >= 'A' && w[1] <= 'Z';
      if (t_.is_word(k) && !named_constant && w != "sizeof") return false;
    }
    return value < end;
  }

  // Whether a < begins template arguments. A comparison has blanks around it, or no > that could end them.
  bool begins_arguments(int i) const {
    if (t_.is(i - 1, "template")) return true;
    const std::string_view before = t_.text(i - 1);
    if (!t_.is_word(i - 1) || t_.close_angle(i) < 0) return false;
    return before.substr(before.size() < 5 ? 0 : before.size() - 5) == "_cast" ||
           !(blank_before(i) && blank_after(i));
  }

  // Of an array that is declared, or of `new T[n]`.
  bool is_extent(int open) const {
    int name = open - 1;
    while (t_.is(name, "]")) name = t_.partner(name) - 1;
    if (!t_.is_word(name)) return false;
    static constexpr std::string_view kBefore[] = {"return", "else", "do", "case",     "throw",
                                                   "not",    "and",  "or", "co_return"};
    if (t_.is_word(name - 1)) return !one_of(t_.text(name - 1), kBefore);
    if (t_.is(name - 1, ">"))
      return t_.open_angle(name - 1) >= 0 && !blank_before(name - 1);  // array<T, 3> a[4]
    if (t_.is(name - 1, "*") || t_.is(name - 1, "&")) {                // T* a[4]
      const int type = name - 2;
      return t_.is_word(type) && !blank_before(name - 1) && blank_after(name - 1);
    }
    if (!t_.is(name - 1, ",")) return false;
    int first = name - 1;  // float a[3], b[4];
    for (; first > 0; --first) {
      if (t_.closes(first) && !t_.is(first, "}")) first = t_.partner(first);
      if (t_.is(first - 1, ";") || t_.is(first - 1, "{") || t_.is(first - 1, "}") || t_.opens(first - 1))
        break;
    }
    return t_.is_word(first) && (t_.is_word(first + 1) || t_.is(first + 1, ">")) && !t_.is(first, "return");
  }

  // ---- mutants ----

  // A new one at token i, as C++ that says whether it is the one of this run; "" where its line is spared.
  std::string add(int i, const std::string& edit) {
    const Tokens::Place p = t_.place(t_[i].begin);
    const std::string file(p.file.substr(1, p.file.size() - 2));
    if (u_.options.mutants->spared.count({file, p.line})) return "";
    const std::string& s = t_.source();
    const std::size_t at = t_[i].begin, newline = at == 0 ? std::string::npos : s.rfind('\n', at - 1);
    const long column = static_cast<long>(newline == std::string::npos ? at + 1 : at - newline);
    const std::uint32_t id =
        hash(file + ":" + std::to_string(p.line) + ":" + std::to_string(column) + ":" + edit);
    u_.options.mutants->made.push_back({id, file, p.line, column, edit});
    return std::to_string(id) + "u";
  }
  static std::string chosen(const std::string& id) { return "::simt::mutant(" + id + ")"; }
  void around(int first, int last, const std::string& before, const std::string& after) {
    u_.edits.before(first, before, kOpens);
    u_.edits.after(last, after, kCloses - closings_++);
  }
  // The source of some tokens, in one line and not too long.
  std::string shown(int first, int last) const {
    std::string text;
    for (const char c : t_.text_of(first, last)) {
      const bool blank = c == ' ' || c == '\n' || c == '\t';
      if (!blank || (!text.empty() && text.back() != ' ')) text += blank ? ' ' : c;
    }
    constexpr std::size_t kMost = 60;
    return text.size() <= kMost ? text : text.substr(0, kMost - 3) + "...";
  }

  void change_number(int i) {
    const std::string text = t_.string(i);
    if (text.find('_') != std::string::npos || t_.is(i - 1, ".")) return;
    const bool hex =
        text.size() > 1 && (text[1] == 'x' || text[1] == 'X') && text.find('.') == std::string::npos;
    const bool one = text == "1" || text == "1u" || text == "1U";
    const bool step = one && (t_.is(i - 1, "+") || t_.is(i - 1, "-"));
    const std::string op = hex ? " ^ " : step ? " - " : " + ";
    const std::string id = add(i, text + " becomes " + (step ? "0" : text + op + "1"));
    if (!id.empty()) around(i, i, "(", op + chosen(id) + ")");
  }

  void change_index(int open) {
    const int close = t_.partner(open);
    const bool subscript = (t_.is_word(open - 1) && !t_.is(open - 1, "return") && !t_.is(open - 1, "auto") &&
                            !t_.is(open - 1, "delete") && !t_.is(open - 1, "operator")) ||
                           t_.is(open - 1, "]") || t_.is(open - 1, ")");
    for (const Body& body : u_.scopes.bodies)
      if (body.introducer == open) return;
    if (!subscript || close == open + 1 || t_.is(open + 1, "{") || t_.split(open, close).size() != 1) return;
    if (close == open + 2 && t_[open + 1].kind == Token::number) return;  // the number has a mutant
    const std::string id = add(open, "[" + shown(open + 1, close - 1) + "] becomes the next element");
    if (!id.empty()) around(open + 1, close - 1, chosen(id) + " + (", ")");
  }

  void change_comparison(int i) {
    const std::string w = t_.string(i);
    if (w == "<" || w == ">") {
      if (t_.is(i - 1, "operator") || (t_.is(i - 1, ">") && t_.touches_next(i - 1)) ||
          (t_.touches_next(i) && (t_.is(i + 1, ">") || t_.is(i + 1, ">="))))
        return;
      if (w == ">" && t_.open_angle(i) >= 0 && !(blank_before(i) && blank_after(i))) return;
    }
    if (w == ">=" && t_.is(i - 1, ">") && t_.touches_next(i - 1)) return;  // >>=
    struct Operator {
      std::string_view text, type, other;
    };
    static constexpr Operator kAll[] = {{"<", "Less", "<="},    {"<=", "LessEqual", "<"},
                                        {">", "Greater", ">="}, {">=", "GreaterEqual", ">"},
                                        {"==", "Equal", "!="},  {"!=", "NotEqual", "=="}};
    for (const Operator& op : kAll) {
      if (op.text != w) continue;
      const std::string id = add(i, w + " becomes " + std::string(op.other));
      // Of `a < X > b` a compiler thinks no template, because of the blanks and of what a is.
      if (!id.empty())
        u_.edits.replace(i, w + " ::simt::" + std::string(op.type) + "(" + id + ") " + second(w));
    }
  }
  static std::string second(const std::string& w) {
    return w == "<" || w == "<=" ? ">" : w == ">" || w == ">=" ? "<" : w;
  }

  void leave_out_operand(int i) {
    if (!blank_before(i) || !blank_after(i) || t_.is(i - 1, "auto")) return;
    const bool conjunction = t_.is(i, "&&");
    int end = i + 1;
    for (; end < t_.size() && !t_.closes(end); end = t_.skip(end) + 1) {
      const std::string_view w = t_.text(end);
      if (w == "||" || w == "?" || w == ":" || w == "," || w == ";" || (conjunction && w == "&&")) break;
      if (constant_[end] && w == "<") end = t_.close_angle(end);
    }
    if (end == i + 1) return;
    const std::string id = add(i, t_.string(i) + " " + shown(i + 1, end - 1) + " is left out");
    if (!id.empty())
      around(i + 1, end - 1,
             "(" + std::string(conjunction ? "" : "!") + chosen(id) + (conjunction ? " || " : " && "), ")");
  }

  void change_guard(int i) {
    const int close = t_.partner(i + 1);
    int first = i + 2;
    for (int k = first; k < close; k = t_.skip(k) + 1) {
      if (t_.is(k, ";")) first = k + 1;
    }
    for (int k = first; k < close; k = t_.skip(k) + 1) {
      if (t_.is(k, "=")) return;  // declares, perhaps
    }
    if (first >= close) return;
    int body = close + 1;
    while (t_.is(body, "{") || (t_.is(body, "[") && t_.is(body + 1, "[")))
      body = t_.is(body, "{") ? body + 1 : t_.partner(body) + 1;
    const bool leaves = t_.is(body, "return") || t_.is(body, "continue") || t_.is(body, "break");
    const std::string id = add(i, "if (" + shown(first, close - 1) + (leaves ? ") never" : ") always"));
    if (!id.empty())
      around(first, close - 1, (leaves ? "!" : "") + chosen(id) + (leaves ? " && (" : " || ("), ")");
  }

  bool starts_statement(int i) const {
    if (t_.is(i - 1, ";") || t_.is(i - 1, "{")) return t_.is(around_[i], "{");
    if (t_.is(i - 1, "}") || t_.is(i - 1, "else") || t_.is(i - 1, "do")) return t_.is(around_[i], "{");
    if (!t_.is(i - 1, ")")) return false;
    const int before = t_.partner(i - 1) - 1;
    return t_.is(before, "if") || t_.is(before, "for") || t_.is(before, "while") ||
           t_.is(before, "constexpr");
  }

  // An accumulation, `a += b;`, or a call.
  void leave_out_statement(int i) {
    static constexpr std::string_view kWords[] = {
        "return", "if",    "for",      "while", "do",      "switch", "case",     "default",
        "else",   "break", "continue", "goto",  "throw",   "delete", "using",    "const",
        "static", "auto",  "try",      "catch", "typedef", "extern", "volatile", "asm"};
    static constexpr std::string_view kUnseen[] = {
        "printf", "__nanosleep",          "__threadfence", "__threadfence_block",
        "__trap", "__threadfence_system", "assert",        "void"};
    static constexpr std::string_view kAccumulations[] = {"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="};
    if ((!t_.is_word(i) && !t_.is(i, "*") && !t_.is(i, "(") && !t_.is(i, "::")) || one_of(t_.text(i), kWords))
      return;
    bool accumulates = false, assigns = false, declares = false, call = t_.is_word(i) || t_.is(i, "::");
    int k = i;
    for (; k < t_.size() && !t_.is(k, ";"); k = t_.skip(k) + 1) {
      if (t_.closes(k) || t_.is(k, ",") || t_.is(k, "{")) return;
      if (one_of(t_.text(k), kAccumulations)) accumulates = true;
      if (t_.is(k, "=")) assigns = true;
      if (t_.is_word(k) && one_of(t_.text(k), kUnseen)) return;
      if (t_.is_word(k) && (t_.is_word(k + 1) || (t_.is(k - 1, ">") && constant_[k - 1]))) declares = true;
      if (!t_.is_word(k) && !t_.is(k, "::") && !t_.is(k, ".") && !t_.is(k, "->") && !t_.is(k, "(") &&
          !t_.is(k, "["))
        call = call && t_.is(k, "<");
      if (t_.is(k, "<") && constant_[k]) k = t_.close_angle(k);
    }
    const bool calls = call && t_.is(k - 1, ")") && k - 1 > i;
    if (declares || (!accumulates && (assigns || !calls))) return;
    const std::string id = add(i, shown(i, k - 1) + " is left out");
    if (!id.empty()) around(i, k - 1, "(" + chosen(id) + " ? void() : static_cast<void>(", "))");
  }

  const Unit& u_;
  const Tokens& t_;
  std::vector<bool> constant_;
  std::vector<int> around_;  // the bracket that is open around a token
  int closings_ = 0;
};

// "dir/f.cu:12:3: ..." -> the place; line 0 where a line of output begins with none.
std::pair<std::string, long> place_of(std::string_view line) {
  const std::size_t start = line.find_first_not_of(' ');
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos && start < colon;
       colon = line.find(':', colon + 1)) {
    const long number = std::atol(std::string(line.substr(colon + 1, 12)).c_str());
    if (number > 0) return {std::string(line.substr(start, colon - start)), number};
  }
  return {"", 0};
}

}  // namespace

std::string Mutants::list() const {
  std::string text;
  for (const Mutant& m : made) {
    text += std::to_string(m.id) + "\t" + m.file + "\t" + std::to_string(m.line) + "\t" +
            std::to_string(m.column) + "\t" + m.edit + "\n";
  }
  return text;
}

bool Mutants::spare(const std::string& messages) {
  std::set<std::pair<std::string, long>> mutated, wrong, named;
  for (const Mutant& m : made) mutated.insert({m.file, m.line});
  for (std::size_t at = 0; at < messages.size();) {
    const std::size_t end = std::min(messages.find('\n', at), messages.size());
    const std::string_view line = std::string_view(messages).substr(at, end - at);
    at = end + 1;
    const auto place = place_of(line);
    if (!mutated.count(place)) continue;
    named.insert(place);
    if (line.find("error: ") != std::string_view::npos) wrong.insert(place);
  }
  // An error inside of a template of ours names the user's line in a note alone.
  const auto& lines = wrong.empty() ? named : wrong;
  spared.insert(lines.begin(), lines.end());
  return !lines.empty();
}

void make_mutants(const Unit& u) {
  u.options.mutants->made.clear();
  Mutate(u).run();
}

}  // namespace simtcc
