// SPDX-License-Identifier: MIT
//
// Mutants: small bugs of device code, all of which one build holds. Which of them is there is said when the
// program runs (SIMT_MUTANT, runtime/mutants.cpp).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace simtcc {

struct Mutant {
  std::uint32_t id;  // made of place and edit, so that a header's mutants are the same in all files
  std::string file;
  long line;
  long column;
  std::string edit;  // "< becomes <="
};

struct Mutants {
  /// Lines that stay as they are, because the compiler refused a mutant there.
  std::set<std::pair<std::string, long>> spared;
  /// What translate() made.
  std::vector<Mutant> made;

  /// A line for each: id, file, line, column and edit, with tabs between them.
  std::string list() const;
  /// Spares the lines that a compiler's output names as wrong; returns whether there were any.
  bool spare(const std::string& messages);
};

}  // namespace simtcc
