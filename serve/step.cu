// SPDX-License-Identifier: MIT
#include "serve/step.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "common/attention/tensor.cuh"
#include "common/check.h"
#include "common/dependent.h"
#include "common/ptx.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "common/vector.cuh"
#include "day75_weight_only_matmul/weights.cuh"

namespace serve {
namespace {

using days::kWarpSize;

constexpr int kBeginThreads = 256;

// A block has a row.
template <class T>
__global__ void __launch_bounds__(kBeginThreads)
    begin_kernel(const T* tokens, const T* positions, Rows rows, Slots slots, T* x, int vocab, int width) {
  days::ptx::griddepcontrol_launch_dependents();
  const auto row = static_cast<int64_t>(blockIdx.x);
  const int32_t slot = rows.slots[row];
  const int32_t token = slot < 0 ? 0 : slots.last[slot], position = slot < 0 ? 0 : slots.lengths[slot];
  for (int col = static_cast<int>(threadIdx.x); col < width; col += kBeginThreads) {
    float value = NAN;
    if (token >= 0 && token < vocab) {
      value = static_cast<float>(tokens[int64_t{token} * width + col]);
      if (positions != nullptr) value += static_cast<float>(positions[int64_t{position} * width + col]);
    }
    x[row * width + col] = T(value);
  }
  if (threadIdx.x > 0) return;
  rows.tokens[row] = token;
  rows.positions[row] = position;
}

// ---- products ----
//
// A warp multiplies up to 16 or 32 rows of x, the mma's rows, with 8 rows of w, its columns. A unit is what the lanes of a warp load of these
// by 16 bytes each: lane 4 g + t has row g, and of each 32 elements of it those from 8 t on. Which elements an mma takes together is all the
// same as long as x and w agree. A block's warps share out the units of k; their sums are added in the order of warps.

constexpr int kResident = 24;  // warps of a multiprocessor, whose registers suffice for these
constexpr int kColumns = 8, kRowTile = 16, kMostRows = 32;

template <int kBits>
constexpr int kUnit = 32 * 16 / kBits;  // elements of k
template <int kBits>
constexpr int kAtOnce = kBits == 4 ? 2 : 4;  // units that a warp has under way
template <int kBits, bool kNorm>
constexpr int kMostWarps = kNorm        ? 8
                           : kBits == 4 ? 16
                                        : 24;

struct Shape {
  int units, tiles, pitch;
};

// A row that a warp normalizes. Up to 768 elements it is in registers, and is asked for before anything waits.
constexpr int kHeld = 3;
template <class T>
struct Normal {
  days::Vec<T> held[kHeld];

