// SPDX-License-Identifier: MIT
#include "vector_operand.h"

#include <cstdint>
#include <cstring>

namespace simt {
namespace {

// What the bytes before the opcode say: prefixes, then nothing (SSE), VEX or EVEX.
struct Lead {
  bool vector = false;
  std::size_t bytes = 16;
  unsigned base_bit = 0, index_bit = 0;  // the fourth bit of a register's number
  std::ptrdiff_t scale = 1;              // of a displacement of one byte
};

Lead read_lead(const unsigned char*& p) {
  Lead lead;
  while (*p == 0x66 || *p == 0xf2 || *p == 0xf3) ++p;
  if (*p == 0xc5) {
    lead.vector = true;
    lead.bytes = p[1] & 4 ? 32 : 16;
    p += 2;
    return lead;
  }
  if (*p == 0xc4 || *p == 0x62) {
    const bool evex = *p == 0x62;
    lead.vector = true;
    lead.index_bit = p[1] & 0x40 ? 0 : 8;
    lead.base_bit = p[1] & 0x20 ? 0 : 8;
    lead.bytes = evex ? std::size_t{16} << (p[3] >> 5 & 3) : p[2] & 4 ? 32 : 16;
    if (evex) lead.scale = static_cast<std::ptrdiff_t>(lead.bytes);
    p += evex ? 4 : 3;
    return lead;
  }
  if ((*p & 0xf0) == 0x40) {
    lead.index_bit = *p & 2 ? 8 : 0;
    lead.base_bit = *p & 1 ? 8 : 0;
    ++p;
  }
  if (*p != 0x0f) return lead;
  ++p;
  if (*p == 0x38 || *p == 0x3a) ++p;
  lead.vector = true;
  return lead;
}

}  // namespace

VectorOperand vector_operand(const unsigned char* p, const unsigned long long* registers) {
  const Lead lead = read_lead(p);
  if (!lead.vector) return {};
  const unsigned opcode = *p++, form = *p++;
  const unsigned mode = form >> 6, low = form & 7;
  if (mode == 3 || (mode == 0 && low == 5)) return {};  // a register; a constant of the program's
  unsigned long long address = 0;
  if (low == 4) {
    const unsigned sib = *p++, index = (sib >> 3 & 7) | lead.index_bit, base = sib & 7;
    if (index != 4) address += registers[index] << (sib >> 6);
    if (mode != 0 || base != 5) {
      address += registers[base | lead.base_bit];
    } else {
      std::int32_t offset = 0;
      std::memcpy(&offset, p, sizeof offset);
      address += static_cast<unsigned long long>(static_cast<long long>(offset));
    }
  } else {
    address = registers[low | lead.base_bit];
  }
  if (mode == 1) {
    address += static_cast<unsigned long long>(static_cast<signed char>(*p) * lead.scale);
  } else if (mode == 2) {
    std::int32_t offset = 0;
    std::memcpy(&offset, p, sizeof offset);
    address += static_cast<unsigned long long>(static_cast<long long>(offset));
  }
  const bool write = opcode == 0x29 || opcode == 0x2b || opcode == 0x7f || opcode == 0xe7;
  return {reinterpret_cast<const char*>(address), lead.bytes, write};
}

}  // namespace simt
