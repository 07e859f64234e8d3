// SPDX-License-Identifier: MIT
// Everything that goes wrong. Compiled as one, since reading the headers takes longer than compiling most
// files.
#include "runtime/debug_columns.cpp"
#include "runtime/errors.cpp"
#include "runtime/faults.cpp"
#include "runtime/report.cpp"
#include "runtime/symbols.cpp"
#include "runtime/vector_operand.cpp"
