// SPDX-License-Identifier: MIT
//
// Asynchronous copies by threads (cp.async) and in bulk, and the barriers that count them: what arrives,
// when, and what is reported where a wait is missing. The kernels' results are the same on a GPU of compute
// capability 9.0.

#include <cuda_pipeline.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/ptx.h"
#include "tests/ptx/managed.h"

#ifdef __SIMT__
#include "simt/tests/reports.h"
#endif

namespace async_copy_test {

namespace ptx = days::ptx;

using ptx_tests::managed;

std::vector<int> numbers(const int* p, int n) {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return std::vector<int>(p, p + n);
}

std::vector<int> counted(int n, int from = 0) {
  std::vector<int> v(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) v[static_cast<size_t>(i)] = from + i;
  return v;
}

// ---- cp.async ----

// Two stages: the copies of the next tile are under way while this one is used.
__global__ void pipelined(const int* in, int* out, int tiles) {
  __shared__ alignas(16) int stage[2][128];
  const int t = static_cast<int>(threadIdx.x);
  ptx::cp_async_ca<4>(&stage[0][t], in + t);
  ptx::cp_async_commit_group();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) ptx::cp_async_ca<4>(&stage[(tile + 1) % 2][t], in + (tile + 1) * 128 + t);
    ptx::cp_async_commit_group();
    ptx::cp_async_wait_group<1>();
    __syncthreads();
    out[tile * 128 + t] = stage[tile % 2][127 - t];
    __syncthreads();
  }
}

TEST(AsyncCopies, TwoStagesOfGroups) {
  const int tiles = 9;
  int *in = managed<int>(tiles * 128), *out = managed<int>(tiles * 128);
  for (int i = 0; i < tiles * 128; ++i) in[i] = i;
  pipelined<<<1, 128>>>(in, out, tiles);
  const std::vector<int> result = numbers(out, tiles * 128);
  for (int i = 0; i < tiles * 128; ++i)
    ASSERT_EQ(result[static_cast<size_t>(i)], i / 128 * 128 + 127 - i % 128);
  cudaFree(in), cudaFree(out);
}

__global__ void part_of_a_vector(const int4* in, int4* out, int elements) {
  __shared__ int4 tile[3];
  const int t = static_cast<int>(threadIdx.x);
  ptx::cp_async_cg(&tile[t], in + t, static_cast<uint32_t>(t == 1 ? 4 * elements : t == 2 ? 0 : 16));
  ptx::cp_async_wait_all();
  out[t] = tile[t];
}

TEST(AsyncCopies, TheRestIsFilledWithZeros) {
  int *in = managed<int>(12), *out = managed<int>(12);
  for (int i = 0; i < 12; ++i) in[i] = 1 + i;
  for (int elements = 0; elements <= 4; ++elements) {
    part_of_a_vector<<<1, 3>>>(reinterpret_cast<int4*>(in), reinterpret_cast<int4*>(out), elements);
    std::vector<int> expected = counted(12, 1);
    for (int i = 4 + elements; i < 12; ++i) expected[static_cast<size_t>(i)] = 0;
    EXPECT_EQ(numbers(out, 12), expected) << elements;
  }
  cudaFree(in), cudaFree(out);
}

__global__ void pipeline_primitives(const int4* in, int4* out) {
  __shared__ int4 tile[2][32];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 2; ++i) {
    __pipeline_memcpy_async(&tile[i][t], in + 32 * i + t, sizeof(int4), i == 1 && t == 0 ? 12 : 0);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  out[t] = tile[0][31 - t];
  __pipeline_wait_prior(0);
  __syncthreads();
  out[32 + t] = tile[1][t];
}

