// SPDX-License-Identifier: MIT
#include "serve/ops.h"

#include <cmath>

#include "common/check.h"
#include "common/dependent.h"
#include "common/ptx.h"
#include "common/random.h"
#include "common/reduce.cuh"
#include "common/ticket.cuh"
#include "common/util.h"

namespace serve {
namespace {

using days::kWarpSize;

constexpr int kThreads = 256;

unsigned blocks_of(int64_t n) {
  return days::grid_of(n, kThreads, "serve");
}
__device__ int64_t index() {
  return int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

__global__ void __launch_bounds__(kThreads) take_last_kernel(Rows rows, Slots slots, int count) {
  const int64_t row = index();
  if (row >= count) return;
  const int32_t slot = rows.slots[row];
  rows.tokens[row] = slot < 0 ? 0 : slots.last[slot];
  rows.positions[row] = slot < 0 ? 0 : slots.lengths[slot];
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    embed_kernel(const T* tokens, const T* positions, Rows rows, T* x, int64_t n, int vocab, int width) {
  const int64_t i = index();
  if (i >= n) return;
  const int64_t row = i / width, col = i % width;
  const int32_t token = rows.tokens[row];
  float value = NAN;
  if (token >= 0 && token < vocab) {
    value = static_cast<float>(tokens[int64_t{token} * width + col]);
    if (positions != nullptr)
      value += static_cast<float>(positions[int64_t{rows.positions[row]} * width + col]);
  }
  x[i] = T(value);
}

// Where row `position` of a sequence and kv head lies in keys and values.
template <class T>
__device__ int64_t place_of(const Attend<T>& p, const Slots& slots, int32_t slot, int position, int kv_head) {
  const int32_t page = slots.table[int64_t{slot} * slots.most_pages + position / kPage];
  return ((int64_t{page} * p.kv_heads + kv_head) * kPage + position % kPage) * p.dim;
}

// A thread has a pair of q or k, elements i and dim / 2 + i of a head, or two of v.
template <class T>
__global__ void __launch_bounds__(kThreads) append_kernel(Attend<T> p, Rows rows, Slots slots, int64_t n) {
  const int64_t at = index();
  if (at >= n) return;
  const int half = p.dim / 2, all = p.heads + 2 * p.kv_heads;
  const int i = static_cast<int>(at % half), head = static_cast<int>(at / half % all);
  const int64_t row = at / half / all;
  const int32_t slot = rows.slots[row];
  if (slot < 0) return;
  const int position = rows.positions[row];
  T* const from = p.qkv + (row * all + head) * p.dim;
  T first = from[i], second = from[half + i];
  if (p.frequency != nullptr && head < p.heads + p.kv_heads) {
    const float angle = static_cast<float>(position) * p.frequency[i];
    const float c = cosf(angle), s = sinf(angle), a = static_cast<float>(first),
                b = static_cast<float>(second);
    first = T(a * c - b * s);
    second = T(a * s + b * c);
    if (head < p.heads) {
      from[i] = first;
      from[half + i] = second;
    }
  }
  if (head < p.heads) return;
  const bool is_key = head < p.heads + p.kv_heads;
  const int kv_head = head - p.heads - (is_key ? 0 : p.kv_heads);
  T* const to = (is_key ? p.keys : p.values) + place_of(p, slots, slot, position, kv_head);
  to[i] = first;
  to[half + i] = second;
}

// A block has a row and a head, and its warps take 32 keys by turns: a lane has a key's score, then elements of the sum. Each warp keeps
// sums relative to the greatest score that it has seen; at last the first warp adds those of all, in order.
constexpr int kWarps = 4, kMostDim = 128;
template <class T>
__global__ void __launch_bounds__(kWarps* kWarpSize) attend_kernel(Attend<T> p, Rows rows, Slots slots) {
  __shared__ float q[kMostDim];
  __shared__ float sums[kWarps][kMostDim], most_of[kWarps], total_of[kWarps];
  const int row = static_cast<int>(blockIdx.x), head = static_cast<int>(blockIdx.y);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarpSize, warp = thread / kWarpSize;
  const int32_t slot = rows.slots[row];
  T* const o = p.o + (int64_t{row} * p.heads + head) * p.dim;
  if (slot < 0) {  // all threads of the block
    for (int d = thread; d < p.dim; d += kWarps * kWarpSize) o[d] = T(0.0f);
    return;
  }
  const T* const from = p.qkv + (int64_t{row} * (p.heads + 2 * p.kv_heads) + head) * p.dim;
  for (int d = thread; d < p.dim; d += kWarps * kWarpSize) q[d] = static_cast<float>(from[d]) * p.scale;
  __syncthreads();
  const int keys = rows.positions[row] + 1, kv_head = head / (p.heads / p.kv_heads);
  constexpr int kEach = kMostDim / kWarpSize;
  float most = -INFINITY, total = 0, sum[kEach] = {};
  for (int begin = warp * kWarpSize; begin < keys; begin += kWarps * kWarpSize) {
    const int key = begin + lane;
    int64_t at = 0;
    float score = -INFINITY;
    if (key < keys) {
      at = place_of(p, slots, slot, key, kv_head);
      score = 0;
      for (int d = 0; d < p.dim; ++d) score += q[d] * static_cast<float>(p.keys[at + d]);
    }
    float greatest = score;
    for (int other = kWarpSize / 2; other > 0; other /= 2)
      greatest = fmaxf(greatest, __shfl_xor_sync(days::kFullWarp, greatest, other));
    const float now = fmaxf(most, greatest);
    const float shrinks = expf(most - now);
    const float weight = key < keys ? expf(score - now) : 0;
    total = total * shrinks + days::warp_reduce(weight, days::Sum{});
    for (int e = 0; e < kEach; ++e) sum[e] *= shrinks;
    const int here = min(kWarpSize, keys - begin);
    for (int j = 0; j < here; ++j) {
      const float of_key = __shfl_sync(days::kFullWarp, weight, j);
      const int64_t value = __shfl_sync(days::kFullWarp, at, j);
      for (int e = 0; e < kEach; ++e)
        if (const int d = e * kWarpSize + lane; d < p.dim)
          sum[e] += of_key * static_cast<float>(p.values[value + d]);
    }
    most = now;
  }
  for (int e = 0; e < kEach; ++e) sums[warp][e * kWarpSize + lane] = sum[e];
  if (lane == 0) {
    most_of[warp] = most;
    total_of[warp] = total;
  }
  __syncthreads();
  for (int d = thread; d < p.dim; d += kWarps * kWarpSize) {
    float greatest = most_of[0];  // the first warp has a key
    for (int w = 1; w < kWarps; ++w) greatest = fmaxf(greatest, most_of[w]);
    float value = 0, of_all = 0;
    for (int w = 0; w < kWarps; ++w) {
      const float by = expf(most_of[w] - greatest);
      value += sums[w][d] * by;
      of_all += total_of[w] * by;
    }
    o[d] = T(value / of_all);
  }
}

// ---- choosing ----

constexpr int kChooseThreads = 256, kDigits = 256;
static_assert(kChooseThreads == kMostCandidates && kChooseThreads == kDigits);

// Greater for a greater value and, of equals, for a lower id. Both zeros are equal.
__device__ uint64_t key_of(float value, int id) {
  const uint32_t bits = __float_as_uint(value == 0 ? 0.0f : value);
  const uint32_t ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return uint64_t{ordered} << 32 | ~static_cast<uint32_t>(id);
}
__device__ int id_of(uint64_t key) {
  return static_cast<int>(~static_cast<uint32_t>(key));
}
__device__ float value_of(uint64_t key) {
  const auto ordered = static_cast<uint32_t>(key >> 32);
  return __uint_as_float((ordered & 0x80000000u) != 0 ? ordered ^ 0x80000000u : ~ordered);
}

// -log(-log(u)), with u from 32 bits, never 0 nor 1.
__device__ float gumbel(uint64_t seed, int id) {
  const auto bits = static_cast<uint32_t>(days::random_bits(seed, static_cast<uint64_t>(id)) >> 32);
  const double u = (static_cast<double>(bits) + 0.5) / 4294967296.0;
  return static_cast<float>(-log(-log(u)));
}

// The greatest of all threads' keys, for all of them.
__device__ uint64_t greatest_of(uint64_t key, uint64_t* shared) {
  const unsigned long long most = days::warp_reduce(static_cast<unsigned long long>(key), days::Max{});
  __syncthreads();
  if (threadIdx.x % kWarpSize == 0) shared[threadIdx.x / kWarpSize] = most;
  __syncthreads();
  uint64_t all = shared[0];
  for (int warp = 1; warp < kChooseThreads / kWarpSize; ++warp) all = shared[warp] > all ? shared[warp] : all;
  __syncthreads();
  return all;
}

// What choosing keeps between its two kernels: a slice of a row's logits is a block's.
constexpr int kSlice = 2048, kOfThread = kSlice / kChooseThreads;
constexpr uint64_t kBad = ~uint64_t{0};  // the key of no number
struct Between {
  unsigned* tickets;     // (rows): 0 before the first launch and after each
  uint64_t* best;        // (rows, slices)
  uint64_t* luckiest;    // (rows, slices)
  uint64_t* candidates;  // (rows, slices, kMostCandidates)
};
size_t tickets_bytes(int rows) {
  return days::round_up(sizeof(unsigned) * static_cast<size_t>(rows), size_t{256});
}

struct Select {
  int counts[kDigits];
  uint64_t prefix;
  int missing, taken;
  bool done;
};
// The least of the k greatest keys, which differ, of all threads: each calls use(key) in for_keys(use) for those that it has. Found a digit
// at a time: of each digit how many keys have it, behind those digits that are known. Where there are at most k keys, all.
template <class ForKeys>
__device__ uint64_t least_of(const ForKeys& for_keys, int k, Select& s) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    s.prefix = 0;
    s.missing = k;
    s.done = false;
  }
  for (int shift = 56; shift >= 0; shift -= 8) {
    s.counts[thread] = 0;
    __syncthreads();
    const uint64_t known = s.prefix;
    for_keys([&](uint64_t key) {
      if (shift == 56 || key >> (shift + 8) == known >> (shift + 8))
        atomicAdd(&s.counts[key >> shift & 0xff], 1);
    });
    __syncthreads();
    if (thread < kWarpSize) {  // a lane has eight digits, the greatest ones first
      constexpr int kEach = kDigits / kWarpSize;
      const int top = kDigits - 1 - thread * kEach;
      int own = 0;
      for (int i = 0; i < kEach; ++i) own += s.counts[top - i];
      int up_to = own;
      for (int by = 1; by < kWarpSize; by *= 2) {
        const int theirs = __shfl_up_sync(days::kFullWarp, up_to, by);
        if (thread >= by) up_to += theirs;
      }
      int missing = s.missing;
      __syncwarp();
      const bool few = __shfl_sync(days::kFullWarp, up_to, kWarpSize - 1) < missing;
      if (few) {
        s.done = true;  // at the first digit: there are fewer keys than k
      } else if (up_to >= missing && up_to - own < missing) {
        missing -= up_to - own;
        int digit = top;
        while (s.counts[digit] < missing) missing -= s.counts[digit--];
        s.prefix = known | static_cast<uint64_t>(digit) << shift;
        s.missing = missing;
        s.done = s.counts[digit] == missing;  // all that begin so are taken
      }
    }
    __syncthreads();
    if (s.done) break;
  }
  return s.prefix;
}

__device__ bool narrows(const Choice& choice) {
  return choice.temperature > 0 && (choice.top_k > 0 || choice.top_p < 1);
}
__device__ int candidates_of(const Choice& choice, int vocab) {
  return min(min(choice.top_k > 0 ? choice.top_k : kMostCandidates, kMostCandidates), vocab);
}

// A block has a slice of a row: its greatest logit, and, where the choice is of the k greatest, its k greatest.
__global__ void __launch_bounds__(kChooseThreads)
    slice_kernel(const float* logits, int64_t pitch, int vocab, const int32_t* row_slots, Slots slots,
                 Between between) {
  __shared__ uint64_t warps[kChooseThreads / kWarpSize];
  __shared__ Select select;
  days::ptx::griddepcontrol_launch_dependents();
  days::ptx::griddepcontrol_wait();
  const int thread = static_cast<int>(threadIdx.x), begin = static_cast<int>(blockIdx.x) * kSlice;
  const auto row = static_cast<int64_t>(blockIdx.y), slice = row * gridDim.x + blockIdx.x;
  const int32_t slot = row_slots[row];
  if (slot < 0) return;
  uint64_t keys[kOfThread], best = 0;
  bool bad = false;
#pragma unroll
  for (int i = 0; i < kOfThread; ++i) {
    const int id = begin + i * kChooseThreads + thread;
    keys[i] = 0;
    if (id >= vocab) continue;
    const float value = logits[row * pitch + id];
    bad = bad || !(value < INFINITY);
    keys[i] = key_of(value, id);
    best = keys[i] > best ? keys[i] : best;
  }
  bad = __syncthreads_or(bad) != 0;
  best = greatest_of(best, warps);
  if (thread == 0) between.best[slice] = bad ? kBad : best;
  const Choice choice = slots.choices[slot];
  if (bad || !narrows(choice)) return;
  if (thread == 0) select.taken = 0;
  const uint64_t least = least_of(
      [&](const auto& use) {
#pragma unroll
        for (int i = 0; i < kOfThread; ++i)
          if (keys[i] != 0) use(keys[i]);
      },
      candidates_of(choice, vocab), select);
#pragma unroll
  for (int i = 0; i < kOfThread; ++i)
    if (keys[i] != 0 && keys[i] >= least)
      between.candidates[slice * kMostCandidates + atomicAdd(&select.taken, 1)] = keys[i];
}

// A block has a row, or a slice of it where all tokens take part.
__global__ void __launch_bounds__(kChooseThreads)
    choose_kernel(const float* logits, int64_t pitch, int vocab, const int32_t* row_slots,
                  const int32_t* positions, Slots slots, int32_t* chosen, Between between) {
  __shared__ uint64_t keys[kMostCandidates];
  __shared__ Select select;
  days::ptx::griddepcontrol_launch_dependents();
  days::ptx::griddepcontrol_wait();
  const auto row = static_cast<int64_t>(blockIdx.y);
  const int thread = static_cast<int>(threadIdx.x), slices = static_cast<int>(gridDim.x);
  const int32_t slot = row_slots[row];
  const bool first = blockIdx.x == 0;
  if (slot < 0) {
    if (first && thread == 0) chosen[row] = -1;
    return;
  }
  const Choice choice = slots.choices[slot];
  const bool narrowed = narrows(choice), all = choice.temperature > 0 && !narrowed;
  if (!first && !all) return;
  // The token will stand behind this position: its chance is its own.
  const int32_t position = positions[row];
  const uint64_t seed = days::random_bits(choice.seed, static_cast<uint64_t>(position));
  const uint64_t *const of_slices = between.best + row * slices, *const candidates =
                                                                     between.candidates +
                                                                     row * slices * kMostCandidates;

  uint64_t best = 0;
  for (int i = thread; i < slices; i += kChooseThreads) best = of_slices[i] > best ? of_slices[i] : best;
  best = greatest_of(best, keys);
  const bool bad = best == kBad;
  int token = id_of(best);
  const float most = value_of(best);
  if (all) {
    uint64_t luckiest = 0;
    const int begin = static_cast<int>(blockIdx.x) * kSlice, end = min(vocab, begin + kSlice);
    for (int id = begin + thread; id < end && !bad; id += kChooseThreads) {
      const uint64_t key =
          key_of((logits[row * pitch + id] - most) / choice.temperature + gumbel(seed, id), id);
      luckiest = key > luckiest ? key : luckiest;
    }
    luckiest = greatest_of(luckiest, keys);
    volatile uint64_t* const of_all = between.luckiest + row * slices;
    if (thread == 0) of_all[blockIdx.x] = luckiest;
    if (!days::draws_last_ticket(between.tickets + row)) return;
    luckiest = 0;
    for (int i = thread; i < slices; i += kChooseThreads) {
      const uint64_t key = of_all[i];
      luckiest = key > luckiest ? key : luckiest;
    }
    token = id_of(greatest_of(luckiest, keys));
  } else if (!bad && narrowed) {
    const int k = candidates_of(choice, vocab);
    const auto for_keys = [&](const auto& use) {
      for (int i = thread; i < slices * k; i += kChooseThreads) {
        const int slice = i / k, at = i % k;
        if (at < min(kSlice, vocab - slice * kSlice)) use(candidates[slice * kMostCandidates + at]);
      }
    };
    if (thread == 0) select.taken = 0;
    const uint64_t least = least_of(for_keys, k, select);
    keys[thread] = 0;
    __syncthreads();
    for_keys([&](uint64_t key) {
      if (key >= least) keys[atomicAdd(&select.taken, 1)] = key;
    });
    __syncthreads();
    // Each key's place is how many are greater: whichever order they came in, this one is theirs.
    const uint64_t mine = keys[thread];
    int place = 0;
    for (int i = 0; i < k; ++i) place += keys[i] > mine ? 1 : 0;
    __syncthreads();
    if (thread < k) keys[place] = mine;
    __syncthreads();
    if (thread == 0) {
      // How many of them take part.
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += expf((value_of(keys[i]) - most) / choice.temperature);
      float so_far = 0;
      int count = 0;
      do {
        so_far += expf((value_of(keys[count]) - most) / choice.temperature);
        ++count;
      } while (count < k && so_far < choice.top_p * sum);
      select.taken = count;
    }
    __syncthreads();
    uint64_t luckiest = 0;
    if (thread < select.taken) {
      const int id = id_of(keys[thread]);
      luckiest = key_of((value_of(keys[thread]) - most) / choice.temperature + gumbel(seed, id), id);
    }
    token = id_of(greatest_of(luckiest, keys));
  }
  if (thread > 0) return;
  chosen[row] = bad ? -1 : token;
  slots.lengths[slot] = position + 1;
  if (!bad) slots.last[slot] = token;
}

}  // namespace

void take_last(const Rows& rows, const Slots& slots, int count, cudaStream_t stream) {
  take_last_kernel<<<blocks_of(count), kThreads, 0, stream>>>(rows, slots, count);
  CUDA_CHECK_LAUNCH();
}
template <class T>
void embed(const T* tokens, const T* positions, const Rows& rows, T* x, int count, int vocab, int width,
           cudaStream_t stream) {
  const int64_t n = int64_t{count} * width;
  embed_kernel<<<blocks_of(n), kThreads, 0, stream>>>(tokens, positions, rows, x, n, vocab, width);
  CUDA_CHECK_LAUNCH();
}
template <class T>
void append(const Attend<T>& p, const Rows& rows, const Slots& slots, cudaStream_t stream) {
  const int64_t n = int64_t{p.count} * (p.heads + 2 * p.kv_heads) * (p.dim / 2);
  append_kernel<<<blocks_of(n), kThreads, 0, stream>>>(p, rows, slots, n);
  CUDA_CHECK_LAUNCH();
}
template <class T>
void attend(const Attend<T>& p, const Rows& rows, const Slots& slots, cudaStream_t stream) {
  days::require(p.dim % kWarpSize == 0 && p.dim <= kMostDim, "a head's dimension is 32 to 128, not", p.dim);
  const dim3 grid(static_cast<unsigned>(p.count), static_cast<unsigned>(p.heads));
  attend_kernel<<<grid, kWarps * kWarpSize, 0, stream>>>(p, rows, slots);
  CUDA_CHECK_LAUNCH();
}
size_t choose_bytes(int rows, int vocab) {
  const auto slices = static_cast<size_t>(days::ceil_div(vocab, kSlice)) * static_cast<size_t>(rows);
  return tickets_bytes(rows) + sizeof(uint64_t) * slices * (2 + kMostCandidates);
}
void choose(const float* logits, int64_t pitch, int vocab, const int32_t* row_slots, const int32_t* positions,
            const Slots& slots, int32_t* chosen, int count, const ChooseMemory& memory, bool early,
            cudaStream_t stream) {
  const int slices = days::ceil_div(vocab, kSlice);
  const size_t of_all = static_cast<size_t>(slices) * static_cast<size_t>(memory.rows);
  auto* const words =
      reinterpret_cast<uint64_t*>(static_cast<char*>(memory.data) + tickets_bytes(memory.rows));
  const Between between{static_cast<unsigned*>(memory.data), words, words + of_all, words + 2 * of_all};
  const dim3 grid(static_cast<unsigned>(slices), static_cast<unsigned>(count));
  days::launch_dependent(early, slice_kernel, grid, kChooseThreads, 0, stream, logits, pitch, vocab,
                         row_slots, slots, between);
  days::launch_dependent(early, choose_kernel, grid, kChooseThreads, 0, stream, logits, pitch, vocab,
                         row_slots, positions, slots, chosen, between);
}

#define SERVE_OPS(T)                                                                     \
  template void embed(const T*, const T*, const Rows&, T*, int, int, int, cudaStream_t); \
  template void append(const Attend<T>&, const Rows&, const Slots&, cudaStream_t);       \
  template void attend(const Attend<T>&, const Rows&, const Slots&, cudaStream_t)
SERVE_OPS(float);
SERVE_OPS(days::half);
SERVE_OPS(days::bf16);

}  // namespace serve
