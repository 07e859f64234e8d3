// SPDX-License-Identifier: MIT
//
// The runtime API: what it answers when used well, and which error or report each misuse gives.

#include <cuda.h>
#include <cuda_profiler_api.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace api_test {

// Runs `call` and gives the report that it prints, which then no longer counts against the process.
template <class Call>
std::string report_of(Call call) {
  const int before = simt::reports();
  testing::internal::CaptureStderr();
  call();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(simt::reports(), before + 1) << text;
  simt::forget_reports();
  return text;
}

void expect_report(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << text << " lacks: " << part;
}

class Api : public testing::Test {
 protected:
  void SetUp() override { cudaGetLastError(); }
  void TearDown() override {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(simt::reports(), 0);
  }
};

// An error as a call's result, which is also remembered, once.
void expect_error(cudaError_t got, cudaError_t expected) {
  EXPECT_EQ(got, expected) << cudaGetErrorName(got);
  EXPECT_EQ(cudaPeekAtLastError(), expected);
  EXPECT_EQ(cudaGetLastError(), expected);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// ---- errors ----

TEST_F(Api, ErrorsHaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(54321)), "unrecognized error code");
  EXPECT_EQ(cudaErrorLaunchFailure, 719);
  EXPECT_EQ(cudaErrorUnknown, 999);
}

__global__ void nothing() {}

TEST_F(Api, LaunchErrorsAreRememberedOnceAndDoNotStick) {
  nothing<<<1, 1025>>>();
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  nothing<<<0, 32>>>();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  nothing<<<dim3(1, 65536), 32>>>();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  nothing<<<1, dim3(1, 1, 65)>>>();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  nothing<<<1, 32, 48 * 1024 + 1>>>();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  nothing<<<1, 1024>>>();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// ---- the device ----

TEST_F(Api, OneDeviceOfComputeCapability90) {
  int count = 0, device = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  expect_error(cudaSetDevice(1), cudaErrorInvalidDevice);
  expect_error(cudaSetDevice(-1), cudaErrorInvalidDevice);
  expect_error(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);

  cudaDeviceProp p;
  std::memset(&p, 0xff, sizeof(p));
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  EXPECT_EQ(std::string(p.name).rfind("simt CPU", 0), 0u) << p.name;
  EXPECT_EQ(p.major * 10 + p.minor, 90);
  EXPECT_EQ(p.warpSize, 32);
  EXPECT_EQ(p.maxThreadsPerBlock, 1024);
  EXPECT_EQ(p.sharedMemPerBlock, 48u << 10);
  EXPECT_EQ(p.sharedMemPerBlockOptin, 227u << 10);
  EXPECT_EQ(p.regsPerBlock, 65536);
  EXPECT_GT(p.multiProcessorCount, 0);
  EXPECT_GT(p.totalGlobalMem, 64u << 20);
  EXPECT_EQ(p.maxGridSize[1], 65535);
  EXPECT_EQ(p.integrated, 0);
  expect_error(cudaGetDeviceProperties(&p, 7), cudaErrorInvalidDevice);
}

TEST_F(Api, AttributesAgreeWithProperties) {
  cudaDeviceProp p;
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  const auto attribute = [](cudaDeviceAttr which) {
    int value = -7;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), cudaSuccess) << which;
    return value;
  };
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), p.multiProcessorCount);
  EXPECT_EQ(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), static_cast<int>(p.sharedMemPerBlockOptin));
  EXPECT_EQ(attribute(cudaDevAttrMaxThreadsPerMultiProcessor), p.maxThreadsPerMultiProcessor);
  EXPECT_EQ(attribute(cudaDevAttrComputeCapabilityMajor), p.major);
  EXPECT_EQ(attribute(cudaDevAttrL2CacheSize), p.l2CacheSize);
  EXPECT_EQ(attribute(cudaDevAttrMaxBlockDimZ), 64);
  EXPECT_GT(attribute(cudaDevAttrClockRate), 0);  // gone from the properties in CUDA 13, still an attribute
  EXPECT_GT(attribute(cudaDevAttrMemoryClockRate), 0);
  for (int i = 1; i <= 147; ++i) EXPECT_GE(attribute(static_cast<cudaDeviceAttr>(i)), 0) << i;
  int value;
  expect_error(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0), cudaErrorInvalidValue);
  expect_error(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
}

