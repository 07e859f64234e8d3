// SPDX-License-Identifier: MIT
//
// Matrix products of a warpgroup: every type, width and layout against integers that no rounding touches, with operands that differ in
// every row and column; groups and waits; what is reported. The kernels' results are the same on a GPU of compute capability 9.0.

#include "common/ptx/wgmma.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/ptx.h"
#include "tests/ptx/managed.h"

#ifdef __SIMT__
#include "simt/tests/apart.h"
#include "simt/tests/reports.h"
#endif

namespace wgmma_test {

namespace ptx = days::ptx;
using ptx::Major;
using ptx::WgmmaSwizzle;

using ptx_tests::managed;

bool has_wgmma() {
  cudaDeviceProp properties;
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  return properties.major == 9 && properties.minor == 0;
}
#define SKIP_WITHOUT_WGMMA() \
  if (!has_wgmma()) GTEST_SKIP() << "wgmma needs compute capability 9.0"

// Small integers, which every type has.
__host__ __device__ int value_a(int row, int k) {
  return (row * 7 + k * 3 + row * k) % 11 - 5;
}
__host__ __device__ int value_b(int k, int column) {
  return (k * 5 + column * 2 + k * column * 3) % 7 - 3;
}
__host__ __device__ int value_d(int row, int column) {
  return row * 10 - column * 9;
}
int expected(int row, int column, int depth) {
  int sum = value_d(row, column);
  for (int k = 0; k < depth; ++k) sum += value_a(row, k) * value_b(k, column);
  return sum;
}

template <class T>
struct Element {
  using Stored = T;
  static __host__ __device__ T of(int v) { return T(static_cast<float>(v)); }
};
template <>
struct Element<int8_t> {
  using Stored = int8_t;
  static __host__ __device__ int8_t of(int v) { return static_cast<int8_t>(v); }
};
template <>
struct Element<ptx::Tf32> {
  using Stored = float;
  static __host__ __device__ float of(int v) { return static_cast<float>(v); }
};

// A tile in shared memory: how far its pieces lie from each other, written out here once more, and its descriptor.
struct Layout {
  Major major;
  WgmmaSwizzle swizzle;
  uint32_t leading, stride;

