// SPDX-License-Identifier: MIT
//
// cuTensorMapEncodeTiled: refuses what the driver of CUDA 13.0 refused on an H200 (which is less than its
// documentation asks for: strides need not grow), and keeps the rest for the copies.
#include "runtime/tensor_map.h"

#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

using simt::ElementType;

bool known(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_UINT8 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

// In the order of CUtensorMapDataType. Nothing is flushed to zero, as on an H200 whatever the name says.
constexpr ElementType kTypes[] = {ElementType::u8,  ElementType::u16,  ElementType::u32, ElementType::s32,
                                  ElementType::u64, ElementType::s64,  ElementType::f16, ElementType::f32,
                                  ElementType::f64, ElementType::bf16, ElementType::f32, ElementType::f32,
                                  ElementType::f32};

bool is_floating(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16 || type == ElementType::f32 ||
         type == ElementType::f64;
}

std::size_t size_of(ElementType type) {
  constexpr std::size_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return sizes[static_cast<int>(type)];
}

// No documentation tells a wrong argument's name apart from the error's number, so a line on stderr does.
CUresult refuse(const char* why) {
  std::fprintf(stderr, "cuTensorMapEncodeTiled: %s\n", why);
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
  if (!to) return refuse("tensorMap is null");
  if (!known(type)) return refuse("tensorDataType is unknown, or one that simt does not have");
  if (rank < 1 || rank > 5) return refuse("tensorRank must be 1 to 5");
  if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0)
    return refuse("globalAddress must be a multiple of 16");
  if (!extents || !box || !element_strides || (rank > 1 && !strides)) return refuse("an array is missing");
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: simt has no interleaved layouts\n");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return refuse("swizzle must be none, 32B, 64B or 128B");
  if (promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) return refuse("l2Promotion is unknown");

  simt::TensorMap map{};
  map.type = kTypes[type];
  const std::size_t size = size_of(map.type);
  if (fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) {
    if (!is_floating(map.type)) return refuse("oobFill of NaN needs a floating-point type");
    map.nan_fill = true;
  } else if (fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
    return refuse("oobFill is unknown");
  }
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (extents[i] == 0 || extents[i] > 1ull << 32) return refuse("globalDim must be 1 to 2^32");
    if (box[i] == 0 || box[i] > 256) return refuse("boxDim must be 1 to 256");
    if (element_strides[i] == 0 || element_strides[i] > 8) return refuse("elementStrides must be 1 to 8");
    map.extent[i] = extents[i];
    map.box[i] = static_cast<std::uint16_t>(box[i]);
    map.element_stride[i] = static_cast<std::uint8_t>(element_strides[i]);
  }
  for (cuuint32_t i = 0; i + 1 < rank; ++i) {
    if (strides[i] % 16 != 0 || strides[i] >= 1ull << 40)
      return refuse("globalStrides must be multiples of 16 below 2^40");
    map.stride[i] = strides[i];
  }
  std::size_t bytes = size;
  for (cuuint32_t i = 0; i < rank; ++i) bytes *= box[i];
  if (bytes >= 1 << 18) return refuse("the box must have less than 2^18 bytes");
  const std::size_t row = box[0] * size;
  if (row % 16 != 0) return refuse("boxDim[0] times the element's size must be a multiple of 16 bytes");
  constexpr std::size_t spans[] = {SIZE_MAX, 32, 64, 128};
  if (row > spans[swizzle])
    return refuse("boxDim[0] times the element's size must fit into the swizzle's span");

  map.base = static_cast<char*>(address);
  map.rank = static_cast<std::uint8_t>(rank);
  map.rounds_to_tf32 = type >= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  map.swizzle = static_cast<simt::Swizzle>(swizzle);
  map.magic = simt::kTensorMapMagic;
  std::memset(to, 0, sizeof *to);
  std::memcpy(to, &map, sizeof map);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  simt::TensorMap kept;
  if (!map || !address || reinterpret_cast<std::uintptr_t>(address) % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(&kept, map, sizeof kept);
  if (kept.magic != simt::kTensorMapMagic) return CUDA_ERROR_INVALID_VALUE;
  kept.base = static_cast<char*>(address);
  std::memcpy(map, &kept, sizeof kept);
  return CUDA_SUCCESS;
}
