// SPDX-License-Identifier: MIT
// What a checked build sees. Compiled as one, since reading the headers takes longer than compiling most
// files.
#include "runtime/bounds.cpp"
#include "runtime/checked.cpp"
#include "runtime/checked_hooks.cpp"
#include "runtime/checked_host.cpp"
#include "runtime/checked_races.cpp"
#include "runtime/early_reads.cpp"
#include "runtime/host_tables.cpp"
#include "runtime/remote_shared.cpp"
#include "runtime/shadow.cpp"