  __host__ __device__ uint32_t width() const {
    return swizzle == WgmmaSwizzle::bytes128  ? 128
           : swizzle == WgmmaSwizzle::bytes64 ? 64
           : swizzle == WgmmaSwizzle::bytes32 ? 32
                                              : 16;
  }
  // Of element (row, k), which has `bytes`: from the tile's start.
  __host__ __device__ uint32_t offset(uint32_t row, uint32_t k, uint32_t bytes) const {
    const uint32_t across = (major == Major::k ? k : row) * bytes, down = major == Major::k ? row : k;
    uint32_t at = down % 8 * width() + across % width();
    if (swizzle == WgmmaSwizzle::none) {
      at += across / 16 * (major == Major::k ? leading : stride) +
            down / 8 * (major == Major::k ? stride : leading);
    } else {
      at += across / width() * leading + down / 8 * stride;
      // Piece p of line l of a block stands in place p ^ l, where a block of 128 bytes is a line of the swizzle.
      at ^= (at / 128 & (width() / 16 - 1)) * 16;
    }
    return at;
  }
};

// A layout of `rows` rows and 32 bytes of k, whose parts do not overlap.
Layout layout_of(Major major, WgmmaSwizzle swizzle, int rows) {
  Layout layout{major, swizzle, 16, 0};
  const uint32_t block = 8 * layout.width();
  const auto n = static_cast<uint32_t>(rows);
  if (major == Major::k && swizzle == WgmmaSwizzle::none)
    return {major, swizzle, n * 16 + 128, block};  // a column of blocks after the other
  if (major == Major::k) return {major, swizzle, 16, block};
  if (swizzle == WgmmaSwizzle::none) return {major, swizzle, n * 16, block};
  return {major, swizzle, 2 * block, block};
}

constexpr int kTile = 32 * 1024;

template <class A, class B, Major kA, Major kB, int kColumns, bool kRegisters>
__global__ void product(Layout layout_a, Layout layout_b, ptx::detail::WgmmaSum<A>* out, int steps) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  unsigned char *const a = tiles, *const b = tiles + kTile;
  using Ta = typename Element<A>::Stored;
  using Tb = typename Element<B>::Stored;
  constexpr int kDepth = 32 / sizeof(Ta);
  for (int i = threadIdx.x; i < 2 * kTile; i += blockDim.x) tiles[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < 64 * kDepth; i += blockDim.x)
    *reinterpret_cast<Ta*>(a + layout_a.offset(i / kDepth, i % kDepth, sizeof(Ta))) =
        Element<A>::of(value_a(i / kDepth, i % kDepth));
  for (int i = threadIdx.x; i < kColumns * kDepth; i += blockDim.x)
    *reinterpret_cast<Tb*>(b + layout_b.offset(i / kDepth, i % kDepth, sizeof(Tb))) =
        Element<B>::of(value_b(i % kDepth, i / kDepth));
  ptx::fence_proxy_async_shared();
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const auto row_of = [&](int i) { return warp * 16 + lane / 4 + i % 4 / 2 * 8; };
  const auto column_of = [&](int i) { return i / 4 * 8 + lane % 4 * 2 + i % 2; };
  ptx::detail::WgmmaSum<A> d[kColumns / 2];
  for (int i = 0; i < kColumns / 2; ++i)
    d[i] = static_cast<ptx::detail::WgmmaSum<A>>(value_d(row_of(i), column_of(i)));
  uint32_t registers[4] = {};
  if constexpr (kRegisters) {
    constexpr int kEach = 4 / sizeof(Ta);
    for (int i = 0; i < 4; ++i)
      for (int e = 0; e < kEach; ++e)
        reinterpret_cast<Ta*>(registers)[i * kEach + e] =
            Element<A>::of(value_a(warp * 16 + lane / 4 + i % 2 * 8, (lane % 4 + i / 2 * 4) * kEach + e));
  }
  const uint64_t at_a = ptx::wgmma_descriptor(a, layout_a.leading, layout_a.stride, layout_a.swizzle);
  const uint64_t at_b = ptx::wgmma_descriptor(b, layout_b.leading, layout_b.stride, layout_b.swizzle);
  ptx::wgmma_fence();
  for (int step = 0; step < steps; ++step) {
    if constexpr (kRegisters) {
      ptx::wgmma<A, B, kB>(d, registers, at_b);
    } else {
      ptx::wgmma<A, B, kA, kB>(d, at_a, at_b);
    }
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>();
  for (int i = 0; i < kColumns / 2; ++i) out[row_of(i) * kColumns + column_of(i)] = d[i];
}

template <class A, class B = A, Major kA = Major::k, Major kB = Major::k, int kColumns = 64,
          bool kRegisters = false>
void check(WgmmaSwizzle swizzle_a = WgmmaSwizzle::bytes128, WgmmaSwizzle swizzle_b = WgmmaSwizzle::bytes128) {
  using Sum = ptx::detail::WgmmaSum<A>;
  constexpr int kDepth = 32 / sizeof(typename Element<A>::Stored);
  auto* out = managed<Sum>(64 * kColumns);
  const auto kernel = product<A, B, kA, kB, kColumns, kRegisters>;
  ASSERT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 2 * kTile),
            cudaSuccess);
  kernel<<<1, 128, 2 * kTile>>>(layout_of(kA, swizzle_a, 64), layout_of(kB, swizzle_b, kColumns), out, 1);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < kColumns; ++column)
      ASSERT_EQ(static_cast<int>(out[row * kColumns + column]), expected(row, column, kDepth))
          << "row " << row << ", column " << column;
  }
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

TEST(Wgmma, Types) {
  SKIP_WITHOUT_WGMMA();
  check<__half>();
  check<__nv_bfloat16>();
  check<ptx::Tf32>();
  check<__nv_fp8_e4m3>();
  check<__nv_fp8_e5m2>();
  check<__nv_fp8_e4m3, __nv_fp8_e5m2>();
  check<__nv_fp8_e5m2, __nv_fp8_e4m3>();
  check<int8_t>();
}

