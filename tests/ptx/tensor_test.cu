// SPDX-License-Identifier: MIT
//
// Tensor cores: every shape and type of mma.sync and wmma against integers that no rounding touches, with
// operands that differ in every row and column; ldmatrix and its kind; what is reported. The kernels' results
// are the same on a GPU of compute capability 9.0.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>
#include <mma.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/ptx.h"
#include "common/ptx/stmatrix.h"
#include "tests/ptx/managed.h"

#ifdef __SIMT__
#include "simt/tests/reports.h"
#endif

namespace tensor_test {

namespace ptx = days::ptx;
namespace wmma = nvcuda::wmma;

using ptx_tests::managed;

// Small integers; unsigned types get no negative ones.
__host__ __device__ int value_a(int row, int column, bool negative) {
  return (row * 7 + column * 3 + row * column) % 11 - (negative ? 5 : 0);
}
__host__ __device__ int value_b(int row, int column, bool negative) {
  return (row * 5 + column * 2 + row * column * 3) % 7 - (negative ? 3 : 0);
}
__host__ __device__ int value_c(int row, int column) {
  return row * 10 - column * 9;
}

long long expected_d(int row, int column, int k, bool negative) {
  long long sum = value_c(row, column);
  for (int i = 0; i < k; ++i) sum += value_a(row, i, negative) * value_b(i, column, negative);
  return sum;
}

// ---- mma.sync: fragments filled as PTX's pictures say, written out here once more ----

struct Half {
  static constexpr int per = 2;
  static __device__ uint32_t pack(const int* v) {
    return static_cast<uint32_t>(__half_as_ushort(__float2half(static_cast<float>(v[0])))) |
           static_cast<uint32_t>(__half_as_ushort(__float2half(static_cast<float>(v[1])))) << 16;
  }
};
struct Bfloat16 {
  static constexpr int per = 2;
  static __device__ uint32_t pack(const int* v) {
    return static_cast<uint32_t>(__bfloat16_as_ushort(__float2bfloat16(static_cast<float>(v[0])))) |
           static_cast<uint32_t>(__bfloat16_as_ushort(__float2bfloat16(static_cast<float>(v[1])))) << 16;
  }
};
struct Tf32 {
  static constexpr int per = 1;
  static __device__ uint32_t pack(const int* v) { return ptx::cvt_rna_tf32(static_cast<float>(v[0])); }
};
struct Byte {
  static constexpr int per = 4;
  static __device__ uint32_t pack(const int* v) {
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word |= static_cast<uint32_t>(v[i] & 255) << 8 * i;
    return word;
  }
};

template <class T>
struct Fp8 {
  static constexpr int per = 4;
  static __device__ uint32_t pack(const int* v) {
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word |= uint32_t{T(static_cast<float>(v[i])).__x} << 8 * i;
    return word;
  }
};

// Shape m x 8 x k. `Multiply` calls the instruction; Out is what d's elements are, Reg what they stand in.
template <class Type, int m, int k, bool kNegative, class Reg, class Multiply>
__global__ void mma_kernel(double* out, Multiply multiply) {
  const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4;
  constexpr int kA = m * k / 32 / Type::per, kB = 8 * k / 32 / Type::per;
  constexpr int kD = m * 8 / 32;
  uint32_t a[kA], b[kB];
  for (int r = 0; r < kA; ++r) {
    int v[4];
    const int row = g + (m == 16 ? r % 2 * 8 : 0), block = m == 16 ? r / 2 : r;
    for (int i = 0; i < Type::per; ++i)
      v[i] = value_a(row, block * 4 * Type::per + t * Type::per + i, kNegative);
    a[r] = Type::pack(v);
  }
  for (int r = 0; r < kB; ++r) {
    int v[4];
    for (int i = 0; i < Type::per; ++i) v[i] = value_b(r * 4 * Type::per + t * Type::per + i, g, kNegative);
    b[r] = Type::pack(v);
  }
  Reg c[kD], d[kD];
  for (int i = 0; i < kD; ++i) c[i] = static_cast<Reg>(value_c(g + i / 2 * 8, t * 2 + i % 2));
  multiply(d, a, b, c);
  for (int i = 0; i < kD; ++i) out[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = static_cast<double>(d[i]);
}

template <class Type, int m, int k, bool kNegative, class Reg, class Multiply>
void expect_product(const char* name, Multiply multiply) {
  double* out = managed<double>(m * 8);
  mma_kernel<Type, m, k, kNegative, Reg><<<1, 32>>>(out, multiply);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << name;
  for (int i = 0; i < m * 8; ++i)
    ASSERT_EQ(out[i], static_cast<double>(expected_d(i / 8, i % 8, k, kNegative))) << name << " " << i;
  cudaFree(out);
}

#define DAYS_MULTIPLY(name)                                                      \
  struct name##_call {                                                           \
    template <class D, class A, class B, class C>                                \
    __device__ void operator()(D& d, const A& a, const B& b, const C& c) const { \
      ptx::name(d, a, b, c);                                                     \
    }                                                                            \
  };
DAYS_MULTIPLY(mma_m16n8k8_f32_f16_f16_f32)
DAYS_MULTIPLY(mma_m16n8k16_f32_f16_f16_f32)
DAYS_MULTIPLY(mma_m16n8k8_f32_bf16_bf16_f32)
DAYS_MULTIPLY(mma_m16n8k16_f32_bf16_bf16_f32)
DAYS_MULTIPLY(mma_m16n8k4_f32_tf32_tf32_f32)
DAYS_MULTIPLY(mma_m16n8k8_f32_tf32_tf32_f32)
DAYS_MULTIPLY(mma_m8n8k16_s32_s8_s8_s32)
DAYS_MULTIPLY(mma_m8n8k16_s32_u8_u8_s32)
DAYS_MULTIPLY(mma_m16n8k16_s32_s8_s8_s32)
DAYS_MULTIPLY(mma_m16n8k32_s32_s8_s8_s32)
DAYS_MULTIPLY(mma_m16n8k16_s32_u8_u8_s32)
DAYS_MULTIPLY(mma_m16n8k32_s32_u8_u8_s32)
DAYS_MULTIPLY(mma_m16n8k32_f32_e4m3_e4m3_f32)
DAYS_MULTIPLY(mma_m16n8k32_f32_e5m2_e5m2_f32)

TEST(MmaSync, ShapesAndTypes) {
#define EXPECT_PRODUCT(Type, m, k, negative, Reg, name) \
  expect_product<Type, m, k, negative, Reg>(#name, name##_call{})
  EXPECT_PRODUCT(Half, 16, 8, true, float, mma_m16n8k8_f32_f16_f16_f32);
  EXPECT_PRODUCT(Half, 16, 16, true, float, mma_m16n8k16_f32_f16_f16_f32);
  EXPECT_PRODUCT(Bfloat16, 16, 8, true, float, mma_m16n8k8_f32_bf16_bf16_f32);
  EXPECT_PRODUCT(Bfloat16, 16, 16, true, float, mma_m16n8k16_f32_bf16_bf16_f32);
  EXPECT_PRODUCT(Tf32, 16, 4, true, float, mma_m16n8k4_f32_tf32_tf32_f32);
  EXPECT_PRODUCT(Tf32, 16, 8, true, float, mma_m16n8k8_f32_tf32_tf32_f32);
  EXPECT_PRODUCT(Byte, 8, 16, true, int, mma_m8n8k16_s32_s8_s8_s32);
  EXPECT_PRODUCT(Byte, 8, 16, false, int, mma_m8n8k16_s32_u8_u8_s32);
  EXPECT_PRODUCT(Byte, 16, 16, true, int, mma_m16n8k16_s32_s8_s8_s32);
  EXPECT_PRODUCT(Byte, 16, 32, true, int, mma_m16n8k32_s32_s8_s8_s32);
  EXPECT_PRODUCT(Byte, 16, 16, false, int, mma_m16n8k16_s32_u8_u8_s32);
  EXPECT_PRODUCT(Byte, 16, 32, false, int, mma_m16n8k32_s32_u8_u8_s32);
  EXPECT_PRODUCT(Fp8<__nv_fp8_e4m3>, 16, 32, true, float, mma_m16n8k32_f32_e4m3_e4m3_f32);
  EXPECT_PRODUCT(Fp8<__nv_fp8_e5m2>, 16, 32, true, float, mma_m16n8k32_f32_e5m2_e5m2_f32);
}

// Accumulators in half: two a register.
template <int k>
__global__ void mma_half_kernel(double* out) {
  const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4;
  uint32_t a[k / 4], b[k / 8], c[2], d[2];
  for (int r = 0; r < k / 4; ++r) {
    const int column = r / 2 * 8 + t * 2, row = g + r % 2 * 8;
    const int v[2] = {value_a(row, column, true), value_a(row, column + 1, true)};
    a[r] = Half::pack(v);
  }
  for (int r = 0; r < k / 8; ++r) {
    const int v[2] = {value_b(r * 8 + t * 2, g, true), value_b(r * 8 + t * 2 + 1, g, true)};
    b[r] = Half::pack(v);
  }
  for (int r = 0; r < 2; ++r) {
    const int v[2] = {value_c(g + r * 8, t * 2), value_c(g + r * 8, t * 2 + 1)};
    c[r] = Half::pack(v);
  }
  if constexpr (k == 8) {
    ptx::mma_m16n8k8_f16_f16_f16_f16(d, a, b, c);
  } else {
    ptx::mma_m16n8k16_f16_f16_f16_f16(d, a, b, c);
  }
  for (int i = 0; i < 4; ++i) {
    const auto bits = static_cast<unsigned short>(d[i / 2] >> i % 2 * 16);
    out[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = static_cast<double>(__half2float(__ushort_as_half(bits)));
  }
}

TEST(MmaSync, AccumulatesInHalf) {
  double* out = managed<double>(128);
  mma_half_kernel<8><<<1, 32>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 128; ++i)
    ASSERT_EQ(out[i], static_cast<double>(expected_d(i / 8, i % 8, 8, true))) << i;
  mma_half_kernel<16><<<1, 32>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 128; ++i)
    ASSERT_EQ(out[i], static_cast<double>(expected_d(i / 8, i % 8, 16, true))) << i;
  cudaFree(out);
}

// The bits of a float as tf32: to the nearest, halves to even; infinity and NaN stay what they are.
__global__ void tf32_kernel(const float* x, uint32_t* bits) {
  bits[threadIdx.x] = ptx::cvt_rn_tf32(x[threadIdx.x]);
}

TEST(CvtRnTf32, IsTheNearest) {
  constexpr int kValues = 12;
  constexpr uint32_t kGiven[kValues] = {0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001,
                                        0x3f802fff, 0x3f803000, 0xbf801001, 0x7f7fefff,
                                        0x7f7fffff, 0xff800000, 0x7fffffff, 0xff800001};
  constexpr uint32_t kExpected[kValues] = {0x3f800000, 0x3f800000, 0x3f800000, 0x3f802000, 0x3f802000,
                                           0x3f804000, 0xbf802000, 0x7f7fe000, 0x7f800000, 0xff800000};
  float* x = managed<float>(kValues);
  uint32_t* bits = managed<uint32_t>(kValues);
  memcpy(x, kGiven, sizeof kGiven);
  tf32_kernel<<<1, kValues>>>(x, bits);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(bits[i] & 0xffffe000, kExpected[i]) << i;
  for (int i = 10; i < kValues; ++i)
    EXPECT_GT(bits[i] & 0x7fffe000, 0x7f800000u) << i;  // NaN, as mma reads it
  cudaFree(x);
  cudaFree(bits);
}

// Of a tf32 operand mma reads the upper 19 bits, and no rounding comes before: 1 + 2^-10 - 2^-23 is 1.
__global__ void cut_kernel(float* out) {
  const uint32_t almost = 0x3f801fff, one = 0x3f800000;
  float d[2][4] = {};
  ptx::mma_m16n8k8_f32_tf32_tf32_f32(d[0], {almost, almost, almost, almost}, {one, one}, d[0]);
  ptx::mma_m16n8k8_f32_tf32_tf32_f32(d[1], {one, one, one, one}, {almost, almost}, d[1]);
  for (int i = 0; i < 8; ++i) out[8 * threadIdx.x + static_cast<unsigned>(i)] = d[i / 4][i % 4];
}

TEST(MmaSync, CutsTf32Off) {
  float* out = managed<float>(256);
  cut_kernel<<<1, 32>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(out[i], 8) << i;
  cudaFree(out);
}

__global__ void mma_double_kernel(double* out) {
  const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4;
  const double c[2] = {static_cast<double>(value_c(g, t * 2)), static_cast<double>(value_c(g, t * 2 + 1))};
  double d[2];
  ptx::mma_m8n8k4_f64_f64_f64_f64(d, value_a(g, t, true), value_b(t, g, true), c);
  out[g * 8 + t * 2] = d[0];
  out[g * 8 + t * 2 + 1] = d[1];
}

TEST(MmaSync, Double) {
  double* out = managed<double>(64);
  mma_double_kernel<<<1, 32>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(out[i], static_cast<double>(expected_d(i / 8, i % 8, 4, true))) << i;
  cudaFree(out);
}

// ---- wmma ----

template <class T>
struct Storage {
  using type = T;
};
template <>
struct Storage<wmma::precision::tf32> {
  using type = float;
};

template <class T, int m, int n, int k, class LayoutA, class LayoutB, class C>
__global__ void wmma_kernel(const typename Storage<T>::type* a, const typename Storage<T>::type* b, C* c,
                            int lda, int ldb, int ldc, wmma::layout_t layout) {
  wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, m, n, k, C> fc, twice;
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::load_matrix_sync(fc, c, ldc, layout);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::fill_fragment(twice, static_cast<C>(2.0f));  // elements of equal fragments correspond
  for (int i = 0; i < twice.num_elements; ++i) twice.x[i] = twice.x[i] * fc.x[i];
  wmma::store_matrix_sync(c, twice, ldc, layout);
}

// A matrix in memory, rows or columns first, with some space between them.
template <class T>
struct Matrix {
  T* data;
  int stride;
  bool by_rows;
  Matrix(int rows, int columns, bool by_rows_)
      : stride(((by_rows_ ? columns : rows) + 31) / 16 * 16), by_rows(by_rows_) {
    data = managed<T>((by_rows_ ? rows : columns) * stride);
  }
  ~Matrix() { cudaFree(data); }
  T& at(int row, int column) { return data[by_rows ? row * stride + column : column * stride + row]; }
};

template <class T, int m, int n, int k, class LayoutA, class LayoutB, class C>
void expect_wmma(bool negative, bool c_by_rows) {
  using S = typename Storage<T>::type;
  Matrix<S> a(m, k, std::is_same_v<LayoutA, wmma::row_major>),
      b(k, n, std::is_same_v<LayoutB, wmma::row_major>);
  Matrix<C> c(m, n, c_by_rows);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < k; ++j) a.at(i, j) = static_cast<S>(static_cast<float>(value_a(i, j, negative)));
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < n; ++j) b.at(i, j) = static_cast<S>(static_cast<float>(value_b(i, j, negative)));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c.at(i, j) = static_cast<C>(static_cast<float>(value_c(i, j)));
  wmma_kernel<T, m, n, k, LayoutA, LayoutB, C>
      <<<1, 32>>>(a.data, b.data, c.data, a.stride, b.stride, c.stride,
                  c_by_rows ? wmma::mem_row_major : wmma::mem_col_major);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      ASSERT_EQ(static_cast<double>(static_cast<float>(c.at(i, j))),
                2.0 * static_cast<double>(expected_d(i, j, k, negative)))
          << m << "x" << n << "x" << k << " (" << i << ", " << j << ")";
    }
  }
}