TEST_F(Api, VersionsLimitsAndOddments) {
  int version = 0;
  EXPECT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 13000);
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, 13000);
  size_t heap = 0;
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize), cudaSuccess);
  EXPECT_EQ(heap, 64u << 20);
  expect_error(cudaDeviceGetLimit(&heap, static_cast<cudaLimit>(77)), cudaErrorUnsupportedLimit);
  int can = 1;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 0), cudaSuccess);
  EXPECT_EQ(can, 0);
  expect_error(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaProfilerStart(), cudaSuccess);
  EXPECT_EQ(cudaProfilerStop(), cudaSuccess);
  nvtxRangePush("range");
  nvtxRangePop();
  int least = 7, greatest = 7;
  EXPECT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  EXPECT_LT(greatest, least);
  char id[32];
  ASSERT_EQ(cudaDeviceGetPCIBusId(id, sizeof(id), 0), cudaSuccess);
  int device = -1;
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, id), cudaSuccess);
  EXPECT_EQ(device, 0);
}

TEST_F(Api, DriverEntryPointsAreAbsent) {
  void* function = &function;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSuccess;
  expect_error(cudaGetDriverEntryPoint("cuNoSuchFunction", &function, cudaEnableDefault, &status),
               cudaErrorNotSupported);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
}

// ---- memory ----

TEST_F(Api, AllocationsAreAlignedCountedAndFreed) {
  size_t before = 0, during = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  EXPECT_LE(before, total);
  std::vector<void*> pointers;
  for (const size_t size : {1, 3, 255, 256, 4097, 1 << 20}) {
    void* p = nullptr;
    ASSERT_EQ(cudaMalloc(&p, size), cudaSuccess);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 256, 0u);
    pointers.push_back(p);
  }
  ASSERT_EQ(cudaMemGetInfo(&during, &total), cudaSuccess);
  EXPECT_LE(during, before - (1 << 20));
  for (void* p : pointers) EXPECT_EQ(cudaFree(p), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&during, &total), cudaSuccess);
  EXPECT_EQ(during, before);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(nullptr), cudaSuccess);
  void* p = &p;
  EXPECT_EQ(cudaMalloc(&p, 0), cudaSuccess);
  EXPECT_EQ(p, nullptr);
  expect_error(cudaMalloc(&p, total + (1 << 20)), cudaErrorMemoryAllocation);
  EXPECT_EQ(p, nullptr);
  expect_error(cudaMalloc(&p, ~size_t{0} - 5), cudaErrorMemoryAllocation);
  expect_error(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
  expect_error(cudaMallocManaged(&p, 0), cudaErrorInvalidValue);
  expect_error(cudaMallocManaged(&p, 4, 77), cudaErrorInvalidValue);
}