  __device__ void fetch(const T* x, int vectors, int lane) {
#pragma unroll
    for (int i = 0; i < kHeld; ++i)
      if (lane + i * kWarpSize < vectors) held[i] = days::load16(x + 8 * (lane + i * kWarpSize));
  }
  // Calls use(its vector, the vector's place) for each that the lane has.
  template <class Use>
  __device__ void for_each(const T* x, int vectors, int lane, const Use& use) const {
#pragma unroll
    for (int i = 0; i < kHeld; ++i)
      if (lane + i * kWarpSize < vectors) use(held[i], lane + i * kWarpSize);
    for (int v = lane + kHeld * kWarpSize; v < vectors; v += kWarpSize) use(days::load16(x + 8 * v), v);
  }
  __device__ void write(const T* x, const T* gamma, const T* beta, T* y, int k, float eps, int lane) {
    const int vectors = k / 8;
    float sum = 0;
    if (beta != nullptr) {
      for_each(x, vectors, lane, [&](const days::Vec<T>& vec, int) {
#pragma unroll
        for (int e = 0; e < 8; ++e) sum += static_cast<float>(vec[e]);
      });
      sum = days::warp_reduce(sum, days::Sum{}) / static_cast<float>(k);
    }
    const float mean_of_row = sum;
    float of_squares = 0;
    for_each(x, vectors, lane, [&](const days::Vec<T>& vec, int) {
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const float off = static_cast<float>(vec[e]) - mean_of_row;
        of_squares += off * off;
      }
    });
    const float by = 1 / sqrtf(days::warp_reduce(of_squares, days::Sum{}) / static_cast<float>(k) + eps);
    for_each(x, vectors, lane, [&](const days::Vec<T>& vec, int v) {
      const days::Vec<T> scale = days::load16(gamma + 8 * v);
      days::Vec<T> to;
      if (beta != nullptr) {
        const days::Vec<T> shift = days::load16(beta + 8 * v);
#pragma unroll
        for (int e = 0; e < 8; ++e)
          to[e] = T((static_cast<float>(vec[e]) - mean_of_row) * by * static_cast<float>(scale[e]) +
                    static_cast<float>(shift[e]));
      } else {
#pragma unroll
        for (int e = 0; e < 8; ++e)
          to[e] = T(static_cast<float>(T(static_cast<float>(vec[e]) * by)) * static_cast<float>(scale[e]));
      }
      days::store16(y + 8 * v, to);
    });
  }
};

// Which row of w is a tile's column `col`. Gate and up of a column of y are in the same tile.
template <class T>
__device__ int row_of(const FewRows<T>& p, int tile, int col) {
  if (p.finish != Finish::kGate) return tile * kColumns + col;
  return tile * (kColumns / 2) + col % (kColumns / 2) + (col < kColumns / 2 ? 0 : p.n);
}

template <class T, int kBits, bool kNorm, int kTiles>
__global__ void __launch_bounds__(kMostWarps<kBits, kNorm>* kWarpSize,
                                  kNorm ? (kBits == 16 && kTiles == 1 ? 3 : 2) : 1)
    few_kernel(const FewRows<T> p, const Shape shape) {
  extern __shared__ uint4 shared[];
  days::ptx::griddepcontrol_launch_dependents();
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int lane = thread % kWarpSize, g = lane / 4, t = lane % 4;
  const int warp = thread / kWarpSize, warps = threads / kWarpSize;
  const int first_row = static_cast<int>(blockIdx.y) * kMostRows, m = min(kMostRows, p.m - first_row);
  const T* const x = p.x + int64_t{first_row} * p.k;
  T* const gamma = reinterpret_cast<T*>(shared);  // (k), then beta (k)
  T* const beta = gamma + p.k;
  T* const normal = gamma + (kNorm ? 2 * p.k : 0);  // (m, pitch)
  auto* const parts = reinterpret_cast<float*>(normal + (kNorm ? m * shape.pitch : 0));

  uint4 w[kAtOnce<kBits>];
  [[maybe_unused]] uint32_t scales[kAtOnce<kBits>];
  const auto load = [&](int tile, int first) {
#pragma unroll
    for (int i = 0; i < kAtOnce<kBits>; ++i) {
      const int unit = first + i * warps;
      w[i] = make_uint4(0, 0, 0, 0);
      if constexpr (kBits == 4) scales[i] = 0;
      if (unit >= shape.units || tile >= shape.tiles) continue;
      if constexpr (kBits == 16) {
        const int row = row_of(p, tile, g), col = unit * kUnit<kBits> + 8 * t;
        const bool there =
            p.finish == Finish::kGate ? tile * (kColumns / 2) + g % (kColumns / 2) < p.n : row < p.n;
        if (there && col < p.k)
          w[i] = days::ptx::ld_global_nc(
              reinterpret_cast<const uint4*>(static_cast<const T*>(p.w.data) + int64_t{row} * p.k + col));
      } else {
        const int64_t at = int64_t{tile} * shape.units + unit;
        w[i] = days::ptx::ld_global_nc(static_cast<const uint4*>(p.w.data) + at * kWarpSize + lane);
        if constexpr (kBits == 4)
          scales[i] = static_cast<const uint32_t*>(p.w.scale)[at * (kColumns / 2) + t];
      }
    }
  };
  const auto rows_at = [&](int row, int col) {
    if (row >= m || col >= p.k) return make_uint4(0, 0, 0, 0);
    return *reinterpret_cast<const uint4*>(kNorm ? normal + row * shape.pitch + col
                                                 : x + int64_t{row} * p.k + col);
  };

  const int columns = p.finish == Finish::kGate ? kColumns / 2 : kColumns;
  // What a sum of the thread's becomes more than by itself; of its first one it is asked for early.
  struct Own {
    float bias = 0, bias_up = 0, scale = 1;
  };
  const auto own_of = [&](int of_tile, int col) {
    Own own;
    if (of_tile >= shape.tiles || of_tile * columns + col >= p.n) return own;
    const bool gates = p.finish == Finish::kGate;
    const int from = row_of(p, of_tile, col), up = gates ? row_of(p, of_tile, col + columns) : from;
    if constexpr (kBits == 8) own.scale = static_cast<const float*>(p.w.scale)[from];
    if (p.bias != nullptr) own.bias = static_cast<float>(p.bias[from]);
    if (p.bias != nullptr && gates) own.bias_up = static_cast<float>(p.bias[up]);
    return own;
  };
  const auto place_of = [&](int of_tile, int i) {
    return int64_t{first_row + i / columns} * p.n + of_tile * columns + i % columns;
  };
  const auto added_to = [&](int of_tile, int i) {
    if (p.finish != Finish::kAdd || i >= m * columns || of_tile * columns + i % columns >= p.n) return 0.0f;
    return static_cast<float>(p.y[place_of(of_tile, i)]);
  };

  int tile = static_cast<int>(blockIdx.x);
  load(tile, warp);
  Own own = own_of(tile, thread % columns);
  if constexpr (kNorm) {
    for (int i = thread; i < p.k / 8; i += threads) {
      days::ptx::cp_async_cg(gamma + 8 * i, p.gamma + 8 * i);
      if (p.beta != nullptr) days::ptx::cp_async_cg(beta + 8 * i, p.beta + 8 * i);
    }
    days::ptx::cp_async_commit_group();
  }
  days::ptx::griddepcontrol_wait();
  float added = added_to(tile, thread);
  if constexpr (kNorm) {
    Normal<T> row_of_warp;
    if (warp < m) row_of_warp.fetch(x + int64_t{warp} * p.k, p.k / 8, lane);
    days::ptx::cp_async_wait_group<0>();
    __syncthreads();
    for (int row = warp; row < m; row += warps) {
      row_of_warp.write(x + int64_t{row} * p.k, gamma, p.beta == nullptr ? nullptr : beta,
                        normal + row * shape.pitch, p.k, p.eps, lane);
      if (row + warps < m) row_of_warp.fetch(x + int64_t{row + warps} * p.k, p.k / 8, lane);
    }
    __syncthreads();
  }

  for (int turn = 0; tile < shape.tiles; tile += static_cast<int>(gridDim.x), turn ^= 1) {
    float sum[kTiles][4] = {};
    for (int first = warp; first < shape.units; first += warps * kAtOnce<kBits>) {
      if (first != warp) load(tile, first);
#pragma unroll
      for (int i = 0; i < kAtOnce<kBits>; ++i) {
        const int unit = first + i * warps;
        if (unit >= shape.units) break;
        const uint32_t words[] = {w[i].x, w[i].y, w[i].z, w[i].w};
        [[maybe_unused]] float of_group[kTiles][4] = {};
#pragma unroll
        for (int chunk = 0; chunk < 16 / kBits; ++chunk) {
          uint32_t b[4];
          if constexpr (kBits == 16) {
            for (int e = 0; e < 4; ++e) b[e] = words[e];
          } else if constexpr (kBits == 8) {
            for (int e = 0; e < 4; ++e) {
              const uint32_t two = words[2 * chunk + e / 2] >> e % 2 * 16;
              b[e] = days::attention::pack<T>(static_cast<float>(static_cast<int8_t>(two & 0xff)),
                                              static_cast<float>(static_cast<int8_t>(two >> 8 & 0xff)));
            }
          } else {
            day75::eight_of<T>(words[chunk], b);
          }
          const int col = unit * kUnit<kBits> + chunk * 32 + 8 * t;
#pragma unroll
          for (int down = 0; down < kTiles; ++down) {
            const uint4 low = rows_at(down * kRowTile + g, col), high = rows_at(down * kRowTile + g + 8, col);
            float(&to)[4] = kBits == 4 ? of_group[down] : sum[down];
            days::attention::mma<T>(to, {low.x, high.x, low.y, high.y}, b[0], b[1]);
            days::attention::mma<T>(to, {low.z, high.z, low.w, high.w}, b[2], b[3]);
          }
        }
        if constexpr (kBits == 4) {
          const float2 scale = day75::floats_of(day75::two_of<T>(scales[i]));
#pragma unroll
          for (int down = 0; down < kTiles; ++down) {
#pragma unroll
            for (int e = 0; e < 4; ++e) sum[down][e] += of_group[down][e] * (e % 2 == 0 ? scale.x : scale.y);
          }
        }
      }
    }
    const int next = tile + static_cast<int>(gridDim.x);
    load(next, warp);  // while this tile's sums are added up
    float* const ours = parts + turn * warps * kTiles * 4 * kWarpSize;
#pragma unroll
    for (int down = 0; down < kTiles; ++down) {
#pragma unroll
      for (int e = 0; e < 4; ++e) ours[((warp * kTiles + down) * 4 + e) * kWarpSize + lane] = sum[down][e];
    }
    __syncthreads();  // the one of the tile before is read no more: two tiles take turns
    const auto total = [&](int row, int col) {
      const int at =
          (row / kRowTile * 4 + col % 2 + row % kRowTile / 8 * 2) * kWarpSize + row % 8 * 4 + col / 2;
      float all = 0;
      for (int of = 0; of < warps; ++of) all += ours[of * kTiles * 4 * kWarpSize + at];
      return all;
    };
    for (int i = thread; i < m * columns; i += threads) {
      const int row = i / columns, col = i % columns;
      if (tile * columns + col >= p.n) continue;
      if (i != thread) {
        own = own_of(tile, col);
        added = added_to(tile, i);
      }
      const int64_t at = place_of(tile, i);
      const float z = total(row, col) * own.scale + own.bias;
      if (p.logits != nullptr) {
        p.logits[at] = z;
      } else if (p.finish == Finish::kStore) {
        p.y[at] = T(z);
      } else if (p.finish == Finish::kAdd) {
        p.y[at] = T(z + added);
      } else if (p.finish == Finish::kGelu) {
        const auto v = static_cast<float>(T(z));
        p.y[at] = T(0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v))));
      } else {
        const auto gate = static_cast<float>(T(z)),
                   up = static_cast<float>(T(total(row, col + columns) + own.bias_up));
        p.y[at] = T(gate / (1 + expf(-gate)) * up);
      }
    }
    if (next < shape.tiles) {
      own = own_of(next, thread % columns);
      added = added_to(next, thread);
    }
  }
}

