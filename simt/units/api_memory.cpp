// SPDX-License-Identifier: MIT
// Memory of every kind. Compiled as one, since reading the headers takes longer than compiling most files.
#include "api/allocation.cpp"
#include "api/array_copies.cpp"
#include "api/arrays.cpp"
#include "api/copies.cpp"
#include "api/fills.cpp"
#include "api/host_objects.cpp"
#include "api/pools.cpp"
#include "api/ranges.cpp"
#include "api/texture_calls.cpp"
#include "api/virtual_memory.cpp"
