// SPDX-License-Identifier: MIT
//
// Launches in which every thread waits for what nobody will write are given up within seconds, long before
// the limit of 60. And others are not, however long they wait or compute.
#include <cooperative_groups.h>

#include <chrono>
#include <thread>

#include "apart.h"
#include "managed.h"
#include "reports.h"

namespace {

constexpr const char* kHang =
    "error: every thread that can run waits in a loop, and nobody changes what it waits for [simt-hang]\n"
    "simt/tests/hangs_test.cu:";

// ---- nobody will write ----

int* new_flag() {  // never freed: the device is lost
  int* flag = nullptr;
  EXPECT_EQ(cudaMallocManaged(&flag, sizeof *flag), cudaSuccess);
  *flag = 0;
  return flag;
}

__global__ void spins(volatile int* flag) {
  while (*flag == 0) {
  }
}
TEST(HangsApart, DISABLED_Spins) {
  spins<<<3, 96>>>(new_flag());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
}

__device__ int lock;
__global__ void locks_itself_out() {
  while (atomicCAS(&lock, 0, 1) != 0) __nanosleep(20);
  __syncthreads();
  atomicExch(&lock, 0);
}
TEST(HangsApart, DISABLED_Lock) {
  locks_itself_out<<<1, 64>>>();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
}

__global__ void votes(volatile int* flag) {
  __shared__ int rounds;
  if (threadIdx.x == 0) rounds = 0;
  int done;
  do {
    if (threadIdx.x == 0) rounds = (rounds + 1) % 3;
    done = *flag;
  } while (!__syncthreads_or(done));
}
TEST(HangsApart, DISABLED_Votes) {
  votes<<<1, 96>>>(new_flag());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
}

__global__ void one_block_never_comes(volatile int* flag) {
  if (blockIdx.x == 1)
    while (*flag == 0) {
    }
  cooperative_groups::this_grid().sync();
}
TEST(HangsApart, DISABLED_Grid) {
  volatile int* flag = new_flag();
  void* arguments[] = {&flag};
  cudaLaunchCooperativeKernel(one_block_never_comes, 4, 32, arguments, 0, nullptr);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
}

TEST(Hangs, AreReportedLongBeforeTheLimit) {
  for (const char* test : {"Spins", "Lock", "Votes", "Grid"}) {
    int status;
    const std::string text = apart::run("SIMT_TIMEOUT=600 SIMT_THREADS=2", "HangsApart", test, &status);
    EXPECT_HAS(text, kHang);
    EXPECT_HAS(text, "[       OK ]");
    EXPECT_NE(status, 0) << "a report makes the exit status 1";
  }
}

// ---- somebody will ----

// Each takes well over two seconds, in which a hang would have been reported.
constexpr auto kLong = std::chrono::milliseconds(2200);

class StillComputing {  // until the host's clock says so, which kernels do not read
 public:
  StillComputing() : thread_([this] { std::this_thread::sleep_for(kLong), *over_.get() = 1; }) {}
  ~StillComputing() { thread_.join(); }
  volatile int* over() const { return over_.get(); }

 private:
  Managed<int> over_{1};
  std::thread thread_;
};

TEST(Hangs, AFlagThatTheHostSetsLateIsNone) {
  StillComputing host;
  spins<<<2, 64>>>(host.over());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// Counts in a register, which is all that tells it from one that waits.
__device__ unsigned computes(unsigned steps) {
  unsigned x = 1, ones = 0;
  while (ones < steps) {
    x = x * 1664525u + 1013904223u;
    ones += x >> 31;
  }
  return x;
}
__global__ void one_computes(volatile unsigned* flag, unsigned steps, unsigned computing_block) {
  if (blockIdx.x != computing_block || threadIdx.x != 0) {
    while (*flag == 0) {
    }
  } else {
    *flag = computes(steps) | 1;
  }
}

unsigned steps_that_take_long() {
  Managed<unsigned> flag(1);
  for (unsigned steps = 1 << 20;; steps *= 2) {
    flag[0] = 0;
    const auto began = std::chrono::steady_clock::now();
    one_computes<<<1, 1>>>(flag.get(), steps, 0);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const auto took = std::chrono::steady_clock::now() - began;
    if (took > kLong / 16) return static_cast<unsigned>(steps * (kLong / took + 1));
  }
}

TEST(Hangs, AFlagThatAnotherThreadOrBlockSetsLateIsNone) {
  unsigned steps = steps_that_take_long(), block = 0;
  Managed<unsigned> flag(1);
  volatile unsigned* pointer = flag.get();
  void* arguments[] = {&pointer, &steps, &block};
  for (; block < 2; ++block) {  // cooperative: both blocks are there from the start
    flag[0] = 0;
    cudaLaunchCooperativeKernel(one_computes, block + 1, 2, arguments, 0, nullptr);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "block " << block;
  }
}

// Its state comes back in each round; what it writes does not.
__global__ void counts_in_memory(volatile unsigned* flag, unsigned* count, unsigned steps) {
  if (threadIdx.x == 0) {
    while (atomicAdd(count, 1u) != steps) {
    }
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
  }
}
__device__ unsigned counter;

TEST(Hangs, ACounterInMemoryThatGrowsIsNone) {
  const unsigned steps = steps_that_take_long() / 4;
  Managed<unsigned> both(2);
  unsigned* variable;
  ASSERT_EQ(cudaGetSymbolAddress(reinterpret_cast<void**>(&variable), counter), cudaSuccess);
  for (unsigned* count : {both.get() + 1, variable}) {
    both[0] = 0;
    counts_in_memory<<<1, 2>>>(both.get(), count, steps);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
}

__global__ void waits_for_a_time(long long* ended, long long ticks) {
  const long long began = clock64();
  while (clock64() - began < ticks) {
  }
  *ended = 1;
}
TEST(Hangs, AClockGoesOn) {
  Managed<long long> ended(1);
  const long long first = clock64();
  std::this_thread::sleep_for(kLong / 10);
  waits_for_a_time<<<1, 32>>>(ended.get(), (clock64() - first) * 10);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

}  // namespace