TEST(Wgmma, Columns) {
  SKIP_WITHOUT_WGMMA();
  check<__half, __half, Major::k, Major::k, 8>();
  check<__half, __half, Major::k, Major::k, 96>();
  check<__half, __half, Major::k, Major::k, 136>();
  check<__nv_bfloat16, __nv_bfloat16, Major::k, Major::rows, 192>();
  check<__nv_bfloat16, __nv_bfloat16, Major::k, Major::k, 256>();
  check<__nv_fp8_e4m3, __nv_fp8_e4m3, Major::k, Major::k, 248>();
  check<int8_t, int8_t, Major::k, Major::k, 24>();
  check<int8_t, int8_t, Major::k, Major::k, 256>();
}

TEST(Wgmma, LayoutsAlongK) {
  SKIP_WITHOUT_WGMMA();
  for (const WgmmaSwizzle swizzle :
       {WgmmaSwizzle::none, WgmmaSwizzle::bytes32, WgmmaSwizzle::bytes64, WgmmaSwizzle::bytes128}) {
    check<__half, __half, Major::k, Major::k, 72>(swizzle, WgmmaSwizzle::bytes128);
    check<__half, __half, Major::k, Major::k, 72>(WgmmaSwizzle::bytes64, swizzle);
    check<ptx::Tf32, ptx::Tf32, Major::k, Major::k, 32>(swizzle, swizzle);
    check<__nv_fp8_e4m3, __nv_fp8_e4m3, Major::k, Major::k, 128>(swizzle, swizzle);
  }
}

TEST(Wgmma, LayoutsAlongRows) {
  SKIP_WITHOUT_WGMMA();
  for (const WgmmaSwizzle swizzle :
       {WgmmaSwizzle::none, WgmmaSwizzle::bytes32, WgmmaSwizzle::bytes64, WgmmaSwizzle::bytes128}) {
    check<__half, __half, Major::rows, Major::k, 64>(swizzle, WgmmaSwizzle::bytes128);
    check<__half, __half, Major::k, Major::rows, 128>(WgmmaSwizzle::bytes32, swizzle);
    check<__nv_bfloat16, __nv_bfloat16, Major::rows, Major::rows, 256>(swizzle, swizzle);
  }
}

TEST(Wgmma, AInRegisters) {
  SKIP_WITHOUT_WGMMA();
  check<__half, __half, Major::k, Major::k, 64, true>();
  check<__nv_bfloat16, __nv_bfloat16, Major::k, Major::rows, 128, true>();
  check<ptx::Tf32, ptx::Tf32, Major::k, Major::k, 40, true>();
  check<__nv_fp8_e5m2, __nv_fp8_e5m2, Major::k, Major::k, 64, true>();
  check<int8_t, int8_t, Major::k, Major::k, 64, true>();
}

// ---- one tile along k, of four steps, for the rest ----

struct alignas(1024) Tiles {
  __half a[64 * 64], b[64 * 64];  // rows of 128 bytes
};

__device__ void fill(Tiles& tiles, int salt) {
  for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) {
    const int row = i / 64, k = i % 64, piece = k / 8 ^ row % 8;
    tiles.a[row * 64 + piece * 8 + k % 8] = __float2half(static_cast<float>(value_a(row, k + salt)));
    tiles.b[row * 64 + piece * 8 + k % 8] = __float2half(static_cast<float>(value_b(k + salt, row)));
  }
}

