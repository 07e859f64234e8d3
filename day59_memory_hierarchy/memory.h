// SPDX-License-Identifier: MIT
// Day 59: five small problems, each of which asks one level of the memory system how far it is, or how wide.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/buffer.h"
#include "common/check.h"
#include "common/needs.h"
#include "common/setup.h"
#include "common/util.h"

namespace day59 {

inline constexpr int kLineWords = 32;  // 128 bytes: what the caches keep together
inline constexpr int kMostChains = 256;

// end[c] = where chain c arrives after `steps` times place = next[place], from place kLineWords * (c % lines) on. Nobody
// knows a place before the load of the one before has come back.
template <class T>
struct Chase {
  const T*
      next;  // (kLineWords * lines): the first word of a line is the first word of the next line of the cycle
  T* end;    // (chains)
  int64_t lines;
  int chains, steps;
};

inline constexpr int kTable = 1024;  // words

// y[i] = the place that thread i arrives at after `steps` times place = table[place], from stride * i mod kTable on: with a
// stride of kTable all threads begin at place 0.
template <class T>
struct Lookup {
  const T* table;  // (kTable), each below kTable
  T* y;            // (n)
  int64_t n;
  int stride, steps;
  days::Setup setup;
};

inline constexpr int kReaders = 528,
                     kThreads = 256;  // blocks of Sweep: four for each multiprocessor of an H200

// y[t] = all that thread t of kReaders blocks reads, mixed: block b owns the b-th part of x, and reads it `laps` times.
template <class T>
struct Sweep {
  const T* x;  // (n), a multiple of 4
  T* y;        // (kReaders * kThreads)
  int64_t n;
  int laps;

  // Groups of 16 bytes that a block owns; the last blocks may have fewer, or none.
  int64_t part() const { return days::ceil_div(n / 4, kReaders); }
};

inline constexpr int kState = 64;  // words that a thread of Mix keeps

// y[i] = the sum of kState words, after `rounds` rounds in which each is mixed with its neighbour; they begin as x[i] + k.
template <class T>
struct Mix {
  const T* x;  // (n)
  T* y;        // (n)
  int64_t n;
  int rounds;
};

// y = x, where x lies with the host (the rung's setup puts it there) and y on the device.
template <class T>
struct Fetch {
  const T* x;  // (n)
  T* y;        // (n)
  int64_t n;
  days::Setup setup;
};

// What two threads must agree on: how a value is mixed into what has been read.
DAYS_HOST_DEVICE inline uint32_t mixed(uint32_t sum, uint32_t word) {
  return (sum << 1 | sum >> 31) ^ word;
}

inline constexpr auto kInShared =
    days::needs("n <= 528 x 8,192", [](const auto& p) { return 4 * p.part() <= 8192; });  // 32 KiB a block

// Managed memory whose pages go back and forth while kernels run: not on Windows, nor on some small devices.
inline constexpr auto kMigrates = days::needs("concurrent access to managed memory", [](const auto&) {
#ifdef __SIMT__
  return true;
#else
  return days::device_attribute(cudaDevAttrConcurrentManagedAccess) != 0;
#endif
});

template <class T>
void require_chase(const Chase<T>& p, const char* variant) {
  days::require(p.lines > 0 && p.lines <= (int64_t{1} << 26), variant, ": lines must be 1 to 2^26, not",
                p.lines);
  days::require(p.chains > 0 && p.chains <= kMostChains, variant, ": chains must be 1 to 256, not", p.chains);
  days::require(p.steps > 0, variant, ": steps must be positive, not", p.steps);
}
template <class T>
unsigned require_lookup(const Lookup<T>& p, const char* variant) {
  days::require(p.n > 0, variant, ": n must be positive, not", p.n);
  days::require(p.stride > 0 && p.stride <= kTable, variant, ": stride must be 1 to 1024, not", p.stride);
  days::require(p.steps > 0, variant, ": steps must be positive, not", p.steps);
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  days::require(blocks <= days::kMaxGridX, variant, ": n is too large for one grid:", p.n);
  return static_cast<unsigned>(blocks);
}
template <class T>
void require_sweep(const Sweep<T>& p, const char* variant) {
  days::require(p.n > 0 && p.n % 4 == 0, variant, ": n must be a positive multiple of 4, not", p.n);
  days::require(p.laps > 0, variant, ": laps must be positive, not", p.laps);
}
template <class Problem>
unsigned require_rounds(const Problem& p, const char* variant) {
  days::require(p.n > 0, variant, ": n must be positive, not", p.n);
  days::require(p.rounds > 0, variant, ": rounds must be positive, not", p.rounds);
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  days::require(blocks <= days::kMaxGridX, variant, ": n is too large for one grid:", p.n);
  return static_cast<unsigned>(blocks);
}

void chase_one(const Chase<uint32_t>&, cudaStream_t);
void chase_eight(const Chase<uint32_t>&, cudaStream_t);
void chase_warps(const Chase<uint32_t>&, cudaStream_t);
void chase_lanes(const Chase<uint32_t>&, cudaStream_t);
void exercise(const Chase<uint32_t>&, cudaStream_t);  // yours

void lookup_cached(const Lookup<uint32_t>&, cudaStream_t);
void lookup_shared(const Lookup<uint32_t>&, cudaStream_t);
void lookup_constant(const Lookup<uint32_t>&, cudaStream_t);

// What a set-up of `texture` keeps: room for the table, and the texture that reads it.
class TableTexture {
 public:
  TableTexture();
  TableTexture(TableTexture&& other) noexcept;
  TableTexture(const TableTexture&) = delete;
  ~TableTexture();
  uint32_t* words() const { return words_.data(); }
  cudaTextureObject_t object() const { return object_; }

