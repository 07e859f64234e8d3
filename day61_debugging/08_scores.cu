// SPDX-License-Identifier: MIT
//
// Rows of 100 numbers: how far each is from its row's mean, as a share of the farthest one (0 in a constant row). Batches
// of rows go through two streams, so that one is copied while the other is computed. The host waits for both.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day61_debugging/08_scores.cu -o scores
#include <algorithm>
#include <cmath>

#include "common/buffer.h"
#include "common/program.h"
#include "common/util.h"

constexpr int kRow = 100, kThreads = 128, kBatches = 8, kStreams = 2;

// y = (x - mean) / max |x - mean| of each row. x, y: (n), rows of kRow; the last row may be shorter.
__global__ void scores(const float* x, float* y, size_t n) {
  __shared__ float part[kThreads];
  const int t = threadIdx.x;
  const size_t row = blockIdx.x * static_cast<size_t>(kRow), i = row + t;
  const bool mine = t < kRow && i < n;
  const float value = mine ? x[i] : 0.0f;
  part[t] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  const float mean = part[0] / static_cast<float>(n - row < kRow ? n - row : kRow);
  const float away = mine ? value - mean : 0.0f;
  __syncthreads();  // all have read the sum
  part[t] = fabsf(away);
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) part[t] = fmaxf(part[t], part[t + half]);
    __syncthreads();
  }
  if (mine) y[i] = part[0] > 0 ? away / part[0] : 0.0f;
}

// The same, on the CPU.
std::vector<float> expected_scores(const float* x, size_t n) {
  std::vector<float> y(n);
  for (size_t row = 0; row < n; row += kRow) {
    const size_t end = std::min(n, row + kRow);
    float sum = 0, most = 0;
    for (size_t i = row; i < end; ++i) sum += x[i];
    const float mean = sum / static_cast<float>(end - row);
    for (size_t i = row; i < end; ++i) most = std::max(most, std::abs(x[i] - mean));
    for (size_t i = row; i < end; ++i) y[i] = most > 0 ? (x[i] - mean) / most : 0.0f;
  }
  return y;
}

int main(int argc, char** argv) {
  const days::About about{"scores", "each number's distance from its row's mean", 1 << 22, 20000};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size();
    const days::PinnedBuffer<float> x(n), y(n);
    for (size_t i = 0; i < n; ++i)  // whole numbers, whose sums are exact; every seventh row is constant
      x[i] = static_cast<float>(i / kRow % 7 == 0 ? 5 : i * i % 101);
    std::fill(y.data(), y.data() + n, 2.0f);
    const days::DeviceBuffer<float> from(n), to(n);
    const days::Stream streams[kStreams];
    const size_t most = days::ceil_div(days::ceil_div(n, size_t{kRow}), size_t{kBatches}) * kRow;
    for (size_t batch = 0; batch * most < n; ++batch) {
      const size_t first = batch * most, count = std::min(most, n - first), bytes = count * sizeof(float);
      const cudaStream_t stream = streams[batch % kStreams];
      CUDA_CHECK(
          cudaMemcpyAsync(from.data() + first, x.data() + first, bytes, cudaMemcpyHostToDevice, stream));
      scores<<<static_cast<unsigned>(days::ceil_div(count, size_t{kRow})), kThreads, 0, stream>>>(
          from.data() + first, to.data() + first, count);
      CUDA_CHECK_LAUNCH();
      CUDA_CHECK(cudaMemcpyAsync(y.data() + first, to.data() + first, bytes, cudaMemcpyDeviceToHost, stream));
    }
    for (const days::Stream& stream : streams) CUDA_CHECK(cudaStreamSynchronize(stream));
    program.compare(y.data(), expected_scores(x.data(), n).data(), n, "y");
  });
}
