// SPDX-License-Identifier: MIT
// PTX in asm: numbers. Compiled as one, since reading the headers takes longer than compiling most files.
#include "runtime/ptx/arithmetic.cpp"
#include "runtime/ptx/convert.cpp"
#include "runtime/ptx/logic.cpp"
#include "runtime/ptx/video.cpp"
