// SPDX-License-Identifier: MIT
//
// Additions with a bug in each, which day 01's tests must reject. Only past_the_end leaves its buffer, by one
// element, as far as the guard band.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 256;

enum class Bug {
  kNone,
  kOneShort,          // `<` against n - 1: the last element is never written
  kPastTheEnd,        // `<=` for `<`
  kDropsLastBlock,    // n / 256 blocks, not rounded up (in the launcher)
  kOneStep,           // a grid-stride kernel without its loop
  kFirstOfBlock,      // the first thread of each block adds a to itself
  kATwice,            // adds a to itself everywhere
  kNeighbour,         // reads b one element to the right
  kZeros,             // writes zeros
  kNothing,           // writes nothing: what was there from the last kernel would pass
  kInPlace,           // leaves the sum in a as well
  kFlushesDenormals,  // as -use_fast_math does
  kHidesNan,          // a NaN comes out as 0
  kHidesInfinity,     // an overflow is clamped to the largest float
};

template <Bug kBug>
__global__ void wrong_kernel(const float* a, const float* b, float* c, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (kBug == Bug::kPastTheEnd && i == n) c[i] = 1.0f;
  if (i >= n - (kBug == Bug::kOneShort ? 1 : 0)) return;

  float y = b[i];
  if (kBug == Bug::kATwice || (kBug == Bug::kFirstOfBlock && threadIdx.x == 0)) y = a[i];
  if (kBug == Bug::kNeighbour) y = b[i + 1 < n ? i + 1 : i];
  float sum = a[i] + y;
  if (kBug == Bug::kZeros) sum = 0.0f;
  if (kBug == Bug::kFlushesDenormals && fabsf(sum) < 1.17549435e-38f) sum = 0.0f;
  if (kBug == Bug::kHidesNan && sum != sum) sum = 0.0f;
  if (kBug == Bug::kHidesInfinity) sum = sum > 3.402823466e38f ? 3.402823466e38f : sum;
  if (kBug == Bug::kInPlace) const_cast<float*>(a)[i] = sum;
  if (kBug != Bug::kNothing) c[i] = sum;
}

template <Bug kBug>
void launch(const VectorAdd<float>& p, cudaStream_t stream) {
  int64_t blocks = days::ceil_div(p.n, kThreads);
  if (kBug == Bug::kDropsLastBlock) blocks = p.n < kThreads ? 1 : p.n / kThreads;
  if (kBug == Bug::kOneStep) blocks = blocks < 1000 ? blocks : 1000;
  wrong_kernel<kBug><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

// float4 without its last one to three elements.
__global__ void drops_tail_kernel(const float4* a, const float4* b, float4* c, int64_t vectors) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < vectors) c[i] = make_float4(a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z, a[i].w + b[i].w);
}

// Rounds a down to a multiple of 16 bytes, to read vectors from it, instead of refusing what isn't one.
__global__ void aligns_down_kernel(const float* a, const float* b, float* c, int64_t n) {
  const int64_t first = 4 * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  const uintptr_t address = reinterpret_cast<uintptr_t>(a) & ~uintptr_t{15};
  const float* aligned = reinterpret_cast<const float*>(address);
  for (int64_t i = first; i < first + 4 && i < n; ++i) c[i] = aligned[i] + b[i];
}

// Stages in shared memory and reads what another thread staged, without a barrier between the two.
__global__ void no_barrier_kernel(const float* a, const float* b, float* c, int64_t n) {
  __shared__ float staged[kThreads];
  const int64_t start = int64_t{blockIdx.x} * kThreads;
  const int mine = threadIdx.x;
  const int other = kThreads - 1 - threadIdx.x;
  if (start + mine < n) staged[mine] = a[start + mine] + b[start + mine];
  if (start + other < n) c[start + other] = staged[other];
}

enum class MatrixBug {
  kIgnoresPitch,  // takes the columns for the distance between rows
  kFillsPadding,  // writes zeros between cols and pitch
  kSwapsExtents,  // compares the row with cols and the column with rows: right for square matrices alone
  kFlippedGuard,  // the last column is never written
  kTransposesB,   // adds the transposed b where the matrix has the place
};