TEST(AsyncCopies, PipelinePrimitives) {
  int *in = managed<int>(256), *out = managed<int>(256);
  for (int i = 0; i < 256; ++i) in[i] = i;
  pipeline_primitives<<<1, 32>>>(reinterpret_cast<int4*>(in), reinterpret_cast<int4*>(out));
  std::vector<int> expected = counted(256);
  for (int i = 0; i < 128; ++i) expected[static_cast<size_t>(i)] = (31 - i / 4) * 4 + i % 4;
  for (int i = 129; i < 132; ++i) expected[static_cast<size_t>(i)] = 0;  // 12 bytes of zeros
  EXPECT_EQ(numbers(out, 256), expected);
  cudaFree(in), cudaFree(out);
}

__global__ void counted_by_a_barrier(const int* in, int* out) {
  __shared__ alignas(16) int tile[64];
  __shared__ uint64_t arrived;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) ptx::mbarrier_init(&arrived, 64);
  __syncthreads();
  ptx::cp_async_ca<4>(&tile[t], in + t);
  ptx::cp_async_mbarrier_arrive_noinc(&arrived);
  ptx::mbarrier_wait(&arrived, 0);
  out[t] = tile[63 - t];
}

TEST(AsyncCopies, AnMbarrierCountsThem) {
  int *in = managed<int>(64), *out = managed<int>(64);
  for (int i = 0; i < 64; ++i) in[63 - i] = i;
  counted_by_a_barrier<<<1, 64>>>(in, out);
  EXPECT_EQ(numbers(out, 64), counted(64));
  cudaFree(in), cudaFree(out);
}

// ---- mbarrier ----

__global__ void phases(int* out) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 2);
    int* next = out;
    *next++ = ptx::mbarrier_test_wait_parity(&barrier, 0);  // phase 0 has not ended,
    *next++ = ptx::mbarrier_test_wait_parity(&barrier, 1);  // the one before it counts as ended
    const uint64_t first = ptx::mbarrier_arrive(&barrier);
    *next++ = ptx::mbarrier_test_wait(&barrier, first);
    ptx::mbarrier_arrive_expect_tx(&barrier, 16);
    *next++ = ptx::mbarrier_test_wait_parity(&barrier, 0);  // 16 bytes are missing
    ptx::mbarrier_expect_tx(&barrier, 0);
    *next++ = ptx::mbarrier_try_wait_parity(&barrier, 0);
    ptx::mbarrier_inval(&barrier);
    ptx::mbarrier_init(&barrier, 1);
    const uint64_t second = ptx::mbarrier_arrive(&barrier);
    *next++ = ptx::mbarrier_test_wait(&barrier, second);
    *next++ = ptx::mbarrier_test_wait_parity(&barrier, 0);
    *next++ = ptx::mbarrier_test_wait_parity(&barrier, 1);
    ptx::mbarrier_arrive(&barrier);
    *next++ = ptx::mbarrier_test_wait_parity(&barrier, 1);
  }
}

TEST(Mbarrier, PhasesAndParity) {
  int* out = managed<int>(9);
  phases<<<1, 1>>>(out);
  EXPECT_EQ(numbers(out, 9), (std::vector<int>{0, 1, 0, 0, 0, 1, 1, 0, 1}));
  cudaFree(out);
}

// Producers fill a ring of buffers, consumers empty it; each side waits for the other by parity.
__global__ void ring(int* out, int rounds) {
  __shared__ int buffer[2][32];
  __shared__ uint64_t full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) ptx::mbarrier_init(&full[i], 32), ptx::mbarrier_init(&empty[i], 32);
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int round = 0; round < rounds; ++round) {
    const int i = round % 2;
    const auto parity = static_cast<uint32_t>(round / 2 % 2);
    if (threadIdx.x < 32) {
      ptx::mbarrier_wait(&empty[i], parity ^ 1);
      buffer[i][lane] = round * 100 + lane;
      ptx::mbarrier_arrive(&full[i]);
    } else {
      ptx::mbarrier_wait(&full[i], parity);
      out[round * 32 + lane] = buffer[i][31 - lane];
      ptx::mbarrier_arrive(&empty[i]);
    }
  }
}

