// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace days {

// A number of a problem that is no extent, such as an epsilon, where a ladder's .inputs sets it: `value`, unless the caller of the
// day's shared library has given another under this name (days_scalars).
//
//   p.eps = static_cast<float>(days::scalar("eps", 1e-5));
double scalar(const char* name, double value);

namespace detail {

struct Scalar {
  std::string name;
  double value;
};
// This thread's: what was given, and where what is asked for is noted, if anywhere. For library.cpp.
struct Scalars {
  std::vector<Scalar> given;
  std::vector<Scalar>* asked = nullptr;
};
Scalars& scalars();

}  // namespace detail
}  // namespace days
