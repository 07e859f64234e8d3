// SPDX-License-Identifier: MIT
//
// Device code that calls a host function or uses a host variable. Both are one program here and it would run,
// but nvcc refuses it. What nvcc takes may not be refused, and this translator knows no types: so it speaks
// only where no reading of the text is left in which nvcc would not.
//
// Names: each declaration of the name in the user's code is a host function's (or a variable's of an
// arithmetic type), the system's headers do not know the name, and the function that uses it declares no
// other. Functions: no templates, no members; those that only this file sees must be used, as nvcc does not
// look at the others. Places: not in sizeof and its kind, and not where a constant condition may leave the
// expression out.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rewrite.h"

namespace simtcc {
namespace {

using WordSet = std::set<std::string_view>;

class HostCode {
 public:
  explicit HostCode(const Unit& u) : t_(u.t), scopes_(u.scopes) {}

  void refuse() {
    if (says_more_than_cpp()) return;
    read_names();
    find_used();
    for (const int b : used_) {
      const Body& body = scopes_.bodies[static_cast<std::size_t>(b)];
      if (body.device_only) look_into(body);
    }
  }

 private:
  enum class What { unknown, host_function, host_variable };
  struct Name {
    What what = What::unknown;
    std::vector<int> places;  // where it is declared
  };

  // Pragmas and attributes that change what nvcc makes of a function; a library's namespace, where a name may
  // have another meaning.
  bool says_more_than_cpp() const {
    for (const auto& line : t_.pragmas()) {
      const std::string text = t_.source().substr(line.begin, line.end - line.begin);
      for (const char* word : {"nv_", "diag_", "hd_warning", "force_cuda"})
        if (text.find(word) != std::string::npos) return true;
    }
    for (int i = 0; i < t_.size(); ++i) {
      if ((t_.is(i, "device") || t_.is(i, "host")) && t_.is(i - 1, "(") && t_.is(i - 2, "(")) return true;
      if (t_.is(i, "using") && t_.is(i + 1, "namespace") && !is_known_namespace(t_.text(i + 2))) return true;
    }
    return false;
  }
  bool is_known_namespace(std::string_view name) const {
    if (name == "std") return true;
    for (int i = 0; i < t_.size(); ++i)
      if (t_.is(i, "namespace") && t_.is(i + 1, name) && t_.is(i + 2, "{")) return true;
    return false;
  }

  // ---- names ----

  void read_names() {
    for (const Declaration& d : scopes_.declarations) {
      if (d.name < 0) continue;
      // What a function declares is its own.
      const What what = scopes_.body_around(d.name) ? What::unknown
                        : is_host_function(d)       ? What::host_function
                        : is_host_variable(d)       ? What::host_variable
                                                    : What::unknown;
      auto [found, first] = names_.try_emplace(t_.text(d.name), Name{what, {}});
      if (!first && found->second.what != what) found->second.what = What::unknown;
      found->second.places.push_back(d.name);
    }
    for (int i = 0; i < t_.size(); ++i) {
      const auto found = names_.find(t_.text(i));
      if (found == names_.end() || scopes_.body_around(i) || in_parameters(i)) continue;
      const auto& places = found->second.places;
      if (std::find(places.begin(), places.end(), i) == places.end()) found->second.what = What::unknown;
    }
  }
  bool is_host_function(const Declaration& d) const {
    return d.parameters >= 0 && !d.global && !d.device && !d.is_constexpr && !d.is_friend &&
           !d.specialisation && !d.instantiation && !t_.is(d.name, "operator") && !t_.is(d.name - 1, "~");
  }
  bool is_host_variable(const Declaration& d) const {
    static const WordSet words{"static", "extern", "inline", "volatile", "unsigned",
                               "signed", "int",    "long",   "short",    "char",
                               "bool",   "float",  "double", "uint32_t", "*"};
    if (d.parameters >= 0 || d.scope != Declaration::in_namespace || d.variable_space || d.is_template)
      return false;
    for (int i = d.begin; i < d.name; ++i)
      if (!words.count(t_.text(i))) return false;
    return d.name > d.begin && !t_.is_literal(d.begin + 1);
  }
  bool in_parameters(int i) const {
    return std::any_of(scopes_.declarations.begin(), scopes_.declarations.end(), [&](const Declaration& d) {
      return d.parameters >= 0 && d.parameters < i && i < t_.partner(d.parameters);
    });
  }
  // Whether the name stands in the user's tokens alone, as a whole word.
  bool only_the_users(std::string_view name) const {
    const std::string& s = t_.source();
    const auto in_word = [&](std::size_t i) {
      return i < s.size() && (std::isalnum(static_cast<unsigned char>(s[i])) || s[i] == '_');
    };
    long count = 0;
    for (std::size_t at = s.find(name); at != std::string::npos; at = s.find(name, at + 1))
      count += !(at > 0 && in_word(at - 1)) && !in_word(at + name.size());
    for (int i = 0; i < t_.size(); ++i) count -= t_.is(i, name);
    return count == 0;
  }