TEST_F(Api, WrongFreesAreReported) {
  int* p;
  ASSERT_EQ(cudaMalloc(&p, 100 * sizeof(int)), cudaSuccess);
  expect_report(report_of([&] { expect_error(cudaFree(p + 1), cudaErrorInvalidValue); }),
                {"[simt-free]", "4 bytes inside", "400"});
  expect_report(report_of([&] { expect_error(cudaFreeHost(p), cudaErrorInvalidValue); }),
                {"[simt-free]", "cudaFree"});
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  expect_report(report_of([&] { expect_error(cudaFree(p), cudaErrorInvalidValue); }),
                {"[simt-free]", "not allocated"});
  int local = 0;
  expect_report(report_of([&] { expect_error(cudaFree(&local), cudaErrorInvalidValue); }), {"[simt-free]"});
  void* pinned;
  ASSERT_EQ(cudaMallocHost(&pinned, 8), cudaSuccess);
  expect_report(report_of([&] { expect_error(cudaFree(pinned), cudaErrorInvalidValue); }),
                {"[simt-free]", "pinned host", "cudaFreeHost"});
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Api, CopiesInEveryDirection) {
  constexpr size_t kCount = 1000, kBytes = kCount * sizeof(int);
  std::vector<int> in(kCount), out(kCount, -1);
  std::iota(in.begin(), in.end(), 5);
  int *a, *b, *managed, *pinned;
  ASSERT_EQ(cudaMalloc(&a, kBytes), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&b, kBytes), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, kBytes), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, kBytes), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(a, in.data(), kBytes, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(b, a, kBytes, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(managed, b, kBytes, cudaMemcpyDeviceToHost), cudaSuccess);  // managed is on both sides
  EXPECT_EQ(cudaMemcpy(pinned, managed, kBytes, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(out.data(), pinned, kBytes, cudaMemcpyHostToHost), cudaSuccess);
  EXPECT_EQ(out, in);
  std::fill(out.begin(), out.end(), 0);
  EXPECT_EQ(cudaMemcpyAsync(out.data(), b, kBytes, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(out, in);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemset(a, 0x11, kBytes), cudaSuccess);
  EXPECT_EQ(cudaMemset(a + 10, 0, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(out.data(), a, kBytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(out[9], 0x11111111);
  EXPECT_EQ(out[10], 0);
  EXPECT_EQ(out[kCount - 1], 0x11111111);
  for (int* p : {a, b, managed}) EXPECT_EQ(cudaFree(p), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Api, CopiesPastAnEndAreReportedAndMoveNothing) {
  int* device;
  ASSERT_EQ(cudaMalloc(&device, 100), cudaSuccess);
  ASSERT_EQ(cudaMemset(device, 0, 100), cudaSuccess);
  std::vector<char> host(200, 7);
  expect_report(report_of([&] {
                  expect_error(cudaMemcpy(device, host.data(), 101, cudaMemcpyHostToDevice),
                               cudaErrorInvalidValue);
                }),
                {"[simt-memcpy]", "cudaMemcpy", "destination", "101", "100"});
  expect_report(report_of([&] {
                  expect_error(cudaMemcpy(host.data(), device + 20, 40, cudaMemcpyDeviceToHost),
                               cudaErrorInvalidValue);
                }),
                {"[simt-memcpy]", "source", "40 bytes", "20 are left of the 100"});
  EXPECT_EQ(host[0], 7);
  expect_report(report_of([&] { expect_error(cudaMemset(device + 24, 1, 5), cudaErrorInvalidValue); }),
                {"[simt-memcpy]", "cudaMemset", "5 bytes", "4 are left"});
  char first = 1;
  ASSERT_EQ(cudaMemcpy(&first, device, 1, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  expect_report(report_of([&] {
                  expect_error(cudaMemcpy(device, host.data(), 4, cudaMemcpyDefault), cudaErrorInvalidValue);
                }),
                {"[simt-memcpy]", "not allocated"});
}

TEST_F(Api, WrongDirectionsAreReported) {
  int* device;
  ASSERT_EQ(cudaMalloc(&device, 64), cudaSuccess);
  int host[16] = {};
  expect_report(report_of([&] {
                  expect_error(cudaMemcpy(device, host, 64, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
                }),
                {"[simt-memcpy]", "cudaMemcpyDeviceToHost", "from host memory to device memory"});
  expect_report(report_of([&] {
                  expect_error(cudaMemcpy(host, device, 64, cudaMemcpyHostToHost), cudaErrorInvalidValue);
                }),
                {"[simt-memcpy]", "cudaMemcpyHostToHost"});
  expect_report(report_of([&] {
                  expect_error(cudaMemcpy(host, host + 8, 4, cudaMemcpyDeviceToDevice),
                               cudaErrorInvalidValue);
                }),
                {"[simt-memcpy]"});
  expect_report(report_of([&] { expect_error(cudaMemset(host, 0, 4), cudaErrorInvalidValue); }),
                {"[simt-memcpy]", "host memory"});
  expect_error(cudaMemcpy(device, host, 4, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
  expect_error(cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(Api, RowsAndSlices) {
  constexpr size_t kWidth = 13, kHeight = 7;
  char* device;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&device, &pitch, kWidth, kHeight), cudaSuccess);
  EXPECT_EQ(pitch % 512, 0u);
  std::vector<char> in(kWidth * kHeight), out(20 * kHeight, 'x');
  std::iota(in.begin(), in.end(), static_cast<char>(0));
  ASSERT_EQ(cudaMemset2D(device, pitch, 0, kWidth, kHeight), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2D(device, pitch, in.data(), kWidth, kWidth, kHeight, cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DAsync(out.data(), 20, device, pitch, kWidth, kHeight, cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (size_t y = 0; y < kHeight; ++y) {
    EXPECT_EQ(std::memcmp(&out[y * 20], &in[y * kWidth], kWidth), 0);
    EXPECT_EQ(out[y * 20 + kWidth], 'x');  // the gap is left alone
  }
  expect_error(cudaMemcpy2D(device, kWidth - 1, in.data(), kWidth, kWidth, kHeight, cudaMemcpyHostToDevice),
               cudaErrorInvalidPitchValue);
  expect_report(report_of([&] {
                  expect_error(cudaMemcpy2D(device, pitch, in.data(), kWidth, kWidth, kHeight + 1,
                                            cudaMemcpyHostToDevice),
                               cudaErrorInvalidValue);
                }),
                {"[simt-memcpy]", "8 rows of 13, 512 apart"});
  EXPECT_EQ(cudaFree(device), cudaSuccess);

  cudaPitchedPtr box;
  const cudaExtent extent = make_cudaExtent(5, 3, 4);
  ASSERT_EQ(cudaMalloc3D(&box, extent), cudaSuccess);
  ASSERT_EQ(cudaMemset3D(box, 9, extent), cudaSuccess);
  std::vector<char> back(5 * 3 * 4);
  cudaMemcpy3DParms parameters = {};
  parameters.srcPtr = box;
  parameters.dstPtr = make_cudaPitchedPtr(back.data(), 5, 5, 3);
  parameters.extent = extent;
  parameters.kind = cudaMemcpyDeviceToHost;
  ASSERT_EQ(cudaMemcpy3D(&parameters), cudaSuccess);
  EXPECT_EQ(back, std::vector<char>(5 * 3 * 4, 9));
  EXPECT_EQ(cudaFree(box.ptr), cudaSuccess);
}

__constant__ float coefficients[4];
__device__ int counter = 3;

__global__ void use_symbols(float* out) {
  out[threadIdx.x] = coefficients[threadIdx.x] * static_cast<float>(counter);
}

TEST_F(Api, Symbols) {
  const float values[4] = {1, 2, 3, 4};
  ASSERT_EQ(cudaMemcpyToSymbol(coefficients, values, sizeof(values)), cudaSuccess);
  const float two = 20;
  ASSERT_EQ(cudaMemcpyToSymbol(coefficients, &two, sizeof(float), sizeof(float)), cudaSuccess);
  int host = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&host, counter, sizeof(int)), cudaSuccess);
  EXPECT_EQ(host, 3);
  void* address = nullptr;
  size_t size = 0;
  ASSERT_EQ(cudaGetSymbolAddress(&address, counter), cudaSuccess);
  ASSERT_EQ(cudaGetSymbolSize(&size, coefficients), cudaSuccess);
  EXPECT_EQ(size, sizeof(values));
  host = 10;
  ASSERT_EQ(cudaMemcpy(address, &host, sizeof(int), cudaMemcpyHostToDevice), cudaSuccess);
  float* out;
  ASSERT_EQ(cudaMallocManaged(&out, sizeof(values)), cudaSuccess);
  use_symbols<<<1, 4>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 10.0f);
  EXPECT_EQ(out[1], 200.0f);
  EXPECT_EQ(out[3], 40.0f);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
  expect_report(report_of([&] {
                  expect_error(cudaMemcpyToSymbol(coefficients, values, 16, 4), cudaErrorInvalidValue);
                }),
                {"[simt-memcpy]", "cudaMemcpyToSymbol", "16 bytes", "12 are left of the 16"});
  expect_report(report_of([&] {
                  expect_error(cudaMemcpyFromSymbol(&host, counter, sizeof(int), 0, cudaMemcpyHostToDevice),
                               cudaErrorInvalidValue);
                }),
                {"[simt-memcpy]"});
}

TEST_F(Api, PointersKnowWhatTheyAre) {
  int *device, *managed, *pinned, local = 0;
  ASSERT_EQ(cudaMalloc(&device, 64), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 64), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&pinned, 64, cudaHostAllocMapped), cudaSuccess);
  const auto attributes = [](const void* p) {
    cudaPointerAttributes a;
    EXPECT_EQ(cudaPointerGetAttributes(&a, p), cudaSuccess);
    return a;
  };
  EXPECT_EQ(attributes(device + 3).type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes(device + 3).devicePointer, device + 3);
  EXPECT_EQ(attributes(device).hostPointer, nullptr);
  EXPECT_EQ(attributes(managed).type, cudaMemoryTypeManaged);
  EXPECT_EQ(attributes(managed).hostPointer, managed);
  EXPECT_EQ(attributes(pinned).type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes(&local).type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes(&local).devicePointer, nullptr);
  int* mapped;
  EXPECT_EQ(cudaHostGetDevicePointer(&mapped, pinned, 0), cudaSuccess);
  EXPECT_EQ(mapped, pinned);
  expect_error(cudaHostGetDevicePointer(&mapped, &local, 0), cudaErrorInvalidValue);
  expect_error(cudaHostAlloc(&mapped, 64, 0x100), cudaErrorInvalidValue);

  std::vector<int> registered(64);
  EXPECT_EQ(cudaHostRegister(registered.data(), 256, cudaHostRegisterDefault), cudaSuccess);
  EXPECT_EQ(attributes(registered.data() + 63).type, cudaMemoryTypeHost);
  expect_error(cudaHostRegister(registered.data(), 256, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaMemcpy(registered.data(), device, 4, cudaMemcpyDeviceToDevice), cudaSuccess);
  expect_report(report_of([&] {
                  expect_error(cudaMemcpy(&registered[60], device, 20, cudaMemcpyDefault),
                               cudaErrorInvalidValue);
                }),
                {"[simt-memcpy]", "16 are left of the 256", "registered"});
  EXPECT_EQ(cudaHostUnregister(registered.data()), cudaSuccess);
  expect_error(cudaHostUnregister(registered.data()), cudaErrorHostMemoryNotRegistered);

  EXPECT_EQ(cudaMemPrefetchAsync(managed, 64, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 64, cudaCpuDeviceId), cudaSuccess);
  EXPECT_EQ(cudaMemAdvise(managed, 64, cudaMemAdviseSetReadMostly, 0), cudaSuccess);
  expect_error(cudaMemPrefetchAsync(managed, 65, 0, nullptr), cudaErrorInvalidValue);
  expect_error(cudaMemPrefetchAsync(device, 64, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Api, PoolsAndStreamOrderedMemory) {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  float* p;
  ASSERT_EQ(cudaMallocAsync(&p, 1000, stream), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(p, 0, 1000, stream), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(p, stream), cudaSuccess);
  cudaMemPool_t pool;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  unsigned long long threshold = 1 << 20, read = 0;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read), cudaSuccess);
  EXPECT_EQ(read, threshold);
  EXPECT_EQ(cudaMallocFromPoolAsync(&p, 100, pool, stream), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  expect_error(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);  // the default one stays
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  expect_error(cudaMallocAsync(&p, 100, stream), cudaErrorInvalidResourceHandle);
}

// ---- streams and events ----

TEST_F(Api, StreamsLiveUntilDestroyed) {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -99), cudaSuccess);
  unsigned int flags = 0;
  int priority = 1;
  EXPECT_EQ(cudaStreamGetFlags(stream, &flags), cudaSuccess);
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
  EXPECT_EQ(cudaStreamGetPriority(stream, &priority), cudaSuccess);
  EXPECT_EQ(priority, -5);  // clamped to the range
  nothing<<<1, 1, 0, stream>>>();
  expect_error(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess) << "asking makes progress";
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  expect_error(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  expect_error(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  expect_error(cudaStreamCreateWithFlags(&stream, 0x40), cudaErrorInvalidValue);
}

TEST_F(Api, EventsMeasureTime) {
  cudaEvent_t start, stop, untimed, never;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&stop, cudaEventBlockingSync), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&never), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(start), cudaSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(cudaEventRecord(stop), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(untimed), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(stop), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(stop), cudaSuccess);
  float milliseconds = 0;
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, start, stop), cudaSuccess);
  EXPECT_GE(milliseconds, 20.0f);
  EXPECT_LT(milliseconds, 10000.0f);
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, stop, start), cudaSuccess);
  EXPECT_LE(milliseconds, -20.0f);
  expect_error(cudaEventElapsedTime(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);
  expect_error(cudaEventElapsedTime(&milliseconds, start, never), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, stop), cudaSuccess);
  for (cudaEvent_t e : {start, stop, untimed, never}) EXPECT_EQ(cudaEventDestroy(e), cudaSuccess);
  expect_error(cudaEventRecord(start), cudaErrorInvalidResourceHandle);
  expect_error(cudaEventDestroy(start), cudaErrorInvalidResourceHandle);
  expect_error(cudaStreamWaitEvent(nullptr, stop), cudaErrorInvalidResourceHandle);
}

TEST_F(Api, HostFunctionsRunInOrder) {
  std::vector<int> order;
  const auto note = [](void* p) { static_cast<std::vector<int>*>(p)->push_back(1); };
  ASSERT_EQ(cudaLaunchHostFunc(nullptr, note, &order), cudaSuccess);
  const auto callback = [](cudaStream_t, cudaError_t status, void* p) {
    static_cast<std::vector<int>*>(p)->push_back(status == cudaSuccess ? 2 : -1);
  };
  ASSERT_EQ(cudaStreamAddCallback(nullptr, callback, &order, 0), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

// ---- kernels ----

__global__ void scaled_sum(const float* x, float scale, float* sum, int n) {
  extern __shared__ float partial[];
  float mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += x[i];
  partial[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) all += partial[i];
    *sum = scale * all;
  }
}

__global__ void static_shared(int* out) {
  __shared__ int tile[1024];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

class Kernels : public Api {
 protected:
  void SetUp() override {
    Api::SetUp();
    ASSERT_EQ(cudaMallocManaged(&x_, 100 * sizeof(float)), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&sum_, sizeof(float)), cudaSuccess);
    for (int i = 0; i < 100; ++i) x_[i] = static_cast<float>(i);
    *sum_ = -1;
  }
  void TearDown() override {
    EXPECT_EQ(cudaFree(x_), cudaSuccess);
    EXPECT_EQ(cudaFree(sum_), cudaSuccess);
    Api::TearDown();
  }
  float *x_ = nullptr, *sum_ = nullptr;
};

TEST_F(Kernels, LaunchedByFunctionCalls) {
  float scale = 2;
  int n = 100;
  void* arguments[] = {&x_, &scale, &sum_, &n};
  ASSERT_EQ(cudaLaunchKernel((void*)scaled_sum, dim3(1), dim3(32), arguments, 32 * sizeof(float), 0),
            cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*sum_, 9900.0f);
  scale = 3;
  ASSERT_EQ(cudaLaunchCooperativeKernel(scaled_sum, 1, 64, arguments, 64 * sizeof(float)), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*sum_, 14850.0f);
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  config.dynamicSmemBytes = 32 * sizeof(float);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  ASSERT_EQ(cudaLaunchKernelEx(&config, scaled_sum, x_, 0.5f, sum_, 10), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*sum_, 22.5f);
  config.blockDim = 2000;
  expect_error(cudaLaunchKernelEx(&config, scaled_sum, x_, 0.5f, sum_, 10), cudaErrorInvalidConfiguration);
  expect_error(cudaLaunchKernel(scaled_sum, 1, 0, arguments, 0, 0), cudaErrorInvalidConfiguration);
  expect_error(cudaLaunchCooperativeKernel(scaled_sum, 1 << 20, 1024, arguments, 0, 0),
               cudaErrorCooperativeLaunchTooLarge);
}

TEST_F(Kernels, AnOldErrorSurvivesAGoodLaunch) {
  EXPECT_EQ(cudaSetDevice(9), cudaErrorInvalidDevice);
  float scale = 1;
  int n = 3;
  void* arguments[] = {&x_, &scale, &sum_, &n};
  EXPECT_EQ(cudaLaunchKernel(scaled_sum, 1, 32, arguments, 128, 0), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST_F(Kernels, DynamicSharedMemoryHasToBeAskedFor) {
  constexpr int kLarge = 100 << 10;
  scaled_sum<<<1, 32, kLarge>>>(x_, 1.0f, sum_, 100);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  ASSERT_EQ(
      cudaFuncSetAttribute((const void*)scaled_sum, cudaFuncAttributeMaxDynamicSharedMemorySize, kLarge),
      cudaSuccess);
  scaled_sum<<<1, 32, kLarge>>>(x_, 1.0f, sum_, 100);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*sum_, 4950.0f);
  cudaFuncAttributes attributes;
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, scaled_sum), cudaSuccess);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, kLarge);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_GT(attributes.numRegs, 0);
  expect_error(cudaFuncSetAttribute(scaled_sum, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 << 10),
               cudaErrorInvalidValue);
  expect_error(cudaFuncSetAttribute(scaled_sum, static_cast<cudaFuncAttribute>(99), 0),
               cudaErrorInvalidValue);
  const char* name = nullptr;
  ASSERT_EQ(cudaFuncGetName(&name, scaled_sum), cudaSuccess);
  EXPECT_STREQ(name, "scaled_sum");
}

TEST_F(Kernels, StaticSharedMemoryIsKnownAfterALaunch) {
  int* out;
  ASSERT_EQ(cudaMallocManaged(&out, 1024 * sizeof(int)), cudaSuccess);
  static_shared<<<1, 1024>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 1023);
  EXPECT_EQ(out[1023], 0);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
  cudaFuncAttributes attributes;
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, static_shared), cudaSuccess);
  EXPECT_EQ(attributes.sharedSizeBytes, 4096u);
}

TEST_F(Kernels, Occupancy) {
  const auto blocks = [](int threads, size_t shared) {
    int count = -1;
    EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, nothing, threads, shared), cudaSuccess);
    return count;
  };
  EXPECT_EQ(blocks(1024, 0), 2);
  EXPECT_EQ(blocks(256, 0), 8);
  EXPECT_EQ(blocks(32, 0), 32);         // the limit of blocks
  EXPECT_EQ(blocks(1000, 0), 2);        // whole warps count
  EXPECT_EQ(blocks(256, 48 << 10), 4);  // 49 KiB of 228 each, one of them the system's
  EXPECT_EQ(blocks(1025, 0), 0);
  EXPECT_EQ(blocks(32, 60 << 10), 0);  // not asked for
  int count;
  expect_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, nothing, 0, 0), cudaErrorInvalidValue);
  int grid = 0, block = 0;
  ASSERT_EQ(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing, 0, 0), cudaSuccess);
  EXPECT_EQ(block, 1024);
  int multiprocessors = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  EXPECT_EQ(grid, 2 * multiprocessors);
  ASSERT_EQ(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing, 0, 200), cudaSuccess);
  EXPECT_LE(block, 200);
  ASSERT_EQ(
      cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, nothing, [](int b) { return 256 * b; }),
      cudaSuccess);
  EXPECT_LE(256 * block, 48 << 10);
  size_t available = 0;
  ASSERT_EQ(cudaOccupancyAvailableDynamicSMemPerBlock(&available, nothing, 2, 256), cudaSuccess);
  EXPECT_EQ(available, static_cast<size_t>(113) << 10);
}

