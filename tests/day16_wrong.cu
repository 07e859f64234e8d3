// SPDX-License-Identifier: MIT
//
// Kernels of day 16 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

enum class CopyBug {
  kDropsTail,         // copies whole groups of four alone
  kDropsLastBlock,    // the grid is rounded down
  kShifted,           // every element is its neighbour's
  kFlushesDenormals,  // as if a float passed through arithmetic with -ftz=true
  kLosesMinusZero,    // x + 0 is no copy: -0 becomes 0
  kQuietsNan,         // arithmetic turns a signalling NaN into a quiet one
};

template <CopyBug kBug>
__global__ void wrong_copy_kernel(const uint32_t* x, uint32_t* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= (kBug == CopyBug::kDropsTail ? n / 4 * 4 : n)) return;
  uint32_t v = x[kBug == CopyBug::kShifted && i + 1 < n ? i + 1 : i];
  const uint32_t magnitude = v & 0x7fffffffu;
  if (kBug == CopyBug::kFlushesDenormals && magnitude < 0x00800000u) v &= 0x80000000u;
  if (kBug == CopyBug::kLosesMinusZero && magnitude == 0) v = 0;
  if (kBug == CopyBug::kQuietsNan && magnitude > 0x7f800000u) v |= 0x00400000u;
  y[i] = v;
}

template <CopyBug kBug>
void launch(const Copy<uint32_t>& p, cudaStream_t stream) {
  int64_t blocks = days::ceil_div(p.n, 256);
  if (kBug == CopyBug::kDropsLastBlock && blocks > 1) blocks = p.n / 256;
  wrong_copy_kernel<kBug><<<static_cast<unsigned>(blocks), 256, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

enum class FmaBug {
  kOneStepShort,      // steps - 1
  kOneStepMore,       // steps + 1
  kDropsSteps,        // the unrolled loop forgets the steps that are left over
  kRoundsTwice,       // a multiplication, rounded, then an addition, rounded: no fused multiply-add
  kFlushesDenormals,  // as if it computed with -ftz=true
  kSharesChain,       // every second element gets its neighbour's chain
  kDropsTail,         // elements after the last whole group of eight are not written
  kFastForward,       // two steps in one, x = a*a*x + (a*b + b): the same on paper, other bits
};

template <FmaBug kBug>
__global__ void wrong_fma_kernel(const float* x, float* y, float a, float b, int64_t n, int64_t steps) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= (kBug == FmaBug::kDropsTail ? n / 8 * 8 : n)) return;
  float v = x[kBug == FmaBug::kSharesChain ? i / 2 * 2 : i];
  int64_t count = steps;
  if (kBug == FmaBug::kOneStepShort) count -= 1;
  if (kBug == FmaBug::kOneStepMore) count += 1;
  if (kBug == FmaBug::kDropsSteps) count = steps / 32 * 32;
  for (int64_t s = 0; s < count; ++s) {
    if (kBug == FmaBug::kFastForward && s + 1 < count) {
      v = fmaf(v, a * a, fmaf(a, b, b));
      ++s;
    } else if (kBug == FmaBug::kRoundsTwice) {
      v = __fadd_rn(__fmul_rn(v, a), b);
    } else {
      v = fmaf(v, a, b);
    }
    if (kBug == FmaBug::kFlushesDenormals && fabsf(v) < 1.17549435e-38f) v = copysignf(0.0f, v);
  }
  y[i] = v;
}

template <FmaBug kBug>
void launch(const Fma<float>& p, cudaStream_t stream) {
  const int64_t blocks = days::ceil_div(p.n, 256);
  wrong_fma_kernel<kBug><<<static_cast<unsigned>(blocks), 256, 0, stream>>>(p.x, p.y, p.a, p.b, p.n, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void drops_tail(const Copy<uint32_t>& p, cudaStream_t s) {
  launch<CopyBug::kDropsTail>(p, s);
}
void drops_last_block(const Copy<uint32_t>& p, cudaStream_t s) {
  launch<CopyBug::kDropsLastBlock>(p, s);
}
void shifted(const Copy<uint32_t>& p, cudaStream_t s) {
  launch<CopyBug::kShifted>(p, s);
}
void flushes_denormals(const Copy<uint32_t>& p, cudaStream_t s) {
  launch<CopyBug::kFlushesDenormals>(p, s);
}
void loses_minus_zero(const Copy<uint32_t>& p, cudaStream_t s) {
  launch<CopyBug::kLosesMinusZero>(p, s);
}
void quiets_nan(const Copy<uint32_t>& p, cudaStream_t s) {
  launch<CopyBug::kQuietsNan>(p, s);
}

void one_step_short(const Fma<float>& p, cudaStream_t s) {
  launch<FmaBug::kOneStepShort>(p, s);
}
void one_step_more(const Fma<float>& p, cudaStream_t s) {
  launch<FmaBug::kOneStepMore>(p, s);
}
void drops_steps(const Fma<float>& p, cudaStream_t s) {
  launch<FmaBug::kDropsSteps>(p, s);
}
void rounds_twice(const Fma<float>& p, cudaStream_t s) {
  launch<FmaBug::kRoundsTwice>(p, s);
}
void flushes_denormals(const Fma<float>& p, cudaStream_t s) {
  launch<FmaBug::kFlushesDenormals>(p, s);
}
void shares_chain(const Fma<float>& p, cudaStream_t s) {
  launch<FmaBug::kSharesChain>(p, s);
}
void drops_tail(const Fma<float>& p, cudaStream_t s) {
  launch<FmaBug::kDropsTail>(p, s);
}
void fast_forward(const Fma<float>& p, cudaStream_t s) {
  launch<FmaBug::kFastForward>(p, s);
}

}  // namespace day16
