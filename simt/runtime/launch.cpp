// SPDX-License-Identifier: MIT
//
// Launches: configuration checks as CUDA makes them, the pool of workers, and what happens after the last
// block.
#include <algorithm>
#include <iterator>
#include <thread>

#include "streams.h"  // first: it lets this file write to the built-in variables

#include "cuda_runtime_api.h"
#include "device_memory.h"
#include "operations.h"
#include "ordering.h"
#include "permutation.h"
#include "shared_memory.h"
#include "variables.h"

namespace simt {
namespace {

struct Pushed {
  Configuration configuration;
  cudaStream_t stream;
};

thread_local std::vector<Pushed> configurations;  // pushed by <<<>>>, one a launch
thread_local bool querying = false;
thread_local Kernel* queried = nullptr;
thread_local bool building = false;
thread_local std::shared_ptr<KernelWork> built;

std::mutex running_mutex;  // protects the next two
Launch* running = nullptr;
std::uint64_t launch_changes = 0;  // starts and ends so far
std::mutex stats_mutex;
Stats statistics;

// Launched by the running kernel's threads; they run once it has ended.
std::mutex children_mutex;
std::vector<std::unique_ptr<KernelWork>>&
children() {  // never destroyed: kernels may run when the program exits
  static auto* all = new std::vector<std::unique_ptr<KernelWork>>;
  return *all;
}
std::vector<std::unique_ptr<KernelWork>>& tails() {
  static auto* all = new std::vector<std::unique_ptr<KernelWork>>;
  return *all;
}
constexpr int kDeepestNesting = 24;  // children of children, as on a GPU
int depth = 0;

// ---- workers ----

// The calling thread is worker 0; the others sleep until a launch wants them. They live as long as the
// process.
class Pool {
 public:
  void run(Launch& launch) {
    if (launch.workers > 1) {
      std::unique_lock<std::mutex> lock(mutex_);
      for (; started_ < launch.workers - 1; ++runtime_threads)
        std::thread(&Pool::serve, this, ++started_).detach();
      job_ = &launch;
      ++generation_;
      busy_ = launch.workers - 1;
      lock.unlock();
      wake_.notify_all();
    }
    run_worker(launch, 0);
    if (launch.workers > 1) {
      std::unique_lock<std::mutex> lock(mutex_);
      done_.wait(lock, [&] { return busy_ == 0; });
      job_ = nullptr;
    }
  }

 private:
  void serve(int number) {
    std::uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return generation_ != seen && job_; });
      seen = generation_;
      Launch& launch = *job_;
      if (number >= launch.workers) continue;
      lock.unlock();
      run_worker(launch, number);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Launch* job_ = nullptr;
  std::uint64_t generation_ = 0;
  int started_ = 0, busy_ = 0;
};

Pool& pool() {
  static Pool* pool = new Pool;  // never destroyed: its threads outlive main()
  return *pool;
}

std::uint64_t volume(const dim3& d) {
  return std::uint64_t{d.x} * d.y * d.z;
}

std::string shared_limit(const Kernel& kernel, std::size_t dynamic_shared) {
  const bool opted = kernel.max_dynamic_shared > static_cast<int>(kSharedPerBlock);
  std::string text = format_text("It asks for %zu bytes of dynamic shared memory", dynamic_shared);
  if (kernel.static_shared > 0)
    text += format_text(" beside %zu of __shared__ variables", kernel.static_shared);
  if (opted) return text + format_text("; cudaFuncSetAttribute() has allowed %d.", kernel.max_dynamic_shared);
  text += format_text("; %zu are allowed", kSharedPerBlock);
  return dynamic_shared + kernel.static_shared > kSharedPerBlockOptin
             ? text + format_text(", and %zu at most.", kSharedPerBlockOptin)
             : text + format_text(
                          " without\ncudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                          "%zu).",
                          kernel.name, dynamic_shared);
}