__global__ void __cluster_dims__(2) in_pairs() {}

TEST_F(Kernels, OccupancyOfClusters) {
  cudaLaunchAttribute size{};
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(8), config.blockDim = dim3(1024);
  int clusters = 0, multiprocessors = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  ASSERT_EQ(cudaOccupancyMaxActiveClusters(&clusters, in_pairs, &config), cudaSuccess);
  EXPECT_EQ(clusters, multiprocessors);  // two blocks of 1024 threads each, two to a cluster
  config.attrs = &size, config.numAttrs = 1;
  ASSERT_EQ(cudaOccupancyMaxActiveClusters(&clusters, nothing, &config), cudaSuccess);
  EXPECT_EQ(clusters, multiprocessors / 2);
  ASSERT_EQ(cudaOccupancyMaxActiveClusters(&clusters, reinterpret_cast<const void*>(nothing), &config),
            cudaSuccess);
  EXPECT_EQ(clusters, multiprocessors / 2);
  expect_error(cudaOccupancyMaxActiveClusters(&clusters, in_pairs, &config), cudaErrorInvalidClusterSize);
  size.val.clusterDim = {9, 1, 1};
  expect_error(cudaOccupancyMaxActiveClusters(&clusters, nothing, &config), cudaErrorInvalidClusterSize);
  expect_error(cudaOccupancyMaxActiveClusters(&clusters, nothing, nullptr), cudaErrorInvalidValue);
}

