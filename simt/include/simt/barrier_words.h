// SPDX-License-Identifier: MIT
//
// Barriers that are one word anywhere in memory, for threads of any blocks and of the host: what
// cuda::barrier is where no mbarrier can be. A phase ends when as many have arrived as were expected.
#pragma once

#include "simt/runtime.h"

namespace simt {

struct NoCompletion {
  void operator()() const noexcept {}
};

constexpr std::uint32_t kMostArrivals = (1u << 20) - 1;
void barrier_word_init(std::uint64_t* word, std::uint32_t expected);
// Returns a token that names the phase; *last says that all have come: then the caller ends the phase.
std::uint64_t barrier_word_arrive(std::uint64_t* word, std::uint32_t arrivals, bool drop, bool* last);
void barrier_word_end_phase(std::uint64_t* word);
bool barrier_word_ended(const std::uint64_t* word, std::uint64_t token);
bool barrier_word_ended_parity(const std::uint64_t* word, bool parity);

}  // namespace simt