// Rows of bytes, as an 8-bit float's tensor map brings them; the ring's stage is filled anew while a product may still read it, or after.
__global__ void ring(const __grid_constant__ CUtensorMap map, float* out, bool early) {
  __shared__ alignas(1024) unsigned char tile[64 * 128];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) ptx::mbarrier_init(&full, 1);
  __syncthreads();
  float d[32] = {};
  const auto copy = [&](int x) {
    if (threadIdx.x > 0) return;
    ptx::mbarrier_arrive_expect_tx(&full, sizeof tile);
    ptx::cp_async_bulk_tensor(tile, &map, x, 0, &full);
  };
  copy(0);
  for (int stage = 0; stage < 2; ++stage) {
    ptx::mbarrier_wait(&full, stage);
    const uint64_t both = ptx::wgmma_descriptor(tile);
    ptx::wgmma_fence();
    for (int k = 0; k < 4; ++k) ptx::wgmma<__nv_fp8_e4m3>(d, both + 2 * k, both + 2 * k);
    ptx::wgmma_commit_group();
    if (stage == 0 && early) copy(128);
    ptx::wgmma_wait_group<0>();
    __syncthreads();
    if (stage == 0 && !early) copy(128);
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = 0; i < 32; ++i)
    out[(warp * 16 + lane / 4 + i % 4 / 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

struct Bytes {
  __nv_fp8_e4m3* data = managed<__nv_fp8_e4m3>(64 * 256);
  CUtensorMap map;
  Bytes() {
    for (int i = 0; i < 64 * 256; ++i) data[i] = __nv_fp8_e4m3(static_cast<float>(value_a(i / 256, i % 256)));
    void* encode = nullptr;
    cudaDriverEntryPointQueryResult status;
    EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                               &status),
              cudaSuccess);
    const cuuint64_t extents[] = {256, 64}, pitch[] = {256};
    const cuuint32_t box[] = {128, 64}, steps[] = {1, 1};
    EXPECT_EQ(reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
                  &map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, data, extents, pitch, box, steps,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
              CUDA_SUCCESS);
  }
};

TEST(Wgmma, TensorMapOfSmallFloats) {
  SKIP_WITHOUT_WGMMA();
  const Bytes bytes;
  auto* out = managed<float>(64 * 64);
  ring<<<1, 128>>>(bytes.map, out, false);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 64; ++column) {
      int sum = 0;
      for (int k = 0; k < 256; ++k) sum += value_a(row, k) * value_a(column, k);
      ASSERT_EQ(out[row * 64 + column], static_cast<float>(sum)) << row << ", " << column;
    }
  }
  EXPECT_EQ(cudaFree(out), cudaSuccess);
  EXPECT_EQ(cudaFree(bytes.data), cudaSuccess);
}

enum class Wrong {
  nothing,
  no_fence,
  no_proxy_fence,
  written_early,
  no_wait,
  no_commit,
  three_warps,
  read_early
};

// d = a * b over two fills of the tile, 64 of k each; a group is left open between them.
__global__ void groups(float* out, Wrong wrong) {
  __shared__ Tiles tiles[2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  fill(tiles[0], 0);
  fill(tiles[1], 64);
  if (wrong != Wrong::no_proxy_fence) ptx::fence_proxy_async_shared();
  __syncthreads();
  float d[32];
  for (int stage = 0; stage < 2; ++stage) {
    const uint64_t a = ptx::wgmma_descriptor(tiles[stage].a), b = ptx::wgmma_descriptor(tiles[stage].b);
    if (wrong != Wrong::no_fence) ptx::wgmma_fence();
    if (wrong != Wrong::three_warps || warp < 3) {
      for (int k = 0; k < 4; ++k) ptx::wgmma<__half>(d, a + 2 * k, b + 2 * k, stage + k > 0);
    }
    if (wrong != Wrong::no_commit) ptx::wgmma_commit_group();
    if (wrong == Wrong::written_early) tiles[stage].b[threadIdx.x] = __half(1.0f);
    if (stage == 1) ptx::wgmma_wait_group<1>();
  }
  if (wrong == Wrong::read_early) {
    for (int i = 0; i < 32; ++i) out[threadIdx.x * 32 + i] = d[i];
  }
  if (wrong != Wrong::no_wait) ptx::wgmma_wait_group<0>();
  if (wrong == Wrong::read_early) return;
  for (int i = 0; i < 32; ++i)
    out[(warp * 16 + lane / 4 + i % 4 / 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
}

TEST(Wgmma, GroupsRunInOrder) {
  SKIP_WITHOUT_WGMMA();
  auto* out = managed<float>(64 * 64);
  groups<<<1, 128>>>(out, Wrong::nothing);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 64; ++column)
      ASSERT_EQ(out[row * 64 + column], static_cast<float>(expected(row, column, 128) - value_d(row, column)))
          << row << ", " << column;
  }
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

// Two warpgroups with accumulators of their own, b in common; the second's begins again with each tile.
__global__ void two_groups(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, 0);
  ptx::fence_proxy_async_shared();
  __syncthreads();
  const int group = threadIdx.x / 128;
  float d[2][4] = {};
  for (int repeat = 0; repeat < 2; ++repeat) {
    ptx::wgmma_fence();
    for (int half = 0; half < 2; ++half)
      for (int k = 0; k < 4; ++k)
        ptx::wgmma<__half>(d[half], ptx::wgmma_descriptor(tiles.a) + 2 * k,
                           ptx::wgmma_descriptor(tiles.b + half * 8 * 64) + 2 * k, group == 0 || k > 0);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
  }
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 4; ++i)
      out[((group * 64) + warp * 16 + lane / 4 + i / 2 * 8) * 16 + half * 8 + lane % 4 * 2 + i % 2] =
          d[half][i];
}

