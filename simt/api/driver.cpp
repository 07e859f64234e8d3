// SPDX-License-Identifier: MIT
//
// The driver API over the runtime API: errors have the same numbers, pointers are integers.

#include <cuda.h>

#include <cstdio>
#include <cstring>

#include "api/memory.h"
#include "simt/kernel_pointers.h"

namespace {

CUresult as_driver(cudaError_t error) {
  return static_cast<CUresult>(error);
}
void* memory(CUdeviceptr pointer) {
  return reinterpret_cast<void*>(pointer);
}

// The one context is no object: its handle says that it is there.
CUcontext the_context() {
  static char context;
  return reinterpret_cast<CUcontext>(&context);
}
thread_local CUcontext current_context = nullptr;

CUresult no_module(const char* call) {
  simt::report_host("simt-launch",
                    "%s: PTX and machine code cannot run on a CPU\n"
                    "Compile the kernel's source with the program, and launch it as kernel<<<...>>>().",
                    call);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

void simt::use_context() {
  current_context = the_context();
}

extern "C" {

CUresult cuInit(unsigned int flags) {
  return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  return as_driver(cudaDriverGetVersion(version));
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  switch (static_cast<int>(error)) {
#define SIMT_DRIVER_ERROR(number, text) \
  case number:                          \
    *name = #text;                      \
    return CUDA_SUCCESS;
#include "simt/driver_error_list.h"
#undef SIMT_DRIVER_ERROR
    default:
      *name = nullptr;
      return CUDA_ERROR_INVALID_VALUE;
  }
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  if (const CUresult unknown = cuGetErrorName(error, text)) return unknown;
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

// ---- the device ----

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  return as_driver(cudaGetDeviceCount(count));
}
CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  cudaDeviceProp properties;
  if (!name || length < 1) return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device)) return as_driver(error);
  std::snprintf(name, static_cast<size_t>(length), "%s", properties.name);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  cudaDeviceProp properties;
  if (!uuid) return CUDA_ERROR_INVALID_VALUE;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device)) return as_driver(error);
  std::memcpy(uuid, &properties.uuid, sizeof *uuid);
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = simt::memory_total();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  // Two that the runtime API has no name for.
  const bool memory_of_its_own = attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ||
                                 attribute == CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED;
  if (memory_of_its_own && value && device == 0) {
    *value = 1;
    return CUDA_SUCCESS;
  }
  return as_driver(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  if (const CUresult error =
          cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    return error;
  return cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}
CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return as_driver(cudaDeviceGetPCIBusId(id, length, device));
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return as_driver(cudaDeviceCanAccessPeer(can, device, peer));
}

// ---- the context ----

CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned int, CUdevice device) {
  if (const CUresult error = cuDevicePrimaryCtxRetain(context, device)) return error;
  current_context = *context;
  return CUDA_SUCCESS;
}
CUresult cuCtxDestroy(CUcontext context) {
  if (context != the_context()) return CUDA_ERROR_INVALID_CONTEXT;
  current_context = nullptr;
  return as_driver(cudaDeviceSynchronize());
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = current_context;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  if (context && context != the_context()) return CUDA_ERROR_INVALID_CONTEXT;
  current_context = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  return context ? cuCtxSetCurrent(context) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  if (!current_context) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) *context = current_context;
  current_context = nullptr;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  if (!current_context) return CUDA_ERROR_INVALID_CONTEXT;
  return cuDeviceGet(device, 0);
}
CUresult cuCtxSynchronize() {
  return as_driver(cudaDeviceSynchronize());
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  *context = the_context();
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return device == 0 ? as_driver(cudaDeviceReset()) : CUDA_ERROR_INVALID_DEVICE;
}

// ---- memory ----

CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return as_driver(cudaMalloc(reinterpret_cast<void**>(pointer), bytes));
}
CUresult cuMemAllocPitch(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height, unsigned int) {
  return as_driver(cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height));
}
CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned int flags) {
  return as_driver(cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags));
}
CUresult cuMemAllocHost(void** pointer, size_t bytes) {
  return as_driver(cudaMallocHost(pointer, bytes));
}
CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return as_driver(cudaHostAlloc(pointer, bytes, flags));
}
CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream stream) {
  return as_driver(cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream));
}
CUresult cuMemFree(CUdeviceptr pointer) {
  return as_driver(cudaFree(memory(pointer)));
}
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return as_driver(cudaFreeAsync(memory(pointer), stream));
}
CUresult cuMemFreeHost(void* pointer) {
  return as_driver(cudaFreeHost(pointer));
}
CUresult cuMemGetInfo(size_t* free, size_t* total) {
  return as_driver(cudaMemGetInfo(free, total));
}
// Constants of device code are the program's own here, and of these only text has a known end.
CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* size, CUdeviceptr pointer) {
  simt::Range range = simt::find_range(memory(pointer));
  if (range.type == cudaMemoryTypeUnregistered) {
    if (!simt::is_constant(range.base)) return CUDA_ERROR_NOT_FOUND;
    range.size = std::strlen(range.base) + 1;
  }
  if (base) *base = reinterpret_cast<CUdeviceptr>(range.base);
  if (size) *size = range.size;
  return CUDA_SUCCESS;
}
CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t count, CUmemLocation location, unsigned int flags,
                            CUstream stream) {
  const cudaMemLocation where = {static_cast<cudaMemLocationType>(location.type), location.id};
  return as_driver(cudaMemPrefetchAsync(memory(pointer), count, where, flags, stream));
}
CUresult cuMemAdvise(CUdeviceptr pointer, size_t count, CUmem_advise advice, CUmemLocation location) {
  const cudaMemLocation where = {static_cast<cudaMemLocationType>(location.type), location.id};
  return as_driver(cudaMemAdvise(memory(pointer), count, static_cast<cudaMemoryAdvise>(advice), where));
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return as_driver(cudaMemcpy(memory(to), memory(from), bytes, cudaMemcpyDefault));
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return as_driver(cudaMemcpyAsync(memory(to), memory(from), bytes, cudaMemcpyDefault, stream));
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return as_driver(cudaMemcpy(memory(to), from, bytes, cudaMemcpyHostToDevice));
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return as_driver(cudaMemcpy(to, memory(from), bytes, cudaMemcpyDeviceToHost));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return as_driver(cudaMemcpy(memory(to), memory(from), bytes, cudaMemcpyDeviceToDevice));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return as_driver(cudaMemcpyAsync(memory(to), from, bytes, cudaMemcpyHostToDevice, stream));
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return as_driver(cudaMemcpyAsync(to, memory(from), bytes, cudaMemcpyDeviceToHost, stream));
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return as_driver(cudaMemcpyAsync(memory(to), memory(from), bytes, cudaMemcpyDeviceToDevice, stream));
}
CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, size_t count) {
  return as_driver(cudaMemset(memory(pointer), value, count));
}
CUresult cuMemsetD16(CUdeviceptr pointer, unsigned short value, size_t count) {
  return as_driver(simt::fill_elements("cuMemsetD16", memory(pointer), value, 2, count, false, nullptr));
}
CUresult cuMemsetD32(CUdeviceptr pointer, unsigned int value, size_t count) {
  return as_driver(simt::fill_elements("cuMemsetD32", memory(pointer), value, 4, count, false, nullptr));
}
CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream) {
  return as_driver(cudaMemsetAsync(memory(pointer), value, count, stream));
}
CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream) {
  return as_driver(simt::fill_elements("cuMemsetD32Async", memory(pointer), value, 4, count, true, stream));
}

// ---- streams and events ----

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return as_driver(cudaStreamCreateWithFlags(stream, flags));
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return as_driver(cudaStreamCreateWithPriority(stream, flags, priority));
}
CUresult cuStreamDestroy(CUstream stream) {
  return as_driver(cudaStreamDestroy(stream));
}
CUresult cuStreamSynchronize(CUstream stream) {
  return as_driver(cudaStreamSynchronize(stream));
}
CUresult cuStreamQuery(CUstream stream) {
  return as_driver(cudaStreamQuery(stream));
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return as_driver(cudaStreamWaitEvent(stream, event, flags));
}
CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return as_driver(cudaEventCreateWithFlags(event, flags));
}
CUresult cuEventDestroy(CUevent event) {
  return as_driver(cudaEventDestroy(event));
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return as_driver(cudaEventRecord(event, stream));
}
CUresult cuEventSynchronize(CUevent event) {
  return as_driver(cudaEventSynchronize(event));
}
CUresult cuEventQuery(CUevent event) {
  return as_driver(cudaEventQuery(event));
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return as_driver(cudaEventElapsedTime(milliseconds, start, end));
}

// ---- kernels ----

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* kernel) {
  if (!function) return simt::result(cudaErrorInvalidValue);
  if (!simt::kernel_behind(kernel)) return simt::result(cudaErrorInvalidDeviceFunction);
  *function = static_cast<cudaFunction_t>(const_cast<void*>(kernel));
  return simt::result(cudaSuccess);
}
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z,
                        unsigned int shared_bytes, CUstream stream, void** arguments, void** extra) {
  const simt::KernelPointer* const kernel = simt::kernel_behind(function);
  if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
  if (extra) return CUDA_ERROR_NOT_SUPPORTED;
  simt::LaunchResult outcome;
  simt::push_config(dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared_bytes, stream);
  kernel->call(function, arguments);
  return as_driver(outcome.get());
}
CUresult cuModuleLoad(CUmodule*, const char*) {
  return no_module("cuModuleLoad");
}
CUresult cuModuleLoadData(CUmodule*, const void*) {
  return no_module("cuModuleLoadData");
}
CUresult cuModuleLoadFatBinary(CUmodule*, const void*) {
  return no_module("cuModuleLoadFatBinary");
}
CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*) {
  return CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuModuleGetGlobal(CUdeviceptr*, size_t*, CUmodule, const char*) {
  return CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuModuleUnload(CUmodule) {
  return CUDA_ERROR_INVALID_HANDLE;
}

}  // extern "C"