template <class T, int m, int n, int k, class C>
void expect_layouts(bool negative = true) {
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  for (bool by_rows : {true, false}) {
    expect_wmma<T, m, n, k, Row, Row, C>(negative, by_rows);
    expect_wmma<T, m, n, k, Row, Column, C>(negative, by_rows);
    expect_wmma<T, m, n, k, Column, Row, C>(negative, by_rows);
    expect_wmma<T, m, n, k, Column, Column, C>(negative, by_rows);
  }
}

template <class T, class C>
void expect_shapes(bool negative = true) {
  expect_layouts<T, 16, 16, 16, C>(negative);
  expect_layouts<T, 32, 8, 16, C>(negative);
  expect_layouts<T, 8, 32, 16, C>(negative);
}

TEST(Wmma, ShapesLayoutsAndTypes) {
  expect_shapes<__half, float>();
  expect_shapes<__half, __half>();
  expect_shapes<__nv_bfloat16, float>();
  expect_shapes<signed char, int>();
  expect_shapes<unsigned char, int>(false);
  expect_layouts<wmma::precision::tf32, 16, 16, 8, float>();
  expect_layouts<double, 8, 8, 4, double>();
}

// To nearest at the 10th bit, halves away from zero; what was not rounded is cut off.
__global__ void tf32_kernel(const float* in, float* rounded, float* product) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
  wmma::load_matrix_sync(a, in, 8);
  wmma::fill_fragment(b, 0.125f);
  wmma::fill_fragment(c, 0.0f);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(product, c, 16, wmma::mem_row_major);
  if (threadIdx.x < 4) rounded[threadIdx.x] = wmma::__float_to_tf32(in[threadIdx.x * 8]);
}

