// SPDX-License-Identifier: MIT
//
// Keeps the positive elements, in their order. A block must know how many those before it keep, so blocks take
// turns: each waits for its turn, adds its count to the total, and passes the turn on, whatever its count is.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day61_debugging/06_keep.cu -o keep
#include "common/buffer.h"
#include "common/program.h"
#include "common/util.h"

constexpr int kThreads = 64;

struct Progress {  // of all blocks; begins as zeros
  int tickets, turn, total;
};

// The positive x, one behind the other. x, kept: (n). Blocks take numbers as they start, because a block that waits
// for one that has not started may wait for ever.
__global__ void keep(const int* x, int* kept, Progress* all, size_t n) {
  __shared__ int ticket, first, flags[kThreads];
  const int t = threadIdx.x;
  if (t == 0) ticket = atomicAdd(&all->tickets, 1);
  __syncthreads();
  const size_t i = ticket * static_cast<size_t>(kThreads) + t;
  const bool mine = i < n && x[i] > 0;
  flags[t] = mine;
  const int count = __syncthreads_count(mine);  // a barrier, and how many threads brought true
  if (t == 0) {
    while (atomicAdd(&all->turn, 0) != ticket) {
    }
    first = atomicAdd(&all->total, count);
    __threadfence();  // the total is seen before the turn is
    atomicExch(&all->turn, ticket + 1);
  }
  __syncthreads();
  if (!mine) return;
  int place = first;
  for (int before = 0; before < t; ++before) place += flags[before];
  kept[place] = x[i];
}

int main(int argc, char** argv) {
  const days::About about{"keep", "keeps the positive elements, in their order", 1 << 20, 10000, "int32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size();
    std::vector<int> x(n), expected;
    for (size_t i = 0; i < n; ++i) x[i] = i / 64 % 3 == 1 ? -1 : static_cast<int>(i * i % 1009) - 500;
    for (const int value : x)
      if (value > 0) expected.push_back(value);
    expected.resize(n, 0);  // behind the kept ones the zeros that the buffer began with
    const days::DeviceBuffer<int> values(x), kept(std::vector<int>(n, 0));
    const days::DeviceBuffer<int> progress(std::vector<int>(3, 0));
    keep<<<static_cast<unsigned>(days::ceil_div(n, size_t{kThreads})), kThreads>>>(
        values.data(), kept.data(), reinterpret_cast<Progress*>(progress.data()), n);
    CUDA_CHECK_LAUNCH();
    program.compare(kept.download().data(), expected.data(), n, "kept");
  });
}
