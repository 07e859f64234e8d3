// SPDX-License-Identifier: MIT
//
// Barriers in shared memory. PTX leaves the 8 bytes opaque; here they hold
//
//   bits 0-19 arrivals that the phase still needs, 20-39 arrivals of every phase, 40-61 bytes that it still
//   needs (signed: bytes may come before they are expected), 62 the phase's parity, 63 clear
//
// so that neither zeroed memory (no arrivals) nor poison (bit 63) passes for a barrier.
#include "async.h"
#include "copies_under_way.h"

namespace simt {

const Collective kMbarrierWait = {"mbarrier", nullptr};

namespace {

constexpr std::uint32_t kMost = (1u << 20) - 1;  // arrivals, and bytes either way

struct Fields {
  std::uint32_t pending, expected;
  std::int32_t bytes;
  unsigned parity;
  bool valid;
};

Fields decode(std::uint64_t word) {
  Fields f;
  f.pending = word & kMost;
  f.expected = word >> 20 & kMost;
  f.bytes = static_cast<std::int32_t>(static_cast<std::int64_t>(word << 2) >> 42);
  f.parity = word >> 62 & 1;
  f.valid = word >> 63 == 0 && f.expected > 0;
  return f;
}

std::uint64_t encode(const Fields& f) {
  return std::uint64_t{f.parity} << 62 | (static_cast<std::uint64_t>(f.bytes) & 0x3fffff) << 40 |
         std::uint64_t{f.expected} << 20 | f.pending;
}

// Ends the phase if nothing is missing, and stores the barrier.
void settle(std::uint64_t* barrier, Fields f) {
  const bool ends = f.pending == 0 && f.bytes == 0;
  if (ends) {
    f.parity ^= 1;
    f.pending = f.expected;
  }
  *barrier = encode(f);
  if (ends) notify();
}

void add_bytes(Fields& f, std::int64_t bytes) {
  const std::int64_t sum = f.bytes + bytes;
  if (sum > kMost || sum < -std::int64_t{kMost}) {
    fail("simt-mbarrier", "an mbarrier's phase counts at most %u bytes, this would be %lld", kMost,
         static_cast<long long>(sum));
  }
  f.bytes = static_cast<std::int32_t>(sum);
}

Fields load(const std::uint64_t* barrier, const char* operation) {
  check_barrier(barrier, operation);
  return decode(*barrier);
}

void take_arrivals(Fields& f, std::uint32_t arrivals) {
  if (arrivals == 0 || arrivals > f.pending) {
    fail("simt-mbarrier",
         "more arrivals at an mbarrier than it was initialised for\n"
         "%u more come; this phase needs %u of %u.",
         arrivals, f.pending, f.expected);
  }
  f.pending -= arrivals;
}

// Whether the phase of this parity has ended; lets others run once before it says no.
bool ended(std::uint64_t* barrier, unsigned parity, Site site, bool until) {
  for (int attempt = 0; load(barrier, "mbarrier.test_wait").parity == parity; ++attempt) {
    if (attempt == 1 && !until) return false;
    Lane& lane = current->warp->lanes[current->lane];
    lane.what = &kMbarrierWait;
    lane.input = barrier;
    if (until) {
      wait(site);
    } else {
      poll(site);
    }
    lane.what = nullptr;
  }
  observed_phase(barrier, parity);
  return true;
}

}  // namespace

void check_barrier(const std::uint64_t* barrier, const char* operation) {
  const Block* block = block_of_shared(barrier);
  if (!block)
    fail("simt-mbarrier", "%s: %p is not in shared memory", operation, static_cast<const void*>(barrier));
  if (reinterpret_cast<std::uintptr_t>(barrier) % 8 != 0) {
    fail("simt-misaligned", "%s: an mbarrier's address must be a multiple of 8", operation);
  }
  if (checked_build && current && !tracing) {
    check_atomic(barrier, sizeof *barrier, AtomicKind::store, nullptr);
    end_atomic();  // mbarriers are of one worker, whose threads take turns
  }
  if (!decode(*barrier).valid) {
    fail("simt-mbarrier", "%s of an mbarrier that was not initialised\nIts 8 bytes are 0x%016llx.", operation,
         static_cast<unsigned long long>(*barrier));
  }
}

unsigned mbarrier_parity(const std::uint64_t* barrier) {
  return decode(*barrier).parity;
}

std::string describe_mbarrier(const std::uint64_t* barrier) {
  const Fields f = decode(*barrier);
  return format_text("; its mbarrier's phase (parity %u) lacks %u of %u arrivals and %d bytes", f.parity,
                     f.pending, f.expected, f.bytes);
}

void mbarrier_init(std::uint64_t* barrier, std::uint32_t arrivals) {
  check_shared_range(*current->block, barrier, sizeof *barrier, 8, "mbarrier.init");
  if (arrivals == 0 || arrivals > kMost)
    fail("simt-mbarrier", "mbarrier.init with %u arrivals; 1 to %u are possible", arrivals, kMost);
  checked_write(barrier, sizeof *barrier, __builtin_return_address(0));
  *barrier = encode({arrivals, arrivals, 0, 0, true});
}

void mbarrier_inval(std::uint64_t* barrier) {
  check_barrier(barrier, "mbarrier.inval");
  *barrier = ~std::uint64_t{0};
}

std::uint64_t mbarrier_arrive(std::uint64_t* barrier, std::uint32_t arrivals, std::uint32_t expected_bytes) {
  Fields f = load(barrier, "mbarrier.arrive");
  const std::uint64_t state = *barrier;
  add_bytes(f, expected_bytes);
  take_arrivals(f, arrivals);
  settle(barrier, f);
  return state;
}

std::uint64_t mbarrier_arrive_drop(std::uint64_t* barrier, std::uint32_t arrivals) {
  Fields f = load(barrier, "mbarrier.arrive_drop");
  const std::uint64_t state = *barrier;
  take_arrivals(f, arrivals);
  f.expected -= arrivals;
  settle(barrier, f);
  return state;
}

void mbarrier_expect_tx(std::uint64_t* barrier, std::uint32_t bytes) {
  Fields f = load(barrier, "mbarrier.expect_tx");
  add_bytes(f, bytes);
  settle(barrier, f);
}

void mbarrier_complete_tx(std::uint64_t* barrier, std::uint32_t bytes) {
  Fields f = load(barrier, "mbarrier.complete_tx");
  add_bytes(f, -std::int64_t{bytes});
  settle(barrier, f);
}

void complete_bytes(std::uint64_t* barrier, std::uint32_t bytes) {
  Fields f = decode(*barrier);
  if (!f.valid) return;  // invalidated while the copy was under way
  f.bytes -= static_cast<std::int32_t>(bytes);
  settle(barrier, f);
}

void add_pending_arrival(std::uint64_t* barrier) {
  Fields f = decode(*barrier);
  if (f.pending == kMost) fail("simt-mbarrier", "an mbarrier counts at most %u arrivals", kMost);
  ++f.pending;
  *barrier = encode(f);
}

void complete_arrival(std::uint64_t* barrier) {
  Fields f = decode(*barrier);
  if (!f.valid || f.pending == 0) return;
  --f.pending;
  settle(barrier, f);
}

std::uint32_t mbarrier_pending_count(std::uint64_t state) {
  return decode(state).pending;
}

bool mbarrier_test(std::uint64_t* barrier, std::uint64_t state, Site site) {
  return ended(barrier, decode(state).parity, site, false);
}

bool mbarrier_test_parity(std::uint64_t* barrier, std::uint32_t parity, Site site) {
  return ended(barrier, parity & 1, site, false);
}

void mbarrier_wait_parity(std::uint64_t* barrier, std::uint32_t parity, Site site) {
  ended(barrier, parity & 1, site, true);
}

}  // namespace simt
