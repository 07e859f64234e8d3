// SPDX-License-Identifier: MIT
// Launches, blocks, warps and what they wait for. Compiled as one, since reading the headers takes longer
// than compiling most files.
#include "runtime/block.cpp"
#include "runtime/context.cpp"
#include "runtime/deadlock.cpp"
#include "runtime/launch.cpp"
#include "runtime/named_barriers.cpp"
#include "runtime/options.cpp"
#include "runtime/spinning.cpp"
#include "runtime/stream_order.cpp"
#include "runtime/streams.cpp"
#include "runtime/tensor_cores.cpp"
#include "runtime/timeline.cpp"
#include "runtime/variables.cpp"
#include "runtime/warp.cpp"
#include "runtime/warpgroups.cpp"
#include "runtime/word_barriers.cpp"
#include "runtime/worker.cpp"