// What CUDA would refuse, and why. Not sticky.
cudaError_t check(const Kernel& kernel, const Configuration& c, std::string* why) {
  const dim3 grid = c.grid, block = c.block, cluster = c.options.cluster;
  const auto refused = [&](cudaError_t error, const std::string& reason) {
    *why = reason;
    return error;
  };
  if (volume(grid) == 0 || volume(block) == 0)
    return refused(cudaErrorInvalidConfiguration, "No extent may be 0.");
  if (grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535)
    return refused(cudaErrorInvalidConfiguration, "A grid has at most (2147483647,65535,65535) blocks.");
  if (volume(block) > static_cast<std::uint64_t>(kernel.max_threads))
    return refused(cudaErrorInvalidConfiguration,
                   format_text("A block of %llu threads; %d are the most%s.",
                               static_cast<unsigned long long>(volume(block)), kernel.max_threads,
                               kernel.max_threads < 1024 ? ", by the kernel's __launch_bounds__" : ""));
  if (block.x > 1024 || block.y > 1024 || block.z > 64)
    return refused(cudaErrorInvalidConfiguration, "A block has at most (1024,1024,64) threads.");
  const std::size_t limit =
      kernel.max_dynamic_shared > static_cast<int>(kSharedPerBlock) ? kSharedPerBlockOptin : kSharedPerBlock;
  if (c.dynamic_shared > static_cast<std::size_t>(kernel.max_dynamic_shared) ||
      kernel.static_shared + c.dynamic_shared > limit)
    return refused(cudaErrorInvalidValue, shared_limit(kernel, c.dynamic_shared));
  const std::uint64_t cluster_size = volume(cluster);
  const unsigned most = kernel.non_portable_cluster ? 16 : 8;
  if (cluster_size == 0 || cluster_size > most)
    return refused(cudaErrorInvalidClusterSize,
                   format_text("A cluster of %llu blocks; %u are the most%s.",
                               static_cast<unsigned long long>(cluster_size), most,
                               most < 16 ? " without cudaFuncAttributeNonPortableClusterSizeAllowed" : ""));
  if (grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return refused(
        cudaErrorInvalidConfiguration,
        format_text("The grid is no multiple of the cluster, (%u,%u,%u).", cluster.x, cluster.y, cluster.z));
  if (c.options.cooperative) {
    const std::uint64_t fit = static_cast<std::uint64_t>(kMultiprocessors) *
                              resident_blocks(kernel, static_cast<int>(volume(block)), c.dynamic_shared);
    if (volume(grid) > fit)
      return refused(
          cudaErrorCooperativeLaunchTooLarge,
          format_text("A cooperative launch of %llu blocks; %llu of them fit at once.",
                      static_cast<unsigned long long>(volume(grid)), static_cast<unsigned long long>(fit)));
  }
  return cudaSuccess;
}

uint3 unlinear(std::uint64_t i, const dim3& d) {
  return {static_cast<unsigned>(i % d.x), static_cast<unsigned>(i / d.x % d.y),
          static_cast<unsigned>(i / d.x / d.y)};
}

std::uint64_t linear_of(const uint3& i, const dim3& grid) {
  return i.x + std::uint64_t{grid.x} * (i.y + std::uint64_t{grid.y} * i.z);
}

std::uint64_t in_order(std::uint64_t i, std::uint64_t n) {
  switch (options().order) {
    case Order::normal:
      return i;
    case Order::reversed:
      return n - 1 - i;
    case Order::shuffle:
      return Permutation(n, options().seed)(i);
  }
  return i;
}

void set_running(Launch* launch) {
  std::lock_guard<std::mutex> lock(running_mutex);
  running = launch;
  ++launch_changes;
}

void add(LaunchStats& to, const LaunchStats& from) {
  to.launches += from.launches;
  to.blocks += from.blocks;
  to.threads += from.threads;
  to.barriers += from.barriers;
  to.warp_collectives += from.warp_collectives;
  to.atomics += from.atomics;
  to.switches += from.switches;
}

// Blocks that run together on this worker; reuses block objects with their arenas.
void make_resident(Worker& w, const std::vector<uint3>& indices) {
  while (w.pool.size() < indices.size()) w.pool.push_back(new Block);
  w.resident.assign(w.pool.begin(), w.pool.begin() + static_cast<std::ptrdiff_t>(indices.size()));
  w.resident_wide = ++w.wide;
  for (std::size_t i = 0; i < indices.size(); ++i)
    set_up_block(w, *w.pool[i], linear_of(indices[i], w.launch->grid), indices[i]);
}

void run_and_check(Worker& w) {
  run_resident(w);
  w.counts.blocks += w.resident.size();
  for (Block* block : w.resident) {
    w.counts.threads += block->started;
    if (tracing) trace_block_ends(*block);
    check_and_reset_shared(*block);
  }
}

void run_share(Worker& w, Launch& launch) {  // cooperative: this worker's part of the grid, all at once
  const std::uint64_t share = (launch.blocks + launch.workers - 1) / launch.workers;
  const std::uint64_t first = std::min(launch.blocks, share * w.number);
  const std::uint64_t last = std::min(launch.blocks, first + share);
  std::vector<uint3> indices;
  for (std::uint64_t i = first; i < last; ++i)
    indices.push_back(unlinear(in_order(i, launch.blocks), launch.grid));
  w.grid_generation = 0;
  if (!indices.empty()) {
    make_resident(w, indices);
    run_and_check(w);
  }
  worker_finished(launch);
}

void run_units(Worker& w, Launch& launch) {  // one block or cluster after another
  const dim3 size = launch.cluster;
  const dim3 clusters(launch.grid.x / size.x, launch.grid.y / size.y, launch.grid.z / size.z);
  const std::uint64_t units = volume(clusters), per_unit = volume(size);
  const std::uint64_t chunk = std::max<std::uint64_t>(1, units / (64 * launch.workers));
  std::vector<uint3> indices(per_unit);
  for (;;) {
    const std::uint64_t first = launch.next.fetch_add(chunk);
    if (first >= units || launch.stops(first)) return;
    for (std::uint64_t i = first; i < std::min(units, first + chunk) && !launch.stops(i); ++i) {
      w.unit = i;
      const uint3 unit = unlinear(in_order(i, units), clusters);
      for (std::uint64_t rank = 0; rank < per_unit; ++rank) {
        const uint3 r = unlinear(rank, size);
        indices[rank] = {unit.x * size.x + r.x, unit.y * size.y + r.y, unit.z * size.z + r.z};
      }
      make_resident(w, indices);
      run_and_check(w);
    }
  }
}

}  // namespace