template <class T, int kBits, bool kNorm, int kTiles>
void launch_few(const FewRows<T>& p, bool early, cudaStream_t stream) {
  const int columns = p.finish == Finish::kGate ? kColumns / 2 : kColumns;
  const Shape shape{days::ceil_div(p.k, kUnit<kBits>), days::ceil_div(p.n, columns),
                    days::round_up(p.k, 64) + 32};
  // Few warps, and each has some units of its own; where k is long, more warps, so that all of it is under way at once.
  const int warps = std::clamp(days::ceil_div(shape.units, kAtOnce<kBits>), std::min(shape.units, 8),
                               kMostWarps<kBits, kNorm>);
  const size_t normal =
      kNorm ? sizeof(T) * static_cast<size_t>(2 * p.k + std::min(p.m, kMostRows) * shape.pitch) : 0;
  const size_t bytes = normal + sizeof(float) * 2 * 4 * kWarpSize * static_cast<size_t>(warps * kTiles);
  if (bytes > size_t{48} << 10)
    CUDA_CHECK(cudaFuncSetAttribute(few_kernel<T, kBits, kNorm, kTiles>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  const int resident = std::max(1, kResident / warps) * days::multiprocessors();
  const dim3 grid(static_cast<unsigned>(std::min(shape.tiles, resident)),
                  static_cast<unsigned>(days::ceil_div(p.m, kMostRows)));
  days::launch_dependent(early, few_kernel<T, kBits, kNorm, kTiles>, grid,
                         static_cast<unsigned>(warps * kWarpSize), bytes, stream, p, shape);
}

// ---- attention ----
//
// A block has a row, a head and a part of the context; its warps take a page of 16 keys each by turns. The lanes of a key have 16 bytes of it
// each, and of its value. Each warp keeps sums relative to the greatest score that it has seen; the first warps add them up in order.

constexpr int kAttendWarps = 8, kAttendThreads = kAttendWarps * kWarpSize;
constexpr int kTurns = kPartKeys / (kAttendWarps * kPage);
static_assert(kTurns * kAttendWarps * kPage == kPartKeys);

// What a lane has of a head, turned by the cosines and sines of pairs where there are any.
template <class T, int kDim>
__device__ days::Vec<T> turned(const T* head, int d, bool turns, const float2* by) {
  days::Vec<T> own = days::load16(head + d);
  if (!turns) return own;
  constexpr int kHalf = kDim / 2;
  const bool first = d < kHalf;
  const days::Vec<T> other = days::load16(head + (first ? d + kHalf : d - kHalf));
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    const float2 turn = by[d % kHalf + e];
    const auto mine = static_cast<float>(own[e]), theirs = static_cast<float>(other[e]);
    own[e] = T(first ? mine * turn.x - theirs * turn.y : theirs * turn.y + mine * turn.x);
  }
  return own;
}

template <class T, int kDim>
__global__ void __launch_bounds__(kAttendThreads)
    attend_step_kernel(const Attend<T> p, const Rows rows, const Slots slots, const Parts parts) {
  __shared__ float sums[kAttendWarps][kDim], most_of[kAttendWarps], total_of[kAttendWarps];
  __shared__ float2 by[kDim / 2];
  __shared__ bool last;
  days::ptx::griddepcontrol_launch_dependents();
  constexpr int kLanes = kDim / 8, kKeys = kWarpSize / kLanes, kLoads = kPage / kKeys;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarpSize, warp = thread / kWarpSize;
  const int part = static_cast<int>(blockIdx.x), head = static_cast<int>(blockIdx.y);
  const auto row = static_cast<int64_t>(blockIdx.z);
  const int32_t slot = rows.slots[row];
  T* const o = p.o + (row * p.heads + head) * kDim;
  if (slot < 0) {  // all threads of the block
    days::ptx::griddepcontrol_wait();
    if (part == 0 && thread < kDim) o[thread] = T(0.0f);
    return;
  }
  // The position is the length of the cache, which nobody writes before the step's end.
  const int position = slots.lengths[slot], group = p.heads / p.kv_heads, kv_head = head / group;
  const int used = position / kPartKeys + 1;
  if (part >= used) return;
  const int d = lane % kLanes * 8;
  const auto place = [&](int key) {
    const int32_t page = slots.table[int64_t{slot} * slots.most_pages + key / kPage];
    return ((int64_t{page} * p.kv_heads + kv_head) * kPage + key % kPage) * kDim + d;
  };
  const auto key_of = [&](int turn, int i) {
    return part * kPartKeys + (turn * kAttendWarps + warp) * kPage + i * kKeys + lane / kLanes;
  };
  days::Vec<T> keys[kLoads], values[kLoads];
  const auto load = [&](int turn) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int key = key_of(turn, i);
      if (key >= position) continue;
      const int64_t at = place(key);
      keys[i] = days::load16(p.keys + at);
      values[i] = days::load16(p.values + at);
    }
  };
  load(0);
  if (p.frequency != nullptr) {
    if (thread < kDim / 2) {
      const float angle = static_cast<float>(position) * p.frequency[thread];
      by[thread] = make_float2(cosf(angle), sinf(angle));
    }
    __syncthreads();
  }
  days::ptx::griddepcontrol_wait();

  const T* const of_row = p.qkv + row * (p.heads + 2 * p.kv_heads) * kDim;
  const days::Vec<T> own_q = turned<T, kDim>(of_row + head * kDim, d, p.frequency != nullptr, by);
  float q[8];
