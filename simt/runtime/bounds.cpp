// SPDX-License-Identifier: MIT
//
// Arrays of known size, in checked builds: the compiler (-fsanitize=bounds-strict) calls this before an index
// that is out of range, with the array's type and the place. It is ours, no libubsan is linked. The types
// are UBSan's.
#include "shared_memory.h"
#include "workers.h"

namespace simt {

__thread int addresses_only;

namespace {

struct TypeDescriptor {
  std::uint16_t kind;  // 0: an integer
  std::uint16_t info;  // of an integer: bit 0 signed, the others log2 of its bits
  char name[1];        // 'float [8]'
};
struct OutOfBounds {
  const char* file;
  std::uint32_t line, column;
  const TypeDescriptor* array;
  const TypeDescriptor* index;
};

std::int64_t value_of(std::uintptr_t index, const TypeDescriptor& type) {
  if (type.kind != 0 || !(type.info & 1)) return static_cast<std::int64_t>(index);
  const unsigned bits = 1u << (type.info >> 1);
  if (bits >= 64) return static_cast<std::int64_t>(index);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(index) << (64 - bits)) >> (64 - bits);
}

// 'float [8]', as GCC spells it, of Clang's 'float[8]' or 'the translator's name' (aka 'float[8]').
std::string spelt(std::string type) {
  const std::size_t alias = type.find("(aka ");
  if (alias != std::string::npos) type = type.substr(alias + 5, type.find(')', alias) - alias - 5);
  const std::size_t bracket = type.find('[');
  if (bracket != std::string::npos && bracket > 0 && type[bracket - 1] != ' ') type.insert(bracket, " ");
  return type;
}

// A last member of one element, or none, is how older C spells an array of any size: 'float [1]', 'float [1][8]'. The extent
// that counts is the one that is indexed, the first behind the elements' type: 'Pair<int [1]> [8]' has 8.
bool may_be_flexible(const std::string& array) {
  const std::string type = spelt(array);
  const std::size_t elements = type.rfind('>');
  const std::size_t extent = type.find('[', elements == std::string::npos ? 1 : elements);
  if (extent == std::string::npos) return false;
  return type.compare(extent, 3, "[1]") == 0 || type.compare(extent, 3, "[0]") == 0;
}

[[noreturn]] void report_index(Site site, std::int64_t index, const std::string& array) {
  const OwnWork own;
  const bool shared = indexes_shared(source_text(site.file, site.line));
  fail_at(site, shared ? "simt-oob-shared" : "simt-oob-local",
          "out of bounds on %s\nIndex %lld of an array of %s.", shared ? "shared memory" : "a local array",
          static_cast<long long>(index), array.c_str());
}

void out_of_bounds(const OutOfBounds& where, std::uintptr_t index) {
  if (!current || may_be_flexible(where.array->name)) return;
  report_index({where.file, static_cast<int>(where.line)}, value_of(index, *where.index),
               "type " + spelt(where.array->name));
}

}  // namespace

void index_past_end(std::size_t extent, Site site) {
  if (current && addresses_only == 0)
    report_index(site, static_cast<std::int64_t>(extent), format_text("%zu elements", extent));
}

}  // namespace simt

extern "C" {
void __ubsan_handle_out_of_bounds(simt::OutOfBounds* where, std::uintptr_t index) {
  simt::out_of_bounds(*where, index);
}
void __ubsan_handle_out_of_bounds_abort(simt::OutOfBounds* where, std::uintptr_t index) {
  simt::out_of_bounds(*where, index);
}
}
