// SPDX-License-Identifier: MIT
//
// Names and texts of errors. The state behind cudaGetLastError() is the runtime's, because launches set it.

#include "api/calls.h"

namespace simt {

cudaError_t result(cudaError_t error) {
  if (const cudaError_t sticky = sticky_error()) return sticky;
  set_error(error);
  return error;
}

}  // namespace simt

extern "C" {

cudaError_t cudaGetLastError() {
  return simt::take_error();
}
cudaError_t cudaPeekAtLastError() {
  return simt::peek_error();
}

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