TEST(Wmma, RoundsToTf32) {
  float *in = managed<float>(128), *rounded = managed<float>(4), *product = managed<float>(256);
  const float ulp = 1.0f / 1024, values[4] = {1 + ulp / 2, -1 - ulp / 2, 1 + ulp * 0.499f, 1 + ulp * 1.75f};
  for (int i = 0; i < 128; ++i) in[i] = values[i / 8 % 4];
  tf32_kernel<<<1, 32>>>(in, rounded, product);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(std::vector<float>(rounded, rounded + 4),
            (std::vector<float>{1 + ulp, -1 - ulp, 1, 1 + 2 * ulp}));
  const float cut[4] = {1, -1, 1, 1 + ulp};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(product[i * 16], cut[i]) << i;
  cudaFree(in), cudaFree(rounded), cudaFree(product);
}

// ---- ldmatrix, stmatrix, movmatrix ----

template <int kMatrices, bool kTransposed>
__global__ void load_matrices(uint32_t* out) {
  __shared__ alignas(16) unsigned short tile[32][8];
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 8; ++i) tile[lane][i] = static_cast<unsigned short>(lane * 8 + i);
  __syncthreads();
  uint32_t d[kMatrices];
  ptx::ldmatrix<kTransposed>(d, tile[lane]);
  for (int i = 0; i < kMatrices; ++i) out[i * 32 + lane] = d[i];
}

