// SPDX-License-Identifier: MIT
//
// A thread packs the bits of its own 16 elements into a word, and in backward the same thread has the same elements:
// nobody exchanges anything, and nobody else can read the word. Changed since ballots: no votes, 16 bytes a load and
// a store, and a warp's words are 128 bytes side by side. Bound by: memory, in fp32 8.5 bytes an element.

#include <type_traits>

#include "common/check.h"
#include "common/row.cuh"
#include "day38_l1_norm/l1_norm.h"
#include "day38_l1_norm/sign.cuh"

namespace day38 {
namespace {

// Where a thread's 16 elements lie: in groups of 16 bytes where every row of x and of dx is whole vectors (kWide), else
// one by one, and each group beside its neighbours'. Both kernels go by this, with the same arguments.
template <class T, int kThreads, bool kWide>
struct Own {
  static constexpr int kWidth = kWide ? days::kVector<T> : 1, kGroups = kOwn / kWidth,
                       kTurn = kThreads * kOwn;
  static constexpr int kBlock = kThreads < 128 ? 128 : kThreads, kRows = kBlock / kThreads;

  __device__ static int64_t row() { return int64_t{blockIdx.x} * kRows + threadIdx.x / kThreads; }
  __device__ static int thread() { return threadIdx.x % kThreads; }
  // The first column of a group, in the turn that begins at column `turn`.
  __device__ static int first(int turn, int group) { return turn + (group * kThreads + thread()) * kWidth; }
  // Where the word of a turn lies.
  __device__ static int64_t word(int64_t row, int turn, int cols) {
    const int turns = (cols + kTurn - 1) / kTurn;
    return (row * turns + turn / kTurn) * kThreads + thread();
  }
};

template <class T, int kThreads, bool kWide>
__global__ void __launch_bounds__(Own<T, kThreads, kWide>::kBlock)
    own_bits_forward_kernel(const L1Norm<T> p, unsigned* words) {
  using Mine = Own<T, kThreads, kWide>;
  using Word = std::conditional_t<kWide, uint4, T>;
  __shared__ float of_warps[days::kWarpsOf<kThreads>];
  const int64_t row = Mine::row();
  const int cols = row < p.rows ? p.cols : 0;  // past the last row: none
  const T* x = p.x + row * p.cols;
  float sum = 0;
  for (int turn = 0; turn < cols; turn += Mine::kTurn) {
    Word loaded[Mine::kGroups];
#pragma unroll
    for (int g = 0; g < Mine::kGroups; ++g) {
      const int col = Mine::first(turn, g);
      loaded[g] = col < cols ? *reinterpret_cast<const Word*>(x + col) : Word{};
    }
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      float value;
      if constexpr (kWide) {
        value = days::to_float(days::from_word<T>(loaded[i / Mine::kWidth])[i % Mine::kWidth]);
      } else {
        value = days::to_float(loaded[i]);
      }
      sum += fabsf(value);
      bits |= (not_below(value) ? 1u << (2 * i) : 0) | (not_above(value) ? 2u << (2 * i) : 0);
    }
    if (Mine::first(turn, 0) < cols) words[Mine::word(row, turn, p.cols)] = bits;
  }
  sum = days::row_reduce<kThreads>(sum, days::Sum{}, of_warps);
  if (Mine::thread() == 0 && row < p.rows) p.norm[row] = sum;
}

template <class T, int kThreads, bool kWide>
__global__ void __launch_bounds__(Own<T, kThreads, kWide>::kBlock)
    own_bits_backward_kernel(const L1Norm<T> p, const unsigned* words) {
  using Mine = Own<T, kThreads, kWide>;
  const int64_t row = Mine::row();
  if (row >= p.rows) return;
  const float dnorm = p.dnorm[row];
  T* dx = p.dx + row * p.cols;
  for (int turn = 0; turn < p.cols; turn += Mine::kTurn) {
    if (Mine::first(turn, 0) >= p.cols) return;
    const unsigned bits = words[Mine::word(row, turn, p.cols)];
#pragma unroll
    for (int g = 0; g < Mine::kGroups; ++g) {
      const int col = Mine::first(turn, g);
      if (col >= p.cols) return;
      days::Vec<T, Mine::kWidth> vec;
#pragma unroll
      for (int j = 0; j < Mine::kWidth; ++j) {
        const int i = g * Mine::kWidth + j;
        vec[j] = days::from_float<T>(dx_of(bits >> (2 * i) & 1, bits >> (2 * i) & 2, dnorm));
      }
      if constexpr (kWide) {
        days::store16_streaming(dx + col, vec);
      } else {
        dx[col] = vec[0];
      }
    }
  }
}

template <int kThreads, bool kWide, class T>
void launch(const L1Norm<T>& p, cudaStream_t stream) {
  using Mine = Own<T, kThreads, kWide>;
  unsigned* words = static_cast<unsigned*>(p.workspace.data);
  const int blocks = days::ceil_div(p.rows, Mine::kRows);
  own_bits_forward_kernel<T, kThreads, kWide><<<blocks, Mine::kBlock, 0, stream>>>(p, words);
  CUDA_CHECK_LAUNCH();
  own_bits_backward_kernel<T, kThreads, kWide><<<blocks, Mine::kBlock, 0, stream>>>(p, words);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void l1_norm_own_bits(const L1Norm<T>& p, cudaStream_t stream) {
  require_problem(p, "own_bits", l1_norm_own_bits_workspace(p));
  const bool wide = p.cols % days::kVector<T> == 0 && days::aligned16(p.x, p.dx);
  switch (own_threads(p.cols)) {
    case 32:
      return wide ? launch<32, true>(p, stream) : launch<32, false>(p, stream);
    case 128:
      return wide ? launch<128, true>(p, stream) : launch<128, false>(p, stream);
    default:
      return wide ? launch<256, true>(p, stream) : launch<256, false>(p, stream);
  }
}

INSTANTIATE_LAUNCHER(l1_norm_own_bits, L1Norm, float, days::half, days::bf16);

}  // namespace day38
