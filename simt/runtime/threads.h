// SPDX-License-Identifier: MIT
//
// The kernel's own units: a thread is a fiber, a warp is 32 of them that can meet at a collective, a block is what one worker
// holds at a time with its shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "context.h"
#include "user_view.h"

namespace simt {

struct AsyncCopies;
struct Block;
struct NamedBarriers;
struct Warp;
struct WarpgroupProducts;

enum class State : std::uint8_t {
  running,
  barrier,
  named_barrier,
  warp,
  active_mask,
  waiting,
  cluster,
  grid,
  done
};

// One CUDA thread; one cache line. While it doesn't run, `context` resumes it.
struct alignas(64) Thread {
  Context context;
  Block* block;
  Warp* warp;
  uint3 index;
  std::uint16_t linear;  // in the block
  std::uint8_t lane;
  State state;
  Site site;    // where it waits
  char* stack;  // lowest address of the stack it runs on
};

struct Warp {
  std::uint32_t epoch = 0;    // changes with each __syncwarp (checked builds use these two)
  std::uint32_t segment = 0;  // 0: the next access begins one (shadow.h)
  std::uint32_t met = 0;      // the last segment in which lanes met at a shuffle or vote, or used an atomic
  std::uint32_t present;      // lanes that exist
  std::uint32_t returned;
  std::uint32_t waiting;  // at a collective
  // Of those that wait, lanes that are known to agree with each other, and the last that joined them.
  std::uint32_t agreed = 0;
  int agreed_lane = 0;
  unsigned id;
  Thread* threads;  // of lane 0
  Lane lanes[32];
};

// For collectives of all lanes; else the program fails, told of `name`.
void need_whole_warp(const Lane* lanes, std::uint32_t participants, const char* name);

struct Block {
  uint3 index = {~0u, ~0u, ~0u};
  std::uint64_t linear = 0;  // in the grid
  unsigned size = 0;         // threads
  unsigned started = 0, live = 0;
  unsigned expected = 0;                       // at a barrier: all threads, or those that have not returned
  unsigned arrived = 0;                        // at the barrier
  Site barrier_site;                           // of the first that arrived
  unsigned voted_true = 0, votes = 0;          // of the barrier that fills
  unsigned result_true = 0, result_votes = 0;  // of the last one that completed
  char* shared = nullptr;                      // arena
  char* dynamic = nullptr;                     // start of the dynamic part
  char* dynamic_begin = nullptr;               // with what an alignment may add before it
  std::size_t shared_bytes = 0;                // of the arena
  AsyncCopies* async = nullptr;                // async.h; null until a thread copies asynchronously
  WarpgroupProducts* products = nullptr;       // warpgroup_products.h; null until a warp asks for one
  std::vector<std::uint64_t> cluster_phases;   // of each thread, in named_barriers.cpp
  std::uint64_t cluster_waited = 0;    // the last phase of the cluster's barrier that a thread waited for
  NamedBarriers* named = nullptr;      // named_barriers.cpp; null until one is used
  struct BlockTrace* trace = nullptr;  // trace.cpp; null where nothing is traced
  // Checked builds use all that follows down to `valid` (shadow.h). Segments from `first_segment` on are this
  // block's; those below `ordered` came before its last barrier.
  std::uint32_t first_segment = 0, ordered = 0;
  // The block has made a fence.proxy.async since the segments below this one wrote to shared memory.
  std::uint32_t proxy_fenced = 0;
  Site last_barrier;  // The place of the last barrier that the block completed.
  // The block has waited for the kernel that this one may overlap (griddepcontrol.wait).
  bool has_waited = false;
  // A thread of the block has looked at a flag since the block's last barrier, or is about to: the checker hears
  // of an access before it is made. So may_be_published() counts the process's fences anew while this is set.
  bool looked = false;
  // The process had made so many fences when this block last looked at a flag.
  std::uint32_t acquired = 0;
  struct Cell* cells = nullptr;         // The arena has a cell for each 4 of its bytes,
  struct Cell* byte_cells = nullptr;    // and another one for each byte.
  const std::uint8_t* valid = nullptr;  // A variable holds so many of each 16 bytes of the arena.
  dim3 shape = {0, 0, 0};
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Thread*> order;  // in which threads start and leave a barrier
  Order order_kind = Order::normal;
};

}  // namespace simt
