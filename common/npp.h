// SPDX-License-Identifier: MIT
//
// For baselines/npp.cu alone: NPP's calls take a stream with facts about its device, and return a status.
#pragma once

#include <cuda_runtime.h>
#include <nppdefs.h>

#include <stdexcept>
#include <string>

#include "common/check.h"
#include "common/util.h"

namespace days {

inline void check_npp(NppStatus status, const char* expression) {
  if (status != NPP_SUCCESS)
    throw std::runtime_error(std::string(expression) + " returned " +
                             std::to_string(static_cast<int>(status)));
}

// The device's facts are asked for once: the course uses one device in a process.
inline NppStreamContext npp_context(cudaStream_t stream) {
  static const NppStreamContext device = [] {
    NppStreamContext c{};
    CUDA_CHECK(cudaGetDevice(&c.nCudaDeviceId));
    c.nMultiProcessorCount = multiprocessors();
    c.nMaxThreadsPerMultiProcessor = device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    c.nMaxThreadsPerBlock = device_attribute(cudaDevAttrMaxThreadsPerBlock);
    c.nSharedMemPerBlock = static_cast<size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlock));
    c.nCudaDevAttrComputeCapabilityMajor = device_attribute(cudaDevAttrComputeCapabilityMajor);
    c.nCudaDevAttrComputeCapabilityMinor = device_attribute(cudaDevAttrComputeCapabilityMinor);
    return c;
  }();
  NppStreamContext context = device;
  context.hStream = stream;
  CUDA_CHECK(cudaStreamGetFlags(stream, &context.nStreamFlags));
  return context;
}

}  // namespace days

#define NPP_CHECK(expression) ::days::check_npp((expression), #expression)
