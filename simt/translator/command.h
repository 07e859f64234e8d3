// SPDX-License-Identifier: MIT
//
// A compile command taken apart: which of its words the preprocessor needs, which the compiler, which both.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace simtcc {

using Arguments = std::vector<std::string>;

/// A command that simtcc cannot carry out.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Command {
  std::string compiler;
  std::string source;  // the .cu file; empty: nothing to translate
  std::string object;
  /// -c, -S or -fsyntax-only; or -E, -M, -MM, which end after the preprocessor.
  std::string mode;
  Arguments preprocessor;  // flags for the preprocessor alone
  Arguments dependencies;  // -MD and its kind
  Arguments both;          // everything else

  bool only_preprocesses() const { return mode == "-E" || mode == "-M" || mode == "-MM"; }
};

/// Takes apart a compiler and its arguments.
Command parse_command(const Arguments& words);

/// The first half of the job: what the preprocessor is called with. `include` is the folder of the CUDA
/// headers.
Arguments preprocess_command(const Command& command, const std::string& include);
/// The second half: compiles the translated text.
Arguments compile_command(const Command& command, const std::string& translated, const Arguments& more);

}  // namespace simtcc
