// SPDX-License-Identifier: MIT
//
// The driver's functions that programs fetch by name.
#include <cuda.h>

#include <cstring>

#include "api/calls.h"

namespace simt {

void* driver_function(const char* symbol) {
  const struct {
    const char* name;
    void* address;
  } known[] = {
      {"cuTensorMapEncodeTiled", reinterpret_cast<void*>(&cuTensorMapEncodeTiled)},
      {"cuTensorMapReplaceAddress", reinterpret_cast<void*>(&cuTensorMapReplaceAddress)},
  };
  for (const auto& function : known)
    if (std::strcmp(symbol, function.name) == 0) return function.address;
  return nullptr;
}

}  // namespace simt