template <MatrixBug kBug>
__global__ void wrong_matrix_kernel(const float* a, const float* b, float* c, int rows, int cols,
                                    int64_t pitch) {
  const int64_t col = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (row >= rows || col >= (kBug == MatrixBug::kFillsPadding ? pitch : cols)) return;
  if (kBug == MatrixBug::kSwapsExtents && (row >= cols || col >= rows)) return;
  if (kBug == MatrixBug::kFlippedGuard && col == cols - 1) return;
  const int64_t i = row * (kBug == MatrixBug::kIgnoresPitch ? cols : pitch) + col;
  const bool swap = kBug == MatrixBug::kTransposesB && row < cols && col < rows;
  c[i] = col < cols ? a[i] + b[swap ? col * pitch + row : i] : 0.0f;
}

template <MatrixBug kBug>
void launch(const MatrixAdd<float>& p, cudaStream_t stream) {
  const dim3 block(32, 8);
  const dim3 grid(static_cast<unsigned>(days::ceil_div(p.pitch, 32)),
                  static_cast<unsigned>(days::ceil_div(p.rows, 8)));
  if (grid.y > 65535) return;  // that shape is for the rungs that must refuse it
  wrong_matrix_kernel<kBug><<<grid, block, 0, stream>>>(p.a, p.b, p.c, p.rows, p.cols, p.pitch);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void one_short(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kOneShort>(p, stream);
}
void past_the_end(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kPastTheEnd>(p, stream);
}
void drops_last_block(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kDropsLastBlock>(p, stream);
}
void one_step(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kOneStep>(p, stream);
}
void first_of_block(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kFirstOfBlock>(p, stream);
}
void a_twice(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kATwice>(p, stream);
}
void neighbour(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kNeighbour>(p, stream);
}
void zeros(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kZeros>(p, stream);
}
void nothing(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kNothing>(p, stream);
}
void in_place(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kInPlace>(p, stream);
}
void flushes_denormals(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kFlushesDenormals>(p, stream);
}
void hides_nan(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kHidesNan>(p, stream);
}
void hides_infinity(const VectorAdd<float>& p, cudaStream_t stream) {
  launch<Bug::kHidesInfinity>(p, stream);
}

void drops_tail(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(days::aligned16(p.a, p.b, p.c), "drops_tail: a, b and c must be aligned to 16 bytes");
  const int64_t vectors = p.n / 4;
  drops_tail_kernel<<<static_cast<unsigned>(vectors / kThreads + 1), kThreads, 0, stream>>>(
      reinterpret_cast<const float4*>(p.a), reinterpret_cast<const float4*>(p.b),
      reinterpret_cast<float4*>(p.c), vectors);
  CUDA_CHECK_LAUNCH();
}

void aligns_down(const VectorAdd<float>& p, cudaStream_t stream) {
  const int64_t blocks = days::ceil_div(p.n, 4 * kThreads);
  aligns_down_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

void no_barrier(const VectorAdd<float>& p, cudaStream_t stream) {
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  no_barrier_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n);
  CUDA_CHECK_LAUNCH();
}

void ignores_pitch(const MatrixAdd<float>& p, cudaStream_t stream) {
  launch<MatrixBug::kIgnoresPitch>(p, stream);
}
void fills_padding(const MatrixAdd<float>& p, cudaStream_t stream) {
  launch<MatrixBug::kFillsPadding>(p, stream);
}
void swaps_extents(const MatrixAdd<float>& p, cudaStream_t stream) {
  launch<MatrixBug::kSwapsExtents>(p, stream);
}
void flipped_guard(const MatrixAdd<float>& p, cudaStream_t stream) {
  launch<MatrixBug::kFlippedGuard>(p, stream);
}
void transposes_b(const MatrixAdd<float>& p, cudaStream_t stream) {
  launch<MatrixBug::kTransposesB>(p, stream);
}

}  // namespace day01