  // ---- functions that nvcc looks at ----

  // Functions at namespace scope that are no templates: those that other files may call, and what these call.
  void find_used() {
    std::vector<int> open;
    std::map<std::string_view, int> own;  // that only this file sees, by name; -1: several
    for (std::size_t b = 0; b < scopes_.bodies.size(); ++b) {
      const Body& body = scopes_.bodies[b];
      if (body.declaration < 0 || body.parent >= 0) continue;
      const Declaration& d = scopes_.declarations[static_cast<std::size_t>(body.declaration)];
      if (d.scope != Declaration::in_namespace || d.is_template || d.is_constexpr || d.qualified) continue;
      if (redeclared_otherwise(d)) continue;
      if (d.is_static || d.is_inline || says_inline(d) || in_anonymous_namespace(d.name)) {
        const auto [found, first] = own.try_emplace(t_.text(d.name), static_cast<int>(b));
        if (!first) found->second = -1;
      } else {
        open.push_back(static_cast<int>(b));
      }
    }
    while (!open.empty()) {
      const int b = open.back();
      open.pop_back();
      used_.insert(b);
      const Body& body = scopes_.bodies[static_cast<std::size_t>(b)];
      for (int i = body.open; i < body.close; ++i) {
        const auto found = own.find(t_.text(i));
        if (found == own.end() || found->second < 0 || used_.count(found->second)) continue;
        const bool use = t_.is(i + 1, "(") || t_.is(i + 1, "<<<");
        if (use && scopes_.body_around(i) == &body && only_calls(body, t_.text(i)) && is_evaluated(body, i))
          open.push_back(found->second);
      }
    }
  }
  // Another declaration of the name says that it is for both sides, or it is a template's, or a class's.
  bool redeclared_otherwise(const Declaration& d) const {
    return std::any_of(scopes_.declarations.begin(), scopes_.declarations.end(), [&](const Declaration& o) {
      return o.name >= 0 && t_.text(o.name) == t_.text(d.name) &&
             (o.host != d.host || o.device != d.device || o.global != d.global || o.is_template ||
              o.parameters < 0);
    });
  }
  bool says_inline(const Declaration& d) const {
    for (int i = d.begin; i < d.body; ++i)
      if (t_.is(i, "__forceinline__") || t_.is(i, "inline") || t_.is(i, "__inline__")) return true;
    return false;
  }
  bool in_anonymous_namespace(int token) const {
    for (int i = 0; i < token; ++i)
      if (t_.is(i, "namespace") && t_.is(i + 1, "{") && t_.partner(i + 1) > token) return true;
    return false;
  }

  // ---- uses ----

  void look_into(const Body& body) {
    static const WordSet library{"rand",   "srand", "time",   "getenv", "system", "fopen",
                                 "fclose", "puts",  "fflush", "fputs",  "exit",   "fprintf"};
    for (int i = body.open + 1; i < body.close; ++i) {
      if (!t_.is_word(i) || scopes_.body_around(i) != &body) continue;
      const std::string_view w = t_.text(i);
      const auto found = names_.find(w);
      const What what = found == names_.end() ? What::unknown : found->second.what;
      const bool call = t_.is(i + 1, "(");
      const bool of_library = found == names_.end() && library.count(w) && call && !is_member(i) &&
                              (!t_.is(i - 1, "::") || !t_.is_word(i - 2) || t_.is(i - 2, "std"));
      if (of_library || (what == What::host_function && call)) {
        if (only_calls(body, w) && is_evaluated(body, i) && (of_library || only_the_users(w)))
          t_.fail(i, who(body) + " calls the host function " + std::string(w) +
                         ", as nvcc does not allow: device code calls __device__ functions");
      } else if (what == What::host_variable) {
        if (is_read_or_written(i) && !may_declare(body, w) && is_evaluated(body, i) && only_the_users(w))
          t_.fail(i, who(body) + " uses the host variable " + std::string(w) +
                         ", as nvcc does not allow: pass it as an argument, or declare it __device__ or "
                         "__constant__");
      }
    }
  }
  std::string who(const Body& body) const {
    const Declaration& d = scopes_.declarations[static_cast<std::size_t>(body.declaration)];
    return (d.global ? "kernel " : "device function ") + t_.string(d.name);
  }
  bool is_member(int i) const { return t_.is(i - 1, ".") || t_.is(i - 1, "->"); }
  // The enclosing bracket; -1: the body's own, or none.
  int bracket_around(const Body& body, int i) const {
    for (int k = i - 1; k > body.open; --k) {
      if (t_.closes(k)) {
        k = t_.partner(k);
      } else if (t_.opens(k)) {
        return k;
      }
    }
    return -1;
  }

