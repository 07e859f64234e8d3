// SPDX-License-Identifier: MIT
//
// What the product's kernels share: the problem as they see it, whose part of k is whose, and how sums leave.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/ptx.h"
#include "common/types.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "model/product.h"

namespace model {

// Parts of k are multiples of this, so that a kernel's steps end where a part does.
inline constexpr int kDepth = 64;

// GELU by tanh is x * sigmoid(2 u) with u = x * (kTanhX + kTanhX3 * x^2).
inline constexpr float kTanhX = 0.797884561f;    // sqrt(2 / pi)
inline constexpr float kTanhX3 = 0.0356774081f;  // 0.044715 * sqrt(2 / pi)

// sigmoid(z) = 1 / (1 + e^-z), from the power that does not overflow.
struct Sigmoid {
  float power, right;  // e^-|z|, and the sigmoid of |z|
  __device__ __forceinline__ explicit Sigmoid(float z)
      : power(expf(-fabsf(z))), right(days::ptx::rcp_approx_ftz(1.0f + power)) {}
};
__device__ __forceinline__ float gelu(float x) {
  const float z = 2 * x * fmaf(kTanhX3, x * x, kTanhX);
  const Sigmoid s(z);
  return x * (z < 0 ? s.power * s.right : s.right);
}
// s + x * s * (1 - s) * (2 u)', where s (1 - s) comes without a difference.
__device__ __forceinline__ float gelu_slope(float x) {
  if (fabsf(x) > 16) return x > 0 ? 1.0f : 0.0f;  // to the last bit, and x^2 cannot overflow
  const float z = 2 * x * fmaf(kTanhX3, x * x, kTanhX);
  const Sigmoid s(z);
  const float s_of_z = z < 0 ? s.power * s.right : s.right;
  return fmaf(x * s.power * s.right * s.right, 2 * fmaf(3 * kTanhX3, x * x, kTanhX), s_of_z);
}

// Eight neighbours of a row in fp32, `count` of which exist; whole: all do, and begin at a multiple of 16 bytes.
template <class T>
__device__ __forceinline__ void load8(float (&x)[8], const T* from, int count, bool whole) {
  constexpr int kEach = days::Vec<T>::kSize;
  if (whole) {
#pragma unroll
    for (int i = 0; i < 8; i += kEach) {
      const days::Vec<T> v = days::load16(from + i);
#pragma unroll
      for (int j = 0; j < kEach; ++j) x[i + j] = days::to_float(v[j]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = i < count ? days::to_float(from[i]) : 0.0f;
  }
}
template <class T>
__device__ __forceinline__ void store8(T* to, const float (&x)[8], int count, bool whole) {
  constexpr int kEach = days::Vec<T>::kSize;
  if (whole) {
#pragma unroll
    for (int i = 0; i < 8; i += kEach) {
      days::Vec<T> v;
#pragma unroll
      for (int j = 0; j < kEach; ++j) v[j] = days::from_float<T>(x[i + j]);
      days::store16(to + i, v);
    }
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i < count) to[i] = days::from_float<T>(x[i]);
    }
  }
}

// Where sums go, and by which way. One kernel serves all epilogues and both types of c: they are the same for all threads, and asked for
// eight neighbours at a time.
template <class In>
struct Finish {
  void* c;
  const void* residual;
  In* kept;
  const In* bias;
  int64_t pitch_c, stride_c, pitch_residual, stride_residual, pitch_kept, stride_kept;
  int m, n;
  float alpha;
  Epilogue epilogue;
  bool adds, floats,
      vectors;  // floats: c and residual are fp32; vectors: rows of all four begin at multiples of 16 bytes

