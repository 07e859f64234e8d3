// SPDX-License-Identifier: MIT
//
// cuda::std: on a CPU the C++ library's own names. What the course's oldest standard lacks stands in
// cuda/std/bit, span and mdspan.
#pragma once

namespace cuda {
namespace std {
using namespace ::std;
}  // namespace std
}  // namespace cuda
