// SPDX-License-Identifier: MIT
//
// CUDA C++ to C++: rewrites CUDA's words in preprocessed text and leaves everything else, lines included, as
// it was.
#pragma once

#include <string>

#include "mutants.h"
#include "tokens.h"

namespace simtcc {

struct Options {
  bool relocatable = false;    // nvcc's -rdc=true: device functions and variables may be other files', too
  bool checked = false;        // each access is watched
  bool traced = false;         // marks the loops and branches of device code
  bool inlined = false;        // each kernel with all that it calls is to become one function
  Mutants* mutants = nullptr;  // where given: device code gets them, and they are listed there
};

/// Throws Error where the text cannot be translated.
std::string translate(const std::string& preprocessed, const Options& options = {});

}  // namespace simtcc
