// SPDX-License-Identifier: MIT
//
// CUDA C++ to C++: rewrites CUDA's words in preprocessed text and leaves everything else, lines included, as
// it was.
#pragma once

#include <string>

#include "tokens.h"

namespace simtcc {

/// Throws Error where the text cannot be translated.
std::string translate(const std::string& preprocessed);

}  // namespace simtcc
