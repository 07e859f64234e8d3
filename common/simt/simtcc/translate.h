// SPDX-License-Identifier: MIT
//
// CUDA C++ to C++: rewrites CUDA's words in preprocessed text and leaves everything else, lines included, as
// it was.
#pragma once

#include <stdexcept>
#include <string>

namespace simtcc {

/// What the user must mend: "file.cu:12: error: ...".
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string translate(const std::string& preprocessed);

}  // namespace simtcc
