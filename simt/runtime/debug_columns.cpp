// SPDX-License-Identifier: MIT
//
// The columns of instructions, from the program's DWARF line tables (versions 2 to 5): libbacktrace knows
// lines alone, and a line may hold several accesses. Only what a static or position-independent ELF program
// of this machine has.
#include "debug_columns.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#if defined(__linux__)
#include <elf.h>
#include <link.h>
#endif

namespace simt {

#if defined(__linux__) && __SIZEOF_POINTER__ == 8

namespace {

class Reader {
 public:
  Reader(const unsigned char* begin, const unsigned char* end) : at_(begin), end_(end) {}
  bool good() const { return at_ <= end_; }
  bool done() const { return at_ >= end_; }
  const unsigned char* at() const { return at_; }
  void go_to(const unsigned char* place) { at_ = place; }
  template <class T>
  T take() {
    T value{};
    if (end_ - at_ >= static_cast<std::ptrdiff_t>(sizeof(T))) std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (int shift = 0; at_ < end_; shift += 7) {
      const unsigned char byte = *at_++;
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) break;
    }
    return value;
  }
  std::int64_t sleb() {
    std::int64_t value = 0;
    int shift = 0;
    while (at_ < end_) {
      const unsigned char byte = *at_++;
      if (shift < 64) value |= static_cast<std::int64_t>(std::uint64_t{byte & 0x7fu} << shift);
      shift += 7;
      if (byte & 0x80) continue;
      if (shift < 64 && (byte & 0x40)) value |= -(std::int64_t{1} << shift);
      break;
    }
    return value;
  }

 private:
  const unsigned char *at_, *end_;
};

struct Row {
  std::uint64_t address = 0;
  std::int64_t line = 1;
  std::uint64_t column = 0;
};

// Runs the line number programs and notes the row of each wanted address.
class LineTables {
 public:
  LineTables(const std::vector<std::uint64_t>& wanted, std::map<std::uint64_t, SourceColumn>* found)
      : wanted_(wanted), found_(found) {}

  void read(const unsigned char* begin, const unsigned char* end) {
    Reader section(begin, end);
    while (!section.done()) {
      std::uint64_t length = section.take<std::uint32_t>();
      const bool wide = length == 0xffffffff;
      if (wide) length = section.take<std::uint64_t>();
      const unsigned char* unit = section.at();
      if (!section.good() || length > static_cast<std::uint64_t>(end - unit)) return;
      read_unit(Reader(unit, unit + length), wide);
      section.go_to(unit + length);
    }
  }

 private:
  void read_unit(Reader r, bool wide) {
    const int version = r.take<std::uint16_t>();
    if (version < 2 || version > 5) return;
    if (version == 5) r.take<std::uint16_t>();  // sizes of addresses and segments
    const std::uint64_t header = wide ? r.take<std::uint64_t>() : r.take<std::uint32_t>();
    const unsigned char* program = r.at() + header;
    step_ = r.take<std::uint8_t>();
    if (version >= 4) r.take<std::uint8_t>();
    r.take<std::uint8_t>();
    line_base_ = r.take<std::int8_t>();
    line_range_ = std::max<unsigned>(1, r.take<std::uint8_t>());
    opcode_base_ = r.take<std::uint8_t>();
    lengths_.assign(opcode_base_, 0);
    for (unsigned i = 1; i < opcode_base_; ++i) lengths_[i] = r.take<std::uint8_t>();
    r.go_to(program);
    run(r);
  }

  void run(Reader r) {
    Row row;
    begun_ = false;
    while (!r.done()) {
      const unsigned opcode = r.take<std::uint8_t>();
      if (opcode >= opcode_base_) {
        advance(&row, (opcode - opcode_base_) / line_range_);
        row.line += line_base_ + static_cast<int>((opcode - opcode_base_) % line_range_);
        emit(row);
      } else if (opcode == 0) {
        extended(&r, &row);
      } else {
        standard(opcode, &r, &row);
      }
    }
  }

