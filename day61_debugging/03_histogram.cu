// SPDX-License-Identifier: MIT
//
// How often each of 256 bytes occurs. A block counts in shared memory and then adds its counts to the result. It has
// fewer threads than bins, so each thread sets several bins to 0.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day61_debugging/03_histogram.cu -o histogram
#include "common/buffer.h"
#include "common/program.h"
#include "common/util.h"

constexpr int kBins = 256, kThreads = 128;
constexpr size_t kBytes = 4096;  // of a block

// counts[b] += how often b occurs in x. x: (n), counts: (kBins)
__global__ void histogram(const int* x, int* counts, size_t n) {
  __shared__ int bins[kBins];
  for (int b = threadIdx.x; b < kBins; b += kThreads) bins[b] = 0;
  __syncthreads();
  const size_t first = blockIdx.x * kBytes;
  for (size_t i = first + threadIdx.x; i < n && i < first + kBytes; i += kThreads) atomicAdd(&bins[x[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += kThreads)
    if (bins[b] > 0) atomicAdd(&counts[b], bins[b]);
}

int main(int argc, char** argv) {
  const days::About about{"histogram", "how often each byte occurs", 1 << 20, 10000, "int32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size();
    std::vector<int> x(n), expected(kBins, 0);
    for (size_t i = 0; i < n; ++i) x[i] = static_cast<int>(i * i % 251);
    for (const int value : x) ++expected[value];
    const days::DeviceBuffer<int> bytes(x), counts(std::vector<int>(kBins, 0));
    histogram<<<static_cast<unsigned>(days::ceil_div(n, kBytes)), kThreads>>>(bytes.data(), counts.data(), n);
    CUDA_CHECK_LAUNCH();
    program.compare(counts.download().data(), expected.data(), kBins, "counts");
  });
}
