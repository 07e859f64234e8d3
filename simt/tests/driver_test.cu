// SPDX-License-Identifier: MIT
//
// The driver API beside the runtime API.

#include <cuda.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace driver_test {

__global__ void scale(int* x, int factor) {
  x[threadIdx.x] *= factor;
}

__global__ void write_seven(int* x) {
  *x = 7;
}

TEST(Driver, DeviceAndContext) {
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  CUdevice device = -1;
  int count = 0, major = 0, minor = -1, threads = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1);
  ASSERT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  char name[9];
  EXPECT_EQ(cuDeviceGetName(name, sizeof name, device), CUDA_SUCCESS);
  EXPECT_STREQ(name, "simt CPU") << "cut to the room there is";
  EXPECT_EQ(cuDeviceComputeCapability(&major, &minor, device), CUDA_SUCCESS);
  EXPECT_EQ(major * 10 + minor, 90);
  EXPECT_EQ(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device), CUDA_SUCCESS);
  EXPECT_EQ(threads, 1024);
  CUcontext context = nullptr, current = nullptr;
  ASSERT_EQ(cuCtxCreate(&context, 0, device), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context);
  EXPECT_EQ(cuCtxSetCurrent(reinterpret_cast<CUcontext>(&device)), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(&current), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS) << "the runtime API makes its context current";
}

TEST(Driver, MemoryStreamsAndAKernel) {
  CUdeviceptr p;
  EXPECT_EQ(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemAlloc(&p, 64), CUDA_SUCCESS);
  CUstream stream;
  CUevent event;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(p, 7, 16, stream), CUDA_SUCCESS);
  int factor = 3;
  void* arguments[] = {&p, &factor};
  cudaFunction_t function;
  ASSERT_EQ(cudaGetFuncBySymbol(&function, (void*)scale), cudaSuccess);
  ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 16, 1, 1, 0, stream, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 2000, 1, 1, 0, stream, arguments, nullptr),
            static_cast<CUresult>(cudaErrorInvalidConfiguration));
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  std::vector<int> back(16);
  ASSERT_EQ(cuMemcpyDtoH(back.data(), p, 64), CUDA_SUCCESS);
  EXPECT_EQ(back, std::vector<int>(16, 21));
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(p), CUDA_SUCCESS);
  cudaGetLastError();
}

// The stream stands at a host function, whoever runs it, until the host has asked.
TEST(Driver, AnEventThatHasNotComeYet) {
  struct Gate {
    std::atomic<bool> reached{false}, open{false};
  } gate;
  const auto wait_at = [](void* data) {
    auto& g = *static_cast<Gate*>(data);
    g.reached = true;
    while (!g.open) std::this_thread::yield();
  };
  CUstream stream;
  CUevent event;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cudaLaunchHostFunc(stream, wait_at, &gate), cudaSuccess);
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  std::thread other([&] { EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS); });
  while (!gate.reached) std::this_thread::yield();
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  gate.open = true;
  other.join();
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
}

// ---- virtual memory ----

