// SPDX-License-Identifier: MIT
//
// A size whose alignment the type knows. More than the pointers tell is of no use here.
#pragma once

#include <cstddef>

namespace cuda {

template <::std::size_t kAlignment>
struct aligned_size_t {
  static constexpr ::std::size_t align = kAlignment;
  ::std::size_t value;
  explicit constexpr aligned_size_t(::std::size_t size) : value(size) {}
  constexpr operator ::std::size_t() const { return value; }
};

}  // namespace cuda
