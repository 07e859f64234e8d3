// SPDX-License-Identifier: MIT
#include "number_functions.h"

#include <unordered_set>

namespace simtcc {
namespace {

using Words = std::unordered_set<std::string_view>;

// Functions that look at nothing of the caller's but what they are given, and leave its variables alone.
bool is_harmless(std::string_view word) {
  static const Words words{
      "printf", "fprintf", "puts",    "putchar", "fputs",  "exit",   "abort",  "rand",   "__assert_fail",
      "abs",    "fabs",    "fabsf",   "sqrt",    "sqrtf",  "rsqrt",  "rsqrtf", "cbrt",   "cbrtf",
      "exp",    "expf",    "exp2",    "exp2f",   "expm1",  "expm1f", "log",    "logf",   "log2",
      "log2f",  "log10",   "log10f",  "log1p",   "log1pf", "pow",    "powf",   "sin",    "sinf",
      "cos",    "cosf",    "tan",     "tanf",    "tanh",   "tanhf",  "sinh",   "cosh",   "asin",
      "acos",   "atan",    "atan2",   "atan2f",  "erf",    "erff",   "hypot",  "hypotf", "floor",
      "floorf", "ceil",    "ceilf",   "round",   "roundf", "trunc",  "truncf", "lround", "fmod",
      "fmodf",  "fma",     "fmaf",    "fmax",    "fmaxf",  "fmin",   "fminf",  "max",    "min",
      "isnan",  "isinf",   "isfinite"};
  return words.count(word) != 0;
}
}  // namespace

bool is_number_type(std::string_view word) {
  static const Words words{"bool",    "char",     "short",    "int",      "long",     "float",   "double",
                           "signed",  "unsigned", "size_t",   "int8_t",   "int16_t",  "int32_t", "int64_t",
                           "uint8_t", "uint16_t", "uint32_t", "uint64_t", "ptrdiff_t"};
  return words.count(word) != 0;
}

bool is_refused(std::string_view word) {
  static const Words words{"goto",
                           "new",
                           "delete",
                           "throw",
                           "try",
                           "catch",
                           "this",
                           "asm",
                           "__asm__",
                           "static",
                           "volatile",
                           "template",
                           "reinterpret_cast",
                           "dynamic_cast",
                           "const_cast",
                           "using",
                           "typedef",
                           "struct",
                           "class",
                           "union",
                           "enum",
                           "operator",
                           "co_await",
                           "co_yield",
                           "co_return",
                           "thread_local",
                           "decltype",
                           "typeid",
                           "extern",
                           "__typeof__",
                           "and",
                           "or",
                           "not",
                           "bitand",
                           "bitor",
                           "compl",
                           "xor",
                           "alignas",
                           "__attribute__"};
  return words.count(word) != 0;
}

bool takes_parenthesis(std::string_view word) {
  static const Words words{"for",    "while", "if",      "switch",      "sizeof",
                           "return", "case",  "alignof", "static_cast", "void"};
  return words.count(word) != 0 || is_number_type(word);
}
bool is_keyword(std::string_view word) {
  static const Words words{"for",     "while", "if",       "else",   "do",      "switch",      "case",
                           "default", "break", "continue", "return", "sizeof",  "const",       "constexpr",
                           "auto",    "void",  "true",     "false",  "nullptr", "static_cast", "alignof"};
  return words.count(word) != 0 || is_number_type(word);
}

NumberFunctions::NumberFunctions(const Unit& unit) : u_(unit), t_(unit.t) {
  for (const Declaration& d : u_.scopes.declarations)
    if (d.name >= 0 && d.parameters >= 0) by_name_[t_.text(d.name)].push_back(&d);
}

bool NumberFunctions::is(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return is_harmless(name);
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  known_[name] = false;  // until it is known: one that calls itself is none
  bool all = true, body = false;
  for (const Declaration* d : found->second) {
    all = all && d->scope == Declaration::in_namespace && !d->global && looks_at_numbers(*d);
    body = body || d->body >= 0;
  }
  return known_[name] = all && body;
}

bool NumberFunctions::looks_at_numbers(const Declaration& d) {
  const int last = d.body >= 0 ? t_.partner(d.body) : t_.partner(d.parameters);
  for (int i = d.parameters; i <= last; ++i) {
    const std::string_view w = t_.text(i);
    for (const char* refused : {"&", "[", "->", "<<<", "...", "#"})
      if (w == refused) return false;
    const bool number = t_[i - 1].kind == Token::number;
    if (w == "*" && !t_.is_word(i - 1) && !t_.is(i - 1, ")") && !number) return false;
    if (w == "*" && i < t_.partner(d.parameters)) return false;
    if (!t_.is_word(i)) continue;
    if (is_refused(w) && w != "static") return false;
    if (t_.is(i + 1, "::") && w != "std") return false;
    if (t_.is(i + 1, "(") && !takes_parenthesis(w) && w != "constexpr" && !is(w)) return false;
  }
  return true;
}

}  // namespace simtcc
