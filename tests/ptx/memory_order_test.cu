// SPDX-License-Identifier: MIT
//
// A number and a flag between two blocks, in each order that the functions of common/ptx/memory_order.h give; and numbers that
// fill each of their widths.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "common/ptx.h"
#include "tests/ptx/managed.h"

#ifdef __SIMT__
#include "simt/tests/reports.h"
#endif

namespace memory_order_test {

namespace ptx = days::ptx;
using Word = unsigned long long;

struct Message {
  uint32_t number, flag, got, unused;
  Word number64, flag64, got64;
};

Message* message() {
  Message* const m = ptx_tests::managed<Message>(1);
  memset(m, 0, sizeof *m);
  return m;
}

constexpr uint32_t kNumber = 0x9abcdef1;
constexpr Word kNumber64 = 0x123456789abcdef1ull;

// Block 0 writes, block 1 waits.
__global__ void released(Message* m) {
  if (blockIdx.x == 0) {
    m->number = kNumber;
    ptx::st_release_gpu(&m->flag, 1u);
    m->number64 = kNumber64;
    ptx::st_release_gpu(&m->flag64, Word{1} << 32);
  } else {
    while (ptx::ld_acquire_gpu(&m->flag) == 0) {
    }
    m->got = m->number;
    while (ptx::ld_acquire_gpu(&m->flag64) != Word{1} << 32) {
    }
    m->got64 = m->number64;
  }
}

TEST(MemoryOrder, ReleasedNumberIsThereOnceItsFlagIsAcquired) {
  Message* m = message();
  released<<<2, 1>>>(m);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(m->got, kNumber);
  EXPECT_EQ(m->got64, kNumber64);
  EXPECT_EQ(m->flag, 1u);
  cudaFree(m);
}

// The number is the flag: no order is needed.
__global__ void relaxed(Message* m) {
  if (blockIdx.x == 0) {
    ptx::st_relaxed_gpu(&m->number, kNumber);
    ptx::st_relaxed_gpu(&m->number64, kNumber64);
  } else {
    while ((m->got = ptx::ld_relaxed_gpu(&m->number)) == 0) {
    }
    while ((m->got64 = ptx::ld_relaxed_gpu(&m->number64)) == 0) {
    }
  }
}

TEST(MemoryOrder, RelaxedWordIsSeenWhole) {
  Message* m = message();
  relaxed<<<2, 1>>>(m);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(m->got, kNumber);
  EXPECT_EQ(m->got64, kNumber64);
  cudaFree(m);
}

// Blocks add up at once.
__global__ void added(float* sums) {
  const float x = static_cast<float>(threadIdx.x + blockIdx.x);
  days::ptx::red_add_v4(sums + 4 * (threadIdx.x % 2), make_float4(1, x, -x, 0.5f));
}

TEST(MemoryOrder, FourAdditionsAtOnce) {
  float* const sums = ptx_tests::managed<float>(8);
  memset(sums, 0, 8 * sizeof *sums);
  added<<<40, 64>>>(sums);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  // Of even threads 0 + 2 + ... + 62 = 992 in each of 40 blocks, and 32 times 0 + 1 + ... + 39 = 780; of odd ones 32 more.
  const float expected[8] = {1280, 64640, -64640, 640, 1280, 65920, -65920, 640};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(sums[i], expected[i]) << i;
  cudaFree(sums);
}

#ifdef __SIMT__
__global__ void relaxed_flag(Message* m) {
  if (blockIdx.x == 0) {
    m->number = kNumber;
    ptx::st_relaxed_gpu(&m->flag, 1u);
  } else {
    while (ptx::ld_relaxed_gpu(&m->flag) == 0) {
    }
    m->got = m->number;
  }
}

TEST(MemoryOrder, RelaxedFlagOrdersNothingElse) {
  if (!simt::checked_build) GTEST_SKIP() << "the plain build watches no races";
  Message* m = message();
  const std::string text = report_of([m] { relaxed_flag<<<2, 1>>>(m); });
  EXPECT_HAS(text, "race on global memory [simt-race-global]");
}
#endif

}  // namespace memory_order_test
