// SPDX-License-Identifier: MIT
//
// Where a vector instruction of x86-64 reads or writes memory. The processor's fault names no address where the address is not
// aligned as the instruction wants (movaps and its kind), so that must be worked out from the instruction.
#pragma once

#include <cstddef>

namespace simt {

struct VectorOperand {
  const char* address = nullptr;
  std::size_t bytes = 0;  // 0: no vector instruction with an operand in memory
  bool write = false;
};

// registers: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
VectorOperand vector_operand(const unsigned char* instruction, const unsigned long long* registers);

}  // namespace simt
