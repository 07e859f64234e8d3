// SPDX-License-Identifier: MIT
// Graphs and capture. Compiled as one, since reading the headers takes longer than compiling most files.
#include "api/capture.cpp"
#include "api/graph_any_node.cpp"
#include "api/graph_conditions.cpp"
#include "api/graph_launch.cpp"
#include "api/graph_memory.cpp"
#include "api/graph_nodes.cpp"
#include "api/graphs.cpp"