template <int kMatrices, bool kTransposed>
void expect_matrices() {
  uint32_t* out = managed<uint32_t>(128);
  load_matrices<kMatrices, kTransposed><<<1, 32>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < kMatrices * 32; ++i) {
    const int matrix = i / 32, g = i % 32 / 4, t = i % 4;
    const auto element = [&](int half) {
      const int row = kTransposed ? 2 * t + half : g, column = kTransposed ? g : 2 * t + half;
      return static_cast<uint32_t>((matrix * 8 + row) * 8 + column);
    };
    ASSERT_EQ(out[i], element(0) | element(1) << 16) << i;
  }
  cudaFree(out);
}

TEST(Ldmatrix, OneTwoFourAndTransposed) {
  expect_matrices<1, false>();
  expect_matrices<2, false>();
  expect_matrices<4, false>();
  expect_matrices<1, true>();
  expect_matrices<2, true>();
  expect_matrices<4, true>();
}

__global__ void there_and_back(unsigned short* out) {
  __shared__ alignas(16) unsigned short tile[2][32][8];
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 8; ++i) tile[0][lane][i] = static_cast<unsigned short>(lane * 8 + i);
  __syncwarp();
  uint32_t d[4];
  ptx::ldmatrix(d, tile[0][lane]);
  for (uint32_t& r : d) r = ptx::movmatrix_trans(r);
  ptx::stmatrix<true>(tile[1][lane], d);  // transposed twice: as it was
  __syncwarp();
  for (int i = 0; i < 8; ++i) out[lane * 8 + i] = tile[1][lane][i];
}

