// SPDX-License-Identifier: MIT
//
// SIMT_TIMELINE=FILE.json: each kernel, copy, fill and host function that a program put into a stream, in the
// order of issue, with what it has to wait for. Order and no time: one operation runs at a time here, and only
// what orders two of them says whether a GPU may run both at once.
//
// {"operations": [{"number", "kind", "name", "stream", "bytes", "pageable", "place", "ran", "slot", "floor",
// "after": [[slot, number], ...]}]}. An operation comes after all whose number is at most `floor`, those of its
// own slot with a smaller number, and for each pair of `after` those of that slot up to that number.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "failures.h"
#include "operations.h"
#include "streams.h"

namespace simt {
namespace {

constexpr std::size_t kMost = 200'000;  // operations that are kept

struct Recorded {
  std::uint64_t number, ran;  // ran: its place in the order in which they were run, from 1
  std::uint32_t slot;
  VectorClock clock;
  Described what;
  std::string stream;
  std::vector<void*> frames;
};

const char* path = nullptr;
std::deque<Recorded> recorded;
std::uint64_t runs = 0;
bool full = false;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

// The call's own line. A launch comes from the kernel's host stub, which is the caller's line to skip; a graph's
// kernels come from cudaGraphLaunch() and have no stub.
std::string place_of(const Recorded& r) {
  std::string stub;
  bool skip = r.what.kind == std::string("kernel") && r.stream.rfind("graph", 0) != 0;
  for (void* frame : r.frames)
    for (const Line& line : lines_of(frame)) {
      if (!line.user) continue;
      const std::string place = shown_path(line.file) + ":" + std::to_string(line.line);
      if (!skip) return place;
      if (stub.empty()) stub = place;
      skip = false;
    }
  return stub;
}

void write(std::FILE* file, const Recorded& r) {
  std::fprintf(file, "{\"number\": %" PRIu64 ", \"kind\": %s, \"name\": %s, \"stream\": %s", r.number,
               quoted(r.what.kind).c_str(), quoted(r.what.name).c_str(), quoted(r.stream).c_str());
  std::fprintf(file, ", \"bytes\": %zu, \"pageable\": %s, \"place\": %s, \"ran\": %" PRIu64, r.what.bytes,
               r.what.pageable ? "true" : "false", quoted(place_of(r)).c_str(), r.ran);
  std::fprintf(file, ", \"slot\": %" PRIu32 ", \"floor\": %" PRIu64 ", \"after\": [", r.slot, r.clock.floor);
  const char* separator = "";
  if (r.clock.others) {
    for (const VectorClock::Entry& entry : *r.clock.others) {
      std::fprintf(file, "%s[%" PRIu32 ", %" PRIu64 "]", separator, entry.slot, entry.number);
      separator = ", ";
    }
  }
  std::fputs("]}", file);
}

void write_at_exit() {
  finish_at_exit();  // what is still queued
  const std::lock_guard<std::mutex> lock(queues_mutex());
  std::FILE* file = std::fopen(path, "w");
  if (!file) {
    std::fprintf(stderr, "error: SIMT_TIMELINE=%s cannot be written\n", path);
    return;
  }
  std::fprintf(file, "{\"complete\": %s, \"operations\": [", full ? "false" : "true");
  const char* separator = "\n";
  for (const Recorded& r : recorded) {
    std::fputs(separator, file);
    write(file, r);
    separator = ",\n";
  }
  std::fputs("\n]}\n", file);
  if (std::fclose(file)) std::fprintf(stderr, "error: SIMT_TIMELINE=%s cannot be written\n", path);
}

}  // namespace

bool timeline_wanted() {
  static const bool wanted = [] {
    path = std::getenv("SIMT_TIMELINE");
    if (!path || !*path) return false;
    std::atexit(write_at_exit);
    return true;
  }();
  return wanted;
}

void timeline_issued(const StreamOperation& operation, std::string stream, std::vector<void*> frames) {
  Described what;
  if (operation.work) operation.work->describe(&what);
  if (!*what.kind) return;  // events and waits are in the clocks of what follows them
  if (recorded.size() == kMost) {
    full = true;
    return;
  }
  recorded.push_back({operation.number, 0, operation.slot, operation.clock, std::move(what),
                      std::move(stream), std::move(frames)});
}

void timeline_ran(const StreamOperation& operation) {
  const auto found =
      std::lower_bound(recorded.begin(), recorded.end(), operation.number,
                       [](const Recorded& r, std::uint64_t number) { return r.number < number; });
  if (found != recorded.end() && found->number == operation.number) found->ran = ++runs;
}

}  // namespace simt
