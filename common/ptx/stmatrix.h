// SPDX-License-Identifier: MIT
//
// stmatrix of one and of two matrices, beside that of four (common/ptx/matrix.h). Not included by common/ptx.h, as few files want it.
#pragma once

#include "common/ptx/matrix.h"

namespace days::ptx {

// stmatrix.sync.aligned.m8n8.x1|x2.shared.b16: lane 8 * i + j brings the address of row j of matrix i; those of other lanes do not count. For compute
// capability 9.0 and later. Section "stmatrix".
template <bool kTransposed = false>
__device__ __forceinline__ void stmatrix(void* row, const uint32_t (&s)[1] DAYS_PTX_AND_SITE) {
#ifdef __SIMT__
  simt::stmatrix(row, s, 1, kTransposed, site);
#elif __CUDA_ARCH__ >= 900
  const uint32_t to = detail::shared_address(row);
  if constexpr (kTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(to), "r"(s[0])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(to), "r"(s[0]) : "memory");
  }
#endif
}
template <bool kTransposed = false>
__device__ __forceinline__ void stmatrix(void* row, const uint32_t (&s)[2] DAYS_PTX_AND_SITE) {
#ifdef __SIMT__
  simt::stmatrix(row, s, 2, kTransposed, site);
#elif __CUDA_ARCH__ >= 900
  const uint32_t to = detail::shared_address(row);
  if constexpr (kTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(s[0]),
                 "r"(s[1])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(s[0]), "r"(s[1])
                 : "memory");
  }
#endif
}

}  // namespace days::ptx
