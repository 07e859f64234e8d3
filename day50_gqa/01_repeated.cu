// SPDX-License-Identifier: MIT
//
// A block for each query head and chunk of keys, as if each head had keys of its own (day 49): four warps take the keys
// by turns, each with running sums of its own. Head h reads the keys of h / group, so a group's keys are asked for
// `group` times, by blocks that know nothing of each other.
// Bound by: L2, which has to hand out each key once a head.

#include "common/attention/lanes.cuh"
#include "common/check.h"
#include "common/util.h"
#include "day50_gqa/chunk.cuh"
#include "day50_gqa/gqa.h"

namespace day50 {
namespace {

using days::attention::Lanes;
using days::attention::Running;

constexpr int kWarps = 4, kThreads = kWarps * days::kWarpSize;
constexpr int kAtOnce = 4;  // requests of a warp

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) repeated_kernel(const Decode<T> p, const Work work) {
  using L = Lanes<T, kDim>;
  __shared__ Parts<kWarps, 1, kDim, 0> parts;
  const Block<T, kDim, 1> mine(p, work.chunks);
  if (mine.empty()) return mine.leave(p);
  mine.append();

  float q[L::kCols];
  L::load_query(q, mine.query(p, 0), p.scale * kLog2E);
  Running<L::kCols> running;
  days::attention::attend<kWarps, kAtOnce>(running, q, mine.rows, mine.first, mine.end);
  L::join(running);
  parts.put(running, static_cast<int>(threadIdx.x) / days::kWarpSize, 0);
  finish(p, work, mine, parts);
}

}  // namespace

template <class T>
void gqa_repeated(const Decode<T>& p, cudaStream_t stream) {
  const Work work = prepare(p, 1, "repeated");
  for_dim(p.dim, [&](auto dim) {
    repeated_kernel<T, dim><<<work.blocks, kThreads, 0, stream>>>(p, work);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(gqa_repeated, Decode, float, days::half, days::bf16);

}  // namespace day50