#pragma unroll
  for (int e = 0; e < 8; ++e) q[e] = static_cast<float>(own_q[e]) * p.scale;
  float most = -INFINITY, all = 0, sum[8] = {};
  for (int turn = 0; turn < kTurns; ++turn) {
    const int begin = key_of(turn, 0) - lane / kLanes;
    if (begin > position) break;  // the whole warp
    if (turn > 0) load(turn);
    if (position < begin + kPage) {  // the new key is the warp's
      const T* const key = of_row + (p.heads + kv_head) * kDim;
      const days::Vec<T> own_key = turned<T, kDim>(key, d, p.frequency != nullptr, by);
      const days::Vec<T> own_value = days::load16(key + p.kv_heads * kDim + d);
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        if (key_of(turn, i) != position) continue;
        keys[i] = own_key;
        values[i] = own_value;
        if (head % group > 0) continue;  // one of the heads that share it puts it into the page
        const int64_t at = place(position);
        days::store16(p.keys + at, own_key);
        days::store16(p.values + at, own_value);
      }
    }
    float score[kLoads], greatest = most;
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      score[i] = -INFINITY;
      float dot = 0;
      if (key_of(turn, i) <= position)
#pragma unroll
        for (int e = 0; e < 8; ++e) dot += q[e] * static_cast<float>(keys[i][e]);
      dot = days::warp_reduce<kLanes>(dot, days::Sum{});
      if (key_of(turn, i) <= position) score[i] = dot;
      greatest = fmaxf(greatest, score[i]);
    }
    for (int other = kWarpSize / 2; other >= kLanes; other /= 2)
      greatest = fmaxf(greatest, __shfl_xor_sync(days::kFullWarp, greatest, other));
    const float shrinks = expf(most - greatest);
    all *= shrinks;
