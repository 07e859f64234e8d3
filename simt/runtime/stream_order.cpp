// SPDX-License-Identifier: MIT
//
// Which operations happen before which, by vector clocks: a stream's operations follow each other, and what
// else an operation waits for joins its clock. What the host has waited for happens before all that it issues
// afterwards; all host threads count as one, as nobody sees how they wait for each other.
#include <algorithm>
#include <deque>

#include "cures.h"
#include "failures.h"
#include "operations.h"
#include "streams.h"

namespace simt {
namespace {

// Slots of the operations issued since `base`, by number.
struct Slots {
  std::uint64_t base = 1;
  std::deque<std::uint32_t> of;
};
Slots& slots() {
  static Slots* slots = new Slots;
  return *slots;
}

// The operation that runs now: kernels ask about it from every worker.
std::atomic<std::uint64_t> running_number{0}, running_floor{0};
VectorClock running_clock;
std::uint32_t running_slot = 0;

// Operations whose memory is known and which the host has not waited for.
constexpr std::size_t kRemembered = 256;
std::deque<OperationPtr>& remembered() {
  static auto* operations = new std::deque<OperationPtr>;
  return *operations;
}

const char* end_of(const Touched& t) {
  return t.begin + t.slice * (t.depth - 1) + t.pitch * (t.height - 1) + t.width;
}

// Whether [p, p + width) meets a row of `t`.
bool row_meets(const char* p, std::size_t width, const Touched& t) {
  for (std::size_t z = 0; z < t.depth; ++z) {
    const char* slice = t.begin + z * t.slice;
    const char* slice_end = slice + t.pitch * (t.height - 1) + t.width;
    if (p >= slice_end || p + width <= slice) continue;
    if (t.height == 1 || p < slice) return true;
    const std::size_t offset = static_cast<std::size_t>(p - slice) % t.pitch;
    if (offset < t.width || offset + width > t.pitch) return true;
  }
  return false;
}

bool overlap(const Touched& a, const Touched& b) {
  if (end_of(a) <= b.begin || end_of(b) <= a.begin) return false;
  for (std::size_t z = 0; z < a.depth; ++z)
    for (std::size_t y = 0; y < a.height; ++y)
      if (row_meets(a.begin + z * a.slice + y * a.pitch, a.width, b)) return true;
  return false;
}

std::string place_of(const StreamOperation& operation) {
  for (void* frame : operation.frames)
    for (const Line& line : lines_of(frame))
      if (line.user) return shown_path(line.file) + ":" + std::to_string(line.line);
  return "";
}

void report_overlap(const StreamOperation& earlier, const StreamOperation& later, const Touched& a,
                    const Touched& b) {
  Failure failure;
  failure.slug = "simt-stream-order";
  failure.title = "two operations in different streams use the same memory, and nothing orders them";
  failure.frames = later.frames;
  const std::string before = place_of(earlier);
  if (!before.empty()) {
    failure.details = format_text("%s  %s %s it too, in another stream\n", before.c_str(), earlier.call,
                                  a.writes ? "writes" : "reads");
  }
  failure.details += format_text("%s %s at %p what %s %s.\n%s", later.call, b.writes ? "writes" : "reads",
                                 static_cast<const void*>(std::max(a.begin, b.begin)), earlier.call,
                                 a.writes ? "writes" : "reads", kStreamCure);
  print_failure(failure, "");
}

// The clock of an operation that has not run yet, or runs.
bool before(std::uint32_t slot, std::uint64_t number, const StreamOperation& later) {
  return number <= later.clock.floor || (slot == later.slot && number < later.number) ||
         later.clock.covers(slot, number);
}

}  // namespace

bool VectorClock::covers(std::uint32_t slot, std::uint64_t number) const {
  if (number <= floor) return true;
  if (!others) return false;
  const auto at = std::lower_bound(others->begin(), others->end(), slot,
                                   [](const Entry& entry, std::uint32_t s) { return entry.slot < s; });
  return at != others->end() && at->slot == slot && number <= at->number;
}

void VectorClock::add(std::uint32_t slot, std::uint64_t number) {
  if (covers(slot, number)) return;
  VectorClock one;
  one.others = std::make_shared<std::vector<Entry>>(1, Entry{slot, number});
  join(one);
}

void VectorClock::join(const VectorClock& other) {
  if (!other.others && other.floor <= floor) return;
  if (other.others == others) {
    floor = std::max(floor, other.floor);
    return;
  }
  floor = std::max(floor, other.floor);
  static const auto& none = *new std::vector<Entry>;
  const std::vector<Entry>& mine = others ? *others : none;
  const std::vector<Entry>& theirs = other.others ? *other.others : none;
  auto joined = std::make_shared<std::vector<Entry>>();
  auto a = mine.begin(), b = theirs.begin();
  while (a != mine.end() || b != theirs.end()) {
    Entry entry;
    if (b == theirs.end() || (a != mine.end() && a->slot < b->slot)) {
      entry = *a++;
    } else if (a == mine.end() || b->slot < a->slot) {
      entry = *b++;
    } else {
      entry = {a->slot, std::max(a->number, b->number)};
      ++a, ++b;
    }
    if (entry.number > floor) joined->push_back(entry);
  }
  if (joined->empty()) {
    others = nullptr;
  } else {
    others = std::move(joined);
  }
}

void note_issued(const StreamOperation& operation) {
  slots().of.push_back(operation.slot);
}

void forget_order(std::uint64_t floor) {
  Slots& s = slots();
  while (s.base <= floor && !s.of.empty()) {
    s.of.pop_front();
    ++s.base;
  }
}

void set_running_operation(const StreamOperation* operation) {
  running_number = operation ? operation->number : 0;
  running_floor = operation ? operation->clock.floor : 0;
  if (operation) running_clock = operation->clock;
  running_slot = operation ? operation->slot : 0;
}

bool happens_before(std::uint64_t earlier, std::uint64_t later) {
  if (later != running_number) return earlier < later;
  if (earlier <= running_floor.load(std::memory_order_relaxed) || earlier == later) return true;
  const std::lock_guard<std::mutex> lock(queues_mutex());
  const Slots& s = slots();
  if (earlier < s.base) return true;
  if (earlier - s.base >= s.of.size()) return false;
  const std::uint32_t slot = s.of[earlier - s.base];
  return (slot == running_slot && earlier < later) || running_clock.covers(slot, earlier);
}

std::uint64_t before_in_stream(std::uint64_t number) {
  const std::lock_guard<std::mutex> lock(queues_mutex());
  const Slots& s = slots();
  if (number < s.base || number - s.base >= s.of.size()) return 0;
  const std::uint32_t slot = s.of[number - s.base];
  for (std::uint64_t earlier = number; earlier-- > std::max<std::uint64_t>(s.base, running_floor + 1);)
    if (s.of[earlier - s.base] == slot) return earlier;
  return 0;
}

// Reports memory that this operation and an earlier one touch, at least one of them writing, in no order.
void check_overlaps(const OperationPtr& operation, const VectorClock& host) {
  auto& known = remembered();
  while (!known.empty() && (known.size() >= kRemembered || host.covers(known[0]->slot, known[0]->number)))
    known.pop_front();
  for (const OperationPtr& earlier : known) {
    if (before(earlier->slot, earlier->number, *operation)) continue;
    for (const Touched& a : earlier->touched)
      for (const Touched& b : operation->touched)
        if ((a.writes || b.writes) && overlap(a, b)) {
          report_overlap(*earlier, *operation, a, b);
          known.push_back(operation);
          return;
        }
  }
  known.push_back(operation);
}

}  // namespace simt
