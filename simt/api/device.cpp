// SPDX-License-Identifier: MIT
//
// The one device: a plausible GPU of compute capability 9.0 whose multiprocessors are the host's cores and
// whose memory is a share of the host's. Limits that programs must respect (threads, shared memory,
// registers) are those of an H100, so that what runs here fits there.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#include "api/calls.h"
#include "runtime/operations.h"

namespace simt {
namespace {

constexpr int kDriverVersion = CUDART_VERSION;

std::string host_cpu_name() {
#ifdef __APPLE__
  char name[128] = "";
  size_t size = sizeof(name);
  if (sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0) return name;
  return "";
#else
  // x86 says "model name"; ARM kernels say nothing useful there.
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
#endif
}

// In kHz, as CUDA wants it; 1 GHz where the system does not say.
int host_clock_rate() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  int rate = 0;
  return file >> rate && rate > 0 ? rate : 1000000;
}

int host_cache_size() {
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
#else
  const long size = 0;
#endif
  // Programs flush a device's L2 by writing several times its size; a server's shared cache would make that
  // slow.
  const long least = 1 << 20, most = 32 << 20;
  return static_cast<int>(std::clamp(size, least, most));
}

cudaDeviceProp make_properties() {
  cudaDeviceProp p{};
  const std::string cpu = host_cpu_name();
  const std::string name = cpu.empty() ? "simt CPU" : "simt CPU (" + cpu + ")";
  std::snprintf(p.name, sizeof(p.name), "%s", name.c_str());
  std::memcpy(p.uuid.bytes, "simt-cpu-backend", sizeof(p.uuid.bytes));
  p.major = 9;
  p.minor = 0;
  p.multiProcessorCount = kMultiprocessors;

  p.totalGlobalMem = memory_total();
  p.totalConstMem = 64 << 10;
  p.l2CacheSize = host_cache_size();
  p.memoryBusWidth = 64;
  p.memPitch = 0x7fffffff;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.surfaceAlignment = 512;
  const auto extents = [](int* to, std::initializer_list<int> values) {
    std::copy(values.begin(), values.end(), to);
  };
  p.maxTexture1D = 131072;
  p.maxTexture1DMipmap = 32768;
  extents(p.maxTexture2D, {131072, 65536});
  extents(p.maxTexture2DMipmap, {32768, 32768});
  extents(p.maxTexture2DLinear, {131072, 65000, 2097120});
  extents(p.maxTexture2DGather, {32768, 32768});
  extents(p.maxTexture3D, {16384, 16384, 16384});
  extents(p.maxTexture3DAlt, {8192, 8192, 32768});
  p.maxTextureCubemap = 32768;
  extents(p.maxTexture1DLayered, {32768, 2048});
  extents(p.maxTexture2DLayered, {32768, 32768, 2048});
  extents(p.maxTextureCubemapLayered, {32768, 2046});
  p.maxSurface1D = 32768;
  extents(p.maxSurface2D, {131072, 65536});
  extents(p.maxSurface3D, {16384, 16384, 16384});
  extents(p.maxSurface1DLayered, {32768, 2048});
  extents(p.maxSurface2DLayered, {32768, 32768, 2048});
  p.maxSurfaceCubemap = 32768;
  extents(p.maxSurfaceCubemapLayered, {32768, 2046});

  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
  p.maxBlocksPerMultiProcessor = kBlocksPerMultiprocessor;
  p.regsPerBlock = p.regsPerMultiprocessor = 64 << 10;
  p.sharedMemPerBlock = kSharedPerBlock;
  p.sharedMemPerBlockOptin = kSharedPerBlockOptin;
  p.sharedMemPerMultiprocessor = kSharedPerMultiprocessor;
  p.reservedSharedMemPerBlock = kSharedPerMultiprocessor - kSharedPerBlockOptin;

  p.canMapHostMemory = 1;
  p.unifiedAddressing = 1;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.hostNativeAtomicSupported = 1;
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.cooperativeLaunch = 1;
  p.concurrentKernels = 1;
  p.asyncEngineCount = 1;
  p.streamPrioritiesSupported = 1;
  p.computePreemptionSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  p.clockRate = host_clock_rate();
  p.memoryClockRate = 1000000;
  p.deviceOverlap = 1;
  p.singleToDoublePrecisionPerfRatio = 2;
  p.maxTexture1DLinear = 1 << 28;
#pragma GCC diagnostic pop
  return p;
}

const cudaDeviceProp& properties() {
  static const cudaDeviceProp p = make_properties();
  return p;
}

// What cudaDeviceGetAttribute() gives; -1 for a number that is no attribute.
int attribute_value(cudaDeviceAttr attribute) {
  const cudaDeviceProp& p = properties();
  const auto bytes = [](size_t n) { return static_cast<int>(std::min<size_t>(n, 0x7fffffff)); };
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
      return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY:
      return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ:
      return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX:
      return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY:
      return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ:
      return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return bytes(p.sharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory:
      return bytes(p.totalConstMem);
    case cudaDevAttrWarpSize:
      return p.warpSize;
    case cudaDevAttrMaxPitch:
      return bytes(p.memPitch);
    case cudaDevAttrMaxRegistersPerBlock:
      return p.regsPerBlock;
    case cudaDevAttrClockRate:
      return host_clock_rate();
    case cudaDevAttrTextureAlignment:
      return bytes(p.textureAlignment);
    case cudaDevAttrGpuOverlap:
      return 1;
    case cudaDevAttrMultiProcessorCount:
      return p.multiProcessorCount;
    case cudaDevAttrCanMapHostMemory:
      return p.canMapHostMemory;
    case cudaDevAttrSurfaceAlignment:
      return bytes(p.surfaceAlignment);
    case cudaDevAttrConcurrentKernels:
      return p.concurrentKernels;
    case cudaDevAttrMemoryClockRate:
      return 1000000;
    case cudaDevAttrGlobalMemoryBusWidth:
      return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize:
      return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrAsyncEngineCount:
      return p.asyncEngineCount;
    case cudaDevAttrUnifiedAddressing:
      return p.unifiedAddressing;
    case cudaDevAttrTexturePitchAlignment:
      return bytes(p.texturePitchAlignment);
    case cudaDevAttrComputeCapabilityMajor:
      return p.major;
    case cudaDevAttrComputeCapabilityMinor:
      return p.minor;
    case cudaDevAttrStreamPrioritiesSupported:
      return p.streamPrioritiesSupported;
    case cudaDevAttrGlobalL1CacheSupported:
      return p.globalL1CacheSupported;
    case cudaDevAttrLocalL1CacheSupported:
      return p.localL1CacheSupported;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return bytes(p.sharedMemPerMultiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return p.regsPerMultiprocessor;
    case cudaDevAttrManagedMemory:
      return p.managedMemory;
    case cudaDevAttrHostNativeAtomicSupported:
      return p.hostNativeAtomicSupported;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return 2;
    case cudaDevAttrConcurrentManagedAccess:
      return p.concurrentManagedAccess;
    case cudaDevAttrComputePreemptionSupported:
      return p.computePreemptionSupported;
    case cudaDevAttrCooperativeLaunch:
      return p.cooperativeLaunch;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return bytes(p.sharedMemPerBlockOptin);
    case cudaDevAttrHostRegisterSupported:
      return p.hostRegisterSupported;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return bytes(p.reservedSharedMemPerBlock);
    case cudaDevAttrMemoryPoolsSupported:
      return p.memoryPoolsSupported;
    case cudaDevAttrMaxTexture1DWidth:
      return p.maxTexture1D;
    case cudaDevAttrMaxTexture2DWidth:
      return p.maxTexture2D[0];
    case cudaDevAttrMaxTexture2DHeight:
      return p.maxTexture2D[1];
    case cudaDevAttrMaxTexture3DWidth:
    case cudaDevAttrMaxTexture3DHeight:
    case cudaDevAttrMaxTexture3DDepth:
      return p.maxTexture3D[0];
    case cudaDevAttrMaxTexture2DLayeredWidth:
    case cudaDevAttrMaxTexture2DLayeredHeight:
      return p.maxTexture2DLayered[0];
    case cudaDevAttrMaxTexture1DLayeredWidth:
      return p.maxTexture1DLayered[0];
    case cudaDevAttrMaxTexture1DLayeredLayers:
    case cudaDevAttrMaxTexture2DLayeredLayers:
      return p.maxTexture2DLayered[2];
    case cudaDevAttrMaxTextureCubemapWidth:
      return p.maxTextureCubemap;
    case cudaDevAttrMaxTexture1DLinearWidth:
      return 1 << 28;
    case cudaDevAttrMaxTexture2DLinearWidth:
      return p.maxTexture2DLinear[0];
    case cudaDevAttrMaxTexture2DLinearHeight:
      return p.maxTexture2DLinear[1];
    case cudaDevAttrMaxTexture2DLinearPitch:
      return p.maxTexture2DLinear[2];
    case cudaDevAttrMaxSurface2DWidth:
      return p.maxSurface2D[0];
    case cudaDevAttrMaxSurface2DHeight:
      return p.maxSurface2D[1];
    default:
      // Everything else is a feature that is absent, or an extent that nobody asks for.
      return attribute >= 1 && attribute <= cudaDevAttrOnlyPartialHostNativeAtomicSupported ? 0 : -1;
  }
}

std::array<size_t, 7>& limits() {
  // In the order of cudaLimit: stack, printf buffer, heap, nesting, pending launches, L2 fetch, persisting
  // L2.
  static std::array<size_t, 7> values = {64 << 10, 1 << 20, 8 << 20, 0, 2048, 128, 0};
  return values;
}

bool is_limit(cudaLimit limit) {
  return limit >= 0 && static_cast<size_t>(limit) < limits().size();
}

}  // namespace

size_t device_heap_bytes() {
  return limits()[cudaLimitMallocHeapSize];
}

namespace {

unsigned int device_flags = cudaDeviceScheduleAuto;
cudaFuncCache cache_config = cudaFuncCachePreferNone;

}  // namespace
}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaDeviceSynchronize() {
  if (simt::in_kernel())
    simt::fail("simt-launch", "cudaDeviceSynchronize() in a kernel: CUDA has none since version 12");
  if (simt::refused_while_capturing(nullptr)) return result(cudaErrorStreamCaptureUnsupported);
  return simt::waited(simt::finish_everything());
}
cudaError_t cudaDeviceReset() {
  simt::reset_device();
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  if (!count) return result(cudaErrorInvalidValue);
  *count = 1;
  return result(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  if (!out) return result(cudaErrorInvalidValue);
  if (device != 0) return result(cudaErrorInvalidDevice);
  *out = simt::properties();
  return result(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!value) return result(cudaErrorInvalidValue);
  if (device != 0) return result(cudaErrorInvalidDevice);
  const int found = simt::attribute_value(attribute);
  if (found < 0) return result(cudaErrorInvalidValue);
  *value = found;
  return result(cudaSuccess);
}

cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return result(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!can) return result(cudaErrorInvalidValue);
  if (device != 0 || peer != 0) return result(cudaErrorInvalidDevice);
  *can = 0;  // a device is not its own peer
  return result(cudaSuccess);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) {
  return result(cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int) {
  return result(cudaErrorInvalidDevice);
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  if (!device || !wanted) return result(cudaErrorInvalidValue);
  *device = 0;
  return result(cudaSuccess);
}
cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  return cudaSetDevice(device);
}
cudaError_t cudaSetDevice(int device) {
  if (device == 0) simt::use_context();
  return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaGetDevice(int* device) {
  if (!device) return result(cudaErrorInvalidValue);
  *device = 0;
  return result(cudaSuccess);
}
cudaError_t cudaSetValidDevices(int* devices, int count) {
  for (int i = 0; i < count; ++i) {
    if (devices[i] != 0) return result(cudaErrorInvalidDevice);
  }
  return result(cudaSuccess);
}
cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  if (flags & ~cudaDeviceMask) return result(cudaErrorInvalidValue);
  simt::device_flags = flags;
  return result(cudaSuccess);
}
cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  if (!flags) return result(cudaErrorInvalidValue);
  *flags = simt::device_flags;
  return result(cudaSuccess);
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  if (!id || length < 13) return result(cudaErrorInvalidValue);
  if (device != 0) return result(cudaErrorInvalidDevice);
  std::snprintf(id, static_cast<size_t>(length), "0000:00:00.0");
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  if (!device || !id) return result(cudaErrorInvalidValue);
  if (std::strcmp(id, "0000:00:00.0") != 0) return result(cudaErrorInvalidDevice);
  *device = 0;
  return result(cudaSuccess);
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  if (!simt::is_limit(limit)) return result(cudaErrorUnsupportedLimit);
  simt::limits()[limit] = value;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  if (!value) return result(cudaErrorInvalidValue);
  if (!simt::is_limit(limit)) return result(cudaErrorUnsupportedLimit);
  *value = simt::limits()[limit];
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  if (!config) return result(cudaErrorInvalidValue);
  *config = simt::cache_config;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  simt::cache_config = config;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  if (!config) return result(cudaErrorInvalidValue);
  *config = cudaSharedMemBankSizeFourByte;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return result(cudaSuccess);
}
cudaError_t cudaCtxResetPersistingL2Cache() {
  return result(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (!version) return result(cudaErrorInvalidValue);
  *version = simt::kDriverVersion;
  return result(cudaSuccess);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  if (!version) return result(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return result(cudaSuccess);
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
  return result(cudaErrorNotSupported);
}
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned int) {
  return result(cudaErrorNotSupported);
}
cudaError_t cudaIpcCloseMemHandle(void*) {
  return result(cudaErrorNotSupported);
}
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return result(cudaErrorNotSupported);
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return result(cudaErrorNotSupported);
}

cudaError_t cudaProfilerStart() {
  return result(cudaSuccess);
}
cudaError_t cudaProfilerStop() {
  return result(cudaSuccess);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* status) {
  if (!symbol || !function) return result(cudaErrorInvalidValue);
  *function = simt::driver_function(symbol);
  if (*function) {
    if (status) *status = cudaDriverEntryPointSuccess;
    return result(cudaSuccess);
  }
  if (status) *status = cudaDriverEntryPointSymbolNotFound;
  return result(cudaErrorNotSupported);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPoint(symbol, function, flags, status);
}

}  // extern "C"