struct VirtualMemory : testing::Test {
  static constexpr size_t kChunk = size_t{2} << 20;
  static CUmemAllocationProp properties() {
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return p;
  }
  static CUmemAccessDesc access(CUmemAccess_flags flags) { return {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags}; }
  void SetUp() override {
    const CUmemAllocationProp p = properties();
    size_t granularity = 0;
    ASSERT_EQ(cuMemGetAllocationGranularity(&granularity, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
              CUDA_SUCCESS);
    ASSERT_EQ(granularity, kChunk);
    for (auto& h : handles_) ASSERT_EQ(cuMemCreate(&h, kChunk, &p, 0), CUDA_SUCCESS);
  }
  CUdeviceptr reserved(size_t chunks) {
    CUdeviceptr pointer = 0;
    EXPECT_EQ(cuMemAddressReserve(&pointer, chunks * kChunk, 0, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(pointer % kChunk, 0u);
    return pointer;
  }
  CUmemGenericAllocationHandle handles_[2] = {};
};

// Two chunks as one buffer; then the same memory at other addresses, the other way round.
TEST_F(VirtualMemory, MemoryKeepsWhatItHoldsWhereverItIsMapped) {
  size_t free_before = 0, free_after = 0, total = 0;
  const CUdeviceptr first = reserved(3), second = reserved(2);
  const CUmemAccessDesc both = access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  ASSERT_EQ(cuMemMap(first, kChunk, 0, handles_[0], 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(first + kChunk, kChunk, 0, handles_[1], 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(first, 2 * kChunk, &both, 1), CUDA_SUCCESS);
  const size_t count = 2 * kChunk / sizeof(int);
  std::vector<int> values(count), back(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<int>(i);
  ASSERT_EQ(cuMemcpyHtoD(first, values.data(), 2 * kChunk), CUDA_SUCCESS) << "over both chunks";
  scale<<<1, 16>>>(reinterpret_cast<int*>(first + kChunk) - 8, 3);
  ASSERT_EQ(cuMemUnmap(first, 2 * kChunk), CUDA_SUCCESS) << "waits for the kernel";

  ASSERT_EQ(cuMemMap(second, kChunk, 0, handles_[1], 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(second + kChunk, kChunk, 0, handles_[0], 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(second, 2 * kChunk, &both, 1), CUDA_SUCCESS);
  scale<<<1, 8>>>(reinterpret_cast<int*>(second), 2);
  ASSERT_EQ(cuMemcpyDtoH(back.data(), second, 2 * kChunk), CUDA_SUCCESS);
  const int half = static_cast<int>(count / 2);
  for (int i = 0; i < half; ++i) {
    ASSERT_EQ(back[i], (half + i) * (i < 8 ? 6 : 1)) << i;
    ASSERT_EQ(back[half + i], i * (i >= half - 8 ? 3 : 1)) << i;
  }
  ASSERT_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
  for (const auto handle : handles_) EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  ASSERT_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
  EXPECT_EQ(free_after, free_before) << "it is mapped still";
  EXPECT_EQ(cuMemUnmap(second, 2 * kChunk), CUDA_SUCCESS);
  ASSERT_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
  EXPECT_EQ(free_after, free_before + 2 * kChunk);
  EXPECT_EQ(cuMemAddressFree(first, 3 * kChunk), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(second, 2 * kChunk), CUDA_SUCCESS);
  EXPECT_EQ(simt::reports(), 0);
}

TEST_F(VirtualMemory, WhatIsRefused) {
  const CUdeviceptr p = reserved(2);
  const CUmemAccessDesc both = access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CUmemAllocationProp other = properties();
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr pointer = 0;
  EXPECT_EQ(cuMemAddressReserve(&pointer, kChunk + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, 4096, &other, 0), CUDA_ERROR_INVALID_VALUE);
  other.location.id = 1;
  EXPECT_EQ(cuMemCreate(&handle, kChunk, &other, 0), CUDA_ERROR_INVALID_VALUE);
  other = properties();
  other.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  EXPECT_EQ(cuMemCreate(&handle, kChunk, &other, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuMemMap(p, 2 * kChunk, 0, handles_[0], 0), CUDA_ERROR_INVALID_VALUE) << "more than there is";
  EXPECT_EQ(cuMemMap(p + 2 * kChunk, kChunk, 0, handles_[0], 0), CUDA_ERROR_INVALID_VALUE) << "not reserved";
  EXPECT_EQ(cuMemMap(p, kChunk, 0, 12345, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemMap(p, kChunk, 0, handles_[0], 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(p, kChunk, 0, handles_[1], 0), CUDA_ERROR_INVALID_VALUE) << "mapped already";
  EXPECT_EQ(cuMemSetAccess(p, 2 * kChunk, &both, 1), CUDA_ERROR_INVALID_VALUE) << "half of it is not mapped";
  EXPECT_EQ(cuMemUnmap(p, 2 * kChunk), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(p, 2 * kChunk), CUDA_ERROR_INVALID_VALUE) << "mapped";
  EXPECT_EQ(cuMemUnmap(p, kChunk), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(p, kChunk), CUDA_ERROR_INVALID_VALUE) << "half of it";
  EXPECT_EQ(cuMemAddressFree(p, 2 * kChunk), CUDA_SUCCESS);
  for (const auto h : handles_) EXPECT_EQ(cuMemRelease(h), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handles_[0]), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(VirtualMemory, AKernelMayNotWriteWhereItMayOnlyRead) {
  const CUdeviceptr p = reserved(1);
  const CUmemAccessDesc read = access(CU_MEM_ACCESS_FLAGS_PROT_READ);
  ASSERT_EQ(cuMemMap(p, kChunk, 0, handles_[0], 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(p, kChunk, &read, 1), CUDA_SUCCESS);
  testing::internal::CaptureStderr();
  write_seven<<<1, 1>>>(reinterpret_cast<int*>(p));
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("[simt-oob-global]"), std::string::npos) << report;
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  simt::forget_reports();
  EXPECT_EQ(cuMemUnmap(p, kChunk), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(p, kChunk), CUDA_SUCCESS);
  for (const auto h : handles_) EXPECT_EQ(cuMemRelease(h), CUDA_SUCCESS);
}

TEST(Driver, WhereAnAddressLies) {
  CUdeviceptr p = 0, base = 0;
  size_t size = 0;
  ASSERT_EQ(cuMemAlloc(&p, 1000), CUDA_SUCCESS);
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, p + 999), CUDA_SUCCESS);
  EXPECT_EQ(base, p);
  EXPECT_EQ(size, 1000u);
  EXPECT_EQ(cuMemFree(p), CUDA_SUCCESS);
  const char* const text = __FILE__;  // what a kernel that reports an error gives to the host
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, reinterpret_cast<CUdeviceptr>(text)), CUDA_SUCCESS);
  EXPECT_EQ(size, std::strlen(text) + 1);
  std::string copy(size, '?');
  EXPECT_EQ(cudaMemcpy(copy.data(), text, size, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_STREQ(copy.c_str(), text);
  static int variable = 1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaMemcpy(copy.data(), &variable, sizeof variable, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("[simt-memcpy]"), std::string::npos) << "a host variable: " << report;
  simt::forget_reports();
  cudaGetLastError();
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, reinterpret_cast<CUdeviceptr>(&size)), CUDA_ERROR_NOT_FOUND);
}

TEST(Driver, ErrorsAndWhatCannotBe) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(4242), &text), CUDA_ERROR_INVALID_VALUE);
  testing::internal::CaptureStderr();
  CUmodule module;
  EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0"), CUDA_ERROR_NOT_SUPPORTED);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("PTX and machine code cannot run on a CPU"), std::string::npos) << report;
  simt::forget_reports();
  cudaIpcMemHandle_t handle;
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, nullptr), cudaErrorNotSupported);
  cudaGetLastError();
}

}  // namespace driver_test
