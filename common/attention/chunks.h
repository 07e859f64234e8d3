// SPDX-License-Identifier: MIT
//
// Softmax in parts, as far as whoever launches has to know: how long a part is, and where parts lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/util.h"

namespace days::attention {

// Keys of a block that has a part of a sequence. A number that depends on nothing, neither on the device nor on
// the batch, so that a sequence's bits are the same in any company.
inline constexpr int kChunkKeys = 256;

DAYS_HOST_DEVICE inline int chunks_of(int keys) {
  return days::ceil_div(keys, kChunkKeys);
}

// Parts of many blocks, in a workspace, aligned to 16 bytes: (count, dim) and (count).
struct Partials {
  float* o;    // each divided by its sum; of no keys 0
  float* lse;  // natural logarithms; of no keys -infinity
};
inline size_t partials_bytes(int64_t count, int dim) {
  return sizeof(float) * static_cast<size_t>(count) * (static_cast<size_t>(dim) + 1);
}
inline Partials partials_at(void* workspace, int64_t count, int dim) {
  float* const o = static_cast<float*>(workspace);
  return {o, o + count * dim};
}

}  // namespace days::attention