void run_worker(Launch& launch, int number) {
  static thread_local Worker* own = nullptr;
  if (!own) own = new Worker;
  Worker& w = *own;
  w.number = number;
  w.launch = &launch;
  w.unit = 0;
  w.counts = {};
  w.pace = {};
  worker = &w;
  atomics_done = 0;
  addresses_only = 0;  // what was abandoned has left it as it was
  enter_fault_stack();
  blockDim = launch.block;
  gridDim = launch.grid;
  kernel_id = launch.kernel->id;
  w.resident.clear();
  if (checked_build) begin_segments(w);
  if (launch.cooperative) {
    run_share(w, launch);
  } else {
    run_units(w, launch);
  }
  w.counts.atomics = atomics_done;
  if (tracing) trace_worker_ends(launch);
  worker = nullptr;
  kernel_id = 0;
  std::lock_guard<std::mutex> lock(launch.mutex);
  add(launch.counts, w.counts);
  launch.found[static_cast<std::size_t>(number)].finished = true;
}

LaunchProgress launch_progress() {
  std::lock_guard<std::mutex> lock(running_mutex);
  return {launch_changes, running ? running->next.load(std::memory_order_relaxed) : 0};
}

bool stop_failed_launch(std::uint64_t number) {
  std::lock_guard<std::mutex> lock(running_mutex);
  if (!running || number != launch_changes || running->failed_unit == kNoUnit) return false;
  running->failed_unit = 0;
  return true;
}

bool time_out_launch(std::uint64_t number) {
  std::lock_guard<std::mutex> lock(running_mutex);
  if (!running || number != launch_changes) return false;
  running->timed_out = true;
  return true;
}