// ---- types ----

TEST(VectorTypes, LayoutsAreCudas) {
  static_assert(sizeof(char4) == 4 && alignof(char4) == 4 && sizeof(char3) == 3 && alignof(char3) == 1);
  static_assert(sizeof(short2) == 4 && alignof(short2) == 4 && sizeof(ushort4) == 8 && alignof(ushort4) == 8);
  static_assert(sizeof(float3) == 12 && alignof(float3) == 4 && sizeof(float2) == 8 && alignof(float2) == 8);
  static_assert(sizeof(float4) == 16 && alignof(float4) == 16 && sizeof(int4) == 16 && alignof(uint4) == 16);
  static_assert(sizeof(double2) == 16 && alignof(double2) == 16 && sizeof(double3) == 24 &&
                alignof(double3) == 8);
  static_assert(sizeof(double4) == 32 && alignof(double4) == 16 && alignof(double4_16a) == 16 &&
                alignof(double4_32a) == 32);
  static_assert(sizeof(longlong2) == 16 && alignof(ulonglong4) == 16 && sizeof(dim3) == 12);
  static_assert(std::is_trivially_default_constructible_v<float4> &&
                std::is_trivially_destructible_v<float4>);
}

constexpr float4 shifted(float4 v) {
  float4 result = v;
  result.x += 1;
  result = make_float4(result.x, result.y, result.z, result.w);
  return result;
}

