// SPDX-License-Identifier: MIT
//
// Errors. CUDA_CHECK wraps every call of the CUDA API, CUDA_CHECK_LAUNCH() follows every <<<>>>,
// days::require guards what a launcher needs of its problem. All three throw: nothing is printed and carried
// on from, and no build turns them off. The messages are made in core.cpp, so that kernel files need
// no <string>, which takes longer to compile than many a kernel.
#pragma once

#include <cuda_runtime.h>

#include <initializer_list>
#include <type_traits>

namespace days {
namespace detail {

// A part of a message: text, which is somebody else's, or a number.
struct Piece {
  Piece(const char* words) : text(words) {}
  template <class S>
  requires requires(const S& s) { s.c_str(); }
  Piece(const S& words) : text(words.c_str()) {}
  template <class N, std::enable_if_t<std::is_arithmetic_v<N>, int> = 0>
  Piece(N number) {
    if constexpr (std::is_floating_point_v<N>) {
      kind = kReal;
      real = static_cast<double>(number);
    } else {
      kind = std::is_signed_v<N> ? kSigned : kUnsigned;
      whole = static_cast<unsigned long long>(number);
    }
  }

  enum { kText, kSigned, kUnsigned, kReal } kind = kText;
  const char* text = nullptr;
  unsigned long long whole = 0;
  double real = 0;
};

[[noreturn]] void throw_cuda_error(cudaError_t code, const char* expression, const char* file, int line);
[[noreturn]] void throw_invalid_argument(std::initializer_list<Piece> pieces);

}  // namespace detail

// Throws CudaError (common/error.h) unless the call succeeded. A failed call also leaves its error for
// cudaGetLastError() to find, where the next launch check would report it a second time, in the wrong place:
// so it is taken away here. (An error that left the device unusable comes back from every call all the same.)
inline void check_cuda(cudaError_t code, const char* expression, const char* file, int line) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  detail::throw_cuda_error(code, expression, file, line);
}

// Throws std::invalid_argument unless `condition` holds. The message names the value, text (const char*,
// std::string) as it is and a number after a space:
//   days::require(p.n > 0, "float4: n must be positive, not", p.n);
template <class... Pieces>
void require(bool condition, const Pieces&... pieces) {
  if (!condition) detail::throw_invalid_argument({detail::Piece(pieces)...});
}

}  // namespace days

#define CUDA_CHECK(expression) ::days::check_cuda((expression), #expression, __FILE__, __LINE__)

// Right after a launch: finds what was wrong with the launch itself (too many threads, no such kernel for
// this GPU). What goes wrong while the kernel runs is found by a later call.
#define CUDA_CHECK_LAUNCH() ::days::check_cuda(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)
