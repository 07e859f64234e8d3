// SPDX-License-Identifier: MIT
//
// What cuTensorMapEncodeTiled() puts into a CUtensorMap, here.
#pragma once

#include "simt/async_copies.h"

namespace simt {

enum class Swizzle : std::uint8_t { none, bytes32, bytes64, bytes128 };

constexpr std::uint32_t kTensorMapMagic = 0x54656e73;

struct TensorMap {
  char* base;
  std::uint64_t extent[5];  // elements, innermost dimension first
  std::uint64_t stride[4];  // bytes, of dimensions 1 to 4
  std::uint16_t box[5];
  std::uint8_t element_stride[5];
  std::uint8_t rank;
  ElementType type;
  Swizzle swizzle;
  bool nan_fill;
  bool rounds_to_tf32;
  std::uint32_t magic;
};
static_assert(sizeof(TensorMap) <= 128);

}  // namespace simt
