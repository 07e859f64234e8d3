// SPDX-License-Identifier: MIT
// PTX in asm: memory. Compiled as one, since reading the headers takes longer than compiling most files.
#include "runtime/ptx/copies.cpp"
#include "runtime/ptx/memory.cpp"