void ask_for_look(std::uint64_t number) {
  std::lock_guard<std::mutex> lock(running_mutex);
  if (!running || number != launch_changes || running->host_is_free || registered_ranges > 0) return;
  if (has_only_threads(1 + runtime_threads)) ++running->looks;
}

void push_config(dim3 grid, dim3 block, std::size_t dynamic_shared, cudaStream_t stream) {
  push_config(grid, block, dynamic_shared, stream, LaunchOptions());
}

void push_config(dim3 grid, dim3 block, std::size_t dynamic_shared, cudaStream_t stream,
                 const LaunchOptions& launch_options) {
  configurations.push_back({{grid, block, dynamic_shared, launch_options}, stream});
}

void begin_query() {
  querying = true;
  queried = nullptr;
}

Kernel* end_query() {
  querying = false;
  return queried;
}

void begin_building() {
  building = true;
  built = nullptr;
}

std::shared_ptr<KernelWork> end_building() {
  building = false;
  return std::move(built);
}

// A GPU's local and shared memory are the thread's and the block's that have them: no other grid reaches them.
static void refuse_own_memory(const Kernel& kernel, const void* closure) {
  for (std::size_t at = 0; at + sizeof(void*) <= kernel.argument_bytes; at += sizeof(void*)) {
    const char* p;
    std::memcpy(&p, static_cast<const char*>(closure) + at, sizeof p);
    const bool local = std::any_of(worker->stacks.begin(), worker->stacks.end(), [&](const Stack* stack) {
      return p >= stack->base && p < stack->base + kStackGuard + options().stack_bytes;
    });
    if (!local && !is_shared(p)) continue;
    Failure failure = failure_here(
        "simt-launch", format_text("kernel %s is given the address of %s memory\n"
                                   "Only the %s that has it can reach it. A child grid needs memory of\n"
                                   "cudaMalloc(), or of malloc() in a kernel.",
                                   kernel.name, local ? "local" : "shared", local ? "thread" : "block"));
    failure.frames = capture_frames(24);
    failure.by_caller = true;
    abandon(std::move(failure));
  }
}

// A kernel launches a kernel: it runs after its parent, which counts as ended when all its children have. Those of
// cudaStreamTailLaunch come after the others.
static void launch_child(Kernel& kernel, const Configuration& c, cudaStream_t stream, const void* closure) {
  const OwnWork own;  // The arguments are copied to the heap, by code that lies in a .cu file.
  std::string why;
  if (const cudaError_t error = check(kernel, c, &why))
    fail("simt-launch", "kernel %s cannot be launched from this kernel: %s\n%s", kernel.name,
         cudaGetErrorString(error), why.c_str());
  refuse_own_memory(kernel, closure);
  if (depth > kDeepestNesting)
    fail("simt-launch", "kernel %s is launched %d levels deep: %d are the most", kernel.name, depth,
         kDeepestNesting);
  auto work = std::make_unique<KernelWork>(kernel, c, kernel.clone(closure));
  std::lock_guard<std::mutex> lock(children_mutex);
  (stream == cudaStreamTailLaunch ? tails() : children()).push_back(std::move(work));
}

void launch_kernel(Kernel& kernel, const void* closure) {
  if (querying) {
    queried = &kernel;
    return;
  }
  if (configurations.empty()) {
    if (in_kernel()) fail("simt-launch", "kernel %s is called without <<<grid, block>>>", kernel.name);
    report_host("simt-launch", "kernel %s is called without <<<grid, block>>>", kernel.name);
    return set_error(cudaErrorMissingConfiguration);
  }
  auto [c, stream] = configurations.back();
  configurations.pop_back();
  if (in_kernel()) return launch_child(kernel, c, stream, closure);
  if (sticky_error() != cudaSuccess) return;
  if (volume(c.options.cluster) == 1 && kernel.required_cluster.x)
    c.options.cluster = kernel.required_cluster;
  std::string why;
  if (const cudaError_t error = check(kernel, c, &why))
    return refuse_launch(kernel, c.grid, c.block, error, why);
  if (Variable variable; find_hosts_name_among(closure, kernel.argument_bytes, &variable)) {
    Failure failure =
        failure_here("simt-host-access",
                     format_text("kernel %s is given the host's address of a variable of the device\n"
                                 "%s is %s: in host code its name is no address that a kernel can use.\n"
                                 "cudaGetSymbolAddress() gives that; or the kernel uses %s by its name.",
                                 kernel.name, variable.name, kind_word(variable), variable.name));
    failure.frames = capture_frames(24);
    failure.by_caller = true;
    print_failure(failure, "");
    set_sticky(cudaErrorIllegalAddress);
    return;
  }
  auto work = std::make_shared<KernelWork>(kernel, c, kernel.clone(closure));
  if (building) {
    built = std::move(work);
  } else {
    set_error(submit(stream, std::move(work)));
  }
}

