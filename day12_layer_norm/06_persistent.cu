// SPDX-License-Identifier: MIT
//
// As many blocks as the GPU holds at once, each of which takes row after row: gamma and beta are read once a
// block and stay in registers, and the next row is on its way while this one is worked on. Changed since
// registers: what is read besides x no longer grows with the rows. Takes cols <= 8192.
// Bound by: not known. The bytes under way would do for the memory's limit (README.md, Results).

#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day12_layer_norm/columns.cuh"
#include "day12_layer_norm/layer_norm.h"

namespace day12 {
namespace {

// Blocks that a multiprocessor holds at once. Its 65,536 registers are 64 for each of 1,024 threads with eight
// elements each; with sixteen, of 16 bits, a thread needs up to 85, which 768 may have.
template <int kBlock, int kElements>
inline constexpr int kResident = kElements == 8 ? 1024 / kBlock : 768 / kBlock;

template <class T, int kThreads, int kElements, bool kWide, int kBlock>
__global__ void __launch_bounds__(kBlock, kResident<kBlock, kElements>)
    persistent_kernel(const LayerNorm<T> p) {
  using Row = Share<T, kThreads, kElements, kWide>;
  constexpr int kLanes = kThreads < days::kWarpSize ? kThreads : days::kWarpSize;
  constexpr int kRows = kBlock / kThreads;
  const int thread = threadIdx.x % kThreads;
  Row gamma, beta, next;
  gamma.load(p.gamma, thread, p.cols);
  beta.load(p.beta, thread, p.cols);

  const auto cols_of = [&p](int64_t row) { return row < p.rows ? p.cols : 0; };  // past the last row: none
  const int64_t step = int64_t{gridDim.x} * kRows;
  int64_t row = int64_t{blockIdx.x} * kRows + threadIdx.x / kThreads;
  next.load(p.x + row * p.cols, thread, cols_of(row));
  bool odd = false;
  for (int64_t first = int64_t{blockIdx.x} * kRows; first < p.rows; first += step, row += step) {
    float value[kElements];
    next.floats(value);
    next.load(p.x + (row + step) * p.cols, thread, cols_of(row + step));
    const int cols = cols_of(row);
    Moments m = Row::template moments<kLanes>(value, thread, cols);
    if constexpr (kThreads > days::kWarpSize) {
      // Warps that are ahead write the other half, and are held by its barrier until all have read this one.
      __shared__ Moments of_warp[2][kThreads / days::kWarpSize];
      m = merge_warps(m, of_warp[odd]);
      odd = !odd;
    }
    const Statistics s = statistics(m, p.eps);
#pragma unroll
    for (int i = 0; i < kElements; ++i) value[i] = normalised(value[i], s, gamma[i], beta[i]);
    Row::store(p.y + row * p.cols, value, thread, cols);
    if (thread == 0 && cols > 0) {
      p.mean[row] = s.mean;
      p.rstd[row] = s.rstd;
    }
  }
}

// Launches where kThreads threads with kElements elements hold a row; else false.
template <int kThreads, int kElements, bool kWide, class T>
bool launch(const LayerNorm<T>& p, cudaStream_t stream) {
  if (p.cols > kThreads * kElements) return false;
  constexpr int kBlock = kThreads < 128 ? 128 : kThreads, kRows = kBlock / kThreads;
  const int resident = days::multiprocessors() * kResident<kBlock, kElements>;
  const int blocks = std::min(days::ceil_div(p.rows, kRows), resident);
  persistent_kernel<T, kThreads, kElements, kWide, kBlock><<<blocks, kBlock, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
  return true;
}

}  // namespace

template <class T>
void layer_norm_persistent(const LayerNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "persistent");
  days::require_needs(p, "persistent", kColsOfPersistent);
  constexpr int kTwo = 2 * kVector<T>;  // vectors a thread
  static_assert(1024 * 8 == kMaxColsPersistent);
  // The least that holds a row; the last one holds every row.
  if (whole_vectors<T>(p.cols, p.x, p.gamma, p.beta, p.y)) {
    static_cast<void>(launch<8, 8, true>(p, stream) || launch<32, 8, true>(p, stream) ||
                      launch<128, 8, true>(p, stream) || launch<2048 / kTwo, kTwo, true>(p, stream) ||
                      launch<4096 / kTwo, kTwo, true>(p, stream) ||
                      launch<8192 / kTwo, kTwo, true>(p, stream));
  } else {
    static_cast<void>(launch<32, 8, false>(p, stream) || launch<128, 8, false>(p, stream) ||
                      launch<512, 8, false>(p, stream) || launch<1024, 8, false>(p, stream));
  }
}

INSTANTIATE_LAUNCHER(layer_norm_persistent, LayerNorm, float, days::half, days::bf16);

}  // namespace day12
