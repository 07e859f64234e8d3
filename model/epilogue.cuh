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

__host__ __device__ constexpr bool has_bias(Epilogue e) {
  return e == Epilogue::kBias || e == Epilogue::kBiasGelu || e == Epilogue::kBiasResidual;
}
__host__ __device__ constexpr bool has_residual(Epilogue e) {
  return e == Epilogue::kResidual || e == Epilogue::kBiasResidual;
}

// GELU by tanh is x * sigmoid(2 u) of u = x * (kTanhX + kTanhX3 * x^2).
inline constexpr float kTanhX = 0.797884561f;    // sqrt(2 / pi)
inline constexpr float kTanhX3 = 0.0356774081f;  // 0.044715 * sqrt(2 / pi)

// e^-z of z = 2 u, and the sigmoid 1 / (1 + e^-z), which is 0 where the power is infinite: no sum cancels, so each result has its digits.
__device__ __forceinline__ float power_of(float x, float square) {
  constexpr float kBase = -2 * 1.44269504f;  // of powers of two
  return x * fmaf(kBase * kTanhX3, square, kBase * kTanhX);
}
__device__ __forceinline__ float gelu(float x) {
  const float power = days::ptx::ex2_approx_ftz(power_of(x, x * x));
  return x * days::ptx::rcp_approx_ftz(1.0f + power);
}
// s + x * s * (1 - s) * (2 u)', where 1 - s is e^-z * s.
__device__ __forceinline__ float gelu_slope(float x) {
  const float square = x * x;
  const float power =
      days::ptx::ex2_approx_ftz(fminf(power_of(x, square), 126.0f));  // times s it is at most 1
  const float s = days::ptx::rcp_approx_ftz(1.0f + power);
  const float slope = fmaf(x * (power * s) * s, fmaf(6 * kTanhX3, square, 2 * kTanhX), s);
  return fabsf(x) > 16 ? (x > 0 ? 1.0f : 0.0f) : slope;  // to the last bit, and squares overflow further out
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

  // Eight sums at column `col` of each of kRows rows, `apart` from `row` on, of problem z. Beyond the edges nothing happens. What is read
  // for all rows is asked for before anything is stored: a store might be to what is read, so nvcc moves no load across it.
  template <int kRows>
  __device__ __forceinline__ void operator()(float (&x)[kRows][8], int z, int row, int apart, int col) const {
    const int count = n - col;
    if (row >= m || count <= 0) return;
    const bool whole = vectors && count >= 8;
    float y[kRows][8];
    if (epilogue == Epilogue::kGeluSlope) {
      load_rows(y, kept + z * stride_kept + col, pitch_kept, row, apart, count, whole);
    } else if (has_residual(epilogue)) {
      const int64_t at = z * stride_residual + col;
      if (floats) {
        load_rows(y, static_cast<const float*>(residual) + at, pitch_residual, row, apart, count, whole);
      } else {
        load_rows(y, static_cast<const In*>(residual) + at, pitch_residual, row, apart, count, whole);
      }
    }
    float more[8] = {};
    if (has_bias(epilogue)) load8(more, bias + col, count, whole);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < 8; ++i) x[r][i] = fmaf(alpha, x[r][i], more[i]);
    }
    if (epilogue == Epilogue::kBiasGelu) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (kept != nullptr && row + r * apart < m)
          store8(kept + z * stride_kept + (row + r * apart) * pitch_kept + col, x[r], count, whole);
#pragma unroll
        for (int i = 0; i < 8; ++i) x[r][i] = gelu(days::to_float(days::from_float<In>(x[r][i])));
      }
    } else if (epilogue == Epilogue::kGeluSlope) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int i = 0; i < 8; ++i) x[r][i] *= gelu_slope(y[r][i]);
      }
    } else if (has_residual(epilogue)) {
      add_rows(x, y);
    }
    const int64_t at = z * stride_c + col;
    if (adds) {
      load_rows(y, static_cast<const float*>(c) + at, pitch_c, row, apart, count, whole);
      add_rows(x, y);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (row + r * apart >= m) continue;
      const int64_t place = at + (row + r * apart) * pitch_c;
      if (floats) {
        store8(static_cast<float*>(c) + place, x[r], count, whole);
      } else {
        store8(static_cast<In*>(c) + place, x[r], count, whole);
      }
    }
  }

  // Asks for what will be read at rows `row` to row + rows - 1, columns `col` to col + cols - 1, so that it is in L2 by then; thread
  // `thread` of `threads`.
  __device__ __forceinline__ void prefetch(int z, int row, int rows, int col, int cols, int thread,
                                           int threads) const {
    const void* from;
    int64_t pitch;
    int bytes = floats ? 4 : static_cast<int>(sizeof(In));
    if (epilogue == Epilogue::kGeluSlope) {
      from = kept + z * stride_kept, pitch = pitch_kept, bytes = static_cast<int>(sizeof(In));
    } else if (has_residual(epilogue)) {
      from = static_cast<const char*>(residual) + z * stride_residual * bytes, pitch = pitch_residual;
    } else if (adds) {
      from = static_cast<const char*>(c) + z * stride_c * bytes, pitch = pitch_c;
    } else {
      return;
    }
    const int lines = cols * bytes / 128;
    for (int i = thread; i < rows * lines; i += threads) {
      const int at_row = row + i / lines, at_col = col + i % lines * (128 / bytes);
      if (at_row < m && at_col < n)
        days::ptx::prefetch_global_l2(static_cast<const char*>(from) + (at_row * pitch + at_col) * bytes);
    }
  }

 private:
  template <int kRows, class T>
  __device__ __forceinline__ void load_rows(float (&y)[kRows][8], const T* from, int64_t pitch, int row,
                                            int apart, int count, bool whole) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const bool there = row + r * apart < m;
      load8(y[r], from + (there ? row + r * apart : row) * pitch, count, whole);
    }
  }
  template <int kRows>
  __device__ __forceinline__ static void add_rows(float (&x)[kRows][8], const float (&y)[kRows][8]) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < 8; ++i) x[r][i] += y[r][i];
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
    float x[4][8];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
#pragma unroll
      for (int i = 0; i < 8; i += 4) {
        const float4 piece = *reinterpret_cast<const float4*>(at(lane / 8 + 4 * r, lane % 8 * 8 + i));
        x[r][i] = piece.x, x[r][i + 1] = piece.y, x[r][i + 2] = piece.z, x[r][i + 3] = piece.w;
      }
    }
    finish(x, z, row + lane / 8, 4, col + lane % 8 * 8);
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
