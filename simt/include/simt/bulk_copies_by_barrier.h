// SPDX-License-Identifier: MIT
//
// cuda::device::experimental: bulk copies, with boxes of tensors, under the names of the CUDA guide. Included
// by cuda/barrier.
#pragma once

#include "simt/async_copies.h"

namespace cuda {
namespace device {
namespace experimental {

using Barrier = barrier<thread_scope_block>;

inline __attribute__((always_inline)) void cp_async_bulk_global_to_shared(void* to, const void* from,
                                                                          ::std::uint32_t bytes, Barrier& b) {
  ::simt::bulk_to_shared(to, from, bytes, b.simt_mbarrier());
}
inline __attribute__((always_inline)) void cp_async_bulk_shared_to_global(void* to, const void* from,
                                                                          ::std::uint32_t bytes) {
  ::simt::bulk_to_global(to, from, bytes);
}
template <class Map>
inline __attribute__((always_inline)) void cp_async_bulk_tensor_1d_global_to_shared(void* to, const Map* map,
                                                                                    int c0, Barrier& b) {
  const int at[] = {c0};
  ::simt::tensor_to_shared(to, map, at, 1, b.simt_mbarrier());
}
template <class Map>
inline __attribute__((always_inline)) void cp_async_bulk_tensor_2d_global_to_shared(void* to, const Map* map,
                                                                                    int c0, int c1,
                                                                                    Barrier& b) {
  const int at[] = {c0, c1};
  ::simt::tensor_to_shared(to, map, at, 2, b.simt_mbarrier());
}
template <class Map>
inline __attribute__((always_inline)) void cp_async_bulk_tensor_3d_global_to_shared(void* to, const Map* map,
                                                                                    int c0, int c1, int c2,
                                                                                    Barrier& b) {
  const int at[] = {c0, c1, c2};
  ::simt::tensor_to_shared(to, map, at, 3, b.simt_mbarrier());
}
template <class Map>
inline __attribute__((always_inline)) void cp_async_bulk_tensor_1d_shared_to_global(const Map* map, int c0,
                                                                                    const void* from) {
  const int at[] = {c0};
  ::simt::tensor_to_global(map, from, at, 1);
}
template <class Map>
inline __attribute__((always_inline)) void cp_async_bulk_tensor_2d_shared_to_global(const Map* map, int c0,
                                                                                    int c1,
                                                                                    const void* from) {
  const int at[] = {c0, c1};
  ::simt::tensor_to_global(map, from, at, 2);
}
template <class Map>
inline __attribute__((always_inline)) void cp_async_bulk_tensor_3d_shared_to_global(const Map* map, int c0,
                                                                                    int c1, int c2,
                                                                                    const void* from) {
  const int at[] = {c0, c1, c2};
  ::simt::tensor_to_global(map, from, at, 3);
}
// What threads wrote to shared memory is seen by the copies that follow; every access here sees it anyway.
inline void fence_proxy_async_shared_cta() {
  ::simt::fence_proxy_async();
}
inline void cp_async_bulk_commit_group() {
  ::simt::bulk_commit_group();
}
template <int kLeft>
inline void cp_async_bulk_wait_group_read() {
  ::simt::bulk_wait_group(kLeft, true);
}

}  // namespace experimental
}  // namespace device
}  // namespace cuda
