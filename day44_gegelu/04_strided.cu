// SPDX-License-Identifier: MIT
// Phi-3's pairs, one output a thread, as the formula has it: x[..., ::2] is the gate, x[..., 1::2] the value.
// Neighbouring threads load every second element. A sector of 32 bytes comes with what the other load wants, so each of
// the two loads moves twice what it asks for.
// Bound by: its threads, one for an output, and in fp32 memory, too. L1 has a sector that is asked for twice.
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/gegelu.h"

namespace day44 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) strided_kernel(const T* x,  // (n, 2)
                                                           T* y,        // (n)
                                                           int64_t n, float limit) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  const float gate = days::to_float(x[2 * i]);
  const float value = days::to_float(x[2 * i + 1]);
  y[i] = days::from_float<T>(gegelu(gate, value, limit));
}

}  // namespace

template <class T>
void gegelu_strided(const Gegelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_pairs(p, "strided", 1);
  strided_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.rows * p.cols, p.limit);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gegelu_strided, Gegelu, float, days::half, days::bf16);

}  // namespace day44
