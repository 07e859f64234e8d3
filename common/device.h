// SPDX-License-Identifier: MIT
//
// The current device, and what a variant can require of it.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "common/check.h"
#include "common/util.h"

namespace days {

struct Device {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  size_t memory = 0, l2 = 0;                // bytes
  int clock_khz = 0, memory_clock_khz = 0;  // the most that they can be
  int driver = 0,
      runtime = 0;    // CUDA versions as 1000 * major + 10 * minor; driver: the newest that it supports
  bool simt = false;  // kernels run on this CPU
  int code = 0;  // what this program's kernels were compiled for, as 10 * major + minor; at most the device's

  std::string sm() const { return "sm_" + std::to_string(10 * major + minor); }
};

// What the harness's kernels were compiled for, and with them all others: 75 in a build for the T4, whatever
// device runs it. In harness.cu.
int compiled_architecture();

inline std::string cuda_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// The current device as CUDA describes it; `code` is left at what the device could run. Throws CudaError where
// there is none.
inline Device query_device() {
  Device d;
  int index = 0;
  CUDA_CHECK(cudaGetDevice(&index));
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  d.name = properties.name;
  d.major = properties.major;
  d.minor = properties.minor;
  d.multiprocessors = properties.multiProcessorCount;
  d.memory = properties.totalGlobalMem;
  d.l2 = static_cast<size_t>(properties.l2CacheSize);
  // CUDA 13 took the clocks out of cudaDeviceProp; the attributes are in every version.
  d.clock_khz = device_attribute(cudaDevAttrClockRate);
  d.memory_clock_khz = device_attribute(cudaDevAttrMemoryClockRate);
  CUDA_CHECK(cudaDriverGetVersion(&d.driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&d.runtime));
#ifdef __SIMT__
  d.simt = true;
#endif
  d.code = 10 * d.major + d.minor;
  return d;
}

// The same, queried once, with what this program was compiled for. Needs the harness.
inline const Device& current_device() {
  static const Device device = [] {
    Device d = query_device();
    if (!d.simt) d.code = compiled_architecture();
    return d;
  }();
  return device;
}

// What a variant needs of the device, with the text that the table shows where it is not met: "needs sm_90".
// `code` is what it must be compiled for at least: elsewhere its kernel's body is empty.
struct Requirement {
  const char* text;
  bool (*met)(const Device&);
  int code = 0;
};

inline constexpr Requirement sm_80{"sm_80", [](const Device& d) { return d.major >= 8; }, 80};
inline constexpr Requirement sm_89{
    "sm_89", [](const Device& d) { return d.major > 8 || (d.major == 8 && d.minor >= 9); }, 89};
inline constexpr Requirement sm_90{"sm_90", [](const Device& d) { return d.major >= 9; }, 90};
// Code for 90a runs on 9.0 alone: neither older nor newer devices have its instructions.
inline constexpr Requirement sm_90a{"sm_90", [](const Device& d) { return d.major == 9 && d.minor == 0; },
                                    90};

// For errors that say the machine, not the program, is at fault: what is wrong, in a line. (`./days doctor`
// tells the remedy.) Empty for every other error.
inline std::string machine_error(cudaError_t code) {
  switch (code) {
    case cudaErrorNoDevice:
      return "no NVIDIA GPU is visible here";
    case cudaErrorInsufficientDriver: {
      int driver = 0, runtime = 0;
      static_cast<void>(cudaDriverGetVersion(&driver));
      static_cast<void>(cudaRuntimeGetVersion(&runtime));
      if (driver == 0) return "no NVIDIA driver is installed";
      return "the driver knows CUDA " + cuda_version(driver) + ", older than this program's " +
             cuda_version(runtime);
    }
    case cudaErrorNoKernelImageForDevice:
      return "this program holds no code for this GPU";
    case cudaErrorUnsupportedPtxVersion:
      return "the driver is too old for this program's PTX";
    default:
      return "";
  }
}

}  // namespace days
