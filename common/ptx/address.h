// SPDX-License-Identifier: MIT
//
// What the other headers of common/ptx share.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifdef __SIMT__
#include "simt/async_copies.h"
// Where a wait stands in the kernel, for reports; no call names it.
#define DAYS_PTX_SITE simt::Site site = simt::here()
#define DAYS_PTX_AND_SITE , DAYS_PTX_SITE
#else
#define DAYS_PTX_SITE
#define DAYS_PTX_AND_SITE
#endif

namespace days::ptx {

#ifndef __SIMT__
namespace detail {
// Most instructions on shared memory take its 32-bit addresses.
__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
}  // namespace detail
#endif

}  // namespace days::ptx
