// SPDX-License-Identifier: MIT
//
// What a loop of host code says, for rewrite_host_loops.cpp. The translator knows no types, so it takes no more
// than it can read: names that are indexed (a[i], m.data[i]), arithmetic, declarations of numbers and of arrays of
// them, and functions of numbers; no other call, no *p and p->x, no assignment to what is indexed.
#pragma once

#include <map>
#include <set>
#include <string>

#include "number_functions.h"

namespace simtcc {

class HostLoop {
 public:
  HostLoop(const Unit& unit, NumberFunctions& functions, const Body& body, int first, int last)
      : first(first), last(last), u_(unit), t_(unit.t), functions_(functions), body_(body) {}

  /// Whether it says nothing else. What it uses is then known:
  bool read();

  const int first, last;                  // its tokens
  std::map<std::string, int> indexed;     // what it indexes, and how deep
  std::set<std::string> ranges, sized;    // of those: what it runs over, and whose size it asks for
  std::set<std::string> locals, changed;  // numbers and the like of the function, as far as it knows
  std::set<std::string> members;          // `a.b` and references that it uses as a whole
  std::set<std::string> roots;            // the locals that its own pointers are computed from
  std::set<std::string> inside;           // names that it declares itself
  std::map<int, int> returns;             // from `return` to its semicolon

  /// Whether token i is the v of `for (x : v)`, of `v.size()`.
  bool is_range(int i) const;
  bool is_size(int i) const;

 private:
  bool has_structured_binding() const;
  bool never_ends() const;
  bool has_cases_of_others() const;
  bool read_token(int i);
  bool read_member(int i);
  bool read_punctuation(int i);
  bool has_left_operand(int i) const;
  bool begins_operand(int i) const;
  bool is_type_word(int i) const;
  bool begins_type(int i) const;
  bool declares_after(int i) const;
  bool begins_type_before(int i) const;
  bool begins_parenthesis(int i) const;
  bool is_type_of_declaration(int i) const;
  bool declares(int i) const;
  bool is_further_name(int i) const;
  bool read_declaration(int i);
  bool read_name(int i);
  bool is_another_name(const std::string& name) const;
  bool any_reference_to(const std::string& name) const;
  bool has_variable_extent(const std::string& name);
  bool is_constant(const std::string& name);
  bool has_template_arguments(int i) const;
  int depth_of(int i) const;
  bool is_changed(int i) const;
  bool is_changed_to(int i) const;
  bool read_std(int i);
  bool is_cast_to_number(int open) const;
  bool read_return(int i);
  bool is_local(const std::string& name);
  template <class Test>
  bool any_declaration(const std::string& name, Test test) const {
    for (const Body* body = &body_;; body = &u_.scopes.bodies[static_cast<std::size_t>(body->parent)]) {
      const int begin = body->parameters >= 0 ? body->parameters : body->open;
      for (int k = begin; k < first; ++k)
        if (t_.is(k, name) && is_declared_at(k) && test(k)) return true;
      if (body->parent < 0) return false;
    }
  }
  bool is_declared_at(int k) const;
  bool is_reference(const std::string& name) const;

  const Unit& u_;
  const Tokens& t_;
  NumberFunctions& functions_;
  const Body& body_;
  std::set<std::string> arrays_, pointers_, numbers_;  // of its own names: what they are
  std::map<std::string, bool> locality_;
};

}  // namespace simtcc
