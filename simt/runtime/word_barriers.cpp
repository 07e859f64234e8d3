// SPDX-License-Identifier: MIT
//
// Barriers of one word: bits 0-19 arrivals that the phase still needs, 20-39 arrivals of each phase, 40-63
// the number of the phase.
#include "user_view.h"

#include "simt/barrier_words.h"

namespace simt {
namespace {

constexpr int kBits = 20;
constexpr std::uint64_t kMask = kMostArrivals;

std::uint64_t load(const std::uint64_t* word) {
  const AtomicPoint point(word, sizeof *word, AtomicKind::store);
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

}  // namespace

void barrier_word_init(std::uint64_t* word, std::uint32_t expected) {
  if (expected > kMostArrivals)
    fail("simt-mbarrier", "a barrier for %u arrivals; %u are possible", expected, kMostArrivals);
  const AtomicPoint point(word, sizeof *word, AtomicKind::store);
  __atomic_store_n(word, std::uint64_t{expected} << kBits | expected, __ATOMIC_SEQ_CST);
}

std::uint64_t barrier_word_arrive(std::uint64_t* word, std::uint32_t arrivals, bool drop, bool* last) {
  if (checked_build) note_release();
  for (std::uint64_t seen = load(word);;) {
    const std::uint64_t pending = seen & kMask, expected = seen >> kBits & kMask;
    if (pending == 0 && expected > 0 && arrivals > 0) {
      tick_slow();  // someone runs the completion: this arrival belongs to the next phase
      seen = load(word);
      continue;
    }
    if (arrivals > pending) {
      fail("simt-mbarrier",
           "more arrivals at a barrier than it was initialised for\n%u more come; this phase needs %u of %u.",
           arrivals, static_cast<unsigned>(pending), static_cast<unsigned>(expected));
    }
    const std::uint64_t next = seen - arrivals - (drop ? std::uint64_t{arrivals} << kBits : 0);
    if (!__atomic_compare_exchange_n(word, &seen, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue;
    *last = arrivals > 0 && (next & kMask) == 0;
    return seen;
  }
}

void barrier_word_end_phase(std::uint64_t* word) {
  if (checked_build) note_release();
  const std::uint64_t ended = __atomic_load_n(word, __ATOMIC_SEQ_CST), expected = ended >> kBits & kMask;
  __atomic_store_n(word, ((ended >> (2 * kBits)) + 1) << (2 * kBits) | expected << kBits | expected,
                   __ATOMIC_SEQ_CST);
  notify();
}

bool barrier_word_ended(const std::uint64_t* word, std::uint64_t token) {
  return load(word) >> (2 * kBits) != token >> (2 * kBits);
}

bool barrier_word_ended_parity(const std::uint64_t* word, bool parity) {
  return (load(word) >> (2 * kBits) & 1) != parity;
}

}  // namespace simt