#pragma unroll
    for (int e = 0; e < 8; ++e) sum[e] *= shrinks;
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      if (key_of(turn, i) > position) continue;
      const float weight = expf(score[i] - greatest);
      all += weight;
#pragma unroll
      for (int e = 0; e < 8; ++e) sum[e] += weight * static_cast<float>(values[i][e]);
    }
    most = greatest;
  }
  for (int other = kWarpSize / 2; other >= kLanes; other /= 2) {
    all += __shfl_xor_sync(days::kFullWarp, all, other);
#pragma unroll
    for (int e = 0; e < 8; ++e) sum[e] += __shfl_xor_sync(days::kFullWarp, sum[e], other);
  }
  if (lane < kLanes)
#pragma unroll
    for (int e = 0; e < 8; ++e) sums[warp][d + e] = sum[e];
  if (lane == 0) {
    most_of[warp] = most;
    total_of[warp] = all;
  }
  __syncthreads();
  const int64_t first_part = (row * p.heads + head) * parts.parts;
  if (thread < kDim) {
    float greatest = most_of[0], value = 0, total = 0;  // the first warp has a key
    for (int w = 1; w < kAttendWarps; ++w) greatest = fmaxf(greatest, most_of[w]);
    for (int w = 0; w < kAttendWarps; ++w) {
      const float by = expf(most_of[w] - greatest);
      value += sums[w][thread] * by;
      total += total_of[w] * by;
    }
    if (used == 1) {
      o[thread] = T(value / total);
    } else {
      parts.sums[(first_part + part) * kDim + thread] = value;
      if (thread == 0) parts.shares[first_part + part] = make_float2(greatest, total);
    }
  }
  if (used == 1) return;
  __threadfence();  // who sees the ticket sees the part
  __syncthreads();
  if (thread == 0) {
    const auto before = static_cast<unsigned>(used - 1);
    last = atomicInc(&parts.tickets[row * p.heads + head], before) == before;
    __threadfence();  // and what is read from here on is not older than the ticket
  }
  __syncthreads();
  if (!last || thread >= kDim) return;
  const volatile float2* const shares = parts.shares + first_part;
  const volatile float* const all_sums = parts.sums + first_part * kDim;
  float greatest = -INFINITY, value = 0, total = 0;
  for (int i = 0; i < used; ++i) greatest = fmaxf(greatest, shares[i].x);
  for (int i = 0; i < used; ++i) {
    const float by = expf(shares[i].x - greatest);
    value += all_sums[i * kDim + thread] * by;
    total += shares[i].y * by;
  }
  o[thread] = T(value / total);
}

}  // namespace

