// SPDX-License-Identifier: MIT
// Whether results are right that are not unique, on host pointers.
#pragma once

#include "common/compare.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/top_k.h"

namespace day62 {

// y[0 .. *count) are what x has above the threshold: in the order of x, or in any.
days::Report check_stable_compaction(const Compaction<float>&);
days::Report check_compaction(const Compaction<float>&);

// Each index is a column that its row has not taken before, and x has the value there.
template <class T>
days::Report check_indices(const TopK<T>&);

}  // namespace day62
