// SPDX-License-Identifier: MIT
//
// What a sensor's 14-bit codes mean, from a table of 16,384 entries in shared memory. That is 64 KiB, more than the
// 48 KiB that a block gets unasked, so the host asks; and it checks the launch, which says nothing by itself.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day61_debugging/07_lookup.cu -o lookup
#include "common/buffer.h"
#include "common/program.h"
#include "common/util.h"

constexpr int kEntries = 16384, kThreads = 256;
constexpr size_t kCodes = 4096;  // of a block

// y[i] = table[codes[i]]. codes, y: (n), table: (kEntries)
__global__ void lookup(const int* codes, const int* table, int* y, size_t n) {
  extern __shared__ int near[];
  for (int entry = threadIdx.x; entry < kEntries; entry += kThreads) near[entry] = table[entry];
  __syncthreads();
  const size_t first = blockIdx.x * kCodes;
  for (size_t i = first + threadIdx.x; i < n && i < first + kCodes; i += kThreads) y[i] = near[codes[i]];
}

int main(int argc, char** argv) {
  const days::About about{"lookup", "what codes mean, from a table in shared memory", 1 << 20, 10000,
                          "int32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size();
    std::vector<int> codes(n), meanings(kEntries), expected(n);
    for (int entry = 0; entry < kEntries; ++entry) meanings[entry] = entry * 7 % 1009;
    for (size_t i = 0; i < n; ++i) codes[i] = static_cast<int>(i * i % kEntries);
    for (size_t i = 0; i < n; ++i) expected[i] = meanings[codes[i]];
    const days::DeviceBuffer<int> from(codes), table(meanings), y(n);
    constexpr int kShared = kEntries * sizeof(int);
    CUDA_CHECK(cudaFuncSetAttribute(lookup, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
    lookup<<<static_cast<unsigned>(days::ceil_div(n, kCodes)), kThreads, kShared>>>(from.data(), table.data(),
                                                                                    y.data(), n);
    CUDA_CHECK_LAUNCH();
    program.compare(y.download().data(), expected.data(), n, "y");
  });
}
