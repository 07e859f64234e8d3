// SPDX-License-Identifier: MIT
//
// <cuda/barrier> and <cuda/pipeline>: splits, drops, completions, copies that a phase waits for; stages of
// one thread and of a block.

#include <cooperative_groups.h>
#include <gtest/gtest.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/barrier>
#include <cuda/std/utility>
#include <thread>
#include <vector>

#include "managed.h"

namespace cg = cooperative_groups;

namespace cuda_barrier_test {

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;
static_assert(sizeof(BlockBarrier) == 8 && alignof(BlockBarrier) == 8);

__global__ void split_barrier(int* out, int rounds) {
  __shared__ BlockBarrier bar;
  __shared__ int numbers[64];
  const int me = static_cast<int>(threadIdx.x);
  if (me == 0) init(&bar, blockDim.x);
  __syncthreads();
  int sum = 0;
  for (int r = 0; r < rounds; ++r) {
    numbers[me] = me + r;
    auto token = bar.arrive();
    const int own = me * 3;  // work that needs nobody
    bar.wait(cuda::std::move(token));
    sum += numbers[(me + 1) % 64] + own;
    bar.arrive_and_wait();
  }
  out[me] = sum;
}

TEST(CudaBarrier, SplitsArrivalAndWait) {
  Managed<int> out(64);
  split_barrier<<<1, 64>>>(out.get(), 5);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], 5 * ((i + 1) % 64 + 3 * i) + 10) << i;
}

__global__ void dropping(int* out) {
  __shared__ BlockBarrier bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  if (threadIdx.x >= 16) {
    bar.arrive_and_drop();
    return;
  }
  bar.arrive_and_wait();
  for (int r = 0; r < 3; ++r) bar.arrive_and_wait();  // by the 16 that are left
  bool parity = false;
  static_cast<void>(bar.arrive());
  bar.wait_parity(parity);  // the fifth phase: parity 0
  out[threadIdx.x] = 1;
}

TEST(CudaBarrier, ThreadsDropOut) {
  Managed<int> out(16);
  dropping<<<1, 48>>>(out.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.all(), std::vector<int>(16, 1));
}

struct AddOne {
  int* count;
  __host__ __device__ void operator()() const noexcept { ++*count; }
};
__global__ void with_completion(cuda::barrier<cuda::thread_scope_device, AddOne>* bar, int* count, int* out) {
  for (int r = 0; r < 4; ++r) {
    bar->arrive_and_wait();
    if (*static_cast<volatile int*>(count) < r + 1) out[0] = 1;  // the phase ended before its completion
  }
}

TEST(CudaBarrier, OfManyBlocksRunsItsCompletionOnceAPhase) {
  Managed<int> numbers(2);
  Managed<char> memory(64);
  using Barrier = cuda::barrier<cuda::thread_scope_device, AddOne>;
  auto* bar = new (memory.get()) Barrier(3 * 32, AddOne{&numbers[0]});
  int* count = &numbers[0];
  int* out = &numbers[1];
  void* arguments[] = {&bar, &count, &out};
  ASSERT_EQ(cudaLaunchCooperativeKernel(with_completion, 3, 32, arguments), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(numbers[0], 4);
  EXPECT_EQ(numbers[1], 0);
}

TEST(CudaBarrier, WorksOnTheHost) {
  cuda::std::barrier<> bar(2);
  int value = 0;
  std::thread other([&] {
    value = 7;
    bar.arrive_and_wait();
  });
  bar.arrive_and_wait();
  EXPECT_EQ(value, 7);
  other.join();
}

// ---- copies ----

__global__ void copy_by_barrier(const int* in, int* out, int n) {
  __shared__ BlockBarrier bar;
  extern __shared__ int tile[];
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<4>(sizeof(int) * n), bar);
  bar.arrive_and_wait();
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    out[i] = tile[n - 1 - i];
}

TEST(CudaBarrier, WaitsForCopies) {
  for (const int n : {1, 7, 64, 1000}) {
    Managed<int> in(static_cast<size_t>(n)), out(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) in[static_cast<size_t>(i)] = i * i;
    copy_by_barrier<<<1, 64, sizeof(int) * n>>>(in.get(), out.get(), n);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < n; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], (n - 1 - i) * (n - 1 - i)) << n;
  }
}

