// SPDX-License-Identifier: MIT
//
// Traced builds count what a GPU's load/store unit would have to do for the kernel's accesses
// (SIMT_TRACE=FILE.json).
//
//   trace.cpp          events (accesses, branches) of a warp's lanes become requests of the warp
//   trace_counts.cpp   what one request costs: sectors, wavefronts, bank conflicts
//   trace_launches.cpp sums by place and launch
//   trace_places.cpp   from an instruction's address to the source's expression
//   trace_json.cpp     the file
//   trace_markers.cpp  the branch marker
//
// Lanes take part in the same request where the instruction, the path (the iterations of the loops around it)
// and the number of earlier executions on that path are the same: as on hardware in lockstep whose lanes meet
// again after each branch and loop.
#pragma once

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "threads.h"

extern "C" {
extern __thread std::uint64_t simt_trace_path;
}

namespace simt {

enum class Operation : std::uint8_t {
  global_load,
  global_store,
  global_atomic,
  shared_load,
  shared_store,
  shared_atomic,
  branch
};

// What the lanes of a warp did together. An access of `bytes` by each lane of `lanes`; or a branch, which the
// lanes of `taken` took.
struct WarpRequest {
  std::uint64_t path;
  const void* place;  // return address of the marker or hook
  std::uint32_t lanes = 0, taken = 0;
  std::uint32_t next = 0,
                last = 0;  // of those with the same place and path: 1 + index; `last` in the first one
  std::uint32_t number;    // in the warp
  std::uint16_t bytes;
  Operation operation;
  const char* addresses[32];
};

struct Cost {
  std::uint64_t sectors = 0, least = 0;         // global: 32-byte sectors; what the distinct bytes need
  std::uint64_t wavefronts = 0, conflicts = 0;  // shared
  std::uint64_t bytes = 0;                      // all lanes together
};
Cost cost_of(const WarpRequest& request);

// One request, kept for the picture. Addresses count from the start of the buffer or of the shared memory.
struct Sample {
  std::uint64_t block;
  std::uint32_t warp, number;
  uint3 block_index;
  std::uint32_t lanes;
  std::uint16_t bytes;
  std::int64_t addresses[32];
  bool operator<(const Sample& other) const {
    return std::tie(block, warp, number) < std::tie(other.block, other.warp, other.number);
  }
};
constexpr std::size_t kSamples = 4;

struct Place {
  const void* address;
  Operation operation;
  bool operator<(const Place& other) const {
    return std::tie(address, operation) < std::tie(other.address, other.operation);
  }
};

// Requests of a place that cost the same for as many lanes, and the first of them.
struct Alike {
  unsigned lanes;
  Cost cost;
  std::uint64_t requests;
  Sample first;
  bool same(unsigned other_lanes, const Cost& c) const {
    return lanes == other_lanes && cost.sectors == c.sectors && cost.least == c.least &&
           cost.wavefronts == c.wavefronts && cost.conflicts == c.conflicts;
  }
};

struct Counts {
  std::uint64_t requests = 0;  // of a branch: executions by a warp
  Cost cost;
  std::uint64_t divergent = 0;
  std::vector<Sample> samples;  // the first ones
  std::vector<Alike> kinds;
};
// Adds these to the place's others of their kind.
void add_alike(std::vector<Alike>* kinds, const Alike& alike);

// What a launch did at each place. `barriers` by file and line.
struct TraceTotals {
  std::map<Place, Counts> places;
  std::map<std::pair<std::string, int>, std::uint64_t> barriers;
  std::uint64_t bulk_bytes = 0;
  std::uint64_t product_bytes = 0;                         // of shared memory that warpgroups' products read
  std::uint64_t under_way = 0;                             // bytes: the most of a block's
  std::uint64_t distinct_loaded = 0, distinct_stored = 0;  // bytes of global memory, each counted once
  std::uint64_t loads_first = 0, storing = 0;  // loads of warps' first lanes before they store; how many do
  std::uint64_t busy_blocks = 0;               // that touch global memory
  std::uint64_t block_sectors = 0;  // of global memory that a block loads, each counted once a block
};

struct TracedLaunch {
  std::uint64_t number;
  std::string kernel;
  dim3 grid, block;
  TraceTotals totals;
};

// ---- trace.cpp ----
void trace_branch_taken(bool taken, const void* place);

// ---- trace_launches.cpp ----
void count_request(const WarpRequest& request, const Block& block, unsigned warp);
void count_start(std::uint64_t loads);  // of a warp's first lane, before its first store to global memory
void count_block(const Block& block);   // that has ended

// ---- trace_places.cpp ----
struct SourcePlace {
  std::string file;
  int line = 0;
  std::string text;         // the expression, or the line
  std::string kernel_file;  // where the kernel stands that the instruction was inlined into
};
// What stands at the places, in one pass over the debug information.
std::map<Place, SourcePlace> source_places(const std::vector<Place>& places);

// ---- trace_json.cpp ----
void write_trace(const std::string& path, const char* compiler,
                 const std::map<std::uint64_t, TracedLaunch>& launches);

}  // namespace simt
