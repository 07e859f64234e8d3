// SPDX-License-Identifier: MIT
//
// Programmatic dependent launch: a kernel that may begin before the one ahead of it in its stream has ended. It waits by
// ptx::griddepcontrol_wait() before it touches what kernels ahead of it write, and by then it may have fetched what they do not.
// Day 60 takes it apart (day60_streams_and_graphs/06_dependent.cu). Needs compute capability 9.0, and code compiled for it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "common/check.h"

namespace days {

// kernel<<<grid, block, shared, stream>>>(arguments...), checked. early: it may begin before the kernel ahead of it has ended. May be
// captured into a graph.
template <class... Parameters>
void launch_dependent(bool early, void (*kernel)(Parameters...), dim3 grid, unsigned block, size_t shared,
                      cudaStream_t stream, std::type_identity_t<Parameters>... arguments) {
  cudaLaunchAttribute attribute[1] = {};
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(block);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = attribute;
  config.numAttrs = early ? 1 : 0;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace days
