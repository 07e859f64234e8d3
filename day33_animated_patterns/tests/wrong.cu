// SPDX-License-Identifier: MIT
//
// Kernels of day 33 with a bug in each, which its tests must reject.
#include "common/buffer.h"
#include "common/must_reject.h"
#include "day33_animated_patterns/gray_scott.cuh"

namespace day33 {
namespace {

const dim3 kBlock(kBlockX, kBlockY);

// A single buffer: what a neighbour has written already is read as if it were old. Every second row is launched after the
// others, because a GPU may run a small picture's warps so much at once that none reads too late.
__global__ void one_buffer_kernel(float* u, float* v, int width, int height, float feed, float kill,
                                  int odd) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height || y % 2 != odd) return;
  const Cell cell = react_at(u, v, x, y, width, height, feed, kill);
  u[int64_t{y} * width + x] = cell.u;
  v[int64_t{y} * width + x] = cell.v;
}
__global__ void fetch_kernel(const float* from, float* to, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i < n) to[i] = from[i];
}
__global__ void right_step_kernel(const float* u, const float* v, float* u_after, float* v_after, int width,
                                  int height, float feed, float kill) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const Cell cell = react_at(u, v, x, y, width, height, feed, kill);
  u_after[int64_t{y} * width + x] = cell.u;
  v_after[int64_t{y} * width + x] = cell.v;
}

// A wall where the torus has none.
__global__ void walled_kernel(const float* u, const float* v, float* u_after, float* v_after, int width,
                              int height, float feed, float kill) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const int64_t i = int64_t{y} * width + x;
  const auto around = [&](const float* of) {
    return (x > 0 ? of[i - 1] : of[i]) + (x + 1 < width ? of[i + 1] : of[i]) +
           (y > 0 ? of[i - width] : of[i]) + (y + 1 < height ? of[i + width] : of[i]);
  };
  const Cell cell = react({u[i], v[i]}, around(u), around(v), feed, kill);
  u_after[i] = cell.u;
  v_after[i] = cell.v;
}

// The newer surface is overwritten, which neighbours still read.
__global__ void newer_kernel(float* now, float* other, int width, int height, float speed2) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const int64_t i = int64_t{y} * width + x;
  const float left = x > 0 ? now[i - 1] : 0, right = x + 1 < width ? now[i + 1] : 0;
  const float above = y > 0 ? now[i - width] : 0, below = y + 1 < height ? now[i + width] : 0;
  const float here = now[i];
  const float next = 2 * here - other[i] + speed2 * ((left + right) + (above + below) - 4 * here);
  other[i] = here;
  now[i] = next;
}

// Counts the step that leaves the circle as one within it.
__global__ void one_more_kernel(float* counts, int width, int height, float left, float top, float step,
                                int most) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  if (x >= width || y >= height) return;
  const float c_re = fmaf(static_cast<float>(x), step, left), c_im = fmaf(static_cast<float>(y), step, top);
  float re = 0, im = 0;
  int count = 0;
  while (count < most) {
    const float squared = im * im, size = fmaf(re, re, squared);
    im = fmaf(2 * re, im, c_im);
    re = fmaf(re, re, -squared) + c_re;
    ++count;
    if (size > 4) break;
  }
  counts[int64_t{y} * width + x] = static_cast<float>(count);
}

// 256 does not fit a byte, and comes out as 0: a black dot where it should be brightest.
__global__ void overflowing_kernel(const float* values, uint8_t* pixels, int64_t n, float scale,
                                   float shift) {
  const int64_t i = int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (i >= n) return;
  const float entry = fmaf(values[i], scale, shift);
  pixels[i] = entry > 0 && entry < 1e9f ? static_cast<uint8_t>(static_cast<int>(entry)) : 0;
}

}  // namespace

void one_buffer(const GrayScott<float>& p, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>(days::ceil_div(p.cells(), 256));
  fetch_kernel<<<blocks, 256, 0, stream>>>(p.u, p.u_after, p.cells());
  CUDA_CHECK_LAUNCH();
  fetch_kernel<<<blocks, 256, 0, stream>>>(p.v, p.v_after, p.cells());
  CUDA_CHECK_LAUNCH();
  for (int half = 0; half < 2 * p.steps; ++half) {
    one_buffer_kernel<<<grid_of(p), kBlock, 0, stream>>>(p.u_after, p.v_after, p.width, p.height, p.feed,
                                                         p.kill, half % 2);
    CUDA_CHECK_LAUNCH();
  }
}
MUST_REJECT(gray_scott, one_buffer, "u_after[|simt-race-global");

// The buffers are swapped, and nobody asks which of them the last step writes.
void wrong_end(const GrayScott<float>& p, cudaStream_t stream) {
  const days::DeviceBuffer<float> room(2 * static_cast<size_t>(p.cells()));  // wrong kernels get no workspace
  float* const u_other = room.data();
  float* const v_other = u_other + p.cells();
  const float *u = p.u, *v = p.v;
  for (int step = 0; step < p.steps; ++step) {
    float* const u_to = step % 2 == 0 ? p.u_after : u_other;
    float* const v_to = step % 2 == 0 ? p.v_after : v_other;
    right_step_kernel<<<grid_of(p), kBlock, 0, stream>>>(u, v, u_to, v_to, p.width, p.height, p.feed, p.kill);
    CUDA_CHECK_LAUNCH();
    u = u_to;
    v = v_to;
  }
}
MUST_REJECT(gray_scott, wrong_end, "1 x 1 x 4: u_after[0,0] is");

void walled(const GrayScott<float>& p, cudaStream_t stream) {
  const days::DeviceBuffer<float> room(2 * static_cast<size_t>(p.cells()));  // wrong kernels get no workspace
  float* const u_other = room.data();
  float* const v_other = u_other + p.cells();
  const float *u = p.u, *v = p.v;
  for (int left = p.steps; left > 0; --left) {
    float* const u_to = left % 2 == 1 ? p.u_after : u_other;
    float* const v_to = left % 2 == 1 ? p.v_after : v_other;
    walled_kernel<<<grid_of(p), kBlock, 0, stream>>>(u, v, u_to, v_to, p.width, p.height, p.feed, p.kill);
    CUDA_CHECK_LAUNCH();
    u = u_to;
    v = v_to;
  }
}
MUST_REJECT(gray_scott, walled, "u_after[");

void newer(const Waves<float>& p, cudaStream_t stream) {
  newer_kernel<<<grid_of(p), kBlock, 0, stream>>>(const_cast<float*>(p.now), p.other, p.width, p.height,
                                                  p.speed2);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(waves, newer, "now was|other[|simt-race-global");

void one_more(const Mandelbrot<float>& p, cudaStream_t stream) {
  one_more_kernel<<<grid_of(p), kBlock, 0, stream>>>(p.counts, p.width, p.height, p.left, p.top, p.step,
                                                     p.most);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(mandelbrot, one_more, "counts[0,0] is");

void overflowing(const Paint<float>& p, cudaStream_t stream) {
  const float scale = 255 / (p.high - p.low);
  overflowing_kernel<<<static_cast<unsigned>(days::ceil_div(p.n, 256)), 256, 0, stream>>>(
      p.values, p.pixels, p.n, scale, -p.low * scale);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(paint, overflowing, "pixels[");

}  // namespace day33