KernelWork::KernelWork(Kernel& kernel_, const Configuration& configuration_, void* closure_)
    : Work(kernel_.name), kernel(kernel_), configuration(configuration_), closure(closure_) {}

KernelWork::~KernelWork() {
  kernel.destroy(closure);
}

// One operation runs at a time, so one launch does.
void KernelWork::run(std::uint64_t number) {
  static std::uint32_t ids = 0;
  if (kernel.id == 0) kernel.id = ++ids;
  install_fault_handlers();
  const Configuration& c = configuration;
  Launch launch;
  launch.number = number;
  launch.kernel = &kernel;
  launch.shared_layout = shared_layout(kernel.id);
  launch.closure = closure;
  launch.grid = c.grid;
  launch.block = c.block;
  launch.cluster = c.options.cluster;
  launch.threads = static_cast<unsigned>(volume(c.block));
  launch.blocks = volume(c.grid);
  launch.dynamic_shared = c.dynamic_shared;
  launch.cooperative = c.options.cooperative;
  launch.without_returned = returned_count_as_arrived();
  // Waking workers costs more than a handful of threads is worth.
  const std::uint64_t units = launch.blocks / volume(launch.cluster);
  const bool small = launch.blocks * launch.threads <= 512 && !launch.cooperative;
  launch.workers = small ? 1 : static_cast<int>(std::min<std::uint64_t>(options().threads, units));
  launch.found.resize(static_cast<std::size_t>(launch.workers));
  launch.host_is_free = host_goes_on_meanwhile();
  start_watchdog();
  ++depth;
  if (checked_build) {
    const std::uint64_t before = c.options.may_overlap && depth == 1 ? before_in_stream(number) : 0;
    if (before && kernel_of_operation(before)) launch.overlapped = before;
    order_launch(launch);
  }
  set_running(&launch);
  pool().run(launch);
  set_running(nullptr);
  if (tracing) trace_launch_ends(launch);
  launch.counts.kernel = kernel.name;
  launch.counts.grid = c.grid;
  launch.counts.block = c.block;
  launch.counts.launches = 1;
  {
    std::lock_guard<std::mutex> stats_lock(stats_mutex);
    statistics.last = launch.counts;
    add(statistics.total, launch.counts);
  }
  if (launch.failed) {
    set_sticky(launch.failure.error);
    print_failure(launch.failure, kernel.name);
  } else {
    check_canaries(kernel.name);
  }
  auto launched = std::move(children());
  std::move(tails().begin(), tails().end(), std::back_inserter(launched));
  children().clear();
  tails().clear();
  for (const auto& child : launched) {
    if (sticky_error() == cudaSuccess) child->run(number);
  }
  --depth;
}

int resident_blocks(const Kernel& kernel, int block_threads, std::size_t dynamic_shared) {
  if (block_threads < 1 || block_threads > kernel.max_threads) return 0;
  const std::size_t shared = kernel.static_shared + dynamic_shared + 1024;  // CUDA reserves 1 KiB a block
  const int by_threads = kThreadsPerMultiprocessor / ((block_threads + 31) / 32 * 32);
  const int by_shared = static_cast<int>(kSharedPerMultiprocessor / shared);
  return std::min({by_threads, by_shared, kBlocksPerMultiprocessor});
}

Stats stats() {
  finish_everything();
  std::lock_guard<std::mutex> lock(stats_mutex);
  return statistics;
}

}  // namespace simt
