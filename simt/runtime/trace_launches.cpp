// SPDX-License-Identifier: MIT
//
// Sums up requests by place, first for each worker, then for the launch. At the program's end they are
// written.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <set>

#include "launches.h"
#include "operations.h"
#include "trace.h"
#include "trace_hooks.h"

namespace simt {
namespace {

// Which bytes of global memory were touched: a bit each, in pages.
class Footprint {
 public:
  void add(const char* p, std::size_t bytes) {
    auto at = reinterpret_cast<std::uintptr_t>(p);
    for (const std::uintptr_t end = at + bytes; at < end;) {
      const std::uintptr_t page = at / kPage;
      if (page != last_page_) {
        last_ = &pages_[page];
        last_page_ = page;
      }
      const std::uintptr_t here = std::min(end - at, 64 - at % 64);
      (*last_)[at % kPage / 64] |= ~std::uint64_t{0} >> (64 - here) << at % 64;
      at += here;
    }
  }
  void merge(const Footprint& other) {
    for (const auto& [page, bits] : other.pages_) {
      Bits& mine = pages_[page];
      for (std::size_t i = 0; i < bits.size(); ++i) mine[i] |= bits[i];
    }
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& page : pages_)
      for (const std::uint64_t bits : page.second) sum += static_cast<unsigned>(__builtin_popcountll(bits));
    return sum;
  }
  void clear() {
    pages_.clear();
    last_page_ = ~std::uintptr_t{0};
  }

 private:
  static constexpr std::uintptr_t kPage = 4096;
  using Bits = std::array<std::uint64_t, kPage / 64>;
  std::unordered_map<std::uintptr_t, Bits> pages_;  // elements never move
  std::uintptr_t last_page_ = ~std::uintptr_t{0};
  Bits* last_ = nullptr;
};

// The sectors that a block has loaded: what its multiprocessor's L1 must fetch once at least.
class Sectors {
 public:
  void add(const char* p, std::size_t bytes) {
    const auto first = reinterpret_cast<std::uintptr_t>(p) / kSector;
    const auto last = (reinterpret_cast<std::uintptr_t>(p) + bytes - 1) / kSector;
    for (std::uintptr_t sector = first; sector <= last; ++sector) {
      if (sector / 64 != last_group_) {
        last_group_ = sector / 64;
        last_ = &groups_[last_group_];
      }
      const std::uint64_t bit = std::uint64_t{1} << sector % 64;
      count_ += !(*last_ & bit);
      *last_ |= bit;
    }
  }
  std::uint64_t count() const { return count_; }

 private:
  static constexpr std::uintptr_t kSector = 32;
  std::unordered_map<std::uintptr_t, std::uint64_t>
      groups_;  // of 64 sectors, a bit each; elements never move
  std::uintptr_t last_group_ = ~std::uintptr_t{0};
  std::uint64_t* last_ = nullptr;
  std::uint64_t count_ = 0;
};

struct PlaceHash {
  std::size_t operator()(const Place& place) const {
    return reinterpret_cast<std::uintptr_t>(place.address) * 8 + static_cast<std::size_t>(place.operation);
  }
};
struct SamePlace {
  bool operator()(const Place& a, const Place& b) const {
    return a.address == b.address && a.operation == b.operation;
  }
};

struct WorkerTotals {
  std::unordered_map<Place, Counts, PlaceHash, SamePlace> places;
  std::map<std::pair<const char*, int>, std::uint64_t> barriers;
  std::uint64_t bulk_bytes = 0, product_bytes = 0, under_way = 0;
  Footprint loaded, stored;
  std::unordered_map<const Block*, Sectors> of_blocks;  // that run
  std::set<const Block*> busy;  // of the resident blocks, those that have touched global memory
  const Block* last_busy = nullptr;
  std::uint64_t loads_first = 0,
                storing = 0;        // of warps' first lanes: loads before the first store; how many store
  std::uint64_t busy_blocks = 0;    // of those that have ended
  std::uint64_t block_sectors = 0;  // of those that have ended
};
thread_local WorkerTotals own;

struct LaunchFootprint {
  Footprint loaded, stored;
};

std::mutex mutex;  // protects what follows
std::map<std::uint64_t, TracedLaunch>* launches;
std::map<std::uint64_t, LaunchFootprint>* footprints;  // of running launches
std::string* path;
const char* traced_by;
std::atomic<bool> wanted{true};

void write_at_exit() {
  finish_at_exit();  // what is still queued
  std::lock_guard<std::mutex> lock(mutex);
  write_trace(*path, traced_by, *launches);
}

void add_cost(Cost* to, const Cost& from) {
  to->sectors += from.sectors;
  to->least += from.least;
  to->wavefronts += from.wavefronts;
  to->conflicts += from.conflicts;
  to->bytes += from.bytes;
}

void keep_sample(std::vector<Sample>* samples, const Sample& sample) {
  samples->insert(std::upper_bound(samples->begin(), samples->end(), sample), sample);
  if (samples->size() > kSamples) samples->pop_back();
}

// Where the addresses of a picture count from.
const char* origin_of(const WarpRequest& request, const Block& block) {
  const char* p = request.addresses[__builtin_ctz(request.lanes)];
  Allocation found;
  if (find_allocation(p, &found)) return found.base;
  if (!is_shared(p)) return p;
  return p >= block.dynamic ? block.dynamic : block.shared;
}

// Of the first requests of the place, and of each kind.
void sample_request(Counts* counts, const WarpRequest& request, const Cost& cost, const Block& block,
                    unsigned warp) {
  const auto lanes = static_cast<unsigned>(__builtin_popcount(request.lanes));
  const auto key = std::make_tuple(block.linear, warp, request.number);
  const auto before = [&](const Sample& s) { return key < std::make_tuple(s.block, s.warp, s.number); };
  const auto kind = std::find_if(counts->kinds.begin(), counts->kinds.end(),
                                 [&](const Alike& alike) { return alike.same(lanes, cost); });
  const bool known = kind != counts->kinds.end();
  if (known) ++kind->requests;
  const bool first_of_kind = !known || before(kind->first);
  const bool among_first = counts->samples.size() < kSamples || before(counts->samples.back());
  if (!first_of_kind && !among_first) return;
  Sample sample{block.linear, warp, request.number, block.index, request.lanes, request.bytes, {}};
  const char* origin = origin_of(request, block);
  for (std::uint32_t rest = request.lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    sample.addresses[lane] = request.addresses[lane] - origin;
  }
  if (among_first) keep_sample(&counts->samples, sample);
  if (!known) {
    counts->kinds.push_back({lanes, cost, 1, sample});
  } else if (first_of_kind) {
    kind->first = sample;
  }
}

}  // namespace