  // The eight sums at (row, col) of problem `z`. Beyond the edges nothing happens.
  __device__ __forceinline__ void operator()(float (&x)[8], int z, int row, int col) const {
    if (row >= m || col >= n) return;
    const int count = n - col;
    const bool whole = vectors && count >= 8;
    const int64_t at = z * stride_c + row * pitch_c + col;
    float y[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] *= alpha;
    if (epilogue == Epilogue::kBias || epilogue == Epilogue::kBiasGelu ||
        epilogue == Epilogue::kBiasResidual) {
      load8(y, bias + col, count, whole);
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] += y[i];
    }
    if (epilogue == Epilogue::kBiasGelu) {
      if (kept != nullptr) store8(kept + z * stride_kept + row * pitch_kept + col, x, count, whole);
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] = gelu(days::to_float(days::from_float<In>(x[i])));
    } else if (epilogue == Epilogue::kGeluSlope) {
      load8(y, kept + z * stride_kept + row * pitch_kept + col, count, whole);
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] *= gelu_slope(y[i]);
    } else if (epilogue == Epilogue::kResidual || epilogue == Epilogue::kBiasResidual) {
      load_out(y, residual, z * stride_residual + row * pitch_residual + col, count, whole);
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] += y[i];
    }
    if (adds) {
      load8(y, static_cast<const float*>(c) + at, count, whole);
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] += y[i];
    }
    if (floats) {
      store8(static_cast<float*>(c) + at, x, count, whole);
    } else {
      store8(static_cast<In*>(c) + at, x, count, whole);
    }
  }

 private:
  __device__ __forceinline__ void load_out(float (&y)[8], const void* from, int64_t at, int count,
                                           bool whole) const {
    if (floats) {
      load8(y, static_cast<const float*>(from) + at, count, whole);
    } else {
      load8(y, static_cast<const In*>(from) + at, count, whole);
    }
  }
};

// A warp's 16 x 64 sums on their way out, so that a lane gets eight neighbours of a row. Pieces of 16 bytes change places so that neither
// the writes, of eight rows at a time, nor the reads, of a row at a time, meet in a bank.
struct alignas(16) WayOut {
  float data[16 * 64];

  // col: of the 64, even. It is half a piece, or its beginning.
  __device__ __forceinline__ float* at(int row, int col) {
    const int piece = col / 4 ^ row % 4 * 2 ^ col / 32;
    return data + row * 64 + piece * 4 + col % 4;
  }
  // sum(j, e): element e of columns 8 j to 8 j + 7 as products of tensor cores leave them in a lane: 0 and 1 are neighbours in row
  // lane / 4, 2 and 3 those eight rows below.
  template <class In, class Sum>
  __device__ __forceinline__ void leave(const Finish<In>& finish, int z, int row, int col, const Sum& sum) {
    const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
    __syncwarp();  // the last sums have been read
#pragma unroll
    for (int j = 0; j < 8; ++j) {
#pragma unroll
      for (int e = 0; e < 4; e += 2)
        *reinterpret_cast<float2*>(at(lane / 4 + 4 * e, 8 * j + lane % 4 * 2)) =
            make_float2(sum(j, e), sum(j, e + 1));
    }
    __syncwarp();
#pragma unroll 1
    for (int r = lane / 8; r < 16; r += 4) {
      float x[8];
#pragma unroll
      for (int i = 0; i < 8; i += 4) {
        const float4 piece = *reinterpret_cast<const float4*>(at(r, lane % 8 * 8 + i));
        x[i] = piece.x, x[i + 1] = piece.y, x[i + 2] = piece.z, x[i + 3] = piece.w;
      }
      finish(x, z, row + r, col + lane % 8 * 8);
    }
  }
};

// A problem as kernels see it. Where k is split, c is the workspace: a matrix of sums for each part of each problem.
template <class In>
struct Task {
  const In *a, *b;
  int64_t lda, ldb, stride_a, stride_b;
  int m, n, k, part;  // part: of k, that a block has; a multiple of kDepth
  int batch, split;
  Op op_a, op_b;
  Finish<In> finish;  // its z: problem * split + part

  // Part z % split of problem z / split.
  __device__ __forceinline__ int first(int z) const { return z % split * part; }
  __device__ __forceinline__ int length(int z) const { return max(0, min(part, k - first(z))); }
};

// The kernels' launchers. The problem has been looked at (product.cu), and is not empty.
int compiled_for();  // the architecture of these kernels' code: 80 in a build for sm_80, whatever device runs it
template <class In>
void launch_simple(const Task<In>&, cudaStream_t);
void launch_ffma(const Task<float>&, cudaStream_t);
template <class In>
void launch_mma(const Task<In>&, cudaStream_t);
template <class In>
void launch_wgmma(const Task<In>&, cudaStream_t);
// The sums of the parts, (batch * split, m, n) one after the other, added in their order.
template <class In>
void launch_sum(const float* sums, int batch, int split, const Finish<In>&, cudaStream_t);

}  // namespace model
