// SPDX-License-Identifier: MIT
//
// Every number is a parameter, and a tuner chose them (tunings.h). Changed since warps: tiles are copied past the
// registers, by cp.async, a piece here and a piece there; a thread loads the floats of the next step of k before it
// multiplies this one's; blocks that run together lie together; and any operand may be transposed, misaligned or have
// gaps between its rows.
// Bound by: the arithmetic, whose instructions wait for registers, and the instructions between them.
// gemm_autotuned: the same kernel with alpha, beta and transposes. Changed since gemm_direct: all of the above.

#include <cstdint>
#include <iterator>
#include <utility>

#include "common/check.h"
#include "common/util.h"
#include "day39_matmul_thread_coarsening/matmul.h"
#include "day39_matmul_thread_coarsening/tile.cuh"
#include "day39_matmul_thread_coarsening/tunings.h"

namespace day39 {
namespace {

using days::Op;

template <class N, Op kOpA, Op kOpB>
__global__ void __launch_bounds__(N::kTiling.threads()) autotuned_kernel(const Gemm<float> p) {
  extern __shared__ uint4 memory[];
  gemm_block<N::kTiling, kOpA, kOpB>(p, *reinterpret_cast<Tiles<N::kTiling>*>(memory));
}

template <class N>
auto kernel_of(const Gemm<float>& p) {
  if (p.op_a == Op::kN && p.op_b == Op::kN) return autotuned_kernel<N, Op::kN, Op::kN>;
  if (p.op_a == Op::kN) return autotuned_kernel<N, Op::kN, Op::kT>;
  if (p.op_b == Op::kN) return autotuned_kernel<N, Op::kT, Op::kN>;
  return autotuned_kernel<N, Op::kT, Op::kT>;
}

template <Tiling kTiling>
void launch(const Gemm<float>& p, cudaStream_t stream) {
  static_assert(possible(kTiling));
  constexpr int kBytes = static_cast<int>(sizeof(Tiles<kTiling>));
  static_assert(kBytes == kTiling.shared_bytes());
  const auto kernel = kernel_of<NumbersOf<kTiling>>(p);
  if (kBytes > 48 * 1024) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  }
  const unsigned blocks = static_cast<unsigned>(kTiling.blocks(p.m, p.n));
  kernel<<<blocks, kTiling.threads(), kBytes, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

// Row kRow of the table: the largest blocks that fill the device and fit its shared memory; else the smallest.
template <size_t kRow>
void launch_row(const Gemm<float>& p, cudaStream_t stream) {
  constexpr const Tunings& row = kTunings[kRow];
  const int processors = days::multiprocessors();
  const size_t shared = static_cast<size_t>(days::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  const auto suits = [&](const Tiling& tiling) {
    return tiling.blocks(p.m, p.n) >= processors && tiling.shared_bytes() <= shared;
  };
  if (suits(row.large)) return launch<row.large>(p, stream);
  if (suits(row.medium)) return launch<row.medium>(p, stream);
  launch<row.small>(p, stream);
}

void choose(const Gemm<float>& p, const char* variant, cudaStream_t stream) {
  days::require_gemm(p, variant);
  days::require_needs(p, variant, kBlocksFit);
  const int sm = 10 * days::device_attribute(cudaDevAttrComputeCapabilityMajor) +
                 days::device_attribute(cudaDevAttrComputeCapabilityMinor);
  const auto tuned = [&]<size_t... kRows>(
      std::index_sequence<kRows...>) {  // the row of this device, but the first
    return ((kRows > 0 && kTunings[kRows].sm == sm && (launch_row<kRows>(p, stream), true)) || ...);
  };
  if (!tuned(std::make_index_sequence<std::size(kTunings)>{})) launch_row<0>(p, stream);
}

}  // namespace

void matmul_autotuned(const Matmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "autotuned");
  choose({p.a, p.b, p.c, p.m, p.n, p.k, p.k, p.n, p.n, 1.0f, 0.0f, Op::kN, Op::kN}, "autotuned", stream);
}

void gemm_autotuned(const Gemm<float>& p, cudaStream_t stream) {
  choose(p, "gemm_autotuned", stream);
}

}  // namespace day39
