// SPDX-License-Identifier: MIT
//
// What CUDA 12 and before had and CUDA 13 has no more, as programs still use it. The compiler's warning names
// the successor. Included by cuda_runtime_api.h.
#pragma once

#define SIMT_GONE(instead) [[deprecated("not in CUDA 13; instead: " instead)]]

SIMT_GONE("cudaDeviceSynchronize()") inline cudaError_t cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
SIMT_GONE("cudaDeviceReset()") inline cudaError_t cudaThreadExit() {
  return cudaDeviceReset();
}
SIMT_GONE("cudaDeviceSetLimit()") inline cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
SIMT_GONE("cudaDeviceGetLimit()") inline cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
SIMT_GONE("cudaDeviceSetCacheConfig()") inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}

#undef SIMT_GONE
