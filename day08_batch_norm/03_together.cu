// SPDX-License-Identifier: MIT
// One launch of blocks that stay, each with an equal share of x: a block keeps its words in shared memory while it finds their moments, all
// blocks wait for each other, and y is made of what was kept. What does not fit is read again, back to front, because its end is still in L2.
// Changed since pieces: 16 bytes at a time; two trips to memory for three, as far as x fits on the chip; one launch, one barrier of the grid.
// Bound by: memory, and a microsecond of the barrier, during which nothing moves.
// Teaches: this_grid, sync.
#include <cooperative_groups.h>

#include "common/check.h"
#include "day08_batch_norm/share.cuh"

namespace day08 {
namespace {

// Adds the numbers of the first `count` words at once: their mean first, then the squares of the distances from it, so that two divisions
// serve all of them. The sum is of distances from the mean so far (a thread's first number, at the start): 0 where all are equal.
template <class Some, int kCount>
__device__ inline void add_words(Moments& to, const typename Some::Word (&word)[kCount], int count) {
  if (to.n == 0) to.mean = Some::value(word[0], 0);
  float sum = 0, squares = 0;
#pragma unroll
  for (int a = 0; a < kCount; ++a) {
    if (a < count) {
#pragma unroll
      for (int i = 0; i < Some::kEach; ++i) sum += Some::value(word[a], i) - to.mean;
    }
  }
  const float n = static_cast<float>(count * Some::kEach), all = to.n + n, off = sum / n;
#pragma unroll
  for (int a = 0; a < kCount; ++a) {
    if (a < count) {
#pragma unroll
      for (int i = 0; i < Some::kEach; ++i) {
        const float distance = Some::value(word[a], i) - to.mean - off;
        squares += distance * distance;
      }
    }
  }
  const float weight = n / all;
  to.mean += off * weight;
  to.m2 += squares + off * off * (to.n * weight);
  to.n = all;
}

template <class T, bool kWide>
__global__ void __launch_bounds__(kShareThreads, kBlocksOfMultiprocessor)
    together_kernel(const BatchNorm<T> p, Moments* parts, int room) {
  using Some = Words<T, kWide>;
  using Word = typename Some::Word;
  extern __shared__ uint4 shared[];
  __shared__ Affine affine;
  Word* kept = reinterpret_cast<Word*>(shared);  // (room)
  const int plane = p.space / Some::kEach, thread = threadIdx.x;
  const Share share(p.channels, p.batch * plane);

  for (int channel = share.first(); channel <= share.last(); ++channel) {
    const Share::Segment mine = share.segment(channel);
    Moments m;
    Walk walk(channel, p.channels, plane, mine.begin + thread, kShareThreads);
    for (int i = mine.begin + thread; i < mine.end; i += kAhead * kShareThreads) {
      const int count = min(kAhead, (mine.end - i - 1) / kShareThreads + 1);
      Word word[kAhead];
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        if (a < count) word[a] = Some::at(p.x, walk.at);
        walk.next();
      }
      const int64_t at = mine.kept + i - mine.begin;
#pragma unroll
      for (int a = 0; a < kAhead; ++a)
        if (a < count && at + a * kShareThreads < room) kept[at + a * kShareThreads] = word[a];
      add_words<Some>(m, word, count);
    }
    m = merge_block<kShareThreads>(m);
    if (thread == 0) parts[blockIdx.x + channel] = m;
  }

  cooperative_groups::this_grid().sync();

  for (int channel = share.last(); channel >= share.first(); --channel) {
    const Share::Segment mine = share.segment(channel);
    const Share::Places places = share.places(channel);
    __syncthreads();  // everybody is done with the channel before
    if (thread < days::kWarpSize) {
      const Moments all = merge_parts(parts + places.first, places.last - places.first + 1);
      if (thread == 0) {
        affine = affine_of(p, all, channel);
        if (places.first == static_cast<int>(blockIdx.x) + channel) keep(p, all, channel);
      }
    }
    __syncthreads();
    if (mine.begin + thread >= mine.end) continue;
    const int last = mine.end - 1 - (mine.end - 1 - mine.begin - thread) % kShareThreads;  // the thread's
    Walk walk(channel, p.channels, plane, last, kShareThreads);
    for (int i = last; i >= mine.begin; i -= kAhead * kShareThreads) {
      Walk ahead = walk;
      Word word[kAhead];
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        const int64_t at = mine.kept + i - a * kShareThreads - mine.begin;
        if (i - a * kShareThreads >= mine.begin) word[a] = at < room ? kept[at] : Some::at(p.x, ahead.at);
        ahead.back();
      }
#pragma unroll
      for (int a = 0; a < kAhead; ++a) {
        if (i - a * kShareThreads >= mine.begin)
          Some::store(p.y, walk.at, [&](int j) { return affine(Some::value(word[a], j)); });
        walk.back();
      }
    }
  }
}

template <class T, bool kWide>
void launch(const BatchNorm<T>& p, size_t bytes, cudaStream_t stream) {
  using Some = Words<T, kWide>;
  const int64_t words = int64_t{p.channels} * p.batch * (p.space / Some::kEach);
  const Stay stay(together_kernel<T, kWide>, words, kShareThreads, bytes);
  days::launch_cooperative("together", together_kernel<T, kWide>, stay.blocks, kShareThreads, stay.shared,
                           stream, p, static_cast<Moments*>(p.workspace.data),
                           static_cast<int>(stay.shared / sizeof(typename Some::Word)));
}

}  // namespace

template <class T>
void batch_norm_together_keeping(const BatchNorm<T>& p, size_t bytes, cudaStream_t stream) {
  require_problem(p, "together", together_workspace(p));
  whole_vectors<T>(p.space, p.x, p.y) ? launch<T, true>(p, bytes, stream)
                                      : launch<T, false>(p, bytes, stream);
}
template <class T>
void batch_norm_together(const BatchNorm<T>& p, cudaStream_t stream) {
  batch_norm_together_keeping(p, kAllThereIs, stream);
}

INSTANTIATE_LAUNCHER(batch_norm_together, BatchNorm, float, days::half, days::bf16);
template void batch_norm_together_keeping(const BatchNorm<float>&, size_t, cudaStream_t);

}  // namespace day08