TEST(Mbarrier, ProducerAndConsumer) {
  int* out = managed<int>(7 * 32);
  ring<<<1, 64>>>(out, 7);
  const std::vector<int> result = numbers(out, 7 * 32);
  for (int i = 0; i < 7 * 32; ++i) ASSERT_EQ(result[static_cast<size_t>(i)], i / 32 * 100 + 31 - i % 32);
  cudaFree(out);
}

// ---- bulk copies ----

__global__ void bulk_there_and_back(const int* in, int* out, int* sum) {
  __shared__ alignas(128) int tile[2][64];
  __shared__ uint64_t arrived[2];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    for (int i = 0; i < 2; ++i) ptx::mbarrier_init(&arrived[i], 1);
    ptx::fence_proxy_async_shared();
    for (int i = 0; i < 2; ++i) {
      ptx::mbarrier_arrive_expect_tx(&arrived[i], sizeof tile[i]);
      ptx::cp_async_bulk(tile[i], in + 64 * i, sizeof tile[i] / 2, &arrived[i]);
      ptx::cp_async_bulk(tile[i] + 32, in + 64 * i + 32, sizeof tile[i] / 2, &arrived[i]);
    }
  }
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    ptx::mbarrier_wait(&arrived[i], 0);
    tile[i][t] = 1000 + tile[i][t];
    ptx::fence_proxy_async_shared();
    __syncthreads();
    if (t == 0) {
      ptx::cp_async_bulk_store(out + 64 * i, tile[i], sizeof tile[i]);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (t == 0) ptx::cp_async_bulk_wait_group_read<0>();
  __syncthreads();
  reinterpret_cast<float*>(tile[0])[t] = static_cast<float>(t);
  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (t == 0) {
    ptx::cp_reduce_async_bulk_add(reinterpret_cast<float*>(sum), reinterpret_cast<float*>(tile[0]),
                                  sizeof tile[0]);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group<0>();
  }
}

TEST(BulkCopies, ThereAndBack) {
  int *in = managed<int>(128), *out = managed<int>(128);
  float* sum = managed<float>(64);
  for (int i = 0; i < 128; ++i) in[i] = i;
  for (int i = 0; i < 64; ++i) sum[i] = 0.5f;
  bulk_there_and_back<<<1, 64>>>(in, out, reinterpret_cast<int*>(sum));
  EXPECT_EQ(numbers(out, 128), counted(128, 1000));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(sum[i], 0.5f + static_cast<float>(i));
  cudaFree(in), cudaFree(out), cudaFree(sum);
}

#ifdef __SIMT__

// ---- what is reported ----

std::string line_start(int line) {
  return "\ntests/ptx/async_copy_test.cu:" + std::to_string(line) + "  ";
}

// Without a wait the copied value is not there: a plain build shows it as a wrong result, a checked one says
// so.
constexpr int kCopyLine = __LINE__ + 4;
__global__ void missing_wait(const float* in, float* out) {
  __shared__ float tile[32];
  const int t = static_cast<int>(threadIdx.x);
  ptx::cp_async_ca<4>(&tile[t], in + t);
  ptx::cp_async_commit_group();
  out[t] = tile[t];
  ptx::cp_async_wait_all();
}

TEST(AsyncReports, ReadBeforeTheWait) {
  float *in = managed<float>(32), *out = managed<float>(32);
  for (int i = 0; i < 32; ++i) in[i] = 1, out[i] = 0;
  if (simt::checked_build) {
    const std::string text = report_of([&] { missing_wait<<<1, 32>>>(in, out); });
    EXPECT_HAS(text, "read before the wait for an asynchronous copy to shared memory [simt-async-wait]");
    EXPECT_HAS(text, line_start(kCopyLine + 2) + "kernel missing_wait, block (0,0,0), thread (0,0,0)");
    EXPECT_HAS(text, line_start(kCopyLine) +
                         "ptx::cp_async_ca<4>(&tile[t], in + t);    thread (0,0,0) copies to it");
  } else {
    missing_wait<<<1, 32>>>(in, out);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < 32; ++i) EXPECT_TRUE(out[i] != out[i]) << "the copy landed before its wait";
    cudaFree(in), cudaFree(out);
  }
}

