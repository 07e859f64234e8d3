// SPDX-License-Identifier: MIT
//
// Copies that a group of threads shares: what cooperative_groups::memcpy_async and cuda::memcpy_async do.
#pragma once

#include "simt/async_copies.h"
#include "simt/runtime.h"

namespace simt {

// A group of the calling thread alone.
struct OneThread {
  static constexpr unsigned size() { return 1; }
  static constexpr unsigned thread_rank() { return 0; }
  static void sync() {}
};

template <class Word, class Group>
inline void copy_words(const Group& group, void* to, const void* from, std::size_t bytes) {
  auto* const out = static_cast<Word*>(to);
  const auto* const in = static_cast<const Word*>(from);
  const auto step = static_cast<std::size_t>(group.size());
  for (std::size_t i = static_cast<std::size_t>(group.thread_rank()); i < bytes / sizeof(Word); i += step)
    out[i] = in[i];
}

// This thread's share of a copy of `bytes`. From global to shared memory, in pieces of 16, 8 or 4 bytes as
// far as both are aligned, it only starts, and the result is true; any other copy is done at the return.
template <class Group>
inline __attribute__((always_inline)) bool copy_share(const Group& group, void* to, const void* from,
                                                      std::size_t bytes, bool may_start = true) {
  const std::size_t all =
      reinterpret_cast<std::size_t>(to) | reinterpret_cast<std::size_t>(from) | bytes | 16u;
  const std::size_t piece = all & (~all + 1);  // the lowest bit
  if (may_start && piece >= 4 && is_shared(to) && !is_shared(from)) {
    char* const out = static_cast<char*>(to);
    const char* const in = static_cast<const char*>(from);
    const auto step = static_cast<std::size_t>(group.size()) * piece;
    for (std::size_t i = static_cast<std::size_t>(group.thread_rank()) * piece; i < bytes; i += step)
      async_copy(out + i, in + i, static_cast<std::uint32_t>(piece), static_cast<std::uint32_t>(piece));
    return true;
  }
  if (piece >= 4) {
    copy_words<simt_whole4>(group, to, from, bytes);
  } else {
    copy_words<char>(group, to, from, bytes);
  }
  return false;
}

}  // namespace simt