  // Whether each time that the function says the name it calls it, and never declares it.
  bool only_calls(const Body& body, std::string_view name) const {
    return !in_range(declaration_of(body).parameters, body.open, name) && !any_in(body, name, [&](int i) {
      if (!t_.is(i + 1, "(") && !t_.is(i + 1, "<<<")) return true;
      if (t_.is_word(i - 1)) return !is_statement_word(i - 1);
      if (t_.is(i - 1, ",")) return !in_call(body, i);
      if (t_.is(i - 1, "*") || t_.is(i - 1, "&")) return !ends_value(i - 2);
      return t_.is(i - 1, ">") || t_.is(i - 1, "&&") || t_.is(i - 1, "~");
    });
  }
  // Whether the function may have a variable of its own of this name.
  bool may_declare(const Body& body, std::string_view name) const {
    return in_range(declaration_of(body).parameters, body.open, name) || any_in(body, name, [&](int i) {
             if (t_.is_word(i - 1)) return !is_statement_word(i - 1) && !t_.is(i - 1, "sizeof");
             if (t_.is(i - 1, ",")) return !in_call(body, i);
             if (t_.is(i - 1, "*") || t_.is(i - 1, "&")) return !ends_value(i - 2);
             if (t_.is(i - 1, "[")) return !t_.is_word(i - 2) && !ends_value(i - 2);
             if (t_.is(i - 1, "(")) return t_.is_word(i - 2) && opens_statement(i - 2);
             return t_.is(i - 1, ">") || t_.is(i - 1, "&&") || t_.is(i - 1, "::") || is_member(i);
           });
  }
  const Declaration& declaration_of(const Body& body) const {
    return scopes_.declarations[static_cast<std::size_t>(body.declaration)];
  }
  bool in_range(int from, int to, std::string_view name) const {
    for (int i = from; i < to; ++i)
      if (t_.is(i, name)) return true;
    return false;
  }
  template <class Test>
  bool any_in(const Body& body, std::string_view name, Test test) const {
    for (int i = body.open + 1; i < body.close; ++i)
      if (t_.is(i, name) && test(i)) return true;
    return false;
  }
  bool is_statement_word(int i) const {
    return t_.is(i, "return") || t_.is(i, "else") || t_.is(i, "do") || t_.is(i, "case");
  }
  bool opens_statement(int i) const { return t_.is(i - 1, ";") || t_.is(i - 1, "{") || t_.is(i - 1, "}"); }
  bool ends_value(int i) const {
    if (t_.is(i, ")")) return !t_.is(t_.partner(i) - 1, "decltype");
    return t_.is(i, "]") || t_.is_literal(i) || (i >= 0 && t_[i].kind == Token::number);
  }
  // After a comma that parts the arguments of a call.
  bool in_call(const Body& body, int i) const {
    const int open = bracket_around(body, i);
    return open >= 0 && t_.is(open, "(") && t_.is_word(open - 1) && !t_.is(open - 1, "for") &&
           !opens_statement(open - 1) && !t_.is_word(open - 2);
  }
  // Where the place alone says that the value is needed, or that a new one is stored.
  bool is_read_or_written(int i) const {
    static const WordSet before{"=", "+=", "-=", "*=", "/=", "+", "/", "%", "==", "!=", "<=", ">=", "return"};
    static const WordSet after{"=", "+=", "-=", "*=", "/="};
    if (before.count(t_.text(i - 1))) return true;
    return opens_statement(i) && after.count(t_.text(i + 1)) > 0;
  }
  // Not an operand of sizeof and its kind, and no constant condition in the way.
  bool is_evaluated(const Body& body, int i) const {
    static const WordSet unevaluated{"sizeof", "decltype", "noexcept", "alignof",    "typeid",
                                     "typeof", "alignas",  "requires", "__typeof__", "static_assert"};
    for (int k = body.open; k < i; ++k)
      if (t_.is(k, "constexpr") || t_.is(k, "consteval") || t_.is(k, "requires")) return false;
    if (unevaluated.count(t_.text(i - 1))) return false;
    for (int k = bracket_around(body, i); k >= 0; k = bracket_around(body, k)) {
      if (t_.is(k, "{")) continue;
      if (unevaluated.count(t_.text(k - 1)) || t_.text(k - 1).substr(0, 2) == "__") return false;
    }
    for (int k = i - 1; k > body.open && !t_.is(k, ";") && !t_.is(k, "{") && !t_.is(k, "}"); --k)
      if (t_.is(k, "?") || t_.is(k, "&&") || t_.is(k, "||")) return false;
    return true;
  }

  const Tokens& t_;
  const Scopes& scopes_;
  std::map<std::string_view, Name> names_;
  std::set<int> used_;  // indices of bodies
};

}  // namespace

void refuse_host_code(const Unit& u) {
  HostCode(u).refuse();
}

}  // namespace simtcc