TEST(Ldmatrix, ThereAndBack) {
  unsigned short* out = managed<unsigned short>(256);
  there_and_back<<<1, 32>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(out[i], i);
  cudaFree(out);
}

// One and two matrices: lanes beyond their rows bring no address that counts.
template <int kMatrices>
__global__ void store_matrices(unsigned short* out) {
  __shared__ alignas(16) unsigned short tile[32][8];
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 8; ++i) tile[lane][i] = 0xffff;
  __syncwarp();
  uint32_t s[kMatrices];
  for (int i = 0; i < kMatrices; ++i)
    s[i] = static_cast<uint32_t>(i * 64 + lane * 2) | static_cast<uint32_t>(i * 64 + lane * 2 + 1) << 16;
  ptx::stmatrix(tile[lane % (8 * kMatrices)], s);
  __syncwarp();
  for (int i = 0; i < 8; ++i) out[lane * 8 + i] = tile[lane][i];
}
template <int kMatrices>
void expect_stored() {
  unsigned short* out = managed<unsigned short>(256);
  store_matrices<kMatrices><<<1, 32>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(out[i], i < 64 * kMatrices ? i : 0xffff) << i;
  cudaFree(out);
}
TEST(Stmatrix, OneTwoFour) {
  expect_stored<1>();
  expect_stored<2>();
  expect_stored<4>();
}

