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

// ---- Quarters into another array: kWhere says where a pixel goes. ----

template <Place (*kWhere)(Place, const Rotate<uint32_t>&)>
__global__ void goes(Rotate<uint32_t> p) {
  const auto [row, col] = here();
  if (row >= p.height || col >= p.width) return;
  const Place to = kWhere({row, col}, p);
  p.out[index(to, p.quarters == 2 ? p.width : p.height)] = p.in[index({row, col}, p.width)];
}
template <Place (*kWhere)(Place, const Rotate<uint32_t>&)>
void wrong_way(const Rotate<uint32_t>& p, cudaStream_t stream) {
  launch(goes<kWhere>, p, stream);
}

// A transpose, whose mirror is missing.
__device__ Place no_mirror(Place at, const Rotate<uint32_t>&) {
  return {at.col, at.row};
}
MUST_REJECT(quarter, wrong_way<no_mirror>, "2 x 3: out[0,0] is");

// Clockwise where it should be counterclockwise.
__device__ Place clockwise(Place at, const Rotate<uint32_t>& p) {
  return turned(at.row, at.col, p.height, p.width, 4 - p.quarters);
}
MUST_REJECT(quarter, wrong_way<clockwise>, "2 x 3: out[0,0] is");

// Mirrors about `width`, not `width - 1`; what would leave the picture comes in again on the other side.
__device__ Place one_too_far(Place at, const Rotate<uint32_t>& p) {
  return p.quarters == 1 ? Place{(p.width - at.col) % p.width, at.row}
                         : Place{at.col, (p.height - at.row) % p.height};
}
MUST_REJECT(quarter, wrong_way<one_too_far>, "2 x 3: out[0,0] is");

// Always one quarter, whatever is asked for.
__device__ Place only_one(Place at, const Rotate<uint32_t>& p) {
  return turned(at.row, at.col, p.height, p.width, 1);
}
MUST_REJECT(quarter, wrong_way<only_one>, "2 x 3, three quarters: out[0,0] is");

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

// Four bytes are a word, and the words are turned: the bytes of each keep their order.
__global__ void turns_words_kernel(Rotate<uint8_t> p) {
  const auto [row, col] = here();
  if (row >= p.height || col >= p.width) return;
  const bool whole = p.height % 4 == 0 && p.width % 4 == 0;
  Place to = turned(row, col, p.height, p.width, p.quarters);
  if (whole) to.col = to.col / 4 * 4 + 3 - to.col % 4;
  p.out[index(to, p.height)] = p.in[index({row, col}, p.width)];
}
void turns_words(const Rotate<uint8_t>& p, cudaStream_t stream) {
  launch(turns_words_kernel, p, stream);
}
MUST_REJECT(quarter, turns_words, "32 x 32: out[");

// ---- A half turn ----

// Reverses each row and leaves it where it is: right for a single row.
__device__ Place rows_stay(Place at, const Rotate<uint32_t>& p) {
  return {at.row, p.width - 1 - at.col};
}
MUST_REJECT(half, wrong_way<rows_stay>, "3 x 1: out[0,0] is");

// Turns the rows' order and none of the rows: right for a single column.
__device__ Place rows_unturned(Place at, const Rotate<uint32_t>& p) {
  return {p.height - 1 - at.row, at.col};
}
MUST_REJECT(half, wrong_way<rows_unturned>, "1 x 2: out[0,0] is");

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

struct Ring {
  uint32_t* at[4];
};
__device__ Ring ring_of(Place at, const InPlace<uint32_t>& p) {
  Ring ring;
  for (uint32_t*& place : ring.at) {
    place = p.image + index(at, p.width);
    at = turned(at.row, at.col, p.height, p.width, p.quarters);
  }
  return ring;
}
__device__ void turn(const Ring& ring) {
  const uint32_t a = *ring.at[0], b = *ring.at[1], c = *ring.at[2], d = *ring.at[3];
  *ring.at[1] = a;
  *ring.at[2] = b;
  *ring.at[3] = c;
  *ring.at[0] = d;
}

