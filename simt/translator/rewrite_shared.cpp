// SPDX-License-Identifier: MIT
//
// A __shared__ variable has static storage in CUDA: one for each block. Here it is a reference into the
// running block's memory, found once where the declaration stood:
//
//   __shared__ float tile[8];   becomes   typedef float simt_T1_tile[8]; struct simt_S1_tile { simt_T1_tile
//   value; };
//                                         simt_T1_tile& tile =
//                                         ::simt::shared_variable<simt_S1_tile>("tile").value;
//
// The typedef takes any declarator as it is, and may depend on template parameters and on local constants.
// Two uses need more than the reference in scope, because they don't capture what has static storage: lambdas
// that capture by value (they would copy the array) or nothing, and functions that use a variable from
// namespace scope. Both get references of their own at the start of their bodies.
#include <set>
#include <string>

#include "rewrite.h"

namespace simtcc {
namespace {

class Shared {
 public:
  explicit Shared(const Unit& unit) : u_(unit), t_(unit.t) {}

  void run() {
    for (int i = 0; i < t_.size(); ++i) {
      if (!t_.is(i, "__shared__") || done_.count(i)) continue;
      const Body* body = u_.scopes.body_around(i);
      if (body && !body->device && body->introducer < 0)
        t_.fail(i, "__shared__ in a function that is neither __global__ nor __device__");
      rewrite_statement(i, body);
    }
    for (const Body& body : u_.scopes.bodies) add_references(body);
  }

 private:
  struct Variable {
    std::string name, reference;  // the statement that makes the reference
    int declared, scope_end;      // tokens: visible between these
    const Body* body;             // null: at namespace scope
  };

  void rewrite_statement(int mark, const Body* body) {
    const int begin = statement_begin(mark);
    int end = mark;
    while (end < t_.size() && !t_.is(end, ";")) end = t_.skip(end) + 1;
    const std::string id = std::to_string(count_++);
    bool dynamic = false;
    std::string alignment;  // as a specifier of the member: a typedef takes no alignas
    for (int k = begin; k < end; k = t_.skip(k) + 1) {
      if (t_.is(k, "__shared__") || t_.is(k, "extern") || t_.is(k, "static")) {
        dynamic = dynamic || t_.is(k, "extern");
        done_.insert(k);
        u_.edits.remove(k);
      } else if ((t_.is(k, "alignas") || t_.is(k, "__align__")) && t_.is(k + 1, "(") &&
                 !belongs_to_class(k)) {
        alignment += "alignas(" + t_.text_of(k + 2, t_.partner(k + 1) - 1) + ") ";
        u_.edits.replace(k, t_.partner(k + 1), "");
      }
    }
    u_.edits.before(begin, "[[maybe_unused]] typedef ");
    std::string tail = ";";
    for (const int name : declared_names(begin, end)) {
      const std::string n = t_.string(name), type = "simt_T" + id + "_" + n, holder = "simt_S" + id + "_" + n;
      u_.edits.replace(name, type);
      std::string reference = "[[maybe_unused]] " + type + "& " + n + " = ";
      if (dynamic) {
        reference += "*static_cast<" + type + "*>(::simt::dynamic_shared(";
        if (!alignment.empty()) reference += alignment.substr(7);
        reference += "));";
      } else {
        tail += " struct " + holder + " { " + alignment + type + " value; };";
        reference += "::simt::shared_variable<" + holder + ">(\"" + n + "\").value;";
      }
      if (body) tail += " " + reference;
      variables_.push_back({n, reference, end, body ? scope_end(begin) : t_.size(), body});
    }
    u_.edits.replace(end, tail);
  }

  // `struct __align__(16) S { ... }`: the class's own.
  bool belongs_to_class(int k) const {
    return t_.is(k - 1, "struct") || t_.is(k - 1, "union") || t_.is(k - 1, "class");
  }

