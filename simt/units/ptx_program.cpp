// SPDX-License-Identifier: MIT
// PTX in asm: reading and running it. Compiled as one, since reading the headers takes longer than compiling
// most files.
#include "runtime/ptx/parse.cpp"
#include "runtime/ptx/run.cpp"
#include "runtime/ptx/warp.cpp"