// Waits for all but the youngest group, where all but none are needed.
__global__ void wrong_group(const float* in, float* out) {
  __shared__ float tile[2][32];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 2; ++i) {
    ptx::cp_async_ca<4>(&tile[i][t], in + t);
    ptx::cp_async_commit_group();
  }
  ptx::cp_async_wait_group<1>();
  out[t] = tile[0][t];
  out[32 + t] = tile[1][t];
  ptx::cp_async_wait_group<0>();
}

TEST(AsyncReports, WaitForTheWrongGroup) {
  float *in = managed<float>(32), *out = managed<float>(64);
  for (int i = 0; i < 32; ++i) in[i] = 1;
  if (simt::checked_build) {
    EXPECT_HAS(report_of([&] { wrong_group<<<1, 32>>>(in, out); }), "[simt-async-wait]");
  } else {
    wrong_group<<<1, 32>>>(in, out);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < 32; ++i) EXPECT_TRUE(out[i] == 1 && out[32 + i] != out[32 + i]);
    cudaFree(in), cudaFree(out);
  }
}

// A thread sees its own copies after its wait, but those of others only after a barrier.
__global__ void missing_barrier(const float* in, float* out) {
  __shared__ float tile[64];
  const int t = static_cast<int>(threadIdx.x);
  ptx::cp_async_ca<4>(&tile[t], in + t);
  ptx::cp_async_wait_all();
  out[t] = tile[63 - t];
}

TEST(AsyncReports, NoBarrierBehindTheWait) {
  if (!simt::checked_build) GTEST_SKIP() << "plain builds see no races";
  float *in = managed<float>(64), *out = managed<float>(64);
  const std::string text = report_of([&] { missing_barrier<<<1, 64>>>(in, out); });
  EXPECT_TRUE(text.find("[simt-race-shared]") != std::string::npos ||
              text.find("[simt-async-wait]") != std::string::npos ||
              text.find("[simt-uninit") != std::string::npos)
      << text;
}

constexpr int kBulkLine = __LINE__ + 10;
__global__ void bulk_without_wait(const float* in, float* out, int which) {
  __shared__ alignas(16) float tile[2][32];
  __shared__ uint64_t arrived[2];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    ptx::mbarrier_init(&arrived[0], 1);
    ptx::mbarrier_init(&arrived[1], 1);
    for (int i = 0; i < 2; ++i) {
      ptx::mbarrier_arrive_expect_tx(&arrived[i], sizeof tile[i]);
      ptx::cp_async_bulk(tile[i], in, sizeof tile[i], &arrived[i]);
    }
  }
  __syncthreads();
  ptx::mbarrier_wait(&arrived[which], 0);
  out[t] = tile[1][t];
  ptx::mbarrier_wait(&arrived[1 - which], 0);
}

TEST(AsyncReports, BulkCopyOfAnotherBarrier) {
  float *in = managed<float>(32), *out = managed<float>(32);
  for (int i = 0; i < 32; ++i) in[i] = 1;
  bulk_without_wait<<<1, 32>>>(in, out, 1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[31], 1.0f);
  if (simt::checked_build) {
    const std::string text = report_of([&] { bulk_without_wait<<<1, 32>>>(in, out, 0); });
    EXPECT_HAS(text, "[simt-async-wait]");
    EXPECT_HAS(text, line_start(kBulkLine));
    EXPECT_HAS(text, "nobody has waited for the end of its mbarrier's phase");
  } else {
    simt::set_order(simt::Order::normal);  // in another one the second copy may land first
    bulk_without_wait<<<1, 32>>>(in, out, 0);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    simt::reset_order();
    EXPECT_TRUE(out[31] != out[31]) << "the copy landed before its wait";
    cudaFree(in), cudaFree(out);
  }
}

