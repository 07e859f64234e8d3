// SPDX-License-Identifier: MIT
//
// Tensor maps: what a bulk tensor copy (common/ptx.h) has to know of a matrix in global memory. A launcher
// makes one a launch and passes it to the kernel as `const __grid_constant__ CUtensorMap`; that costs the CPU
// less than a microsecond and no memory.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/check.h"
#include "common/types.h"

namespace days {

namespace detail {

using TensorMapEncode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                     const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                                     CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                     CUtensorMapFloatOOBfill);

// The driver's cuTensorMapEncodeTiled, asked for by name, so that no program needs -lcuda.
inline TensorMapEncode tensor_map_encode() {
  static const TensorMapEncode found = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult answer{};
#if CUDART_VERSION >= 12050
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                                &answer));
#else
    CUDA_CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &answer));
#endif
    if (answer != cudaDriverEntryPointSuccess || function == nullptr) CUDA_CHECK(cudaErrorNotSupported);
    return reinterpret_cast<TensorMapEncode>(function);
  }();
  return found;
}

template <class T>
constexpr CUtensorMapDataType tensor_map_type() {
  if constexpr (std::is_same_v<T, float>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  if constexpr (std::is_same_v<T, double>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  if constexpr (std::is_same_v<T, half>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if constexpr (std::is_same_v<T, bf16>) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if constexpr (sizeof(T) == 1)
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;  // bytes of integers and of 8-bit floats alike
}

// A tensor of kRank extents, innermost first, whose outer dimensions are `pitch` bytes apart, in boxes.
template <int kRank, class T>
CUtensorMap tensor_map(const T* data, const cuuint64_t (&extents)[kRank],
                       const cuuint64_t (&pitch)[kRank - 1], const cuuint32_t (&box)[kRank],
                       CUtensorMapSwizzle swizzle) {
  cuuint32_t steps[kRank] = {};
  for (cuuint32_t& step : steps) step = 1;
  CUtensorMap map;
  const CUresult result =
      tensor_map_encode()(&map, tensor_map_type<T>(), kRank, const_cast<T*>(data), extents, pitch, box, steps,
                          CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  require(result == CUDA_SUCCESS, "cuTensorMapEncodeTiled refuses the matrix with error",
          static_cast<int>(result));
  return map;
}

}  // namespace detail

// A row-major matrix without padding, of which one copy moves a box of box_rows x box_cols elements (each at
// most 256). What a box has outside of the matrix is read as zeros and not written. `data` and the rows'
// lengths in bytes must be multiples of 16; with a swizzle a box's row has at most the swizzle's bytes.
template <class T>
CUtensorMap tensor_map(const T* data, int64_t rows, int64_t cols, int box_rows, int box_cols,
                       CUtensorMapSwizzle swizzle) {
  return detail::tensor_map<2>(data, {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)},
                               {static_cast<cuuint64_t>(cols) * sizeof(T)},
                               {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows)},
                               swizzle);
}

// The same of matrices whose rows begin `pitch` elements apart, and of which `count` begin `apart` elements apart: a copy's third coordinate
// says which. Both in bytes are multiples of 16, below 2^40.
struct Pitched {
  int64_t rows, cols, pitch;
};
template <class T>
CUtensorMap batched_tensor_map(const T* data, const Pitched& matrix, int64_t count, int64_t apart,
                               int box_rows, int box_cols, CUtensorMapSwizzle swizzle) {
  return detail::tensor_map<3>(
      data,
      {static_cast<cuuint64_t>(matrix.cols), static_cast<cuuint64_t>(matrix.rows),
       static_cast<cuuint64_t>(count)},
      {static_cast<cuuint64_t>(matrix.pitch) * sizeof(T), static_cast<cuuint64_t>(apart) * sizeof(T)},
      {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows), 1}, swizzle);
}

}  // namespace days