  int statement_begin(int i) const {
    for (; i > 0; --i) {
      if (t_.is(i - 1, ">") && t_.open_angle(i - 1) >= 0) {
        i = t_.open_angle(i - 1);
      } else if (t_.is(i - 1, ")") && is_attribute(t_.text(t_.partner(i - 1) - 1))) {
        i = t_.partner(i - 1);
      } else if (t_.is(i - 1, "]") && t_.is(t_.partner(i - 1) + 1, "[")) {
        i = t_.partner(i - 1) + 1;
      } else if (!(t_.is_word(i - 1) || t_.is(i - 1, "::")) || t_.is(i - 1, "else") || t_.is(i - 1, "do")) {
        break;
      }
    }
    return i;
  }
  int scope_end(int i) const {
    while (--i >= 0) {
      if (t_.is(i, "{")) return t_.partner(i);
      if (t_.closes(i)) i = t_.partner(i);
    }
    return t_.size();
  }

  // The name in each declarator: its last word before an array bound.
  std::vector<int> declared_names(int begin, int end) const {
    std::vector<int> names;
    int last = -1;
    bool past_name = false;
    for (int k = begin; k <= end; k = t_.skip(k) + 1) {
      if (t_.is(k, ",") || k == end) {
        if (last >= 0) names.push_back(last);
        last = -1;
        past_name = false;
      } else if (t_.is(k, "=") || (t_.is(k, "{") && !in_class_definition(begin, k))) {
        t_.fail(k, "a __shared__ variable cannot have an initialiser");
      } else if (t_.is(k, "<") && t_.is_word(k - 1)) {
        const int close = t_.close_angle(k);
        if (close > 0) k = close;
      } else if (t_.is(k, "[") && last >= 0) {
        past_name = true;
      } else if (t_.is(k, "(") && !is_attribute(t_.text(k - 1)) && !t_.is(k - 1, "__attribute__")) {
        for (int z = k + 1; z < t_.partner(k); ++z) {  // a pointer or reference to an array: (*name)[n]
          if (t_.is_word(z)) last = z;
        }
        past_name = true;
      } else if (t_.is_word(k) && !past_name && !is_attribute(t_.text(k))) {
        last = k;
      }
    }
    if (names.empty()) t_.fail(begin, "a __shared__ declaration without a name");
    return names;
  }
  bool in_class_definition(int begin, int brace) const {
    for (int k = begin; k < brace; ++k) {
      if (t_.is(k, "struct") || t_.is(k, "union") || t_.is(k, "class")) return true;
    }
    return false;
  }

  void add_references(const Body& body) {
    std::string references;
    std::set<std::string> seen;
    for (auto v = variables_.rbegin(); v != variables_.rend();
         ++v) {  // the latest declaration of a name wins
      if (needs_reference(body, *v) && seen.insert(v->name).second) references += " " + v->reference;
    }
    if (references.empty()) return;
    u_.edits.after(body.open, references + " {");
    u_.edits.before(body.close, "} ", -1);  // inside a kernel's closure
  }
  bool needs_reference(const Body& body, const Variable& v) const {
    if (body.open < v.declared || body.open > v.scope_end || !body.device) return false;
    const Body* around = body.parent < 0 ? nullptr : &u_.scopes.bodies[static_cast<std::size_t>(body.parent)];
    const bool local_here =
        around && around->device;  // what v names is a reference in the body around this one
    if (v.body == nullptr && !local_here) return mentions(body, v.name);
    return body.introducer >= 0 && !captures_by_reference(body.introducer) && mentions(body, v.name);
  }
  bool captures_by_reference(int introducer) const {
    return t_.is(introducer + 1, "&") && (t_.is(introducer + 2, "]") || t_.is(introducer + 2, ","));
  }
  bool mentions(const Body& body, const std::string& name) const {
    if (body.parameters >= 0) {
      for (int k = body.parameters; k < t_.partner(body.parameters); ++k) {
        if (t_.is(k, name)) return false;  // a parameter hides it
      }
    }
    for (int k = body.open; k < body.close; ++k) {
      if (t_.is(k, name) && !t_.is(k - 1, ".") && !t_.is(k - 1, "->") && !t_.is(k - 1, "::")) return true;
    }
    return false;
  }

  const Unit& u_;
  const Tokens& t_;
  std::vector<Variable> variables_;
  std::set<int> done_;
  int count_ = 0;
};

}  // namespace

void rewrite_shared(const Unit& u) {
  Shared(u).run();
}

}  // namespace simtcc
