// SPDX-License-Identifier: MIT
//
// Arrive/wait barriers in shared memory.
#ifndef _CUDA_AWBARRIER_PRIMITIVES_H_
#define _CUDA_AWBARRIER_PRIMITIVES_H_

#include <stdint.h>

#include "simt/async_copies.h"

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

inline uint32_t __mbarrier_maximum_count() {
  return (1u << 20) - 1;
}
inline void __mbarrier_init(__mbarrier_t* barrier, uint32_t arrivals) {
  simt::mbarrier_init(barrier, arrivals);
}
inline void __mbarrier_inval(__mbarrier_t* barrier) {
  simt::mbarrier_inval(barrier);
}
inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) {
  return simt::mbarrier_arrive(barrier);
}
inline __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
  return simt::mbarrier_arrive_drop(barrier);
}
inline bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token,
                                 simt::Site site = simt::here()) {
  return simt::mbarrier_test(barrier, token, site);
}
inline bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity, simt::Site site = simt::here()) {
  return simt::mbarrier_test_parity(barrier, parity, site);
}
inline bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, uint32_t = 0,
                                simt::Site site = simt::here()) {
  return simt::mbarrier_test(barrier, token, site);
}
inline bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, uint32_t = 0,
                                       simt::Site site = simt::here()) {
  return simt::mbarrier_test_parity(barrier, parity, site);
}
inline uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) {
  return simt::mbarrier_pending_count(token);
}

#endif
