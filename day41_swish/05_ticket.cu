// SPDX-License-Identifier: MIT
// A single kernel: each block writes its sum, then draws a ticket. Who draws the last one knows that all others have written,
// and adds their sums up, in the order of their places. So which block is last differs from run to run, and the bits do not.
// Changed since stages: one launch for two. atomicInc counts to the last ticket and then to 0, ready for the next launch.
// Bound by: memory.
// Teaches: __threadfence, atomicInc.
#include "day41_swish/swish.h"
#include "day41_swish/tile.cuh"

namespace day41 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) ticket_kernel(const SwishBackward<T> p, Scratch* scratch,
                                                          volatile float* partials) {  // (blocks)
  __shared__ bool last;
  const float sum = tile_gradient(p);
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = sum;
    __threadfence();  // who sees the ticket sees the sum
    last = atomicInc(&scratch->ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // and what is read from here on is not older than the ticket
  }
  __syncthreads();
  if (!last) return;
  const float total = sum_of_partials(partials, gridDim.x);
  if (threadIdx.x == 0) *p.dbeta = total;
}

}  // namespace

template <class T>
void swish_ticket(const SwishBackward<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of(p, "ticket", kTile<T>);
  days::require_needs(p, "ticket", kAlignedBackward);
  days::require(p.workspace.bytes >= ticket_workspace(p),
                "ticket: needs a workspace of bytes:", ticket_workspace(p));
  p.setup.template get<Ticket>("ticket");
  Scratch* scratch = static_cast<Scratch*>(p.workspace.data);
  ticket_kernel<<<blocks, kThreads, 0, stream>>>(p, scratch, reinterpret_cast<float*>(scratch + 1));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(swish_ticket, SwishBackward, float, days::half, days::bf16);

}  // namespace day41
