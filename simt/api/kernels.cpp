// SPDX-License-Identifier: MIT
//
// Kernels' attributes, occupancy, and launches that are function calls.

#include <algorithm>
#include <cstring>

#include "api/calls.h"
#include "runtime/device_memory.h"

namespace simt {
namespace {

// No compiler counted registers; 32 a thread is what a plain kernel takes, and it never limits a full
// multiprocessor.
constexpr int kRegistersPerThread = 32;

// Shared memory is given out in this many bytes, and a block takes so much more for the system.
constexpr size_t kSharedUnit = 128, kSharedReserved = 1 << 10;

}  // namespace

cudaError_t set_kernel_attribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      // As on a GPU, static and dynamic shared memory together must fit a block.
      if (value < 0 || static_cast<size_t>(value) + kernel->static_shared > kSharedPerBlockOptin) {
        return result(cudaErrorInvalidValue);
      }
      kernel->max_dynamic_shared = std::max(value, static_cast<int>(kSharedPerBlock));
      return result(cudaSuccess);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      return result(value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue);
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return result(cudaSuccess);
    default:
      return result(cudaErrorInvalidValue);
  }
}

cudaError_t get_kernel_attributes(const Kernel* kernel, cudaFuncAttributes* attributes) {
  if (!attributes) return result(cudaErrorInvalidValue);
  *attributes = cudaFuncAttributes{};
  attributes->sharedSizeBytes = kernel->static_shared;
  attributes->maxThreadsPerBlock = kernel->max_threads;
  attributes->numRegs = kRegistersPerThread;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = kernel->max_dynamic_shared;
  attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  return result(cudaSuccess);
}

cudaError_t kernel_name(const Kernel* kernel, const char** name) {
  if (!name) return result(cudaErrorInvalidValue);
  *name = kernel->name;
  return result(cudaSuccess);
}

cudaError_t active_blocks(const Kernel* kernel, int block_size, size_t dynamic_shared, int* blocks) {
  if (!blocks || block_size <= 0) return result(cudaErrorInvalidValue);
  *blocks = 0;
  const bool fits = block_size <= kernel->max_threads &&
                    dynamic_shared <= static_cast<size_t>(kernel->max_dynamic_shared) &&
                    kernel->static_shared + dynamic_shared <= kSharedPerBlockOptin;
  if (fits) *blocks = resident_blocks(*kernel, block_size, dynamic_shared);
  return result(cudaSuccess);
}

cudaError_t available_shared(const Kernel* kernel, int blocks, int block_size, size_t* bytes) {
  if (!bytes || blocks <= 0 || block_size <= 0 || block_size > kernel->max_threads)
    return result(cudaErrorInvalidValue);
  *bytes = 0;
  if (blocks > resident_blocks(*kernel, block_size, 0)) return result(cudaErrorInvalidValue);
  const size_t share = kSharedPerMultiprocessor / static_cast<size_t>(blocks) / kSharedUnit * kSharedUnit;
  const size_t taken = kSharedReserved + round_up(kernel->static_shared, kSharedUnit);
  *bytes = share > taken ? std::min(share - taken, kSharedPerBlockOptin - kernel->static_shared) : 0;
  return result(cudaSuccess);
}

cudaError_t read_config(const cudaLaunchConfig_t* config, LaunchConfig* read) {
  if (!config || (config->numAttrs && !config->attrs)) return result(cudaErrorInvalidValue);
  *read = LaunchConfig{config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream, {}};
  for (unsigned int i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    switch (attribute.id) {
      case cudaLaunchAttributeCooperative:
        read->options.cooperative = attribute.val.cooperative != 0;
        break;
      case cudaLaunchAttributeProgrammaticStreamSerialization:
        read->options.may_overlap = attribute.val.programmaticStreamSerializationAllowed != 0;
        break;
      case cudaLaunchAttributeClusterDimension: {
        const auto& c = attribute.val.clusterDim;
        if (c.x == 0 || c.y == 0 || c.z == 0) return result(cudaErrorInvalidValue);
        read->options.cluster = dim3(c.x, c.y, c.z);
        break;
      }
      default:
        break;  // hints for scheduling and caches
    }
  }
  return cudaSuccess;
}

// A cluster's blocks are as many multiprocessors here as they need, and all multiprocessors are neighbours.
cudaError_t active_clusters(const Kernel* kernel, const cudaLaunchConfig_t* config, int* clusters) {
  LaunchConfig read;
  if (const cudaError_t error = read_config(config, &read)) return error;
  if (!clusters) return result(cudaErrorInvalidValue);
  const dim3 b = read.block, asked = read.options.cluster, fixed = kernel->required_cluster;
  const auto volume = [](dim3 d) { return 1ull * d.x * d.y * d.z; };
  if (fixed.x && volume(asked) > 1 && (asked.x != fixed.x || asked.y != fixed.y || asked.z != fixed.z))
    return result(cudaErrorInvalidClusterSize);
  const unsigned long long size = fixed.x ? volume(fixed) : volume(asked);
  if (size > (kernel->non_portable_cluster ? 16u : 8u)) return result(cudaErrorInvalidClusterSize);
  if (volume(b) > 1024) return result(cudaErrorInvalidValue);
  int blocks = 0;
  if (const cudaError_t error =
          active_blocks(kernel, static_cast<int>(volume(b)), read.dynamic_shared, &blocks))
    return error;
  *clusters = static_cast<int>(static_cast<unsigned long long>(blocks) * kMultiprocessors / size);
  return result(cudaSuccess);
}

cudaError_t check_cooperative(const Kernel* kernel, const LaunchConfig& config) {
  const dim3 g = config.grid, b = config.block;
  const unsigned long long threads = 1ull * b.x * b.y * b.z;
  if (threads == 0 || threads > 1024) return cudaSuccess;  // the launch itself refuses those
  int blocks = 0;
  if (const cudaError_t error =
          active_blocks(kernel, static_cast<int>(threads), config.dynamic_shared, &blocks)) {
    return error;
  }
  const bool fits = 1ull * g.x * g.y * g.z <= 1ull * static_cast<unsigned>(blocks) * kMultiprocessors;
  return result(fits ? cudaSuccess : cudaErrorCooperativeLaunchTooLarge);
}

// The runtime only remembers a launch's error as this thread's last one, so what was there before is put
// aside.
LaunchResult::LaunchResult() : before_(take_error()) {}
cudaError_t LaunchResult::get() {
  const cudaError_t error = peek_error();
  if (!error) set_error(before_);
  return error;
}

}  // namespace simt
