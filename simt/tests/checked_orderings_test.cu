// SPDX-License-Identifier: MIT
//
// Checked builds: what orders memory accesses, so that nothing is reported; each kernel runs with its threads
// and blocks in three orders, and what it computes is looked at.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "checked.h"

namespace checked_orderings_test {

using checked::device;
using checked::report_of;

// Runs call(out) in each order, expects no report, and value(i) in each element of out.
template <class T, class Call, class Value>
void expect_clean(int n, Call call, Value value) {
  for (const simt::Order order : checked::kOrders) {
    const std::string text = report_of(
        [&] {
          T* out = device<T>(n, false);
          call(out);
          std::vector<T> host(n);
          ASSERT_EQ(cudaMemcpy(host.data(), out, n * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
          for (int i = 0; i < n; ++i)
            ASSERT_EQ(static_cast<float>(host[i]), static_cast<float>(value(i))) << "at " << i;
        },
        order);
    EXPECT_EQ(text, "");
  }
}

template <class T>
__global__ void store_narrow(T* out) {
  __shared__ T tile[96];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = static_cast<T>(static_cast<float>(i % 100));
  __syncthreads();
  out[i] = tile[threadIdx.x];
}

template <class T>
class CheckedNarrow : public testing::Test {};
using Narrow = testing::Types<std::uint8_t, std::int16_t, half, __nv_bfloat16, float, double>;
TYPED_TEST_SUITE(CheckedNarrow, Narrow, );

// Neighbours in one word, of one block and, at its ends, of two.
TYPED_TEST(CheckedNarrow, NeighboursDoNotRace) {
  expect_clean<TypeParam>(
      33 * 5, [](TypeParam* out) { store_narrow<<<5, 33>>>(out); }, [](int i) { return i % 100; });
}

__global__ void double_buffer(int* out, int steps) {
  __shared__ int tile[2][64];
  const int t = threadIdx.x;
  tile[0][t] = t;
  for (int i = 0; i < steps; ++i) {
    __syncthreads();
    tile[(i + 1) % 2][t] = tile[i % 2][(t + 1) % 64];
  }
  __syncthreads();
  out[t] = tile[steps % 2][t];
}

TEST(CheckedOrderings, DoubleBuffering) {
  expect_clean<int>(
      64, [](int* out) { double_buffer<<<1, 64>>>(out, 5); }, [](int i) { return (i + 5) % 64; });
}

__global__ void warp_exchange(int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncwarp();
  const int other = tile[t ^ 1];
  __syncwarp();
  tile[t] = other;
  __syncwarp();
  out[t] = tile[t ^ 1];
}

TEST(CheckedOrderings, SyncWarp) {
  expect_clean<int>(
      64, [](int* out) { warp_exchange<<<1, 64>>>(out); }, [](int i) { return i; });
}

// Decoupled look-back: each block publishes its sum and waits for the one before it.
__global__ void look_back(unsigned* ticket, volatile int* flag, int* sums, int* out) {
  __shared__ int mine, before;
  if (threadIdx.x == 0) {
    mine = atomicAdd(ticket, 1u);
    before = 0;
    if (mine > 0) {
      while (flag[mine - 1] == 0) {
      }
      __threadfence();
      before = sums[mine - 1];
    }
    sums[mine] = before + mine;
    __threadfence();
    flag[mine] = 1;
  }
  __syncthreads();
  if (threadIdx.x == 1) out[mine] = before + mine;
}

TEST(CheckedOrderings, LookBack) {
  expect_clean<int>(
      100,
      [](int* out) {
        look_back<<<100, 32>>>(device<unsigned>(1), device<int>(100), device<int>(100, false), out);
      },
      [](int i) { return i * (i + 1) / 2; });
}

__global__ void hand_over(volatile int* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      *flag = 1;
    }
  } else {
    if (threadIdx.x == 0) {
      while (*flag == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = data[31 - threadIdx.x];
  }
}

TEST(CheckedOrderings, FenceAndFlag) {
  // Cooperative, so that both blocks are there whichever comes first.
  expect_clean<int>(
      32,
      [](int* out) {
        volatile int* flag = device<int>(1);
        int* data = device<int>(32);
        void* arguments[] = {&flag, &data, &out};
        EXPECT_EQ(cudaLaunchCooperativeKernel(hand_over, 2, 32, arguments), cudaSuccess);
      },
      [](int i) { return 31 - i; });
}

// Ready for the next launch: whoever's atomic operation comes last puts the counter back.
template <bool kByAnother>
__global__ void last_block_sums(int* partial, unsigned* count, int* out) {
  __shared__ bool last;
  __shared__ int sum;
  __shared__ unsigned mine;
  if (threadIdx.x == 0) {
    sum = 0;
    mine = 0;
    partial[blockIdx.x] = static_cast<int>(blockIdx.x);
    __threadfence();
    last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  atomicAdd(&sum, partial[threadIdx.x]);
  __threadfence_block();
  const bool last_thread = atomicAdd(&mine, 1u) == blockDim.x - 1;
  if (last_thread) mine = 0;
  __syncthreads();
  if (threadIdx.x == (kByAnother ? 1 : 0)) *count = 0;
  if (threadIdx.x == 0) *out = sum;
}

TEST(CheckedOrderings, LastBlockResetsItsCounter) {
  const auto sum_twice = [](auto kernel) {
    return [kernel](int* out) {
      int* partial = device<int>(32);
      unsigned* count = device<unsigned>(1);
      for (int i = 0; i < 2; ++i) kernel<<<32, 32>>>(partial, count, out);
    };
  };
  expect_clean<int>(1, sum_twice(last_block_sums<false>), [](int) { return 496; });
  expect_clean<int>(1, sum_twice(last_block_sums<true>), [](int) { return 496; });
}

// The second block's operation takes so long that the third one, on another core, could do its own meanwhile; the first has done its
// own before. Whoever comes last puts the counter back.
std::atomic<int> steps;
void wait_for(int step) {  // not for ever: where there is one core, the others may come later
  for (int i = 0; i < 300 && steps.load(std::memory_order_relaxed) < step; ++i) usleep(1000);
}
void reach(int step) {  // relaxed, so that this orders nothing
  steps.store(step, std::memory_order_relaxed);
}
__global__ void last_of_three(unsigned* count, int* out) {
  if (threadIdx.x > 0) return;
  __threadfence();
  unsigned before = 0;
  if (blockIdx.x == 0) {
    before = atomicAdd(count, 1u);
    reach(1);
  } else if (blockIdx.x == 1) {
    wait_for(1);
    before = simt::atomic_update(count, [](unsigned old) {
      reach(2);
      wait_for(3);
      return old + 1;
    });
  } else {
    wait_for(2);
    before = atomicAdd(count, 1u);
    reach(3);
  }
  if (before < 2) return;
  *count = 0;
  *out = 2;
}

TEST(CheckedOrderings, AtomicsOfSeveralCores) {
  expect_clean<int>(
      1,
      [](int* out) {
        steps = 0;
        last_of_three<<<3, 512>>>(device<unsigned>(1), out);  // a smaller launch stays on one core
      },
      [](int) { return 2; });
}

__global__ void locked(int* lock, int* count) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    ++*count;
    __threadfence();
    atomicExch(lock, 0);
    done = true;
  }
}

TEST(CheckedOrderings, Lock) {
  expect_clean<int>(
      1,
      [](int* out) {
        EXPECT_EQ(cudaMemset(out, 0, 4), cudaSuccess);
        locked<<<4, 40>>>(device<int>(1), out);
      },
      [](int) { return 160; });
}

// CUDA's own recipe for an atomic function that the hardware lacks reads plainly first.
__global__ void multiply(unsigned long long* out) {
  unsigned long long old = *out, assumed;
  do {
    assumed = old;
    old = atomicCAS(out, assumed, assumed * 2 + 1);
  } while (assumed != old);
}

TEST(CheckedOrderings, CompareAndSwapLoops) {
  expect_clean<unsigned long long>(
      1,
      [](unsigned long long* out) {
        EXPECT_EQ(cudaMemset(out, 0, 8), cudaSuccess);
        multiply<<<4, 5>>>(out);
      },
      [](int) { return (1u << 20) - 1; });
}

__global__ void histogram(const int* in, int* out, int n) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[(in[i] + i) % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

TEST(CheckedOrderings, Histogram) {
  expect_clean<int>(
      16,
      [](int* out) {
        EXPECT_EQ(cudaMemset(out, 0, 64), cudaSuccess);
        histogram<<<4, 64>>>(device<int>(1600), out, 1600);
      },
      [](int) { return 100; });
}

__global__ void raise_flag(int* found, int* out) {
  __shared__ int any;
  any = 1;
  *found = 7;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = any;
}

TEST(CheckedOrderings, EqualStores) {
  expect_clean<int>(
      256, [](int* out) { raise_flag<<<4, 64>>>(device<int>(1), out); }, [](int) { return 1; });
}

__global__ void two_phases(int* partial, int* out) {
  partial[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
  cooperative_groups::this_grid().sync();
  const int other = (blockIdx.x + 1) % gridDim.x;
  const int value = partial[other * blockDim.x + threadIdx.x];
  cooperative_groups::this_grid().sync();
  partial[blockIdx.x * blockDim.x + threadIdx.x] = -1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

TEST(CheckedOrderings, GridBarrier) {
  expect_clean<int>(
      128,
      [](int* out) {
        int* partial = device<int>(128, false);
        void* arguments[] = {&partial, &out};
        EXPECT_EQ(cudaLaunchCooperativeKernel(two_phases, 4, 32, arguments), cudaSuccess);
      },
      [](int i) { return (i / 32 + 1) % 4; });
}

// What one launch writes the next may read; copies and fills by the host come between.
__global__ void add_one(int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
__global__ void mirror(const int* data, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = data[n - 1 - i];
}

TEST(CheckedOrderings, OneLaunchAfterAnother) {
  expect_clean<int>(
      256,
      [](int* out) {
        int* data = device<int>(256);
        for (int i = 0; i < 3; ++i) add_one<<<4, 64>>>(data);
        mirror<<<8, 32>>>(data, out, 256);
      },
      [](int) { return 3; });
}

// A structure with padding is copied whole; its padding was never written.
struct Padded {
  char tag;
  double value;
};
__global__ void copy_padded(Padded* to, double* out) {
  __shared__ Padded tile[32];
  tile[threadIdx.x].tag = 'x';
  tile[threadIdx.x].value = threadIdx.x;
  __syncthreads();
  to[threadIdx.x] = tile[31 - threadIdx.x];
  const Padded back = to[threadIdx.x];
  out[threadIdx.x] = back.value;
}

TEST(CheckedOrderings, Padding) {
  expect_clean<double>(
      32, [](double* out) { copy_padded<<<1, 32>>>(device<Padded>(32, false), out); },
      [](int i) { return 31 - i; });
}

__global__ void copy_by_memcpy(const int* in, int* out) {
  __shared__ int tile[12];
  if (threadIdx.x == 0) memcpy(tile, in, 12 * sizeof(int));
  __syncthreads();
  memcpy(out + threadIdx.x * 3, tile + threadIdx.x * 3, 3 * sizeof(int));
}

TEST(CheckedOrderings, Memcpy) {
  expect_clean<int>(
      12, [](int* out) { copy_by_memcpy<<<1, 4>>>(device<int>(12), out); }, [](int) { return 0; });
}

}  // namespace checked_orderings_test
