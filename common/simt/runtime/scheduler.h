// SPDX-License-Identifier: MIT
//
// The state of a running launch. A worker is an OS thread; it runs a set of resident blocks at a time (one
// block, or a worker's share of a cooperative grid) and never lends a fiber to another worker, so none of
// this needs a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "context.h"
#include "simt/runtime.h"

namespace simt {

enum class State : std::uint8_t { ready, at_barrier, at_collective, at_activemask, polling, done };
constexpr const char* kStateNames[] = {
    "ready",           "at __syncthreads",           "at a warp collective",
    "at __activemask", "waiting for another thread", "done"};

struct Block;
struct Warp;

struct Thread {
  Context context = nullptr;
  uint3 index{};
  unsigned linear = 0;
  std::uint8_t lane = 0;
  State state = State::ready;
  Block* block = nullptr;
  Warp* warp = nullptr;
  const void* site = nullptr;  // where it waits: an address in the kernel
};

struct LaneRequest {
  std::uint32_t mask;
  Collective operation;
  int source;
  unsigned size;
  alignas(16) unsigned char in[16];
  alignas(16) unsigned char out[16];
};

struct Warp {
  unsigned id = 0;
  Thread* threads = nullptr;
  std::uint32_t present = 0, exited = 0, waiting = 0;
  std::array<LaneRequest, 32> lanes;
};

struct Block {
  uint3 index{};
  unsigned size = 0, started = 0, live = 0, arrived = 0;
  unsigned predicate_true = 0, predicate_result[2] = {0, 0};  // of __syncthreads_count and its kin
  unsigned participants_result[2] = {0, 0};
  unsigned generation = 0;
  dim3 shape{0, 0, 0};
  char* shared = nullptr;   // static variables from its start
  char* dynamic = nullptr;  // dynamic shared memory, up to its end
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<unsigned> order;  // the order in which threads start
};

struct Launch {
  Kernel* kernel;
  const void* closure;
  LaunchConfig config;
  std::uint64_t number;
  std::uint64_t blocks;
  int workers;
  std::atomic<std::uint64_t> next_block{0};
  std::atomic<bool> aborted{false};
  std::atomic<unsigned> grid_arrived{0}, grid_generation{0};
  LaunchStats counts;  // of workers that have ended
};

struct Stack;

struct Worker {
  Context main = nullptr;                      // the scheduler's own context
  std::vector<std::unique_ptr<Block>> blocks;  // the resident ones first, then spares
  std::size_t resident = 0;
  std::size_t starting = 0;  // index of the block whose threads are being started
  unsigned live_blocks = 0;
  std::vector<Thread*> ready;  // a ring: threads that can go on
  std::size_t head = 0, tail = 0;
  std::vector<Thread*> polling;  // threads that spin, put back when something has changed
  std::uint64_t changes = 0;     // counts what a spinning thread may wait for
  std::vector<Stack*> free_stacks;
  std::vector<Stack*> all_stacks;
  Stack* start_stack = nullptr;  // handed to the next new fiber
  Thread* start_thread = nullptr;
  LaunchStats counts;

  bool has_ready() const { return head != tail; }
  void push(Thread* thread) { ready[tail++ & (ready.size() - 1)] = thread; }
  Thread* pop() { return ready[head++ & (ready.size() - 1)]; }
};

extern thread_local Worker* worker;
extern thread_local Thread* current;
extern thread_local Launch* running;

/// Leaves the running fiber, whose state says what it waits for, until something makes it ready.
void wait_here();
/// Puts the running fiber behind the other ready ones.
void yield_here();
void make_ready(Thread* thread);
void run_resident_blocks(Worker* w);
void thread_finished(Worker* w, Thread* thread);
void complete_collectives(Worker* w, Warp* warp);
bool release_active_masks(Worker* w);
/// Forgets the fibers of an abandoned launch; their stacks are used again.
void drop_fibers(Worker* w);
void set_block_shape(dim3 block, dim3 grid);
bool in_guard_of_a_stack(const void* address);

enum class Order { normal, reversed, shuffle };
struct Settings {
  Order order = Order::normal;
  std::uint64_t seed = 0;
  int threads = 1;
  std::size_t stack = 256 * 1024;
  double timeout = 60;
};
const Settings& settings();

/// Abandons the launch on this worker and goes back to its scheduler.
[[noreturn]] void abandon();
/// True for the worker that reports first; the error becomes sticky.
bool claim_failure(int error);
void clear_errors();

}  // namespace simt
