// SPDX-License-Identifier: MIT
//
// From `push_config(...), kernel(args)` to blocks on worker threads, and what CUDA refuses to launch.
#include <driver_types.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "memory.h"
#include "report.h"

namespace simt {

std::uint64_t launch_number;

static std::mutex launch_mutex;  // one launch at a time, as on one stream
static Stats totals;
static thread_local std::vector<LaunchConfig> pushed;
static thread_local Kernel* queried;
static thread_local bool querying;

Kernel* begin_query() {
  querying = true;
  queried = nullptr;
  return nullptr;
}
Kernel* end_query() {
  querying = false;
  return queried;
}

const Stats& stats() {
  return totals;
}

// ---- settings ----

static Settings read_settings() {
  Settings s;
  if (const char* order = std::getenv("SIMT_ORDER")) {
    const std::string text = order;
    if (text == "reversed") s.order = Order::reversed;
    if (text.compare(0, 7, "shuffle") == 0) {
      s.order = Order::shuffle;
      s.seed = text.size() > 8 ? std::strtoull(text.c_str() + 8, nullptr, 10) : 1;
    }
  }
  s.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (const char* threads = std::getenv("SIMT_THREADS")) s.threads = std::max(1, std::atoi(threads));
  if (const char* timeout = std::getenv("SIMT_TIMEOUT")) s.timeout = std::max(0.1, std::atof(timeout));
  if (const char* stack = std::getenv("SIMT_STACK")) {
    s.stack = std::max<std::size_t>(64, std::strtoull(stack, nullptr, 10)) * 1024;
  }
  return s;
}

const Settings& settings() {
  static const Settings s = read_settings();
  return s;
}

// ---- shared memory ----

static std::mutex shared_mutex;
static std::size_t static_shared;

void place_shared(SharedSlot& slot, std::size_t size, std::size_t alignment) {
  if (!current) fail("simt-oob-shared", "a __shared__ variable is used outside a kernel");
  std::lock_guard<std::mutex> guard(shared_mutex);
  if (slot.launch.load(std::memory_order_relaxed) == launch_number) return;
  const std::size_t step = std::max<std::size_t>(16, alignment);
  slot.offset = (static_shared + step - 1) / step * step;
  static_shared = slot.offset + size;
  if (static_shared > kMaxStaticShared) {
    fail("simt-launch", "%zu bytes of static shared memory: a block has at most %zu", static_shared,
         kMaxStaticShared);
  }
  running->kernel->static_shared = std::max(running->kernel->static_shared, static_shared);
  slot.launch.store(launch_number, std::memory_order_release);
}

void* dynamic_shared() {
  if (!current) fail("simt-oob-shared", "dynamic shared memory is used outside a kernel");
  return current->block->dynamic;
}

bool is_shared(const void* p) {
  if (!current) return false;
  const char* base = current->block->shared;
  return p >= base && p < base + shared_area_size();
}

// ---- blocks ----

static std::uint64_t mix(std::uint64_t x) {  // splitmix64's finaliser
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static void shape_block(Block& block, dim3 shape) {
  const unsigned size = shape.x * shape.y * shape.z;
  block.size = size;
  block.shape = shape;
  block.threads.assign(size, Thread());
  block.warps.assign((size + 31) / 32, Warp());
  block.order.resize(size);
  for (unsigned w = 0; w < block.warps.size(); ++w) {
    Warp& warp = block.warps[w];
    warp.id = w;
    warp.threads = &block.threads[w * 32];
    const unsigned lanes = std::min(32u, size - w * 32);
    warp.present = lanes == 32 ? ~0u : (1u << lanes) - 1;
  }
  for (unsigned i = 0; i < size; ++i) {
    Thread& thread = block.threads[i];
    thread.index = {i % shape.x, i / shape.x % shape.y, i / shape.x / shape.y};
    thread.lane = static_cast<std::uint8_t>(i % 32);
    thread.block = &block;
    thread.warp = &block.warps[i / 32];
    block.order[i] = settings().order == Order::reversed ? size - 1 - i : i;
  }
}

void prepare_block(Block& block, std::uint64_t linear) {
  const LaunchConfig& config = running->config;
  if (block.shape.x != config.block.x || block.shape.y != config.block.y || block.shape.z != config.block.z) {
    shape_block(block, config.block);
  }
  if (!block.shared) block.shared = new_shared_area();
  block.dynamic = block.shared + shared_area_size() - (config.dynamic_shared + 15) / 16 * 16;
  if (config.dynamic_shared) poison(block.dynamic, config.dynamic_shared);
  poison(block.shared, running->kernel->static_shared);
  if (settings().order == Order::shuffle) {
    std::uint64_t state = settings().seed + running->number * 1000003 + linear;
    for (unsigned i = block.size - 1; i > 0; --i)
      std::swap(block.order[i], block.order[(state = mix(state + i)) % (i + 1)]);
  }
  block.index = {static_cast<unsigned>(linear % config.grid.x),
                 static_cast<unsigned>(linear / config.grid.x % config.grid.y),
                 static_cast<unsigned>(linear / config.grid.x / config.grid.y)};
  for (Thread& thread : block.threads) {
    thread.state = State::ready;
    thread.site = nullptr;
  }
  for (Warp& warp : block.warps) warp.exited = warp.waiting = 0;
  block.started = block.arrived = block.predicate_true = 0;
  block.live = block.size;
}

static std::uint64_t block_at(std::uint64_t i) {
  return settings().order == Order::reversed ? running->blocks - 1 - i : i;
}

static void run_share(Launch* launch, int id) {
  static thread_local Worker* own = new Worker;  // fibers' stacks outlive launches
  Worker* w = own;
  worker = w;
  running = launch;
  use_fault_stack();
  set_block_shape(launch->config.block, launch->config.grid);
  const unsigned size = launch->config.block.x * launch->config.block.y * launch->config.block.z;
  w->counts = {};
  auto make_room = [&](std::size_t blocks) {
    while (w->blocks.size() < blocks) w->blocks.push_back(std::make_unique<Block>());
    std::size_t ring = 64;
    while (ring < blocks * size + 1) ring *= 2;
    if (w->ready.size() < ring) w->ready.resize(ring);
    w->resident = blocks;
  };
  if (launch->config.cooperative) {
    const std::uint64_t share = (launch->blocks + launch->workers - 1) / launch->workers;
    const std::uint64_t begin = std::min(launch->blocks, share * id),
                        end = std::min(launch->blocks, begin + share);
    make_room(end - begin);
    for (std::uint64_t i = begin; i < end; ++i) prepare_block(*w->blocks[i - begin], block_at(i));
    if (end > begin) run_resident_blocks(w);
  } else {
    make_room(1);
    const std::uint64_t chunk = std::max<std::uint64_t>(1, launch->blocks / (64 * launch->workers));
    while (!launch->aborted) {
      const std::uint64_t begin = launch->next_block.fetch_add(chunk),
                          end = std::min(launch->blocks, begin + chunk);
      if (begin >= launch->blocks) break;
      for (std::uint64_t i = begin; i < end && !launch->aborted; ++i) {
        prepare_block(*w->blocks[0], block_at(i));
        run_resident_blocks(w);
      }
    }
  }
  if (launch->aborted) drop_fibers(w);
  std::lock_guard<std::mutex> guard(shared_mutex);
  launch->counts.barriers += w->counts.barriers;
  launch->counts.warp_collectives += w->counts.warp_collectives;
  launch->counts.atomics += w->counts.atomics;
  launch->counts.switches += w->counts.switches;
  running = nullptr;
}

// OS threads that wait for launches; the launching thread is worker 0 itself.
class Pool {
 public:
  void run(Launch* launch) {
    if (launch->workers == 1) return run_share(launch, 0);
    while (static_cast<int>(count_) < launch->workers - 1) {
      std::thread([this, id = static_cast<int>(++count_)] { serve(id); }).detach();
    }
    {
      std::lock_guard<std::mutex> guard(mutex_);
      launch_ = launch;
      ++generation_;
      left_ = count_;
    }
    wake_.notify_all();
    run_share(launch, 0);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return left_ == 0; });
  }

