// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace days {

// Scratch memory that a variant asked for with .workspace(...); the harness owns it. Its contents are
// undefined at launch.
struct Workspace {
  void* data = nullptr;
  size_t bytes = 0;
};

}  // namespace days
