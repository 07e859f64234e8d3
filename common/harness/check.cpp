// SPDX-License-Identifier: MIT
//
// What common/check.h throws.
#include "common/check.h"

#include <stdexcept>
#include <string>

#include "common/error.h"

namespace days::detail {

void throw_cuda_error(cudaError_t code, const char* expression, const char* file, int line) {
  throw CudaError(code, expression, file, line);
}

void throw_invalid_argument(std::initializer_list<Piece> pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::kText) {
      text += piece.text;
      continue;
    }
    text += ' ';  // not " " + ..., for which g++ 12 warns of an overlap that cannot be
    text += piece.kind == Piece::kReal     ? std::to_string(piece.real)
            : piece.kind == Piece::kSigned ? std::to_string(static_cast<long long>(piece.whole))
                                           : std::to_string(piece.whole);
  }
  throw std::invalid_argument(text);
}

}  // namespace days::detail