#ifdef __SIMT__

__global__ void misuse(int what, __half* p) {
  __shared__ alignas(16) unsigned short tile[8][8];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  uint32_t d[1];
  switch (what) {
    case 0:
      wmma::load_matrix_sync(a, p + threadIdx.x * 16, 16);
      break;
    case 1:
      wmma::load_matrix_sync(a, p, 17);
      break;
    case 2:
      if (threadIdx.x < 31) wmma::load_matrix_sync(a, p, 16);
      break;
    case 3:
      ptx::ldmatrix(d, &tile[threadIdx.x % 8][1]);
      break;
  }
}

TEST(TensorReports, Misuse) {
  const char* const expected[] = {
      "must come with the same pointer and stride [simt-warp-mask]",
      "the stride of 16 bytes [simt-misaligned]", "[simt-warp-mask]",
      "ldmatrix: the address in shared memory must be a multiple of 16 [simt-misaligned]"};
  for (int what = 0; what < 4; ++what) {
    if (what == 1 && !simt::checked_build) continue;
    const std::string text = report_of([&] { misuse<<<1, 32>>>(what, managed<__half>(1024)); });
    EXPECT_HAS(text, expected[what]);
    EXPECT_HAS(text, "\ntests/ptx/tensor_test.cu:");
  }
}

#endif  // __SIMT__

}  // namespace tensor_test