__global__ void source_overwritten(float* out, bool wait) {
  __shared__ alignas(16) float tile[32];
  tile[threadIdx.x] = 1;
  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_store(out, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    if (wait) ptx::cp_async_bulk_wait_group_read<0>();
    tile[0] = 2;
    ptx::cp_async_bulk_wait_group<0>();
  }
}

TEST(AsyncReports, SourceOverwrittenBeforeTheWait) {
  float* out = managed<float>(32);
  source_overwritten<<<1, 32>>>(out, true);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 1.0f);
  if (simt::checked_build) {
    const std::string text = report_of([&] { source_overwritten<<<1, 32>>>(out, false); });
    EXPECT_HAS(text, "written before the wait for an asynchronous copy from shared memory [simt-async-wait]");
  } else {
    source_overwritten<<<1, 32>>>(out, false);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(out[0], 2.0f) << "read before the wait";
    cudaFree(out);
  }
}

// After the wait for the reads the source is free, and the results are not there yet: a copy with a swizzle would go by the address.
__global__ void read_then_written(float* out, float* seen) {
  __shared__ alignas(16) float tile[32];
  tile[threadIdx.x] = 1;
  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_store(out, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_store(out + 32, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read<1>();
    ptx::cp_async_bulk_wait_group_read<0>();
    for (float& x : tile) x = 2;
    seen[0] = *static_cast<volatile float*>(out);
    ptx::cp_async_bulk_wait_group<1>();
    seen[1] = *static_cast<volatile float*>(out);
    seen[2] = *static_cast<volatile float*>(out + 32);
  }
}
TEST(AsyncCopies, ReadIsNotWritten) {
  float* out = managed<float>(64);
  float* seen = managed<float>(3);
  for (int i = 0; i < 64; ++i) out[i] = -1;
  read_then_written<<<1, 32>>>(out, seen);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(seen[0], -1.0f);
  EXPECT_EQ(seen[1], 1.0f);
  EXPECT_EQ(seen[2], -1.0f);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 1.0f) << i;
  cudaFree(out), cudaFree(seen);
}

// Twice: what a thread wrote before its fence may be read, what it wrote after that may not.
enum class Fences { both, first, none, in_inline_ptx, by_one_thread_after_the_barrier };
template <class T>
__global__ void written_then_stored(T* out, Fences fences) {
  __shared__ alignas(16) T tile[32];
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = static_cast<T>(round + 1);
    if (fences == Fences::both || (fences == Fences::first && round == 0)) ptx::fence_proxy_async_shared();
    if (fences == Fences::in_inline_ptx) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      if (fences == Fences::by_one_thread_after_the_barrier) ptx::fence_proxy_async_shared();
      ptx::cp_async_bulk_store(out + 32 * round, tile, sizeof tile);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read<0>();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group<0>();
}

// What a bulk copy has brought, another one may take as it is.
__global__ void brought_then_stored(const float* in, float* out) {
  __shared__ alignas(16) float tile[32];
  __shared__ uint64_t arrived;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&arrived, 1);
    ptx::mbarrier_arrive_expect_tx(&arrived, sizeof tile);
    ptx::cp_async_bulk(tile, in, sizeof tile, &arrived);
    ptx::mbarrier_wait(&arrived, 0);
    ptx::cp_async_bulk_store(out, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group<0>();
  }
}

template <class T>
void fences_are_asked_for() {
  for (const Fences right : {Fences::both, Fences::in_inline_ptx, Fences::by_one_thread_after_the_barrier}) {
    T* out = managed<T>(64);
    written_then_stored<<<1, 32>>>(out, right);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(static_cast<float>(out[0]) + 10 * static_cast<float>(out[63]), 21.0f);
    cudaFree(out);
  }
  if (!simt::checked_build) return;
  for (const Fences wrong : {Fences::first, Fences::none}) {
    T* out = managed<T>(64);
    const std::string text = report_of([&] { written_then_stored<<<1, 32>>>(out, wrong); });
    EXPECT_HAS(text,
               "cp.async.bulk reads what a thread has written, and no fence.proxy.async came between "
               "[simt-proxy-fence]");
    EXPECT_HAS(text, "tile[threadIdx.x] = static_cast<T>(round + 1);");
    EXPECT_HAS(text, "ptx::cp_async_bulk_store(out + 32 * round, tile, sizeof tile);");
    EXPECT_HAS(text, "thread 0 writes tile[0], which the copy engine may not see yet");
  }
}