 private:
  void serve(int id) {
    unsigned seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return generation_ != seen; });
      seen = generation_;
      Launch* launch = launch_;
      lock.unlock();
      if (id < launch->workers) run_share(launch, id);
      lock.lock();
      if (--left_ == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Launch* launch_ = nullptr;
  unsigned generation_ = 0, count_ = 0, left_ = 0;
};

// ---- launching ----

void push_config(const LaunchConfig& config) {
  pushed.push_back(config);
}

// What CUDA answers to a configuration that no device of compute capability 9.0 takes; 0 where it is fine.
static int refuse(const Kernel& kernel, const LaunchConfig& config) {
  const std::uint64_t threads = std::uint64_t{config.block.x} * config.block.y * config.block.z;
  const std::uint64_t blocks = std::uint64_t{config.grid.x} * config.grid.y * config.grid.z;
  if (!threads || !blocks || threads > 1024 || config.block.z > 64) return cudaErrorInvalidConfiguration;
  if (config.grid.x > 0x7fffffffu || config.grid.y > 65535 || config.grid.z > 65535)
    return cudaErrorInvalidConfiguration;
  if (config.dynamic_shared > kMaxDynamicShared || config.dynamic_shared > kernel.max_dynamic_shared) {
    return cudaErrorInvalidValue;
  }
  return 0;
}

void launch_kernel(Kernel& kernel, const void* closure) {
  if (querying) {
    queried = &kernel;
    return;
  }
  if (current)
    fail("simt-launch", "kernel %s is launched from a kernel: dynamic parallelism has no CPU version",
         kernel.name);
  if (pushed.empty()) {
    set_error(cudaErrorMissingConfiguration);
    return;
  }
  const LaunchConfig config = pushed.back();
  pushed.pop_back();
  if (sticky_error()) return;
  if (const int error = refuse(kernel, config)) {
    set_error(error);
    return;
  }
  static Pool* pool = new Pool;  // its threads never end
  std::lock_guard<std::mutex> guard(launch_mutex);
  install_fault_handlers();
  Launch launch;
  launch.kernel = &kernel;
  launch.closure = closure;
  launch.config = config;
  launch.number = ++launch_number;
  launch.blocks = std::uint64_t{config.grid.x} * config.grid.y * config.grid.z;
  const std::uint64_t threads = std::uint64_t{config.block.x} * config.block.y * config.block.z;
  static_shared = 0;
  launch.workers = static_cast<int>(std::min<std::uint64_t>(settings().threads, launch.blocks));
  if (launch.blocks * threads <= 256) launch.workers = 1;  // waking others would take longer
  begin_time_limit();
  pool->run(&launch);
  check_canaries(kernel.name);
  LaunchStats& last = totals.last;
  last = launch.counts;
  last.kernel = kernel.name;
  last.grid = config.grid;
  last.block = config.block;
  last.blocks = launch.blocks;
  last.threads = launch.blocks * threads;
  totals.total.blocks += last.blocks;
  totals.total.threads += last.threads;
  totals.total.barriers += last.barriers;
  totals.total.warp_collectives += last.warp_collectives;
  totals.total.atomics += last.atomics;
  totals.total.switches += last.switches;
  ++totals.launches;
}

}  // namespace simt
