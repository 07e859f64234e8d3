// SPDX-License-Identifier: MIT
//
// How the threads of a cooperative group compute something together: they meet once, and the last one to come
// turns the array of their values, by rank, into the array of their results.
#pragma once

#include "simt/runtime.h"

namespace simt {

// In files that are never instrumented (runtime/tiles.cpp): other threads' stacks are read and written here.
void copy_bytes(void* to, const void* from, std::size_t bytes);
// Tiles of `size` consecutive threads of the block meet; `combine`, where given, gets what each brought.
using TileCombine = void (*)(const void* const* inputs, void* const* results, unsigned count);
void meet_tile(unsigned size, const void* input, void* result, TileCombine combine, Site site);

template <class T, class F>
struct Offer {
  T value;
  const F* transform;  // void (T* values, unsigned count)
};

template <class T, class F, unsigned kMost>
void combine_offers(const void* const* inputs, void* const* results, unsigned count) {
  alignas(T) unsigned char storage[kMost * sizeof(T)];
  T* const values = reinterpret_cast<T*>(storage);
  const F* transform;
  using Brought = Offer<T, F>;
  const Brought* brought;
  void* result;
  for (unsigned i = count; i-- > 0;) {
    copy_bytes(&brought, inputs + i, sizeof(brought));  // the runtime's memory, which no kernel reads itself
    copy_bytes(values + i, &brought->value, sizeof(T));
  }
  copy_bytes(&transform, &brought->transform, sizeof(transform));  // the first one's
  (*transform)(values, count);
  for (unsigned i = 0; i < count; ++i) {
    copy_bytes(&result, results + i, sizeof(result));
    copy_bytes(result, values + i, sizeof(T));
  }
}

// The lanes of a mask.
template <class T, class F>
T lanes_together(std::uint32_t mask, const T& value, const F& transform, Site site) {
  static constexpr Collective collective{"cooperative group's operation",
                                         [](Lane* lanes, std::uint32_t participants) {
                                           const void* inputs[32] = {};
                                           void* results[32];
                                           unsigned count = 0;
                                           for (std::uint32_t rest = participants; rest; rest &= rest - 1) {
                                             inputs[count] = lanes[__builtin_ctz(rest)].input;
                                             results[count++] = lanes[__builtin_ctz(rest)].result;
                                           }
                                           combine_offers<T, F, 32>(inputs, results, count);
                                         }};
  const Offer<T, F> offer{value, &transform};
  alignas(T) unsigned char result[sizeof(T)];
  rendezvous(mask, collective, &offer, result, sizeof(offer), 0, site);
  return *reinterpret_cast<T*>(result);
}

// The threads of a tile of more than 32.
template <unsigned kSize, class T, class F>
T tile_together(const T& value, const F& transform, Site site) {
  const Offer<T, F> offer{value, &transform};
  alignas(T) unsigned char result[sizeof(T)];
  meet_tile(kSize, &offer, result, combine_offers<T, F, kSize>, site);
  return *reinterpret_cast<T*>(result);
}

// ---- transforms: in the order in which CUDA's own headers combine, so that sums of floats agree ----

// values[i] = values[0] op ... op values[i], in doubling steps; the later operand comes first.
template <class T, class Op>
void scan_values(T* values, unsigned count, Op& op) {
  for (unsigned step = 1; step < count; step *= 2)
    for (unsigned i = count; i-- > step;) values[i] = op(values[i], values[i - step]);
}
// All become the combination of all: halves are folded onto each other where `count` is a full tile.
template <class T, class Op>
void reduce_values(T* values, unsigned count, unsigned full, Op& op) {
  if (count == full) {
    for (unsigned step = count / 2; step > 0; step /= 2) {
      for (unsigned i = 0; i < count; ++i) {
        if (i & step) continue;
        const T low = values[i], high = values[i + step];
        values[i] = op(low, high);
        values[i + step] = op(high, low);
      }
    }
    return;
  }
  scan_values(values, count, op);
  for (unsigned i = 0; i + 1 < count; ++i) values[i] = values[count - 1];
}
// Several warps: each by itself, then their results.
template <class T, class Op>
void reduce_warps(T* values, unsigned count, Op& op) {
  T of_warps[32];
  const unsigned warps = (count + 31) / 32;
  for (unsigned w = 0; w < warps; ++w) {
    reduce_values(values + 32 * w, count - 32 * w < 32 ? count - 32 * w : 32, 32, op);
    of_warps[w] = values[32 * w];
  }
  reduce_values(of_warps, warps, (warps & (warps - 1)) == 0 ? warps : 0, op);
  for (unsigned i = 0; i < count; ++i) values[i] = of_warps[i / 32 % warps];
}
// The same for scans; exclusive ones leave out the own value, and the first thread gets T().
template <class T>
void shift_values(T* values, unsigned count) {
  for (unsigned i = count; i-- > 1;) values[i] = values[i - 1];
  values[0] = T();
}
template <class T, class Op>
void scan_warps(T* values, unsigned count, Op& op, bool exclusive) {
  T before[32];  // of each warp: all earlier ones
  const unsigned warps = (count + 31) / 32;
  const auto lanes_of = [&](unsigned w) { return count - 32 * w < 32 ? count - 32 * w : 32; };
  for (unsigned w = 0; w < warps; ++w) {
    scan_values(values + 32 * w, lanes_of(w), op);
    before[w] = values[32 * w + lanes_of(w) - 1];
    if (exclusive) shift_values(values + 32 * w, lanes_of(w));
  }
  scan_values(before, warps, op);
  shift_values(before, warps);
  for (unsigned i = 32; i < count; ++i)
    values[i] = exclusive && i % 32 == 0 ? before[i / 32] : op(values[i], before[i / 32]);
}

}  // namespace simt
