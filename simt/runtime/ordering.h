// SPDX-License-Identifier: MIT
//
// Events that order memory accesses, told to the shadow of checked builds (shadow.cpp). Who tells them need not know the shadow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "workers.h"

namespace simt {

void begin_segments(Worker& w);             // this worker begins its part of a launch
void order_block(Worker& w, Block& block);  // barrier
inline void order_warp(Warp& warp) {        // __syncwarp
  ++warp.epoch;
  warp.segment = 0;
  hot_mark = 0;
}
void note_acquire();              // the running thread looked at a flag
void order_resident(Worker& w);   // the threads of all resident blocks
void order_grid(Launch& launch);  // all that ran before; called while no thread of it runs
const char* kernel_of_operation(std::uint64_t number);  // null: a copy or fill, or long ago
void order_launch(const Launch& launch);                // before it runs
// What a copy or fill writes; `operation`: its number, 0: ordered by itself.
void host_wrote(void* data, std::size_t bytes, std::uint64_t operation);
// Whether no kernel whose order with this operation is open wrote there last; else which one, and where.
bool host_may_use(const void* data, std::size_t bytes, std::uint64_t operation, std::string* kernel,
                  void** place);

}  // namespace simt