TEST(AsyncReports, AMissingProxyFence) {
  fences_are_asked_for<float>();
  fences_are_asked_for<unsigned char>();  // bytes have cells of their own
}

TEST(AsyncReports, NoFenceBetweenBulkCopies) {
  float *in = managed<float>(32), *out = managed<float>(32);
  for (int i = 0; i < 32; ++i) in[i] = static_cast<float>(i);
  brought_then_stored<<<1, 32>>>(in, out);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[31], 31.0f);
  cudaFree(in), cudaFree(out);
}

__global__ void misuse(int what, const float* in) {
  __shared__ alignas(16) float tile[32];
  __shared__ uint64_t barrier;
  switch (what) {
    case 0:
      ptx::mbarrier_arrive(&barrier);
      break;
    case 1:
      ptx::mbarrier_init(&barrier, 0);
      break;
    case 2:
      ptx::mbarrier_init(&barrier, 2);
      ptx::mbarrier_expect_tx(&barrier, 1u << 19);
      ptx::mbarrier_expect_tx(&barrier, 1u << 19);
      break;
    case 3:
      ptx::mbarrier_init(&barrier, 1);
      ptx::mbarrier_arrive_expect_tx(&barrier, 16);
      ptx::mbarrier_arrive(&barrier);
      break;
    case 4:
      ptx::mbarrier_init(&barrier, 1);
      ptx::mbarrier_arrive_expect_tx(&barrier, 128);
      ptx::cp_async_bulk(tile, in, 64, &barrier);
      ptx::mbarrier_wait(&barrier, 0);
      break;
    case 5:
      ptx::mbarrier_init(&barrier, 1);
      ptx::cp_async_bulk(tile + 1, in, 64, &barrier);
      break;
    case 6:
      ptx::cp_async_ca<16>(tile, in + 1);
      break;
    case 7:
      ptx::mbarrier_init(&barrier, 1);
      ptx::cp_async_bulk(tile, in, 128 + 16, &barrier);
      break;
  }
}

TEST(AsyncReports, Misuse) {
  const char* const expected[] = {"mbarrier.arrive of an mbarrier that was not initialised [simt-mbarrier]",
                                  "mbarrier.init with 0 arrivals",
                                  "counts at most 1048575 bytes, this would be 1048576",
                                  "more arrivals at an mbarrier than it was initialised for [simt-mbarrier]",
                                  "threads wait for an event that nobody is left to cause [simt-hang]",
                                  "the address in shared memory must be a multiple of 16 [simt-misaligned]",
                                  "the address in global memory must be a multiple of 16 [simt-misaligned]",
                                  "144 bytes of global memory are not in one live buffer [simt-oob-global]"};
  for (int what = 0; what < 8; ++what) {
    float* in;
    ASSERT_EQ(cudaMalloc(&in, 128), cudaSuccess);
    ASSERT_EQ(cudaMemset(in, 0, 128), cudaSuccess);
    const std::string text = report_of([&] { misuse<<<1, 1>>>(what, in); });
    EXPECT_HAS(text, expected[what]);
#ifndef __clang__  // which keeps no line of the kernel's for some of these calls
    EXPECT_HAS(text, "\ntests/ptx/async_copy_test.cu:");
#endif
    if (what == 4) {
      EXPECT_HAS(text, "lacks 0 of 1 arrivals and 64 bytes");
    }
  }
}

#endif  // __SIMT__

}  // namespace async_copy_test
