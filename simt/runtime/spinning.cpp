// SPDX-License-Identifier: MIT
#include "spinning.h"

#include <dirent.h>
#if defined(__linux__)
#include <link.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "workers.h"

#if defined(__linux__)
extern "C" const char __start_simt_counters[], __stop_simt_counters[];
#endif

namespace simt {

__thread std::uint64_t clock_reads;
std::atomic<int> runtime_threads{0};
std::atomic<int> registered_ranges{0};

namespace {

constexpr int kRounds = 256;          // in one look
constexpr int kLooksToBelieve = 8;    // in a row
constexpr int kLongestPause = 8;      // looks that are left out after fruitless ones
constexpr unsigned kStaleLooks = 64;  // so old may another worker's finding be

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t mix(std::uint64_t h) {
  h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
  return (h ^ h >> 32) * 0xd6e8feb86659fd93u;
}

#if defined(__linux__)
// Variables at namespace scope: `__device__` ones are the program's own here.
int hash_variables(dl_phdr_info* module, std::size_t, void* hash) {
  const std::string path = module->dlpi_name;
  for (const char* system : {"/lib", "/usr/lib", "linux-vdso"})
    if (path.rfind(system, 0) == 0) return 0;
  auto& h = *static_cast<std::uint64_t*>(hash);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const auto& segment = module->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_W)) continue;
    const char* from = reinterpret_cast<const char*>(module->dlpi_addr + segment.p_vaddr);
    const char* to = from + segment.p_memsz;
    if (from <= __start_simt_counters && __stop_simt_counters <= to) {
      h = hash_bytes(from, static_cast<std::size_t>(__start_simt_counters - from), h);
      from = __stop_simt_counters;
    }
    h = hash_bytes(from, static_cast<std::size_t>(to - from), h);
  }
  return 0;
}
#endif

bool hash_global_memory(std::uint64_t* hash) {
#if defined(__linux__)
  *hash = 0;
  if (!hash_device_memory(hash)) return false;
  dl_iterate_phdr(hash_variables, hash);
  return true;
#else
  return false;
#endif
}

using Tops = std::unordered_map<const char*, const char*>;  // of stacks, by their lowest addresses

// Everything that the next steps of this worker's threads follow from, but global memory.
std::uint64_t hash_threads(const Worker& w, const Tops& tops) {
  std::uint64_t h = w.waiters.size() + 3 * w.pollers.size();
  for (const Block* block : w.resident) {
    h = hash_shared(*block, h);
    for (const Thread& thread : block->threads) {
      h = mix(h + static_cast<std::uint64_t>(thread.state));
      if (thread.state == State::done) continue;
      const char* from = static_cast<const char*>(thread.context);
      h = hash_bytes(from, static_cast<std::size_t>(tops.at(thread.stack) - from), h);
    }
  }
  for (std::size_t i = w.head; i != w.tail; ++i)
    h = mix(h ^ reinterpret_cast<std::uintptr_t>(w.queue[i & w.mask]));
  return h;
}

// Lets threads run, each up to its next tick(), until their state is one that they were in before.
bool state_comes_back(Worker& w) {
  std::unordered_set<std::uint64_t> seen;
  Tops tops;
  for (const Stack* stack : w.stacks) tops[stack->base] = stack->top;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t n = w.tail - w.head; n > 0 && w.runnable(); --n) {
      ticks_left = 0;
      leave(&w.main);
      if (w.stopped()) return false;
    }
    const bool wakes = w.progress != w.progress_seen && !(w.waiters.empty() && w.pollers.empty());
    if (!w.runnable() || !w.in_flight.empty() || wakes) return false;
    if (!seen.insert(hash_threads(w, tops)).second) return true;
  }
  return false;
}

// Whether all workers have come to the same result; under the launch's mutex.
bool all_are_stuck(const Launch& launch, const WorkerLook& mine) {
  for (const WorkerLook& look : launch.found) {
    if (look.finished || look.at_grid_barrier) continue;
    if (look.stuck < kLooksToBelieve || look.memory != mine.memory || mine.look - look.look > kStaleLooks)
      return false;
  }
  return true;
}

}  // namespace

std::uint64_t hash_bytes(const void* data, std::size_t bytes, std::uint64_t seed) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15u;
  const char* p = static_cast<const char*>(data);
  std::uint64_t lanes[4] = {seed, seed + 1, seed + 2, seed + 3}, words[4];
  for (; bytes >= sizeof words; bytes -= sizeof words, p += sizeof words) {
    std::memcpy(words, p, sizeof words);
    for (int i = 0; i < 4; ++i) {
      lanes[i] = (lanes[i] ^ words[i]) * kFactor;
      lanes[i] ^= lanes[i] >> 29;
    }
  }
  std::memset(words, 0, sizeof words);
  std::memcpy(words, p, bytes);
  std::uint64_t h = seed + bytes;
  for (int i = 0; i < 4; ++i) h = mix(h ^ lanes[i]) + words[i];
  return mix(h);
}

void look_for_progress(Worker& w) {
  Launch& launch = *w.launch;
  LookPace& pace = w.pace;
  pace.answered = launch.looks.load(std::memory_order_relaxed);
  if (w.starting < w.resident_count || !w.runnable()) return;
  if (pace.skip > 0) {
    --pace.skip;
    return;
  }
  const double began = seconds();
  if (began < pace.not_before) return;
  std::uint64_t before = 0, after = 1;
  const std::uint64_t clocks = clock_reads;
  bool stuck = false;
  if (hash_global_memory(&before)) {
    pace.looking = true;
    stuck = state_comes_back(w);
    pace.looking = false;
    stuck = stuck && hash_global_memory(&after) && before == after && clocks == clock_reads;
  }
  const double ended = seconds();
  pace.not_before = ended + 9 * (ended - began);
  pace.fruitless = stuck ? 0 : pace.fruitless + 1;
  pace.skip = std::min(kLongestPause, (1 << std::min(pace.fruitless, 8)) - 1);
  const std::lock_guard<std::mutex> lock(launch.mutex);
  WorkerLook& mine = launch.found[static_cast<std::size_t>(w.number)];
  mine.stuck = !stuck ? 0 : mine.memory == before ? mine.stuck + 1 : 1;
  mine.memory = before;
  mine.look = pace.answered;
  if (mine.stuck >= kLooksToBelieve && all_are_stuck(launch, mine)) launch.stuck = true;
}

bool has_only_threads(int most) {
#if defined(__linux__)
  int threads = 0;
  DIR* tasks = opendir("/proc/self/task");
  if (!tasks) return false;
  while (const dirent* task = readdir(tasks)) threads += task->d_name[0] != '.';
  closedir(tasks);
  return threads <= most;
#else
  return most < 0;  // how many there are is not known here
#endif
}

}  // namespace simt
