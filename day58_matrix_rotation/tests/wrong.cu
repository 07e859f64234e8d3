// SPDX-License-Identifier: MIT
//
// Kernels of day 58 with a bug in each, which its tests must reject. They stay inside their buffers, so that it is the comparison that
// finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day58_matrix_rotation/rotation.h"
#include "day58_matrix_rotation/turn.h"

namespace day58 {
namespace {

constexpr int kTile = 32;

// A thread for each pixel of `width` x `height`.
__device__ Place here() {
  return {static_cast<int>(blockIdx.y * kTile + threadIdx.y),
          static_cast<int>(blockIdx.x * kTile + threadIdx.x)};
}
template <class Problem>
void launch(void (*kernel)(Problem), const Problem& p, cudaStream_t stream) {
  const dim3 grid(days::ceil_div(p.width, kTile), days::ceil_div(p.height, kTile));
  kernel<<<grid, dim3(kTile, kTile), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// Takes the column out before the others have put it in.
__global__ void no_barrier_kernel(Rotate<uint32_t> p) {
  __shared__ uint32_t tile[kTile][kTile + 1];
  const auto [row, col] = here();
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  if (row < p.height && col < p.width) tile[threadIdx.y][threadIdx.x] = p.in[index({row, col}, p.width)];
  const int from_row = row0 + threadIdx.x, from_col = col0 + threadIdx.y;
  if (from_row < p.height && from_col < p.width)
    p.out[index(turned(from_row, from_col, p.height, p.width, p.quarters), p.height)] =
        tile[threadIdx.x][threadIdx.y];
}
void no_barrier(const Rotate<uint32_t>& p, cudaStream_t stream) {
  launch(no_barrier_kernel, p, stream);
}
MUST_REJECT(quarter, no_barrier, "out[|simt-race-shared");

// Passes pixels through floating point: a signalling NaN comes out quiet.
__global__ void through_floats_kernel(Rotate<uint32_t> p) {
  const auto [row, col] = here();
  if (row >= p.height || col >= p.width) return;
  uint32_t bits = p.in[index({row, col}, p.width)];
  if ((bits & 0x7f800000u) == 0x7f800000u && (bits & 0x7fffffu) != 0) bits |= 0x400000u;
  p.out[index(turned(row, col, p.height, p.width, p.quarters), p.height)] = bits;
}
void through_floats(const Rotate<uint32_t>& p, cudaStream_t stream) {
  launch(through_floats_kernel, p, stream);
}
MUST_REJECT(quarter, through_floats, "NaN payloads: out[");

// Half as many owners as pixels, rounded down: the middle of an odd number is never written.
__global__ void no_middle_kernel(Rotate<uint8_t> p) {
  const int64_t i = int64_t{blockIdx.x} * kTile + threadIdx.x, n = p.pixels();
  if (i >= n / 2) return;
  const uint8_t front = p.in[i], back = p.in[n - 1 - i];
  p.out[i] = back;
  p.out[n - 1 - i] = front;
}
void no_middle(const Rotate<uint8_t>& p, cudaStream_t stream) {
  no_middle_kernel<<<static_cast<unsigned>(days::ceil_div(p.pixels(), kTile)), kTile, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(half, no_middle, "1 x 1: out[0,0] is");

// ---- In place ----

// Every pixel fetches its own value, a row's one after the other by one thread: nobody waits until the other one has been read.
__global__ void each_its_own_kernel(InPlace<uint32_t> p) {
  const int row = static_cast<int>(blockIdx.x * kTile + threadIdx.x);
  for (int col = 0; row < p.height && col < p.width; ++col) {
    const Place from = turned(row, col, p.height, p.width, 4 - p.quarters);
    p.image[index({row, col}, p.width)] = p.image[index(from, p.width)];
  }
}
void each_its_own(const InPlace<uint32_t>& p, cudaStream_t stream) {
  each_its_own_kernel<<<static_cast<unsigned>(days::ceil_div(p.height, kTile)), kTile, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(in_place, each_its_own, ": image[|simt-race-global");

// ---- Any angle: kSeen says what is seen at a pixel of out. ----

template <float (*kSeen)(const Turn<float>&, int, int)>
__global__ void sees(Turn<float> p) {
  const auto [row, col] = here();
  if (row < p.height && col < p.width) p.out[index({row, col}, p.width)] = kSeen(p, row, col);
}
template <float (*kSeen)(const Turn<float>&, int, int)>
void wrong_turn(const Turn<float>& p, cudaStream_t stream) {
  launch(sees<kSeen>, p, stream);
}

__device__ float pixel_of(const Turn<float>& p, int row, int col) {
  if (p.border == Border::kClamp) {
    row = row < 0 ? 0 : row < p.height ? row : p.height - 1;
    col = col < 0 ? 0 : col < p.width ? col : p.width - 1;
  }
  return row < 0 || row >= p.height || col < 0 || col >= p.width ? 0 : p.in[index({row, col}, p.width)];
}
// The blend at (x, y), its corners from corner(row, col).
template <class Corner>
__device__ float blended(float x, float y, const Corner& corner) {
  const int col = static_cast<int>(floorf(x)), row = static_cast<int>(floorf(y));
  const float right = x - floorf(x), lower = y - floorf(y);
  return (1 - lower) * ((1 - right) * corner(row, col) + right * corner(row, col + 1)) +
         lower * ((1 - right) * corner(row + 1, col) + right * corner(row + 1, col + 1));
}

// Places are cut off, not rounded down: between -1 and 0 they become 0.
__device__ float cuts_off(const Turn<float>& p, int row, int col) {
  const Spot spot = seen_at(p, col, row);
  const int x = static_cast<int>(spot.x), y = static_cast<int>(spot.y);
  const float right = fabsf(spot.x - x), lower = fabsf(spot.y - y);
  return (1 - lower) * ((1 - right) * pixel_of(p, y, x) + right * pixel_of(p, y, x + 1)) +
         lower * ((1 - right) * pixel_of(p, y + 1, x) + right * pixel_of(p, y + 1, x + 1));
}
MUST_REJECT(turn, wrong_turn<cuts_off>, "67 x 1 x 30: out[36,0,0] is");

// Asks whether the place is inside and not whether its corners are: right of the last column lies the next row.
__device__ float next_row(const Turn<float>& p, int row, int col) {
  const Spot spot = seen_at(p, col, row);
  const int64_t last = p.pixels() - 1;
  return blended(spot.x, spot.y, [&](int r, int c) {
    const int64_t i = index({r, c}, p.width);
    return i < 0 || i > last ? 0.0f : p.in[i];
  });
}
MUST_REJECT(turn, wrong_turn<next_row>, "out[");

}  // namespace
}  // namespace day58
