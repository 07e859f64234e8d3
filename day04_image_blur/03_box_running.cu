// SPDX-License-Identifier: MIT
//
// Running sums: going one pixel on, the window gains one pixel and loses one, so its sum changes by two
// numbers, however wide it is. First down the columns, then along the rows of those sums. Since shared: the
// work grows little with the radius, and there is no limit on it.
// Bound by: instructions for the most part. Sums go to memory and back as 32-bit numbers, 10 bytes a pixel.

#include "common/check.h"
#include "common/util.h"
#include "day04_image_blur/border.cuh"

namespace day04 {
namespace {

constexpr int kThreads = 128;
constexpr int kColumnRun = 64;  // rows that a thread walks down
constexpr int kRowRun = 8;      // pixels that a thread walks along
constexpr int kWarp = 32;       // the threads of a block where a row has no pixel for more

// Lanes of the second pass start 8 numbers apart, which would be the same 4 banks for all. One number of
// padding after each 8 makes it 9 apart: all banks in turn.
__device__ inline int padded(int i) {
  return i + i / kRowRun;
}

__global__ void columns_kernel(const uint8_t* image,  // (planes, height, width)
                               uint32_t* sums,  // (planes, height, width): of 2 radius + 1 pixels along y
                               int height, int width, int radius, Border border) {
  const int x = blockIdx.x * kThreads + threadIdx.x;
  if (x >= width) return;
  const int64_t plane = int64_t{blockIdx.z} * height * width;
  const int first = blockIdx.y * kColumnRun;
  const int last = height - first < kColumnRun ? height : first + kColumnRun;
  uint32_t sum = 0;
  for (int dy = -radius; dy < radius; ++dy) sum += pixel(image + plane, height, width, first + dy, x, border);
  for (int y = first; y < last; ++y) {
    sum += pixel(image + plane, height, width, y + radius, x, border);
    sums[plane + int64_t{y} * width + x] = sum;
    sum -= pixel(image + plane, height, width, y - radius, x, border);
  }
}

template <int kBlock>
__global__ void rows_kernel(const uint32_t* sums,  // (planes, height, width)
                            uint8_t* blurred,      // (planes, height, width)
                            int height, int width, int radius, Border border) {
  constexpr int kRowPart = kBlock * kRowRun;  // pixels that a block walks along
  extern __shared__ uint32_t part[];          // padded(kRowPart + 2 radius)
  const int x0 = blockIdx.x * kRowPart;
  const int64_t plane = int64_t{blockIdx.z} * height * width;
  const unsigned count = (2 * radius + 1) * (2 * radius + 1);
  for (int y = blockIdx.y; y < height; y += gridDim.y) {
    const uint32_t* row = sums + plane + int64_t{y} * width;
    for (int i = threadIdx.x; i < kRowPart + 2 * radius; i += kBlock) {
      const int x = x0 - radius + i;
      const int from = x < width + radius ? stand_in(x, width, border) : -1;  // nobody needs what lies beyond
      part[padded(i)] = from < 0 ? 0 : row[from];
    }
    __syncthreads();
    const int first = threadIdx.x * kRowRun;
    uint32_t sum = 0;
    for (int i = 0; i < 2 * radius; ++i) sum += part[padded(first + i)];
    for (int i = first; i < first + kRowRun && x0 + i < width; ++i) {
      sum += part[padded(i + 2 * radius)];
      blurred[plane + int64_t{y} * width + x0 + i] = mean(sum, count);
      sum -= part[padded(i)];
    }
    __syncthreads();  // before the next row takes this one's place
  }
}

template <int kBlock>
void launch_rows(const Blur<uint8_t>& p, const uint32_t* sums, cudaStream_t stream) {
  const int most_rows = 65535;
  const dim3 rows(days::ceil_div(p.width, kBlock * kRowRun), p.height < most_rows ? p.height : most_rows,
                  p.planes);
  const int numbers = kBlock * kRowRun + 2 * p.radius;
  const size_t bytes = sizeof(uint32_t) * static_cast<size_t>(numbers + numbers / kRowRun + 1);
  rows_kernel<kBlock>
      <<<rows, kBlock, bytes, stream>>>(sums, p.blurred, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void box_running(const Blur<uint8_t>& p, cudaStream_t stream) {
  require_extents(p, "box_running");
  const size_t needed = box_running_workspace(p);
  days::require(p.workspace.bytes >= needed, "box_running: needs a workspace of bytes:", needed);
  uint32_t* sums = static_cast<uint32_t*>(p.workspace.data);
  const dim3 columns(days::ceil_div(p.width, kThreads), days::ceil_div(p.height, kColumnRun), p.planes);
  columns_kernel<<<columns, kThreads, 0, stream>>>(p.image, sums, p.height, p.width, p.radius, p.border);
  CUDA_CHECK_LAUNCH();
  p.width <= kWarp ? launch_rows<kWarp>(p, sums, stream) : launch_rows<kThreads>(p, sums, stream);
}

}  // namespace day04
