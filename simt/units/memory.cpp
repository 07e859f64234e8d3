// SPDX-License-Identifier: MIT
// Memory, and copies that land late. Compiled as one, since reading the headers takes longer than compiling
// most files.
#include "runtime/arena.cpp"
#include "runtime/async_copies.cpp"
#include "runtime/async_pending.cpp"
#include "runtime/bulk_copies.cpp"
#include "runtime/device_heap.cpp"
#include "runtime/mbarrier.cpp"
#include "runtime/own_memory.cpp"
#include "runtime/shared.cpp"
#include "runtime/tensor_copies.cpp"
#include "runtime/texture_objects.cpp"
#include "runtime/textures.cpp"
#include "runtime/tiles.cpp"
