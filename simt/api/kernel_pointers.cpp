// SPDX-License-Identifier: MIT
#include "simt/kernel_pointers.h"

#include "cuda_runtime_api.h"

#include <map>
#include <mutex>

namespace simt {
namespace {

std::mutex& guard() {
  static std::mutex mutex;
  return mutex;
}
// Nodes of a map stay where they are: pointers to them are handed out. Never destroyed, as programs may look
// for a kernel in their own destructors.
std::map<const void*, KernelPointer>& kernels() {
  static auto* const map = new std::map<const void*, KernelPointer>;
  return *map;
}

}  // namespace

void keep_kernel(void* stub, const KernelPointer& kernel) {
  const std::lock_guard<std::mutex> lock(guard());
  kernels().emplace(stub, kernel);
}

const KernelPointer* kernel_behind(const void* stub) {
  const std::lock_guard<std::mutex> lock(guard());
  const auto found = kernels().find(stub);
  return found == kernels().end() ? nullptr : &found->second;
}

}  // namespace simt

namespace {

using simt::kernel_of, simt::result;

cudaError_t launch(const void* stub, const simt::LaunchConfig& config, void** arguments) {
  const simt::KernelPointer* const kernel = simt::kernel_behind(stub);
  if (!kernel) return result(cudaErrorInvalidDeviceFunction);
  if (config.options.cooperative) {
    if (const cudaError_t error = simt::check_cooperative(kernel_of(stub), config)) return error;
  }
  simt::LaunchResult outcome;
  simt::push_config(config.grid, config.block, config.dynamic_shared, config.stream, config.options);
  kernel->call(const_cast<void*>(stub), arguments);
  return outcome.get();
}

// What a function says about the kernel behind a pointer.
template <class Function, class... Arguments>
cudaError_t ask(Function function, const void* stub, Arguments... arguments) {
  simt::Kernel* const kernel = kernel_of(stub);
  return kernel ? function(kernel, arguments...) : result(cudaErrorInvalidDeviceFunction);
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_shared, cudaStream_t stream) {
  return launch(kernel, {grid, block, dynamic_shared, stream, {}}, arguments);
}
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t dynamic_shared, cudaStream_t stream) {
  return launch(kernel, {grid, block, dynamic_shared, stream, {{1, 1, 1}, true}}, arguments);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** arguments) {
  simt::LaunchConfig read;
  if (const cudaError_t error = simt::read_config(config, &read)) return error;
  return launch(kernel, read, arguments);
}
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return ask(simt::set_kernel_attribute, kernel, attribute, value);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return ask(simt::get_kernel_attributes, kernel, attributes);
}
cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  return ask(simt::kernel_name, kernel, name);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_size,
                                                          size_t dynamic_shared) {
  return ask(simt::active_blocks, kernel, block_size, dynamic_shared, blocks);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                   int block_size, size_t dynamic_shared,
                                                                   unsigned int) {
  return ask(simt::active_blocks, kernel, block_size, dynamic_shared, blocks);
}
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                           const cudaLaunchConfig_t* config) {
  return ask(simt::active_clusters, kernel, config, clusters);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* kernel, int blocks,
                                                      int block_size) {
  return ask(simt::available_shared, kernel, blocks, block_size, bytes);
}
