// SPDX-License-Identifier: MIT
//
// Errors. CUDA_CHECK wraps every call of the CUDA API, CUDA_CHECK_LAUNCH() follows every <<<>>>,
// days::require guards what a launcher needs of its problem. All three throw: nothing is printed and carried
// on from, and no build turns them off.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <type_traits>

namespace days {

class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const char* expression, const char* file, int line)
      : std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + expression + " returned " +
                           cudaGetErrorName(code) + ": " + cudaGetErrorString(code)),
        code_(code) {}
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

// Throws CudaError unless the call succeeded. A failed call also leaves its error for cudaGetLastError() to
// find, where the next launch check would report it a second time, in the wrong place: so it is taken away
// here. (An error that left the device unusable comes back from every call all the same.)
inline void check_cuda(cudaError_t code, const char* expression, const char* file, int line) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw CudaError(code, expression, file, line);
}

namespace detail {

// Text is joined as it is; a number gets a space before it.
inline void append(std::string& text, const std::string& piece) {
  text += piece;
}
template <class N, std::enable_if_t<std::is_arithmetic_v<N>, int> = 0>
void append(std::string& text, N value) {
  text += ' ';  // not " " + ..., for which g++ 12 warns of an overlap that cannot be
  text += std::to_string(value);
}

}  // namespace detail

// Throws std::invalid_argument unless `condition` holds. The message names the value:
//   days::require(p.n > 0, "float4: n must be positive, not", p.n);
template <class... Pieces>
void require(bool condition, const Pieces&... pieces) {
  if (condition) return;
  std::string text;
  (detail::append(text, pieces), ...);
  throw std::invalid_argument(text);
}

}  // namespace days

#define CUDA_CHECK(expression) ::days::check_cuda((expression), #expression, __FILE__, __LINE__)

// Right after a launch: finds what was wrong with the launch itself (too many threads, no such kernel for
// this GPU). What goes wrong while the kernel runs is found by a later call.
#define CUDA_CHECK_LAUNCH() ::days::check_cuda(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)