TEST(Wgmma, TwoWarpgroupsAndTwoSums) {
  SKIP_WITHOUT_WGMMA();
  auto* out = managed<float>(2 * 64 * 16);
  two_groups<<<1, 256>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int group = 0; group < 2; ++group) {
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < 16; ++column) {
        const int sum = expected(row, column, 64) - value_d(row, column);
        ASSERT_EQ(out[(group * 64 + row) * 16 + column], static_cast<float>(group == 0 ? 2 * sum : sum))
            << group << ": " << row << ", " << column;
      }
    }
  }
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

// ---- values that are no numbers, and rounding ----

template <class T>
__global__ void one_value(T a, T b, float start, float* out) {
  __shared__ Tiles tiles;
  auto* bytes = reinterpret_cast<T*>(&tiles);
  for (unsigned i = threadIdx.x; i < sizeof tiles / sizeof(T); i += blockDim.x)
    bytes[i] = i < sizeof tiles / sizeof(T) / 2 ? a : b;
  ptx::fence_proxy_async_shared();
  __syncthreads();
  float d[4] = {start, start, start, start};
  ptx::wgmma_fence();
  ptx::wgmma<T>(d, ptx::wgmma_descriptor(tiles.a), ptx::wgmma_descriptor(tiles.b));
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>();
  if (threadIdx.x == 0) *out = d[0];
}

template <class T>
float of_one_value(float a, float b, float start) {
  auto* out = managed<float>(1);
  one_value<<<1, 128>>>(T(a), T(b), start, out);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const float value = *out;
  EXPECT_EQ(cudaFree(out), cudaSuccess);
  return value;
}

TEST(Wgmma, HostileValues) {
  SKIP_WITHOUT_WGMMA();
  constexpr float kInf = INFINITY;
  EXPECT_EQ(of_one_value<__half>(kInf, 1, 0), kInf);
  EXPECT_EQ(of_one_value<__half>(-kInf, 1, 5), -kInf);
  EXPECT_TRUE(std::isnan(of_one_value<__half>(kInf, 1, -kInf)));
  EXPECT_TRUE(std::isnan(of_one_value<__half>(kInf, 0, 0)));
  EXPECT_TRUE(std::isnan(of_one_value<__nv_bfloat16>(NAN, 1, 0)));
  EXPECT_TRUE(std::isnan(of_one_value<__nv_fp8_e4m3>(NAN, 1, 0)));
  EXPECT_EQ(of_one_value<__half>(6e-8f, 1, 0), 16 * 5.9604644775390625e-8f);  // the least half, a subnormal
  EXPECT_EQ(of_one_value<__half>(65504, 65504, 0), 16 * 65504.0f * 65504.0f);
}

#ifdef __SIMT__
TEST(Wgmma, SumsOfSmallFloatsAreExact) {
  EXPECT_EQ(of_one_value<__nv_fp8_e4m3>(1, 1, 131072), 131072.0f + 32);
}

// What a program of its own, with SIMT_FP8_SUMS=13, says.
TEST(WgmmaApart, DISABLED_SumsOfSmallFloats) {
  EXPECT_EQ(of_one_value<__nv_fp8_e4m3>(1, 1, 8192), 8192.0f + 32);  // one is the last bit that stays
  EXPECT_EQ(of_one_value<__nv_fp8_e4m3>(1, 1, 16384), 16384.0f);
  EXPECT_EQ(of_one_value<__nv_fp8_e4m3>(1, 1, -16384), -16384.0f);
  EXPECT_EQ(of_one_value<__half>(1, 1, 16384), 16384.0f + 16);  // of 8 bits alone
}
TEST(Wgmma, SumsOfSmallFloatsAreCutOnRequest) {
  int status = 0;
  const std::string said = apart::run("SIMT_FP8_SUMS=13", "WgmmaApart", "SumsOfSmallFloats", &status);
  EXPECT_EQ(status, 0) << said;
}

