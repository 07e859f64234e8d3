// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace simt {

struct SourceColumn {
  int line = 0, column = 0;  // from 1
};
// Line and column of the calls that return to these addresses, where the program's debug information tells.
std::map<const void*, SourceColumn> columns_of(const std::vector<const void*>& addresses);

}  // namespace simt
