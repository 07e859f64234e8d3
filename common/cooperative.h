// SPDX-License-Identifier: MIT
//
// Cooperative launches: all blocks of the grid are on the device at once, so that they may wait for each other
// (cooperative_groups::this_grid().sync()). How many that can be, the device says and no constant.
//
//   const int most = days::resident_blocks(kernel, kThreads, bytes);       // its blocks and shared memory, not ours
//   days::launch_cooperative("together", kernel, std::min(most, wanted), kThreads, bytes, stream, p, parts);
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "common/check.h"
#include "common/util.h"

namespace days {

// How many blocks of the kernel the current device holds at once, of `threads` threads and `shared` bytes of dynamic shared
// memory each: 0 where not even one fits. Beyond 48 KiB of shared memory this sets the kernel's attribute.
template <class... Parameters>
int resident_blocks(void (*kernel)(Parameters...), int threads, size_t shared = 0) {
  if (shared > size_t{48} << 10)
    CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  int of_one = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, kernel, threads, shared));
  return of_one * multiprocessors();
}

// kernel<<<blocks, threads, shared, stream>>>(arguments...), cooperatively. Throws std::invalid_argument where the device cannot
// launch so, or does not hold so many blocks at once; else as a launch that is checked. May be captured into a graph.
template <class... Parameters>
void launch_cooperative(const char* variant, void (*kernel)(Parameters...), int blocks, int threads,
                        size_t shared, cudaStream_t stream, std::type_identity_t<Parameters>... arguments) {
  require(device_attribute(cudaDevAttrCooperativeLaunch) != 0, variant,
          ": this device has no cooperative launch, in which the blocks of a grid wait for each other");
  require(blocks > 0, variant, ": a launch needs a block at least, not", blocks);
  const int most = resident_blocks(kernel, threads, shared);
  require(blocks <= most, variant,
          ": blocks that wait for each other must all be on the device at once, which holds", most,
          " of these, not", blocks);
  void* pointers[] = {&arguments..., nullptr};
  CUDA_CHECK(cudaLaunchCooperativeKernel(kernel, static_cast<unsigned>(blocks),
                                         static_cast<unsigned>(threads), pointers, shared, stream));
}

}  // namespace days