std::string report_of_groups(Wrong wrong) {
  return report_of([wrong] {
    float* out = nullptr;
    EXPECT_EQ(cudaMalloc(&out, 64 * 64 * sizeof(float)), cudaSuccess);
    groups<<<1, 128>>>(out, wrong);
  });
}

TEST(Wgmma, WhatIsReported) {
  EXPECT_HAS(report_of_groups(Wrong::no_fence),
             "error: wgmma without a wgmma.fence [simt-wgmma]\ntests/ptx/wgmma_test.cu:");
  EXPECT_HAS(report_of_groups(Wrong::no_wait),
             "error: a warp returns before its products have ended [simt-wgmma]\ntests/ptx/wgmma_test.cu:");
  EXPECT_HAS(report_of_groups(Wrong::no_commit),
             "error: a warp returns before its products have ended [simt-wgmma]");
  EXPECT_HAS(report_of_groups(Wrong::three_warps),
             "error: the warps of a warpgroup have not asked for the same products "
             "[simt-wgmma]\ntests/ptx/wgmma_test.cu:");
  EXPECT_HAS(report_of_groups(Wrong::three_warps), "Warp 0 has asked for 8 of them, warp 3 for 0.");
}

TEST(Wgmma, WhatIsReportedInCheckedBuilds) {
  if (!simt::checked_build) GTEST_SKIP() << "a checked build finds this";
  EXPECT_HAS(report_of_groups(Wrong::no_proxy_fence),
             "error: wgmma reads what a thread has written, and no fence.proxy.async came between "
             "[simt-proxy-fence]\ntests/ptx/wgmma_test.cu:");
  const std::string early = report_of_groups(Wrong::written_early);
  EXPECT_HAS(early,
             "error: written before the wait for a product of a warpgroup "
             "[simt-async-wait]\ntests/ptx/wgmma_test.cu:");
  EXPECT_HAS(early, "ptx::wgmma<__half>(d, a + 2 * k, b + 2 * k, stage + k > 0)");
  const std::string filled = report_of([] { ring<<<1, 128>>>(Bytes().map, managed<float>(64 * 64), true); });
  EXPECT_HAS(filled,
             "error: written before the wait for a product of a warpgroup "
             "[simt-async-wait]\ntests/ptx/wgmma_test.cu:");
  EXPECT_HAS(filled, "ptx::cp_async_bulk_tensor(tile, &map, x, 0, &full);");
}

// What a thread reads before the wait is not its own yet.
TEST(Wgmma, ASumIsReadAfterTheWait) {
  auto* out = managed<float>(64 * 64);
  groups<<<1, 128>>>(out, Wrong::read_early);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 64 * 64; ++i) ASSERT_TRUE(std::isnan(out[i])) << i;
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

__global__ void tile_at(int offset, int threads) {
  __shared__ Tiles tiles;
  auto* const at = reinterpret_cast<unsigned char*>(&tiles) + offset;
  float d[4] = {};
  if (static_cast<int>(threadIdx.x) >= threads) return;
  ptx::wgmma_fence();
  ptx::wgmma<__half>(d, ptx::wgmma_descriptor(at), ptx::wgmma_descriptor(tiles.b));
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>();
}
TEST(Wgmma, RefusesWhatHasNoMeaning) {
  EXPECT_HAS(report_of([] { tile_at<<<1, 128>>>(512, 128); }),
             "error: wgmma: a begins 512 bytes past a multiple of 1024 [simt-misaligned]");
  EXPECT_HAS(report_of([] { tile_at<<<1, 96>>>(0, 96); }),
             "error: wgmma by a warp that is not of a whole warpgroup [simt-wgmma]");
  EXPECT_HAS(report_of([] { tile_at<<<1, 128>>>(0, 16); }), "[simt-warp-mask]");
}
#endif

}  // namespace wgmma_test