  void extended(Reader* r, Row* row) {
    const std::uint64_t length = r->uleb();
    const unsigned char* next = r->at() + length;
    const unsigned opcode = length ? r->take<std::uint8_t>() : 0;
    if (opcode == 1) {  // end of a sequence
      emit(*row);
      begun_ = false;
      *row = Row();
    } else if (opcode == 2) {
      row->address = r->take<std::uint64_t>();
    }
    r->go_to(next);
  }

  void standard(unsigned opcode, Reader* r, Row* row) {
    switch (opcode) {
      case 1:
        return emit(*row);
      case 2:
        return advance(row, r->uleb());
      case 3:
        row->line += r->sleb();
        return;
      case 5:
        row->column = r->uleb();
        return;
      case 8:
        return advance(row, (255 - opcode_base_) / line_range_);
      case 9:
        row->address += r->take<std::uint16_t>();
        return;
      default:
        for (unsigned i = 0; i < lengths_[opcode]; ++i) r->uleb();
    }
  }

  void advance(Row* row, std::uint64_t steps) { row->address += steps * step_; }

  // What lies between the row before and this one belongs to the one before.
  void emit(const Row& row) {
    if (begun_ && row.address > last_.address) {
      for (auto w = std::lower_bound(wanted_.begin(), wanted_.end(), last_.address);
           w != wanted_.end() && *w < row.address; ++w)
        (*found_)[*w] = {static_cast<int>(last_.line), static_cast<int>(last_.column)};
    }
    last_ = row;
    begun_ = true;
  }

  const std::vector<std::uint64_t>& wanted_;
  std::map<std::uint64_t, SourceColumn>* found_;
  unsigned step_ = 1, line_range_ = 1, opcode_base_ = 1;
  int line_base_ = 0;
  std::vector<unsigned> lengths_;
  Row last_;
  bool begun_ = false;
};

// Where the program was loaded.
int find_base(dl_phdr_info* info, std::size_t, void* base) {
  *static_cast<std::uint64_t*>(base) = info->dlpi_addr;
  return 1;  // the first one is the program
}

}  // namespace

std::map<const void*, SourceColumn> columns_of(const std::vector<const void*>& addresses) {
  std::map<const void*, SourceColumn> result;
  std::ifstream input("/proc/self/exe", std::ios::binary);
  const std::vector<char> file{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
  const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
  if (file.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes, ELFMAG, SELFMAG) != 0) return result;
  const auto* elf = reinterpret_cast<const Elf64_Ehdr*>(bytes);
  if (elf->e_shoff + elf->e_shnum * sizeof(Elf64_Shdr) > file.size() || elf->e_shstrndx >= elf->e_shnum)
    return result;
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes + elf->e_shoff);
  std::uint64_t base = 0;
  dl_iterate_phdr(find_base, &base);
  std::vector<std::uint64_t> wanted;
  for (const void* address : addresses) wanted.push_back(reinterpret_cast<std::uint64_t>(address) - base - 1);
  std::sort(wanted.begin(), wanted.end());
  std::map<std::uint64_t, SourceColumn> found;
  for (unsigned i = 0; i < elf->e_shnum; ++i) {
    const Elf64_Shdr& section = sections[i];
    const std::uint64_t name = sections[elf->e_shstrndx].sh_offset + section.sh_name;
    if (name + 12 > file.size() || std::strcmp(file.data() + name, ".debug_line") != 0) continue;
    if (section.sh_flags & SHF_COMPRESSED || section.sh_offset + section.sh_size > file.size()) continue;
    LineTables(wanted, &found).read(bytes + section.sh_offset, bytes + section.sh_offset + section.sh_size);
  }
  for (const void* address : addresses) {
    const auto at = found.find(reinterpret_cast<std::uint64_t>(address) - base - 1);
    if (at != found.end()) result[address] = at->second;
  }
  return result;
}

#else

std::map<const void*, SourceColumn> columns_of(const std::vector<const void*>&) {
  return {};
}

#endif

}  // namespace simt