 private:
  days::DeviceBuffer<uint32_t> words_{kTable};
  cudaTextureObject_t object_ = 0;
};
TableTexture lookup_texture_setup(const Lookup<uint32_t>&, cudaStream_t);
void lookup_texture(const Lookup<uint32_t>&, cudaStream_t);

void sweep_near(const Sweep<uint32_t>&, cudaStream_t);
void sweep_far(const Sweep<uint32_t>&, cudaStream_t);
void sweep_shared(const Sweep<uint32_t>&, cudaStream_t);

void mix_kept(const Mix<uint32_t>&, cudaStream_t);
void mix_spilled(const Mix<uint32_t>&, cudaStream_t);

// What a set-up of Fetch keeps: x in memory of the host. Freed with the state.
class HostCopy {
 public:
  enum class Kind { kPageable, kPinned, kManaged };
  HostCopy(const uint32_t* device, size_t bytes, Kind kind, cudaStream_t stream);
  HostCopy(HostCopy&& other) noexcept : data_(other.data_), kind_(other.kind_) { other.data_ = nullptr; }
  HostCopy(const HostCopy&) = delete;
  ~HostCopy();
  const uint32_t* data() const { return data_; }

 private:
  uint32_t* data_ = nullptr;
  Kind kind_;
};
HostCopy fetch_pageable_setup(const Fetch<uint32_t>&, cudaStream_t);
HostCopy fetch_pinned_setup(const Fetch<uint32_t>&, cudaStream_t);
HostCopy fetch_managed_setup(const Fetch<uint32_t>&, cudaStream_t);
void fetch_pageable(const Fetch<uint32_t>&, cudaStream_t);
void fetch_pinned(const Fetch<uint32_t>&, cudaStream_t);
void fetch_mapped(const Fetch<uint32_t>&, cudaStream_t);
void fetch_managed(const Fetch<uint32_t>&, cudaStream_t);

// On the CPU, host pointers: plain loops, and the same on all cores.
void chase_reference(const Chase<uint32_t>&);
void lookup_reference(const Lookup<uint32_t>&);
void lookup_parallel(const Lookup<uint32_t>&);
void sweep_reference(const Sweep<uint32_t>&);
void sweep_parallel(const Sweep<uint32_t>&);
void mix_reference(const Mix<uint32_t>&);
void mix_parallel(const Mix<uint32_t>&);
void fetch_reference(const Fetch<uint32_t>&);

}  // namespace day59
