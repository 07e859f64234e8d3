// SPDX-License-Identifier: MIT
//
// Each pixel's right neighbour less the pixel, in rows of 256. A block works on four rows, one after the other, in the
// same 1 KiB of shared memory. So it needs two barriers a row: one before the row is read, one before it is replaced.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day61_debugging/02_gradient.cu -o gradient
#include "common/buffer.h"
#include "common/program.h"
#include "common/util.h"

constexpr int kColumns = 256, kRows = 4;  // of a row; of a block

// g[i] = x[i + 1] - x[i] within a row, 0 in its last column. x, g: (n), rows of kColumns
__global__ void gradient(const int* x, int* g, size_t n) {
  __shared__ int row[kColumns];
  const int t = threadIdx.x;
  for (int r = 0; r < kRows; ++r) {
    const size_t i = (blockIdx.x * static_cast<size_t>(kRows) + r) * kColumns + t;
    row[t] = i < n ? x[i] : 0;
    __syncthreads();
    const bool last = t + 1 == kColumns || i + 1 >= n;
    if (i < n) g[i] = last ? 0 : row[t + 1] - row[t];
    __syncthreads();  // before a faster thread puts the next row there
  }
}

int main(int argc, char** argv) {
  const days::About about{"gradient", "each pixel's right neighbour less the pixel", 1 << 20, 10000, "int32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size();
    std::vector<int> x(n), expected(n);
    for (size_t i = 0; i < n; ++i) x[i] = static_cast<int>(i * i % 1009);
    for (size_t i = 0; i < n; ++i) expected[i] = (i + 1) % kColumns == 0 || i + 1 == n ? 0 : x[i + 1] - x[i];
    const days::DeviceBuffer<int> pixels(x), g(n);
    gradient<<<static_cast<unsigned>(days::ceil_div(n, size_t{kRows * kColumns})), kColumns>>>(pixels.data(),
                                                                                               g.data(), n);
    CUDA_CHECK_LAUNCH();
    program.compare(g.download().data(), expected.data(), n, "g");
  });
}
