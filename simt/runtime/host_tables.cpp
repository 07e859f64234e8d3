// SPDX-License-Identifier: MIT
#include "host_tables.h"

#include <map>
#include <mutex>

#include "checked.h"
#include "device_memory.h"

namespace simt {

bool looks_for_tables = false;

bool look_for_tables() {
  looks_for_tables = true;
  return true;
}

namespace {

constexpr std::size_t kPointer = sizeof(void*);

bool came_back = false;

// "Square" of an address in Square's table; "" of any other.
const std::string& class_of(std::uintptr_t word) {
  static auto* known = new std::map<std::uintptr_t, std::string>;  // one operation runs at a time
  const auto found = known->find(word);
  if (found != known->end()) return found->second;
  const char* begin = nullptr;
  std::size_t bytes = 0;
  std::string name;
  const std::string table = "vtable for ";
  const bool is_table = variable_around(reinterpret_cast<const void*>(word), &begin, &bytes, &name) &&
                        name.compare(0, table.size(), table) == 0;
  return (*known)[word] = is_table ? name.substr(table.size()) : "";
}

std::uintptr_t word_at(const char* p) {
  std::uintptr_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}
bool is_table(const char* p) {
  const std::uintptr_t word = word_at(p);
  return in_module(word) && !class_of(word).empty();
}

Cell* cells_of(const char* p) {
  const auto offset = static_cast<std::size_t>(p - shadow.arena);
  return offset < shadow.arena_bytes ? shadow.words + offset / 4 : nullptr;
}
bool is_marked(const Cell* cells) {
  return segment_of(load(cells[0].write)) == kHostTable;
}
void mark(Cell* cells, std::uint32_t segment) {
  for (std::size_t i = 0; i < kPointer / 4; ++i) store(cells[i].write, Record{segment} << kSegmentShift);
}

}  // namespace

void note_copied_tables(char* to, const char* from, std::size_t bytes) {
  if (!looks_for_tables || came_back) return;
  const std::size_t skip = (kPointer - reinterpret_cast<std::uintptr_t>(to) % kPointer) % kPointer;
  for (std::size_t at = skip; at + kPointer <= bytes; at += kPointer) {
    Cell* const target = cells_of(to + at);
    const Cell* const source =
        reinterpret_cast<std::uintptr_t>(from + at) % kPointer == 0 ? cells_of(from + at) : nullptr;
    const bool hosts = source ? is_marked(source) : is_table(to + at);
    if (target && hosts) mark(target, kHostTable);
    if (!target && source && !hosts && is_table(to + at)) came_back = true;
  }
}

void note_hosts_table(void** pointer) {
  if (Cell* const cells = came_back ? nullptr : cells_of(reinterpret_cast<char*>(pointer)))
    mark(cells, kHostTable);
}

void check_host_table(const char* p, std::size_t bytes, bool read, void* caller) {
  const char* const first = p - reinterpret_cast<std::uintptr_t>(p) % kPointer;
  for (const char* at = first; at < p + bytes; at += kPointer) {
    Cell* const cells = cells_of(at);
    if (!cells || !is_marked(cells)) continue;
    if (read && p == at && bytes == kPointer && !came_back) {
      abandon(failure_of_access(
          caller, "simt-host-access",
          format_text("a kernel uses a virtual function of an object that the host has made\n"
                      "The thread looks for functions of %s at %s.\n"
                      "On a GPU the host's address of them stands there. Make the object in a kernel,\n"
                      "with new, or call no virtual function of it there.",
                      class_of(word_at(at)).c_str(), place_in_buffer(at).c_str())));
    }
    mark(cells, kUnknownWriter);
  }
}

}  // namespace simt