// The owners' rectangle has (side + 1) / 2 in both directions: of an odd side the middle row's rings have two owners. A thread turns
// the rings of a row one after the other, so that an owner comes long after the other one, and not by luck.
__global__ void two_owners_kernel(InPlace<uint32_t> p) {
  const int row = static_cast<int>(blockIdx.x * kTile + threadIdx.x), side = (p.height + 1) / 2;
  for (int col = 0; row < side && col < side; ++col) turn(ring_of({row, col}, p));
}
void two_owners(const InPlace<uint32_t>& p, cudaStream_t stream) {
  two_owners_kernel<<<static_cast<unsigned>(days::ceil_div(p.height, kTile)), kTile, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(in_place, two_owners, "3 x 3: image[|simt-race-global");

// It has side / 2 in both directions: the middle row and column of an odd side stay.
__global__ void no_middle_cross_kernel(InPlace<uint32_t> p) {
  const auto [row, col] = here();
  if (row < p.height / 2 && col < p.width / 2) turn(ring_of({row, col}, p));
}
void no_middle_cross(const InPlace<uint32_t>& p, cudaStream_t stream) {
  launch(no_middle_cross_kernel, p, stream);
}
MUST_REJECT(in_place, no_middle_cross, "3 x 3: image[0,1] is");

// Stores each pixel before the next one is loaded: the first goes all the way round.
__global__ void overwrites_kernel(InPlace<uint32_t> p) {
  const auto [row, col] = here();
  if (row >= p.height / 2 || col >= (p.width + 1) / 2) return;
  const Ring ring = ring_of({row, col}, p);
  for (int i = 0; i < 4; ++i) *ring.at[(i + 1) % 4] = *ring.at[i];
}
void overwrites(const InPlace<uint32_t>& p, cudaStream_t stream) {
  launch(overwrites_kernel, p, stream);
}
MUST_REJECT(in_place, overwrites, "2 x 2: image[");

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

// The middle is taken to be at half of the extents: half a pixel to the right of it, and below.
__device__ float off_centre(const Turn<float>& p, int row, int col) {
  const float middle_x = 0.5f * p.width, middle_y = 0.5f * p.height, u = col - middle_x, v = row - middle_y;
  return blended(p.cosine * u - p.sine * v + middle_x, p.sine * u + p.cosine * v + middle_y,
                 [&](int r, int c) { return pixel_of(p, r, c); });
}
MUST_REJECT(turn, wrong_turn<off_centre>, "1 x 1 x 1: out[0,0,0] is 0.736720");

// The nearest pixel and no blend.
__device__ float nearest(const Turn<float>& p, int row, int col) {
  const Spot spot = seen_at(p, col, row);
  return pixel_of(p, static_cast<int>(floorf(spot.y + 0.5f)), static_cast<int>(floorf(spot.x + 0.5f)));
}
MUST_REJECT(turn, wrong_turn<nearest>, "1 x 2 x 45: out[0,0,0] is");

// The other way round.
__device__ float backwards(const Turn<float>& p, int row, int col) {
  Turn<float> other = p;
  other.sine = -p.sine;
  const Spot spot = seen_at(other, col, row);
  return blended(spot.x, spot.y, [&](int r, int c) { return pixel_of(p, r, c); });
}
MUST_REJECT(turn, wrong_turn<backwards>, "67 x 1 x 30: out[|1 x 67 x 90: out[|2 x 2 x 90: out[0,0,0] is");

// Places are cut off, not rounded down: between -1 and 0 they become 0.
__device__ float cuts_off(const Turn<float>& p, int row, int col) {
  const Spot spot = seen_at(p, col, row);
  const int x = static_cast<int>(spot.x), y = static_cast<int>(spot.y);
  const float right = fabsf(spot.x - x), lower = fabsf(spot.y - y);
  return (1 - lower) * ((1 - right) * pixel_of(p, y, x) + right * pixel_of(p, y, x + 1)) +
         lower * ((1 - right) * pixel_of(p, y + 1, x) + right * pixel_of(p, y + 1, x + 1));
}
MUST_REJECT(turn, wrong_turn<cuts_off>, "67 x 1 x 30: out[36,0,0] is");

// Zero outside, whatever border is asked for.
__device__ float always_zero(const Turn<float>& p, int row, int col) {
  Turn<float> other = p;
  other.border = Border::kZero;
  const Spot spot = seen_at(p, col, row);
  return blended(spot.x, spot.y, [&](int r, int c) { return pixel_of(other, r, c); });
}
MUST_REJECT(turn, wrong_turn<always_zero>, "clamped border: out[0,0,0] is");

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

// Red and blue change places.
__global__ void bgra_kernel(Turn<uint8_t> p) {
  const auto [row, col] = here();
  if (row >= p.height || col >= p.width) return;
  const Spot spot = seen_at(p, col, row);
  for (int channel = 0; channel < 4; ++channel) {
    const int from = channel == 3 ? 3 : 2 - channel;
    const float value = blended(spot.x, spot.y, [&](int r, int c) {
      if (p.border == Border::kClamp) {
        r = min(max(r, 0), p.height - 1);
        c = min(max(c, 0), p.width - 1);
      }
      return r < 0 || r >= p.height || c < 0 || c >= p.width
                 ? 0.0f
                 : static_cast<float>(p.in[4 * index({r, c}, p.width) + from]);
    });
    p.out[4 * index({row, col}, p.width) + channel] = static_cast<uint8_t>(value + 0.5f);
  }
}
void bgra(const Turn<uint8_t>& p, cudaStream_t stream) {
  launch(bgra_kernel, p, stream);
}
MUST_REJECT(turn, bgra, "1 x 1 x 1: out[0,0,0] is");

}  // namespace
}  // namespace day58
