// SPDX-License-Identifier: MIT
// Changed since tile: four steps before anything goes back to global memory. The tile has a halo of four cells, of which
// each step uses up one, and it is there twice: double buffering again, with a barrier in place of the end of a kernel.
// Bound by: shared memory, 12 accesses for a warp's cells and step. Global memory moves less than half of what swap's does.
#include "day33_animated_patterns/gray_scott.cuh"

namespace day33 {
namespace {

constexpr int kSteps = 4;                         // of a launch, at most
constexpr int kWide = 64, kHigh = 32, kRows = 8;  // cells of a tile; rows of threads
constexpr int kOutWide = kWide - 2 * kSteps, kOutHigh = kHigh - 2 * kSteps;  // of these, results

struct Tile {
  float u[kHigh][kWide], v[kHigh][kWide];
};

__global__ void __launch_bounds__(kWide* kRows)
    steps_kernel(const float* u, const float* v,  // (height, width), likewise all others
                 float* u_after, float* v_after, int width, int height, int steps, float feed, float kill) {
  __shared__ Tile tiles[2];
  const int col = threadIdx.x, x0 = blockIdx.x * kOutWide - kSteps, y0 = blockIdx.y * kOutHigh - kSteps;
  const int from_x = wrapped(x0 + col, width);
  for (int row = threadIdx.y; row < kHigh; row += kRows) {
    const int64_t i = int64_t{wrapped(y0 + row, height)} * width + from_x;
    tiles[0].u[row][col] = u[i];
    tiles[0].v[row][col] = v[i];
  }
  __syncthreads();
  for (int step = 1; step <= steps; ++step) {
    const Tile& from = tiles[(step - 1) % 2];
    Tile& to = tiles[step % 2];
    // Cells nearer than `step` to the tile's edge would need some that were not fetched: they are right no more.
    if (col >= step && col < kWide - step) {
      for (int row = step + threadIdx.y; row < kHigh - step; row += kRows) {
        const Cell cell = react(
            {from.u[row][col], from.v[row][col]},
            (from.u[row][col - 1] + from.u[row][col + 1]) + (from.u[row - 1][col] + from.u[row + 1][col]),
            (from.v[row][col - 1] + from.v[row][col + 1]) + (from.v[row - 1][col] + from.v[row + 1][col]),
            feed, kill);
        to.u[row][col] = cell.u;
        to.v[row][col] = cell.v;
      }
    }
    __syncthreads();
  }
  const Tile& done = tiles[steps % 2];
  const int x = x0 + col;
  if (col < kSteps || col >= kWide - kSteps || x >= width) return;
  for (int row = kSteps + threadIdx.y; row < kHigh - kSteps && y0 + row < height; row += kRows) {
    u_after[int64_t{y0 + row} * width + x] = done.u[row][col];
    v_after[int64_t{y0 + row} * width + x] = done.v[row][col];
  }
}

}  // namespace

void gray_scott_steps(const GrayScott<float>& p, cudaStream_t stream) {
  require_steps(p, "steps");
  float* const u_other = static_cast<float*>(p.workspace.data);
  float* const v_other = u_other + p.cells();
  const dim3 grid(static_cast<unsigned>(days::ceil_div(p.width, kOutWide)),
                  static_cast<unsigned>(days::ceil_div(p.height, kOutHigh)));
  const float *u = p.u, *v = p.v;
  int done = 0;
  for (int left = days::ceil_div(p.steps, kSteps); left > 0; --left) {
    const int steps = p.steps - done < kSteps ? p.steps - done : kSteps;
    float* const u_to = left % 2 == 1 ? p.u_after : u_other;
    float* const v_to = left % 2 == 1 ? p.v_after : v_other;
    steps_kernel<<<grid, dim3(kWide, kRows), 0, stream>>>(u, v, u_to, v_to, p.width, p.height, steps, p.feed,
                                                          p.kill);
    CUDA_CHECK_LAUNCH();
    u = u_to;
    v = v_to;
    done += steps;
  }
}

}  // namespace day33
