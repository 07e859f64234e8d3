// SPDX-License-Identifier: MIT
//
// Who is last: the blocks of a launch draw tickets, and whoever draws the last one knows that all others have drawn theirs.
// Day 41 takes it apart (day41_swish/05_ticket.cu).
#pragma once

#include <cuda_runtime.h>

namespace days {

// Whether this block is the last of its launch to come here; in every thread, all of which must call it, once. `ticket` is 0
// before the first launch and after each; two launches at once need a ticket each. The last block sees what thread 0 of the
// others wrote before, if it reads past L1 (volatile). One barrier.
__device__ inline bool draws_last_ticket(unsigned* ticket) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    __threadfence();  // who sees the ticket sees what was written before it
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // and what is read from here on is not older than the ticket
  }
  __syncthreads();
  return last;
}

}  // namespace days
