// SPDX-License-Identifier: MIT
// Backward as together does forward: a block keeps its share of x and of dy until all blocks have met, and dx is made of what was kept.
// Changed since grad_pieces: three trips to memory for five, as far as both fit on the chip; 16 bytes at a time; one launch.
// Bound by: memory, and the barrier.
#include <cooperative_groups.h>

#include "common/check.h"
#include "common/reduce.cuh"
#include "day08_batch_norm/gradient.cuh"
#include "day08_batch_norm/share.cuh"

namespace day08 {
namespace {

template <class T, bool kWide>
__global__ void __launch_bounds__(kShareThreads, kBlocksOfMultiprocessor)
    grad_together_kernel(const BatchNormBackward<T> p, Sums* parts, int room) {
  using Some = Words<T, kWide>;
  using Word = typename Some::Word;
  extern __shared__ uint4 shared[];
  Word *kept_x = reinterpret_cast<Word*>(shared), *kept_dy = kept_x + room;  // (room) each
  const int plane = p.space / Some::kEach, thread = threadIdx.x;
  const Share share(p.channels, p.batch * plane);

  for (int channel = share.first(); channel <= share.last(); ++channel) {
    const Share::Segment mine = share.segment(channel);
    const float mean = p.mean[channel], rstd = p.rstd[channel];
    Sums sums;
    Walk walk(channel, p.channels, plane, mine.begin + thread, kShareThreads);
    for (int i = mine.begin + thread; i < mine.end; i += kFewAhead * kShareThreads) {
      const int count = min(kFewAhead, (mine.end - i - 1) / kShareThreads + 1);
      Word x[kFewAhead], dy[kFewAhead];
#pragma unroll
      for (int a = 0; a < kFewAhead; ++a) {
        if (a < count) {
          x[a] = Some::at(p.x, walk.at);
          dy[a] = Some::at(p.dy, walk.at);
        }
        walk.next();
      }
#pragma unroll
      for (int a = 0; a < kFewAhead; ++a) {
        const int64_t at = mine.kept + i - mine.begin + a * kShareThreads;
        if (a < count && at < room) {
          kept_x[at] = x[a];
          kept_dy[at] = dy[a];
        }
        if (a < count) {
#pragma unroll
          for (int j = 0; j < Some::kEach; ++j) {
            const float value = Some::value(dy[a], j);
            sums.beta += value;
            sums.gamma += value * ((Some::value(x[a], j) - mean) * rstd);
          }
        }
      }
    }
    sums.beta = days::block_reduce(sums.beta, days::Sum{}, 0.0f);
    sums.gamma = days::block_reduce(sums.gamma, days::Sum{}, 0.0f);
    if (thread == 0) parts[blockIdx.x + channel] = sums;
  }

  cooperative_groups::this_grid().sync();

  for (int channel = share.last(); channel >= share.first(); --channel) {
    const Share::Segment mine = share.segment(channel);
    const Share::Places places = share.places(channel);
    const Sums all = add_parts(parts + places.first, places.last - places.first + 1);
    const Gradient gradient = gradient_of(p, all, channel);
    if (thread == 0 && places.first == static_cast<int>(blockIdx.x) + channel) {
      p.dgamma[channel] = all.gamma;
      p.dbeta[channel] = all.beta;
    }
    if (mine.begin + thread >= mine.end) continue;
    const int last = mine.end - 1 - (mine.end - 1 - mine.begin - thread) % kShareThreads;  // the thread's
    Walk walk(channel, p.channels, plane, last, kShareThreads);
    for (int i = last; i >= mine.begin; i -= kFewAhead * kShareThreads) {
      Walk ahead = walk;
      Word x[kFewAhead], dy[kFewAhead];
#pragma unroll
      for (int a = 0; a < kFewAhead; ++a) {
        const int64_t at = mine.kept + i - a * kShareThreads - mine.begin;
        if (i - a * kShareThreads >= mine.begin) {
          x[a] = at < room ? kept_x[at] : Some::at(p.x, ahead.at);
          dy[a] = at < room ? kept_dy[at] : Some::at(p.dy, ahead.at);
        }
        ahead.back();
      }
#pragma unroll
      for (int a = 0; a < kFewAhead; ++a) {
        if (i - a * kShareThreads >= mine.begin)
          Some::store(p.dx, walk.at,
                      [&](int j) { return gradient(Some::value(x[a], j), Some::value(dy[a], j)); });
        walk.back();
      }
    }
  }
}

template <class T, bool kWide>
void launch(const BatchNormBackward<T>& p, size_t bytes, cudaStream_t stream) {
  using Some = Words<T, kWide>;
  const int64_t words = int64_t{p.channels} * p.batch * (p.space / Some::kEach);
  const Stay stay(grad_together_kernel<T, kWide>, words, kShareThreads, bytes);
  days::launch_cooperative("grad_together", grad_together_kernel<T, kWide>, stay.blocks, kShareThreads,
                           stay.shared, stream, p, static_cast<Sums*>(p.workspace.data),
                           static_cast<int>(stay.shared / (2 * sizeof(typename Some::Word))));
}

}  // namespace

template <class T>
void batch_norm_grad_together_keeping(const BatchNormBackward<T>& p, size_t bytes, cudaStream_t stream) {
  require_problem(p, "grad_together", grad_together_workspace(p));
  whole_vectors<T>(p.space, p.x, p.dy, p.dx) ? launch<T, true>(p, bytes, stream)
                                             : launch<T, false>(p, bytes, stream);
}
template <class T>
void batch_norm_grad_together(const BatchNormBackward<T>& p, cudaStream_t stream) {
  batch_norm_grad_together_keeping(p, kAllThereIs, stream);
}

INSTANTIATE_LAUNCHER(batch_norm_grad_together, BatchNormBackward, float, days::half, days::bf16);
template void batch_norm_grad_together_keeping(const BatchNormBackward<float>&, size_t, cudaStream_t);

}  // namespace day08