template <class T>
void begin_step(const T* tokens, const T* positions, const Rows& rows, const Slots& slots, T* x, int count,
                int vocab, int width, cudaStream_t stream) {
  begin_kernel<<<static_cast<unsigned>(count), kBeginThreads, 0, stream>>>(tokens, positions, rows, slots, x,
                                                                           vocab, width);
  CUDA_CHECK_LAUNCH();
}

template <class T>
void multiply_few(const FewRows<T>& p, bool early, cudaStream_t stream) {
  days::require(p.m > 0 && p.n > 0 && p.k > 0 && p.k % 8 == 0,
                "a product of few rows has a k that is a multiple of 8, not", p.k);
  days::require(p.gamma == nullptr || p.k <= kMostNormal,
                "a row that is normalized on the way has at most 3072 elements, not", p.k);
  days::require(p.w.bits == 16 || p.w.bits == 4 || (p.w.bits == 8 && p.gamma != nullptr),
                "weights have 4 or 16 bits, or 8 behind a norm, not", p.w.bits);
  const auto with_tiles = [&](auto bits, auto norm) {
    if (p.m <= kRowTile) return launch_few<T, bits, norm, 1>(p, early, stream);
    launch_few<T, bits, norm, 2>(p, early, stream);
  };
  const auto with_norm = [&](auto bits) {
    if (p.gamma != nullptr) return with_tiles(bits, std::true_type{});
    with_tiles(bits, std::false_type{});
  };
  if (p.w.bits == 16) return with_norm(std::integral_constant<int, 16>{});
  if (p.w.bits == 4) return with_norm(std::integral_constant<int, 4>{});
  with_tiles(std::integral_constant<int, 8>{}, std::true_type{});
}

template <class T>
void attend_step(const Attend<T>& p, const Rows& rows, const Slots& slots, const Parts& parts, bool early,
                 cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(parts.parts), static_cast<unsigned>(p.heads),
                  static_cast<unsigned>(p.count));
  const auto launch = [&](auto dim) {
    days::launch_dependent(early, attend_step_kernel<T, dim>, grid, kAttendThreads, 0, stream, p, rows, slots,
                           parts);
  };
  if (p.dim == 32) return launch(std::integral_constant<int, 32>{});
  if (p.dim == 64) return launch(std::integral_constant<int, 64>{});
  days::require(p.dim == 128, "a step's attention has a dimension of 32, 64 or 128, not", p.dim);
  launch(std::integral_constant<int, 128>{});
}

#define SERVE_STEP(T)                                                                                       \
  template void begin_step(const T*, const T*, const Rows&, const Slots&, T*, int, int, int, cudaStream_t); \
  template void multiply_few(const FewRows<T>&, bool, cudaStream_t);                                        \
  template void attend_step(const Attend<T>&, const Rows&, const Slots&, const Parts&, bool, cudaStream_t)
SERVE_STEP(days::half);
SERVE_STEP(days::bf16);

}  // namespace serve
