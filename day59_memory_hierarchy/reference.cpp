// SPDX-License-Identifier: MIT
// The truth that every kernel is compared with: plain loops. Then the same on all cores.
#include <algorithm>
#include <array>

#include "common/parallel.h"
#include "day59_memory_hierarchy/memory.h"

namespace day59 {
namespace {

void lookup_some(const Lookup<uint32_t>& p, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    uint32_t place = static_cast<uint32_t>(static_cast<size_t>(p.stride) * i % kTable);
    for (int step = 0; step < p.steps; ++step) place = p.table[place];
    p.y[i] = place;
  }
}

// The threads from begin to end: what each of them sees.
void sweep_some(const Sweep<uint32_t>& p, size_t begin, size_t end) {
  for (size_t t = begin; t < end; ++t) {
    const int64_t block = static_cast<int64_t>(t) / kThreads, thread = static_cast<int64_t>(t) % kThreads;
    const int64_t last = std::min(p.n / 4, (block + 1) * p.part());
    uint32_t sum = 0;
    for (int lap = 0; lap < p.laps; ++lap) {
      for (int64_t group = block * p.part() + thread; group < last; group += kThreads) {
        const uint32_t* const words = p.x + 4 * group;
        sum = mixed(sum, words[0] ^ words[1] ^ words[2] ^ words[3]);
      }
    }
    p.y[t] = sum;
  }
}

void mix_some(const Mix<uint32_t>& p, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    std::array<uint32_t, kState> state;
    for (size_t k = 0; k < kState; ++k) state[k] = p.x[i] + static_cast<uint32_t>(k);
    for (int round = 0; round < p.rounds; ++round) {
      for (size_t k = 0; k < kState; ++k) state[k] = mixed(state[k], state[(k + 1) % kState]);
    }
    uint32_t sum = 0;
    for (const uint32_t word : state) sum += word;
    p.y[i] = sum;
  }
}

}  // namespace

void chase_reference(const Chase<uint32_t>& p) {
  for (int chain = 0; chain < p.chains; ++chain) {
    uint32_t place = static_cast<uint32_t>(kLineWords * (chain % p.lines));
    for (int step = 0; step < p.steps; ++step) place = p.next[place];
    p.end[chain] = place;
  }
}
void lookup_reference(const Lookup<uint32_t>& p) {
  lookup_some(p, 0, static_cast<size_t>(p.n));
}
void lookup_parallel(const Lookup<uint32_t>& p) {
  days::parallel_ranges(
      static_cast<size_t>(p.n), [&](size_t, size_t begin, size_t end) { lookup_some(p, begin, end); }, 4096);
}
void sweep_reference(const Sweep<uint32_t>& p) {
  sweep_some(p, 0, size_t{kReaders} * kThreads);
}
void sweep_parallel(const Sweep<uint32_t>& p) {
  days::parallel_ranges(
      size_t{kReaders} * kThreads, [&](size_t, size_t begin, size_t end) { sweep_some(p, begin, end); },
      4096);
}
void mix_reference(const Mix<uint32_t>& p) {
  mix_some(p, 0, static_cast<size_t>(p.n));
}
void mix_parallel(const Mix<uint32_t>& p) {
  days::parallel_ranges(
      static_cast<size_t>(p.n), [&](size_t, size_t begin, size_t end) { mix_some(p, begin, end); }, 1024);
}
void fetch_reference(const Fetch<uint32_t>& p) {
  std::copy(p.x, p.x + p.n, p.y);
}

}  // namespace day59
