// SPDX-License-Identifier: MIT
//
// Words and functions of loops over numbers, for rewrite_host_loops.cpp.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "rewrite.h"

namespace simtcc {

/// Numbers' types, as far as a word says it.
bool is_number_type(std::string_view word);
/// What may not stand in a loop that is to run unwatched: it leaves it, makes objects, turns one type into another,
/// or is rare.
bool is_refused(std::string_view word);
/// What may stand before a parenthesis without being called.
bool takes_parenthesis(std::string_view word);
bool is_keyword(std::string_view word);

/// Which functions are of numbers alone. The C library's are known by name. The file's own are those that are given
/// values, index and follow nothing, and call nothing else.
class NumberFunctions {
 public:
  explicit NumberFunctions(const Unit& unit);
  bool is(std::string_view name);

 private:
  bool looks_at_numbers(const Declaration& d);

  const Unit& u_;
  const Tokens& t_;
  std::map<std::string_view, std::vector<const Declaration*>> by_name_;
  std::map<std::string_view, bool> known_;
};

}  // namespace simtcc