TEST(VectorTypes, MembersAreLvaluesAlsoInConstants) {
  constexpr float4 v = shifted(make_float4(1, 2, 3, 4));
  static_assert(v.x == 2 && v.w == 4);
  float4 w = {5, 6, 7, 8};
  float* y = &w.y;
  *y = 60;
  float4 copy = w, assigned;
  assigned = copy;
  EXPECT_EQ(assigned.y, 60);
  float4 zero = {};
  EXPECT_EQ(zero.x + zero.y + zero.z + zero.w, 0);
  const int2 pair = {1, -2};
  EXPECT_EQ(pair.y, -2);
  union {
    uint4 words;
    unsigned char bytes[16];
  } view;
  view.words = make_uint4(0x01020304u, 0, 0, 0xff000000u);
  EXPECT_EQ(view.bytes[0], 4);
  EXPECT_EQ(view.bytes[15], 0xff);
  const dim3 grid(3, 4), from(make_uint3(1, 2, 3));
  EXPECT_EQ(grid.z, 1u);
  EXPECT_EQ(from.z, 3u);
}

// ---- what a failed kernel leaves behind; last, and in processes of their own, because it stays ----

__global__ void assert_positive(const int* x) {
  assert(x[threadIdx.x] > 0);
}
__global__ void trap() {
  __trap();
}

