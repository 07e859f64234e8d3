// SPDX-License-Identifier: MIT
//
// What the translator puts into device code of builds with mutants (translator/rewrite_mutants.cpp): is this
// the mutant of this run?
#pragma once

#include <cstdint>

namespace simt {

// SIMT_MUTANT: 0 none, 1 notes which are reached.
extern std::uint32_t mutant_of_this_run;
bool mutant_is_reached(std::uint32_t id);

inline bool mutant_now(std::uint32_t id) {
  const std::uint32_t run = mutant_of_this_run;
  return __builtin_expect(run == id || run == 1, 0) && mutant_is_reached(id);
}
// Constants of the language are always the right ones.
constexpr bool mutant(std::uint32_t id) {
  return !__builtin_is_constant_evaluated() && mutant_now(id);
}

// a < b is written as a < Less(17) > b: the first operator keeps a, the second compares.
template <class Mark, class Operand>
struct Compared {
  const Operand& left;
  std::uint32_t id;
};

#define SIMT_COMPARISON(NAME, RIGHT, SECOND, WRONG)                                             \
  struct NAME {                                                                                 \
    std::uint32_t id;                                                                           \
    constexpr explicit NAME(std::uint32_t mutant_id) : id(mutant_id) {}                         \
  };                                                                                            \
  template <class Operand>                                                                      \
  constexpr Compared<NAME, Operand> operator RIGHT(const Operand& left, const NAME& mark) {     \
    return {left, mark.id};                                                                     \
  }                                                                                             \
  template <class Operand, class Other>                                                         \
  constexpr bool operator SECOND(const Compared<NAME, Operand>& compared, const Other& right) { \
    return mutant(compared.id) ? compared.left WRONG right : compared.left RIGHT right;         \
  }

SIMT_COMPARISON(Less, <, >, <=)
SIMT_COMPARISON(LessEqual, <=, >, <)
SIMT_COMPARISON(Greater, >, <, >=)
SIMT_COMPARISON(GreaterEqual, >=, <, >)
SIMT_COMPARISON(Equal, ==, ==, !=)
SIMT_COMPARISON(NotEqual, !=, !=, ==)
#undef SIMT_COMPARISON

}  // namespace simt
