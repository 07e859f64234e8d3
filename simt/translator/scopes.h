// SPDX-License-Identifier: MIT
//
// The structure of a translation unit as far as a translator needs it: declarations outside functions (and in
// classes) with their specifiers, and the bodies of functions and lambdas.
#pragma once

#include <vector>

#include "tokens.h"

namespace simtcc {

struct Declaration {
  enum Scope : char { in_namespace, in_class };
  Scope scope = in_namespace;
  bool global = false, device = false, host = false, shared = false;
  bool variable_space = false;  // __device__, __constant__ or __managed__
  bool is_static = false, is_extern = false, is_friend = false, is_inline = false, is_constexpr = false;
  bool is_template = false;
  bool specialisation = false;  // template <> ..., or an explicit instantiation
  bool instantiation = false;
  bool qualified = false;  // X::name, a member defined outside its class
  int begin = -1;          // after `template <...>` and its requires-clause
  int end = -1;            // the last token: ; or }
  int first_mark = -1;     // the first of __global__, __device__, ...
  int name = -1;
  int parameters = -1;  // the ( of a function
  int body = -1;        // the { of a function
  int launch_bounds = -1, cluster_dims = -1;
};

struct Body {
  int open, close;
  int parent = -1;       // index of the body around this one
  int declaration = -1;  // of the function; -1: a lambda
  int introducer = -1;   // the [ of a lambda
  int parameters = -1;
  bool device = false;       // runs (also) in kernels
  bool device_only = false;  // never on the host
  bool is_constexpr = false;
};

class Scopes {
 public:
  explicit Scopes(const Tokens& tokens);

  std::vector<Declaration> declarations;
  std::vector<Body> bodies;  // a body comes after the one around it
  /// The innermost body around a token, or null.
  const Body* body_around(int token) const;

 private:
  void read_region(int begin, int end, Declaration::Scope scope, int parent);
  int read_declaration(int i, int end, Declaration::Scope scope, int parent);
  int read_declarator(int i, int end, Declaration& d, int parent);
  int read_function_body(int brace, Declaration& d, int parent);
  void read_word(int i, Declaration& d);
  int read_parenthesis(int i, Declaration& d) const;
  int class_body(int i, int end) const;
  void read_code(int begin, int end, int parent);
  int read_lambda(int introducer, int parent);
  int lambda_body(int introducer, Body& body) const;
  int skip_constraint(int i) const;

  const Tokens& t_;
  std::vector<int> owner_;
};

/// Words that may be followed by arguments in parentheses without being a declarator.
bool is_attribute(std::string_view word);
/// __global__, __device__ and the others that say where something lives.
bool is_mark(std::string_view word);

}  // namespace simtcc
