// SPDX-License-Identifier: MIT
#pragma once

#include "common/compare.h"
#include "day16_device_query/device_query.h"

namespace day16 {

// Whether y is right, bit for bit and for every element, where the reference would take minutes: an element's
// result depends on its own x alone, so each different x is worked out once. The ladder's inputs repeat a
// thousand values.
days::Report fma_check_large(const Fma<float>&);

}  // namespace day16
