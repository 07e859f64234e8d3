// SPDX-License-Identifier: MIT
//
// __pipeline_memcpy_async() and its kind.
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include "cuda_awbarrier_primitives.h"
#include "simt/async_copies.h"

// The last `zeros` of the bytes are not copied, but filled with zeros.
inline __attribute__((always_inline)) void __pipeline_memcpy_async(void* shared, const void* global,
                                                                   size_t bytes, size_t zeros = 0) {
  simt::async_copy(shared, global, static_cast<unsigned>(bytes), static_cast<unsigned>(bytes - zeros));
}
inline __attribute__((always_inline)) void __pipeline_commit() {
  simt::async_commit_group();
}
inline __attribute__((always_inline)) void __pipeline_wait_prior(size_t left) {
  simt::async_wait_group(static_cast<unsigned>(left));
}
inline __attribute__((always_inline)) void __pipeline_arrive_on(__mbarrier_t* barrier) {
  simt::async_arrive(barrier, false);
}

#endif