__global__ void copy_by_transaction(const int4* in, int4* out) {
  __shared__ alignas(16) int4 tile[32];
  __shared__ BlockBarrier bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  BlockBarrier::arrival_token token = [&] {
    if (threadIdx.x != 0) return bar.arrive();
    cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(sizeof(tile)), bar);
    return cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
  }();
  bar.wait(cuda::std::move(token));
  out[threadIdx.x] = tile[31 - threadIdx.x];
}

TEST(CudaBarrier, CountsTheBytesOfBulkCopies) {
  Managed<int4> in(32), out(32);
  for (int i = 0; i < 32; ++i) in[static_cast<size_t>(i)] = make_int4(i, 2 * i, 3 * i, 4 * i);
  copy_by_transaction<<<1, 32>>>(in.get(), out.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[static_cast<size_t>(i)].w, 4 * (31 - i));
}

// ---- pipelines ----

__global__ void own_pipeline(const float* in, float* out, int tiles) {
  __shared__ float stage[2][64];
  const unsigned me = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  const auto fetch = [&](int t) {
    pipe.producer_acquire();
    cuda::memcpy_async(&stage[t % 2][me], in + t * 64 + me, cuda::aligned_size_t<4>(4), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  float sum = 0.0f;
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) fetch(t + 1);
    pipe.consumer_wait();
    sum += stage[t % 2][me];
    pipe.consumer_release();
  }
  out[me] = sum;
}

template <int kKind>  // 0: all do both, 1: the first warp produces, 2: as the role says
__global__ void block_pipeline(const float* in, float* out, int tiles) {
  constexpr int kStages = 3;
  __shared__ float stage[kStages][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cg::this_thread_block();
  const bool first_warp = block.thread_rank() < 32;
  auto pipe = kKind == 0   ? cuda::make_pipeline(block, &state)
              : kKind == 1 ? cuda::make_pipeline(block, &state, 32)
                           : cuda::make_pipeline(
                                 block, &state,
                                 first_warp ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  const bool produces = kKind == 0 || first_warp, consumes = kKind == 0 || !first_warp;
  const unsigned producers = kKind == 0 ? blockDim.x : 32, rank = block.thread_rank();
  float sum = 0.0f;
  int fetched = 0;
  for (int t = 0; t < tiles; ++t) {
    for (; produces && fetched < tiles && fetched < t + kStages; ++fetched) {
      pipe.producer_acquire();
      for (unsigned i = rank; i < 64; i += producers)
        cuda::memcpy_async(&stage[fetched % kStages][i], in + fetched * 64 + i, sizeof(float), pipe);
      pipe.producer_commit();
    }
    if (consumes) {
      pipe.consumer_wait();
      sum += stage[t % kStages][rank % 64];
      pipe.consumer_release();
    }
  }
  if (consumes) out[rank % 64] = sum;
}

void check_pipeline(void (*kernel)(const float*, float*, int), int threads, int first_output) {
  constexpr int kTiles = 11;
  Managed<float> in(64 * kTiles), out(64);
  std::vector<float> expected(64);
  for (size_t i = 0; i < 64 * kTiles; ++i) expected[i % 64] += in[i] = static_cast<float>(i * 7 % 23);
  kernel<<<1, threads>>>(in.get(), out.get(), kTiles);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (size_t i = static_cast<size_t>(first_output); i < 64; ++i) ASSERT_EQ(out[i], expected[i]) << i;
}

TEST(CudaPipeline, OfOneThread) {
  check_pipeline(own_pipeline, 64, 0);
}
TEST(CudaPipeline, WhereAllProduceAndConsume) {
  check_pipeline(block_pipeline<0>, 64, 0);
}
TEST(CudaPipeline, WithAWarpThatProduces) {
  check_pipeline(block_pipeline<1>, 96, 0);
  check_pipeline(block_pipeline<2>, 96, 0);
}

}  // namespace cuda_barrier_test