using ApiDeathTest = Api;

TEST_F(ApiDeathTest, FailedAssertionsStickAsOnADevice) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto child = [] {
    int* x;
    cudaMallocManaged(&x, 64 * sizeof(int));
    for (int i = 0; i < 64; ++i) x[i] = i - 40 ? 1 : 0;
    assert_positive<<<1, 64>>>(x);
    const bool sticks = cudaDeviceSynchronize() == cudaErrorAssert && cudaGetLastError() == cudaErrorAssert &&
                        cudaGetLastError() == cudaErrorAssert && cudaMalloc(&x, 4) == cudaErrorAssert &&
                        cudaMemset(x, 0, 4) == cudaErrorAssert;
    if (!sticks) std::_Exit(3);
    const bool cleared = cudaDeviceReset() == cudaSuccess && cudaGetLastError() == cudaSuccess &&
                         cudaMalloc(&x, 4) == cudaSuccess;
    std::exit(cleared ? 0 : 4);  // a report was made, so this ends with 1
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(1), "x\\[threadIdx.x\\] > 0");
}

TEST_F(ApiDeathTest, TrapsStick) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto child = [] {
    trap<<<1, 1>>>();
    std::exit(cudaDeviceSynchronize() == cudaErrorLaunchFailure ? 0 : 3);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(1), "simt-trap");
}

TEST_F(ApiDeathTest, AReportMakesTheProgramEndWithOne) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto child = [] {
    int local = 0;
    cudaFree(&local);
    std::exit(0);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(1), "simt-free");
}

TEST_F(ApiDeathTest, AssertionsOfTheHostAbort) {
  EXPECT_DEATH(assert(1 + 1 == 3), "1 \\+ 1 == 3");
}

}  // namespace api_test
