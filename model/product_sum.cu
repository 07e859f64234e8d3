// SPDX-License-Identifier: MIT
//
// Where k is split: the parts' sums, added up in their order, and the epilogue. A thread has eight neighbours of a row.
// Bound by: memory.

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "model/epilogue.cuh"

namespace model {
namespace {

constexpr int kThreads = 256;

template <class In>
__global__ void __launch_bounds__(kThreads) sum_kernel(const float* sums,  // (batch, split, m, n)
                                                       int64_t chunks, int split, const Finish<In> finish) {
  const int across = days::ceil_div(finish.n, 8);
  const int64_t apart = int64_t{finish.m} * finish.n;  // from part to part
  const bool vectors = finish.n % 4 == 0;              // fp32 rows begin at multiples of 16 bytes
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < chunks;
       i += int64_t{gridDim.x} * kThreads) {
    const int col = static_cast<int>(i % across) * 8;
    const int64_t row = i / across;  // of all problems
    const int z = static_cast<int>(row / finish.m), down = static_cast<int>(row % finish.m);
    const float* from = sums + z * split * apart + int64_t{down} * finish.n + col;
    const int count = finish.n - col;
    float x[1][8], y[8];
    load8(x[0], from, count, vectors && count >= 8);
    for (int part = 1; part < split; ++part) {
      from += apart;
      load8(y, from, count, vectors && count >= 8);
#pragma unroll
      for (int j = 0; j < 8; ++j) x[0][j] += y[j];
    }
    finish(x, z, down, 1, col);
  }
}

}  // namespace

template <class In>
void launch_sum(const float* sums, int batch, int split, const Finish<In>& finish, cudaStream_t stream) {
  const int64_t chunks = int64_t{batch} * finish.m * days::ceil_div(finish.n, 8);
  const int64_t blocks = std::min<int64_t>(days::ceil_div(chunks, kThreads), 1 << 20);
  sum_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(sums, chunks, split, finish);
  CUDA_CHECK_LAUNCH();
}

template void launch_sum(const float*, int, int, const Finish<float>&, cudaStream_t);
template void launch_sum(const float*, int, int, const Finish<half>&, cudaStream_t);
template void launch_sum(const float*, int, int, const Finish<bf16>&, cudaStream_t);

}  // namespace model
