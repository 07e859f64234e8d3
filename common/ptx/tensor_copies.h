// SPDX-License-Identifier: MIT
//
// Bulk tensor copies: boxes of a tensor of 1 to 5 dimensions, which cuTensorMapEncodeTiled described on the
// host; compute capability 9.0 and later. Included by common/ptx.h.
//
// The box begins at a multiple of 16 bytes of its row, also before the row's first: else the GPU stops at an illegal instruction.
// The shared address is a multiple of 128; a swizzle follows the bits of that address, so a tile that the
// kernel indexes from its own start must start at a multiple of 256, 512 or 1,024 (for the swizzles of 32, 64
// and 128 bytes). A load counts the whole box at its barrier, with the part outside of the tensor, which is
// filled; a store leaves that part out.
#pragma once

#include <cuda.h>

#include "common/ptx/address.h"

namespace days::ptx {

// prefetch.tensormap: fetches the map, a __grid_constant__ parameter, ahead of its first use. Section
// "prefetch".
__device__ __forceinline__ void prefetch_tensormap(const CUtensorMap* map) {
#ifdef __SIMT__
  static_cast<void>(map);
#elif __CUDA_ARCH__ >= 900
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

// For each number of dimensions, coordinates of the box's first element given innermost dimension first:
//
// cp_async_bulk_tensor(shared, map, x, y, barrier) is
//   cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// cp_async_bulk_tensor_multicast(shared, map, x, y, barrier, blocks) is the same with
//   .multicast::cluster, to the same place in each block whose rank is a bit of `blocks`, where that block's
//   own barrier counts. For compute capability 9.0a.
// cp_async_bulk_tensor_store(map, shared, x, y) is
//   cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// cp_reduce_async_bulk_tensor_add(map, shared, x, y) is
//   cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group
//
// Sections "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor".
#define DAYS_PTX_LIST(...) __VA_ARGS__
#ifdef __SIMT__
#define DAYS_PTX_TENSOR(rank, parameters, coordinates, load, store, operands)                            \
  __device__ __forceinline__ void cp_async_bulk_tensor(void* shared, const CUtensorMap* map, parameters, \
                                                       uint64_t* barrier) {                              \
    const int at[] = {coordinates};                                                                      \
    simt::tensor_to_shared(shared, map, at, rank, barrier);                                              \
  }                                                                                                      \
  __device__ __forceinline__ void cp_async_bulk_tensor_multicast(                                        \
      void* shared, const CUtensorMap* map, parameters, uint64_t* barrier, uint16_t blocks) {            \
    const int at[] = {coordinates};                                                                      \
    simt::tensor_to_shared(shared, map, at, rank, barrier, blocks);                                      \
  }                                                                                                      \
  __device__ __forceinline__ void cp_async_bulk_tensor_store(const CUtensorMap* map, const void* shared, \
                                                             parameters) {                               \
    const int at[] = {coordinates};                                                                      \
    simt::tensor_to_global(map, shared, at, rank);                                                       \
  }                                                                                                      \
  __device__ __forceinline__ void cp_reduce_async_bulk_tensor_add(const CUtensorMap* map,                \
                                                                  const void* shared, parameters) {      \
    const int at[] = {coordinates};                                                                      \
    simt::tensor_to_global(map, shared, at, rank, simt::Reduction::add);                                 \
  }
#elif __CUDA_ARCH__ >= 900
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define DAYS_PTX_MULTICAST(rank, load, operands)                                                       \
  asm volatile(                                                                                        \
      "cp.async.bulk.tensor." #rank                                                                    \
      "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, " load \
      "], [%2], %3;" ::"r"(detail::shared_address(shared)),                                            \
      "l"(map), "r"(detail::shared_address(barrier)), "h"(blocks), operands                            \
      : "memory")
#else
#define DAYS_PTX_MULTICAST(rank, load, operands) static_cast<void>(blocks)
#endif
#define DAYS_PTX_TENSOR(rank, parameters, coordinates, load, store, operands)                                \
  __device__ __forceinline__ void cp_async_bulk_tensor(void* shared, const CUtensorMap* map, parameters,     \
                                                       uint64_t* barrier) {                                  \
    asm volatile("cp.async.bulk.tensor." #rank                                                               \
                 "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " load               \
                 "], [%2];" ::"r"(detail::shared_address(shared)),                                           \
                 "l"(map), "r"(detail::shared_address(barrier)), "h"(uint16_t{0}), operands                  \
                 : "memory");                                                                                \
  }                                                                                                          \
  __device__ __forceinline__ void cp_async_bulk_tensor_multicast(                                            \
      void* shared, const CUtensorMap* map, parameters, uint64_t* barrier, uint16_t blocks) {                \
    DAYS_PTX_MULTICAST(rank, load, DAYS_PTX_LIST(operands));                                                 \
  }                                                                                                          \
  __device__ __forceinline__ void cp_async_bulk_tensor_store(const CUtensorMap* map, const void* shared,     \
                                                             parameters) {                                   \
    asm volatile("cp.async.bulk.tensor." #rank "d.global.shared::cta.tile.bulk_group [%0, " store            \
                 "], [%1];" ::"l"(map),                                                                      \
                 "r"(detail::shared_address(shared)), operands                                               \
                 : "memory");                                                                                \
  }                                                                                                          \
  __device__ __forceinline__ void cp_reduce_async_bulk_tensor_add(const CUtensorMap* map,                    \
                                                                  const void* shared, parameters) {          \
    asm volatile("cp.reduce.async.bulk.tensor." #rank "d.global.shared::cta.add.tile.bulk_group [%0, " store \
                 "], [%1];" ::"l"(map),                                                                      \
                 "r"(detail::shared_address(shared)), operands                                               \
                 : "memory");                                                                                \
  }
#else
#define DAYS_PTX_TENSOR(rank, parameters, coordinates, load, store, operands)                               \
  __device__ __forceinline__ void cp_async_bulk_tensor(void*, const CUtensorMap*, parameters, uint64_t*) {  \
    sink(coordinates);                                                                                      \
  }                                                                                                         \
  __device__ __forceinline__ void cp_async_bulk_tensor_multicast(void*, const CUtensorMap*, parameters,     \
                                                                 uint64_t*, uint16_t) {                     \
    sink(coordinates);                                                                                      \
  }                                                                                                         \
  __device__ __forceinline__ void cp_async_bulk_tensor_store(const CUtensorMap*, const void*, parameters) { \
    sink(coordinates);                                                                                      \
  }                                                                                                         \
  __device__ __forceinline__ void cp_reduce_async_bulk_tensor_add(const CUtensorMap*, const void*,          \
                                                                  parameters) {                             \
    sink(coordinates);                                                                                      \
  }
#endif

#if !defined(__SIMT__) && !(__CUDA_ARCH__ >= 900)
template <class... Coordinates>
__device__ __forceinline__ void sink(Coordinates...) {}
#endif

DAYS_PTX_TENSOR(1, int x, x, "{%4}", "{%2}", "r"(x))
DAYS_PTX_TENSOR(2, DAYS_PTX_LIST(int x, int y), DAYS_PTX_LIST(x, y), "{%4, %5}", "{%2, %3}",
                DAYS_PTX_LIST("r"(x), "r"(y)))
DAYS_PTX_TENSOR(3, DAYS_PTX_LIST(int x, int y, int z), DAYS_PTX_LIST(x, y, z), "{%4, %5, %6}", "{%2, %3, %4}",
                DAYS_PTX_LIST("r"(x), "r"(y), "r"(z)))
DAYS_PTX_TENSOR(4, DAYS_PTX_LIST(int x, int y, int z, int w), DAYS_PTX_LIST(x, y, z, w), "{%4, %5, %6, %7}",
                "{%2, %3, %4, %5}", DAYS_PTX_LIST("r"(x), "r"(y), "r"(z), "r"(w)))
DAYS_PTX_TENSOR(5, DAYS_PTX_LIST(int x, int y, int z, int w, int v), DAYS_PTX_LIST(x, y, z, w, v),
                "{%4, %5, %6, %7, %8}", "{%2, %3, %4, %5, %6}",
                DAYS_PTX_LIST("r"(x), "r"(y), "r"(z), "r"(w), "r"(v)))
#undef DAYS_PTX_TENSOR
#undef DAYS_PTX_LIST
#undef DAYS_PTX_MULTICAST

}  // namespace days::ptx
