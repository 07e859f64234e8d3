// SPDX-License-Identifier: MIT
//
// The runtime API's functions about kernels. A kernel is a host stub with the kernel's own signature here, so
// these are templates over it; simtcc strips the (void*) casts that programs put before it. Kernels that are
// a void* (kernel_pointers.h) have overloads at the end. Included by cuda_runtime_api.h.
#pragma once

#include <type_traits>
#include <utility>

#include "simt/kernel_pointers.h"
#include "simt/runtime.h"

namespace simt {
cudaError_t set_kernel_attribute(Kernel* kernel, cudaFuncAttribute attribute, int value);
cudaError_t get_kernel_attributes(const Kernel* kernel, cudaFuncAttributes* attributes);
cudaError_t kernel_name(const Kernel* kernel, const char** name);
// Blocks of a kernel that one multiprocessor holds at once; 0 where a block can never run.
cudaError_t active_blocks(const Kernel* kernel, int block_size, size_t dynamic_shared, int* blocks);
cudaError_t active_clusters(const Kernel* kernel, const cudaLaunchConfig_t* config, int* clusters);
cudaError_t available_shared(const Kernel* kernel, int blocks, int block_size, size_t* bytes);
// What a call returns: the sticky error of a failed launch if there is one, else `error`, which
// cudaGetLastError() gives.
cudaError_t result(cudaError_t error);

// A launch configuration: what <<<>>> says, and the rest.
struct LaunchConfig {
  dim3 grid, block;
  size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
  LaunchOptions options;
};
// Turns a launch configuration with attributes into the runtime's, or says what is wrong with it.
cudaError_t read_config(const cudaLaunchConfig_t* config, LaunchConfig* result);
cudaError_t check_cooperative(const Kernel* kernel, const LaunchConfig& config);
// What a launch has left behind: the error of this launch, which is also kept for cudaGetLastError().
class LaunchResult {
 public:
  LaunchResult();  // before the launch
  cudaError_t get();

 private:
  cudaError_t before_;
};

template <class... Parameters>
inline cudaError_t launch_with(void (*kernel)(Parameters...), const LaunchConfig& config, void** arguments) {
  LaunchResult outcome;
  if (config.options.cooperative) {
    if (const cudaError_t error = check_cooperative(kernel_of(kernel), config)) return error;
  }
  push_config(config.grid, config.block, config.dynamic_shared, config.stream, config.options);
  call_with(kernel, arguments, std::index_sequence_for<Parameters...>());
  return outcome.get();
}
}  // namespace simt

// ---- launches ----

template <class... Parameters>
inline cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                                    size_t dynamic_shared = 0, cudaStream_t stream = nullptr) {
  return simt::launch_with(kernel, simt::LaunchConfig{grid, block, dynamic_shared, stream, {}}, arguments);
}
template <class... Parameters>
inline cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                               void** arguments, size_t dynamic_shared = 0,
                                               cudaStream_t stream = nullptr) {
  return simt::launch_with(kernel, simt::LaunchConfig{grid, block, dynamic_shared, stream, {{1, 1, 1}, true}},
                           arguments);
}
template <class... Parameters>
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                       void** arguments) {
  simt::LaunchConfig read;
  if (const cudaError_t error = simt::read_config(config, &read)) return error;
  return simt::launch_with(kernel, read, arguments);
}
template <class... Parameters, class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                      Arguments&&... arguments) {
  simt::LaunchConfig read;
  if (const cudaError_t error = simt::read_config(config, &read)) return error;
  if (read.options.cooperative) {
    if (const cudaError_t error = simt::check_cooperative(simt::kernel_of(kernel), read)) return error;
  }
  simt::LaunchResult outcome;
  simt::push_config(read.grid, read.block, read.dynamic_shared, read.stream, read.options);
  kernel(std::forward<Arguments>(arguments)...);
  return outcome.get();
}

// ---- attributes ----

template <class... Parameters>
inline cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute,
                                        int value) {
  return simt::set_kernel_attribute(simt::kernel_of(kernel), attribute, value);
}
template <class... Parameters>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(Parameters...)) {
  return simt::get_kernel_attributes(simt::kernel_of(kernel), attributes);
}
template <class... Parameters>
inline cudaError_t cudaFuncGetName(const char** name, void (*kernel)(Parameters...)) {
  return simt::kernel_name(simt::kernel_of(kernel), name);
}
template <class... Parameters>
inline cudaError_t cudaFuncSetCacheConfig(void (*)(Parameters...), cudaFuncCache) {
  return cudaSuccess;
}
template <class... Parameters>
inline cudaError_t cudaFuncSetSharedMemConfig(void (*)(Parameters...), cudaSharedMemConfig) {
  return cudaSuccess;
}

// ---- occupancy ----

template <class... Parameters>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*kernel)(Parameters...),
                                                                 int block_size, size_t dynamic_shared) {
  return simt::active_blocks(simt::kernel_of(kernel), block_size, dynamic_shared, blocks);
}
template <class... Parameters>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, void (*kernel)(Parameters...), int block_size, size_t dynamic_shared, unsigned int) {
  return simt::active_blocks(simt::kernel_of(kernel), block_size, dynamic_shared, blocks);
}
template <class... Parameters>
inline cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, void (*kernel)(Parameters...),
                                                  const cudaLaunchConfig_t* config) {
  return simt::active_clusters(simt::kernel_of(kernel), config, clusters);
}
template <class... Parameters>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, void (*kernel)(Parameters...),
                                                             int blocks, int block_size) {
  return simt::available_shared(simt::kernel_of(kernel), blocks, block_size, bytes);
}
// The block size (a multiple of 32) that keeps most threads resident, the largest of equals, and the grid
// that fills the device with it. shared_of(block_size) gives the dynamic shared memory of a block.
template <class Stub, class SharedOf>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Stub kernel,
                                                                  SharedOf shared_of, int limit = 0) {
  const simt::Kernel* const found = simt::kernel_of(kernel);
  if (!grid || !block || limit < 0) return simt::result(cudaErrorInvalidValue);
  if (!found) return simt::result(cudaErrorInvalidDeviceFunction);
  const int most = limit > 0 && limit < 1024 ? limit : 1024;
  int best_threads = 0;
  *grid = *block = 0;
  for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
    const int tried = size < most ? size : most;
    int blocks = 0;
    if (const cudaError_t error =
            simt::active_blocks(found, tried, static_cast<size_t>(shared_of(tried)), &blocks)) {
      return error;
    }
    if (blocks * tried > best_threads) {
      best_threads = blocks * tried;
      *block = tried;
      *grid = blocks * simt::kMultiprocessors;
    }
  }
  return cudaSuccess;
}
template <class Stub>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Stub kernel,
                                                      size_t dynamic_shared = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [dynamic_shared](int) { return dynamic_shared; }, limit);
}

// ---- the same for a kernel that is a void* ----

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_shared = 0, cudaStream_t stream = nullptr);
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t dynamic_shared = 0, cudaStream_t stream = nullptr);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments);
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t cudaFuncGetName(const char** name, const void* kernel);
inline cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) {
  return cudaSuccess;
}
inline cudaError_t cudaFuncSetSharedMemConfig(const void*, cudaSharedMemConfig) {
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_size,
                                                          size_t dynamic_shared);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int block_size, size_t dynamic_shared,
                                                                   unsigned int);
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* kernel, int blocks,
                                                      int block_size);
