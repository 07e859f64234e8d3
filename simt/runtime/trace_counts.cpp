// SPDX-License-Identifier: MIT
//
// What one request costs in the load/store unit, as ncu counts it.
#include <algorithm>

#include "shared_memory.h"
#include "trace.h"

namespace simt {
namespace {

constexpr std::size_t kSector = 32, kBanks = 32, kBankBytes = 4;

struct Range {
  std::uintptr_t begin, end;
};

// The lanes' bytes, sorted by address.
std::size_t ranges_of(const WarpRequest& request, std::uint32_t lanes, Range* ranges) {
  std::size_t count = 0;
  bool sorted = true;
  for (std::uint32_t rest = lanes & request.lanes; rest; rest &= rest - 1) {
    const auto begin = reinterpret_cast<std::uintptr_t>(request.addresses[__builtin_ctz(rest)]);
    sorted = sorted && (count == 0 || ranges[count - 1].begin <= begin);
    ranges[count++] = {begin, begin + request.bytes};
  }
  if (!sorted) std::sort(ranges, ranges + count, [](Range a, Range b) { return a.begin < b.begin; });
  return count;
}

void count_sectors(const WarpRequest& request, Cost* cost) {
  Range ranges[32];
  const std::size_t count = ranges_of(request, ~0u, ranges);
  std::uintptr_t next_sector = 0, next_byte = 0;  // what lies before is counted
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uintptr_t first = std::max(ranges[i].begin / kSector, next_sector);
    const std::uintptr_t end = (ranges[i].end - 1) / kSector + 1;
    if (end > first) {
      cost->sectors += end - first;
      next_sector = end;
    }
    const std::uintptr_t from = std::max(ranges[i].begin, next_byte);
    if (ranges[i].end > from) {
      distinct += ranges[i].end - from;
      next_byte = ranges[i].end;
    }
  }
  cost->least += (distinct + kSector - 1) / kSector;
}

// A wavefront serves one word of each of the 32 banks, to any number of lanes. Eight-byte accesses go by half
// warps, sixteen-byte accesses by quarters. Each block of a cluster has banks of its own.
void count_wavefronts(const WarpRequest& request, Cost* cost) {
  const std::size_t groups = request.bytes >= 16 ? 4 : request.bytes == 8 ? 2 : 1;
  const std::size_t lanes = 32 / groups;
  for (std::size_t group = 0; group < groups; ++group) {
    const std::uint32_t members = groups == 1 ? ~0u : ((1u << lanes) - 1) << (group * lanes);
    Range ranges[32];
    const std::size_t count = ranges_of(request, members, ranges);
    if (count == 0) continue;
    std::size_t words[kBanks] = {}, most = 1;
    std::uintptr_t next_word = 0;
    std::size_t memory = shared_memory_of(reinterpret_cast<const void*>(ranges[0].begin));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t its = shared_memory_of(reinterpret_cast<const void*>(ranges[i].begin));
      if (its != memory) std::fill(words, words + kBanks, 0);
      memory = its;
      const std::uintptr_t end = (ranges[i].end - 1) / kBankBytes + 1;
      for (std::uintptr_t word = std::max(ranges[i].begin / kBankBytes, next_word); word < end; ++word)
        most = std::max(most, ++words[word % kBanks]);
      next_word = std::max(next_word, end);
    }
    cost->wavefronts += most;
    cost->conflicts += most - 1;
  }
}

}  // namespace

Cost cost_of(const WarpRequest& request) {
  Cost cost;
  switch (request.operation) {
    case Operation::global_load:
    case Operation::global_store:
    case Operation::global_atomic:
      count_sectors(request, &cost);
      break;
    case Operation::shared_load:
    case Operation::shared_store:
    case Operation::shared_atomic:
      count_wavefronts(request, &cost);
      break;
    case Operation::branch:
      return cost;
  }
  cost.bytes =
      static_cast<std::uint64_t>(request.bytes) * static_cast<unsigned>(__builtin_popcount(request.lanes));
  return cost;
}

}  // namespace simt
