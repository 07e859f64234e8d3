// SPDX-License-Identifier: MIT
//
// Each element's share of its block's sum, in thousandths. The sum is made by halves: 128 threads add, then 64, then
// 32 and so on. All 256 threads reach the barrier before each step, those that add and those that do not.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day61_debugging/04_shares.cu -o shares
#include <algorithm>

#include "common/buffer.h"
#include "common/program.h"
#include "common/util.h"

constexpr int kThreads = 256;

// share[i] = 1000 x[i] / (the sum of x[i]'s block). x, share: (n), all x > 0
__global__ void shares(const int* x, int* share, size_t n) {
  __shared__ int part[kThreads];
  const int t = threadIdx.x;
  const size_t i = blockIdx.x * static_cast<size_t>(kThreads) + t;
  part[t] = i < n ? x[i] : 0;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();  // what is added next has been written
    if (t < half) part[t] += part[t + half];
  }
  __syncthreads();
  if (i < n) share[i] = 1000 * x[i] / part[0];
}

int main(int argc, char** argv) {
  const days::About about{"shares", "each element's share of its block's sum", 1 << 20, 10000, "int32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size();
    std::vector<int> x(n), expected(n);
    for (size_t i = 0; i < n; ++i) x[i] = static_cast<int>(1 + i * i % 1009);
    for (size_t first = 0; first < n; first += kThreads) {
      const size_t end = std::min(n, first + kThreads);
      int sum = 0;
      for (size_t i = first; i < end; ++i) sum += x[i];
      for (size_t i = first; i < end; ++i) expected[i] = 1000 * x[i] / sum;
    }
    const days::DeviceBuffer<int> values(x), share(n);
    shares<<<static_cast<unsigned>(days::ceil_div(n, size_t{kThreads})), kThreads>>>(values.data(),
                                                                                     share.data(), n);
    CUDA_CHECK_LAUNCH();
    program.compare(share.download().data(), expected.data(), n, "share");
  });
}
