// SPDX-License-Identifier: MIT
//
// Names and texts of errors. The state behind cudaGetLastError() is the runtime's, because launches set it.

#include "api/internal.h"

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define SIMT_ERROR(number, name, text) \
  case number:                         \
    return #name;
#include "simt/error_list.h"
#undef SIMT_ERROR
    default:
      return "unrecognized error code";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define SIMT_ERROR(number, name, text) \
  case number:                         \
    return text;
#include "simt/error_list.h"
#undef SIMT_ERROR
    default:
      return "unrecognized error code";
  }
}

}  // extern "C"
