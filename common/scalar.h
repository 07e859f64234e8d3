// SPDX-License-Identifier: MIT
#pragma once

namespace days {

// A number of a problem that is no extent, such as an epsilon, where a ladder's .inputs sets it: `value`, unless the caller of the
// day's shared library has given another under this name (days_scalars). Defined in library.cpp.
//
//   p.eps = static_cast<float>(days::scalar("eps", 1e-5));
double scalar(const char* name, double value);

}  // namespace days
