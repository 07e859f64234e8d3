// SPDX-License-Identifier: MIT
// The translator, without its main(). Compiled as one, since reading the headers takes longer than compiling
// most files.
#include "command.cpp"
#include "edits.cpp"
#include "refuse_host_code.cpp"
#include "rewrite_declarations.cpp"
#include "rewrite_device_code.cpp"
#include "rewrite_heap.cpp"
#include "rewrite_launches.cpp"
#include "rewrite_mutants.cpp"
#include "rewrite_shared.cpp"
#include "rewrite_subscripts.cpp"
#include "rewrite_traces.cpp"
#include "scopes.cpp"
#include "tokens.cpp"
#include "translate.cpp"