void add_alike(std::vector<Alike>* kinds, const Alike& alike) {
  for (Alike& kind : *kinds) {
    if (!kind.same(alike.lanes, alike.cost)) continue;
    kind.requests += alike.requests;
    if (alike.first < kind.first) kind.first = alike.first;
    return;
  }
  kinds->push_back(alike);
}

bool traced_unit(const char* compiler) {
  const char* file = std::getenv("SIMT_TRACE");
  if (!file || !*file || tracing) return true;
  launches = new std::map<std::uint64_t, TracedLaunch>;
  footprints = new std::map<std::uint64_t, LaunchFootprint>;
  path = new std::string(file);
  traced_by = compiler;
  tracing = true;
  std::atexit(write_at_exit);
  return true;
}

namespace {
void note_busy(const Block* block) {
  if (own.last_busy == block) return;
  own.busy.insert(block);
  own.last_busy = block;
}
}  // namespace

void count_request(const WarpRequest& request, const Block& block, unsigned warp) {
  Counts& counts = own.places[{request.place, request.operation}];
  ++counts.requests;
  if (request.operation == Operation::branch) {
    counts.divergent += request.taken != 0 && request.taken != request.lanes;
    return;
  }
  if (request.operation <= Operation::global_atomic) note_busy(&block);
  const Cost cost = cost_of(request);
  add_cost(&counts.cost, cost);
  sample_request(&counts, request, cost, block, warp);
  if (request.operation != Operation::global_load && request.operation != Operation::global_store) return;
  Footprint& footprint = request.operation == Operation::global_load ? own.loaded : own.stored;
  const char* last = nullptr;
  for (std::uint32_t rest = request.lanes; rest; rest &= rest - 1) {
    const char* p = request.addresses[__builtin_ctz(rest)];
    if (p == last) continue;
    footprint.add(p, request.bytes);
    if (request.operation == Operation::global_load) own.of_blocks[&block].add(p, request.bytes);
    last = p;
  }
}

void count_start(std::uint64_t loads) {
  own.loads_first += loads;
  ++own.storing;
}

void count_block(const Block& block) {
  own.busy_blocks += own.busy.erase(&block);
  own.last_busy = nullptr;
  const auto found = own.of_blocks.find(&block);
  if (found == own.of_blocks.end()) return;
  own.block_sectors += found->second.count();
  own.of_blocks.erase(found);
}

void trace_barrier(Site site) {
  ++own.barriers[{site.file, site.line}];
}

void trace_bulk_copy(std::size_t bytes) {
  own.bulk_bytes += bytes;
  if (current) note_busy(current->block);
}

void trace_product(std::size_t bytes) {
  own.product_bytes += bytes;
}

void trace_under_way(std::uint64_t bytes) {
  own.under_way = std::max(own.under_way, bytes);
}

void trace_launches(bool traced) {
  finish_everything();
  wanted = traced;
}

void trace_worker_ends(const Launch& launch) {
  if (!wanted) {
    own = WorkerTotals();
    return;
  }
  std::lock_guard<std::mutex> lock(mutex);
  TracedLaunch& traced = (*launches)[launch.number];
  traced.number = launch.number;
  traced.kernel = launch.kernel->name;
  traced.grid = launch.grid;
  traced.block = launch.block;
  for (const auto& [place, from] : own.places) {
    Counts& to = traced.totals.places[place];
    to.requests += from.requests;
    to.divergent += from.divergent;
    add_cost(&to.cost, from.cost);
    for (const Sample& sample : from.samples) keep_sample(&to.samples, sample);
    for (const Alike& alike : from.kinds) add_alike(&to.kinds, alike);
  }
  for (const auto& [site, count] : own.barriers)
    traced.totals.barriers[{site.first ? site.first : "", site.second}] += count;
  traced.totals.bulk_bytes += own.bulk_bytes;
  traced.totals.product_bytes += own.product_bytes;
  traced.totals.under_way = std::max(traced.totals.under_way, own.under_way);
  traced.totals.block_sectors += own.block_sectors;
  traced.totals.busy_blocks += own.busy_blocks;
  traced.totals.loads_first += own.loads_first;
  traced.totals.storing += own.storing;
  LaunchFootprint& footprint = (*footprints)[launch.number];
  footprint.loaded.merge(own.loaded);
  footprint.stored.merge(own.stored);
  own = WorkerTotals();
}

void trace_launch_ends(const Launch& launch) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto traced = launches->find(launch.number);
  const auto footprint = footprints->find(launch.number);
  if (traced != launches->end() && footprint != footprints->end()) {
    traced->second.totals.distinct_loaded = footprint->second.loaded.bytes();
    traced->second.totals.distinct_stored = footprint->second.stored.bytes();
  }
  footprints->erase(launch.number);
}

}  // namespace simt
