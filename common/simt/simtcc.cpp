// SPDX-License-Identifier: MIT
// The translator, without its main(). Compiled as one, since reading the headers takes longer than compiling
// most files.
#include "simtcc/command.cpp"
#include "simtcc/edits.cpp"
#include "simtcc/rewrite_declarations.cpp"
#include "simtcc/rewrite_device_code.cpp"
#include "simtcc/rewrite_heap.cpp"
#include "simtcc/rewrite_launches.cpp"
#include "simtcc/rewrite_shared.cpp"
#include "simtcc/rewrite_traces.cpp"
#include "simtcc/scopes.cpp"
#include "simtcc/tokens.cpp"
#include "simtcc/translate.cpp"
