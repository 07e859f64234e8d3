// SPDX-License-Identifier: MIT
//
// Checked builds: host code that reads managed or pinned memory while an operation that changes it is still
// queued. The host gets the old value, as it may on a GPU, and nothing stops it.
//
// What the host reads while anything is queued is kept, and compared before and after each operation that was
// queued then. What an operation has changed was read too early, unless the host reads it again: then it may
// have been polling. So the report comes when the memory is freed, or at the program's end.
#include <algorithm>
#include <map>
#include <thread>

#include "checked.h"
#include "device_memory.h"
#include "doubts.h"
#include "operations.h"

namespace simt {
namespace {

constexpr std::size_t kMostReads = 4096, kMostBytes = 4096;  // that are kept, and of one of them

struct EarlyRead {
  std::string value;          // what the host read
  std::uint64_t last_queued;  // number of the last operation that was issued before
  std::thread::id thread;
  void* caller;
  std::string changed_by;  // empty: nothing has changed it yet
};

struct EarlyReads {
  std::mutex mutex;
  std::map<const char*, EarlyRead> reads;  // by address; they don't overlap
  std::atomic<std::size_t> count{0};
};
EarlyReads& early() {
  static auto* early = new EarlyReads;  // never destroyed: operations may still run when the program exits
  return *early;
}

bool changed(const char* p, const EarlyRead& read) {
  return std::memcmp(p, read.value.data(), read.value.size()) != 0;
}

// Calls action(iterator) for each read of some of these bytes; it returns the iterator to go on with.
template <class Action>
void for_each_overlapping(EarlyReads& e, const char* p, std::size_t bytes, Action action) {
  const char* from = p - std::min(reinterpret_cast<std::uintptr_t>(p), kMostBytes);
  for (auto it = e.reads.lower_bound(from); it != e.reads.end() && it->first < p + bytes;)
    it = it->first + it->second.value.size() > p ? action(it) : std::next(it);
  e.count = e.reads.size();
}

void report(const char* p, const EarlyRead& read) {
  Allocation found;
  Variable variable;
  const bool of_program = find_variable(p, &variable);
  if (!of_program && !find_allocation(p, &found)) return;
  const std::string what =
      of_program ? format_text("byte %td of the managed variable %s", p - variable.begin, variable.name)
                 : place_in_buffer(p);
  const std::vector<Line> lines = lines_of(read.caller);
  if (std::none_of(lines.begin(), lines.end(), [](const Line& line) { return line.user; })) return;
  Failure failure = failure_here(
      "simt-stream-order",
      format_text("host code reads memory before the operation that writes it has run\n"
                  "It reads %s, which %s, issued before, changes later.\n"
                  "cudaDeviceSynchronize(), or a wait for that stream or an event, must come first.",
                  what.c_str(), read.changed_by.c_str()));
  failure.frames = {read.caller};
  print_failure(failure, "");
}

}  // namespace

void note_host_access(const char* p, std::size_t bytes, bool keep, void* caller) {
  EarlyReads& e = early();
  std::uint64_t last = 0;
  const bool queued = keep && operations_wait(&last);
  if (!queued && e.count == 0) return;
  const std::lock_guard<std::mutex> lock(e.mutex);
  for_each_overlapping(e, p, bytes, [&](auto it) { return e.reads.erase(it); });
  if (!queued || e.count >= kMostReads) return;
  e.reads[p] = {std::string(p, std::min(bytes, kMostBytes)), last, std::this_thread::get_id(), caller, ""};
  e.count = e.reads.size();
}

void look_before_operation() {
  EarlyReads& e = early();
  if (e.count == 0) return;
  const std::lock_guard<std::mutex> lock(e.mutex);
  for (auto it = e.reads.begin(); it != e.reads.end();) {
    const bool by_host = it->second.changed_by.empty() && changed(it->first, it->second);
    it = by_host ? e.reads.erase(it) : std::next(it);
  }
  e.count = e.reads.size();
}

void look_after_operation(std::uint64_t number, const std::string& name) {
  EarlyReads& e = early();
  if (e.count == 0) return;
  const std::lock_guard<std::mutex> lock(e.mutex);
  for (auto it = e.reads.begin(); it != e.reads.end();) {
    EarlyRead& read = it->second;
    const bool other = read.last_queued < number || read.thread != host_that_waits();
    const bool news = read.changed_by.empty() && changed(it->first, read);
    if (news && !other) read.changed_by = name;
    it = news && other ? e.reads.erase(it) : std::next(it);
  }
  e.count = e.reads.size();
}

void report_early_reads(const char* p, std::size_t bytes) {
  EarlyReads& e = early();
  if (e.count == 0) return;
  const std::lock_guard<std::mutex> lock(e.mutex);
  bool reported = false;  // the first says enough
  for_each_overlapping(e, p, bytes, [&](auto it) {
    if (!reported && !it->second.changed_by.empty()) {
      report(it->first, it->second);
      reported = true;
    }
    return e.reads.erase(it);
  });
}

void report_early_reads() {
  if (shadow.arena_bytes) report_early_reads(shadow.arena, shadow.arena_bytes);
  if (managed_range.bytes)
    report_early_reads(reinterpret_cast<const char*>(managed_range.begin), managed_range.bytes);
}

void forget_early_reads() {
  EarlyReads& e = early();
  const std::lock_guard<std::mutex> lock(e.mutex);
  e.reads.clear();
  e.count = 0;
}

}  // namespace simt
