// SPDX-License-Identifier: MIT
//
// Exercise: attention of one token, no barrier between keys.
// Gates: every element right for every length; no race; at least 400 bytes a request (block: a row's 128).
//   ./days check 49      tells how far you are        ./days hint 49      when you are stuck
#include "common/attention/lanes.cuh"
#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day49_kv_cache/decode.h"

namespace day49 {
namespace {

using days::Vec;
using days::attention::HeadRows;
using days::attention::Lanes;

constexpr int kThreads = 256, kWarps = kThreads / days::kWarpSize;
[[maybe_unused]] constexpr int kAtOnce = 4;  // requests

template <int kDim>
struct Shared {
  float o[kWarps][kDim], most[kWarps], sum[kWarps];
};

template <class T, int kDim>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const Decode<T> p) {
  using L [[maybe_unused]] = Lanes<T, kDim>;
  __shared__ Shared<kDim> s;
  const int sequence = static_cast<int>(blockIdx.x) / p.heads, head = static_cast<int>(blockIdx.x) % p.heads;
  const HeadRows<T, kDim> rows(p, sequence, head);  // rows.key(i), rows.value(i): i < rows.keys()
  if (!rows.room) return days::attention::write_nan<kDim>(p, sequence, head);
  // 1. The new row into the cache: rows.append(). This alone makes k and v right.
  // 2. The query, 16 bytes a lane: L::load_query(q, from, scale) fills q[L::kCols] with scale * (columns L::col() ...). With
  //    log2(e) in the scale, a weight is days::ptx::ex2_approx_ftz(score - most).
  // 3. kAtOnce requests at a time: L::kRows rows a request, of which lane has row L::row(). Each warp has its own; all of
  //    a step's days::load16 come before their first use. Rows from rows.keys() on are not there: zeros, score -infinity.
  // 4. L::score(q, k) is the product with this lane's row. The largest score so far may grow: sum and o shrink.
  // 5. Lanes with the same columns are L::kRowLanes apart, and so on up to 32: __shfl_xor_sync brings them together.
  // 6. Each warp's largest score, sum and o to s. One barrier. Thread d merges column d:
  //    days::attention::write_part(p, sequence, head, d, {o, lse}), lse being a natural logarithm.
  // your code
}

}  // namespace

template <class T>
void exercise(const Decode<T>& p, cudaStream_t stream) {
  days::require_decode(p, "exercise");
  days::require_needs(p, "exercise", days::kDecodeAligned);
  const unsigned blocks = days::decode_blocks(p, p.heads, 1, "exercise");
  for_dim(p.dim, [&](auto dim) {
    exercise_kernel<T, dim><<<blocks, kThreads, 0, stream>>>(p);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(exercise, Decode, float, days::half, days::bf16);

}  // namespace day49
