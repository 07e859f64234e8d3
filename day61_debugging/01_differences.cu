// SPDX-License-Identifier: MIT
//
// How much a value is above the one before it: n + 1 values have n differences. The last value has no neighbour
// behind it, so the guard must stop one thread earlier than there are values.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day61_debugging/01_differences.cu -o differences
#include "common/buffer.h"
#include "common/program.h"
#include "common/util.h"

constexpr int kThreads = 256;

// d[i] = x[i + 1] - x[i]. x: (values), d: (values - 1)
__global__ void differences(const float* x, float* d, size_t values) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i + 1 >= values) return;
  d[i] = x[i + 1] - x[i];
}

int main(int argc, char** argv) {
  const days::About about{"differences", "each value less the one before", 1 << 20, 10000};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size();
    std::vector<float> x(n + 1), expected(n);
    for (size_t i = 0; i <= n; ++i) x[i] = static_cast<float>(i * i % 1000);
    for (size_t i = 0; i < n; ++i) expected[i] = x[i + 1] - x[i];
    const days::DeviceBuffer<float> values(x), d(n);
    differences<<<static_cast<unsigned>(days::ceil_div(n + 1, size_t{kThreads})), kThreads>>>(
        values.data(), d.data(), n + 1);
    CUDA_CHECK_LAUNCH();
    program.compare(d.download().data(), expected.data(), n, "d");
  });
}
