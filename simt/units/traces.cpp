// SPDX-License-Identifier: MIT
// What a traced build counts. Compiled as one, since reading the headers takes longer than compiling most
// files.
#include "runtime/trace.cpp"
#include "runtime/trace_counts.cpp"
#include "runtime/trace_json.cpp"
#include "runtime/trace_launches.cpp"
#include "runtime/trace_markers.cpp"
#include "runtime/trace_places.cpp"
