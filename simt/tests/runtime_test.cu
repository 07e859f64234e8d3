// SPDX-License-Identifier: MIT
//
// The CPU backend's runtime: what right kernels compute, and which report each kind of mistake gives, with
// slug, line, block and thread.

#include <cooperative_groups.h>
#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apart.h"
#include "reports.h"

namespace runtime_test {

// Runs `call`, which must cause one report, gives its text, and clears what it left.
template <class Call>
std::string report_of(Call call, cudaError_t error) {
  simt::set_order(simt::Order::normal);
  simt::forget_reports();
  testing::internal::CaptureStderr();
  call();
  cudaDeviceSynchronize();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(simt::reports(), 1) << text;
  EXPECT_EQ(cudaGetLastError(), error);
  EXPECT_EQ(cudaDeviceSynchronize(), error) << "the error must stick";
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  simt::forget_reports();
  simt::reset_order();
  return text;
}

// "file:LINE  kernel k, block (b,0,0), thread (t,0,0)" as a report has it at a line's start.
std::string at(int line, const char* kernel, int block, int thread) {
  return "\nsimt/tests/runtime_test.cu:" + std::to_string(line) + "  kernel " + kernel + ", block (" +
         std::to_string(block) + ",0,0), thread (" + std::to_string(thread) + ",0,0)\n";
}

std::string line_start(int line) {
  return "\nsimt/tests/runtime_test.cu:" + std::to_string(line) + "  ";
}

// Runs one of this program's disabled tests, which need an environment of their own, in a process of its own.
std::string run_apart(const std::string& environment, const std::string& test, int* status) {
  return apart::run(environment, "RuntimeApart", test, status);
}

template <class T>
T* managed(int n) {
  T* p = nullptr;
  EXPECT_EQ(cudaMallocManaged(&p, n * sizeof(T)), cudaSuccess);
  return p;
}

// ---- threads and barriers ----

__global__ void write_indices(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}

TEST(Runtime, EveryThreadRunsOnce) {
  const int n = 100003;
  int* out = managed<int>(n);
  write_indices<<<(n + 255) / 256, 256>>>(out, n);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < n; ++i) ASSERT_EQ(out[i], i);
  const simt::Stats stats = simt::stats();
  EXPECT_STREQ(stats.last.kernel, "write_indices");
  EXPECT_EQ(stats.last.threads, 256u * ((n + 255) / 256));
  EXPECT_EQ(stats.last.barriers, 0u);
  EXPECT_LE(stats.last.switches, 3u * ((n + 255) / 256)) << "a kernel without barriers is a plain loop";
  cudaFree(out);
}

__global__ void three_dimensions(int* out) {
  const dim3 g = gridDim, b = blockDim;
  const int block = blockIdx.x + g.x * (blockIdx.y + g.y * blockIdx.z);
  const int thread = threadIdx.x + b.x * (threadIdx.y + b.y * threadIdx.z);
  out[block * (b.x * b.y * b.z) + thread] = block * 1000 + thread;
}

TEST(Runtime, ThreeDimensions) {
  int* out = managed<int>(24 * 30);
  three_dimensions<<<dim3(2, 3, 4), dim3(5, 3, 2)>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 24 * 30; ++i) ASSERT_EQ(out[i], i / 30 * 1000 + i % 30);
  cudaFree(out);
}

__global__ void reverse_each_block(int* data) {
  __shared__ int tile[128];
  extern __shared__ int more[];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  tile[t] = data[i];
  more[127 - t] = data[i];
  __syncthreads();
  const int other = tile[127 - t];
  __syncthreads();
  data[i] = other == more[t] ? other : -1;
}

TEST(Runtime, BarriersAndSharedMemory) {
  const int n = 128 * 100;
  int* data = managed<int>(n);
  std::iota(data, data + n, 0);
  reverse_each_block<<<100, 128, 128 * sizeof(int)>>>(data);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < n; ++i) ASSERT_EQ(data[i], i / 128 * 128 + 127 - i % 128);
  EXPECT_EQ(simt::stats().last.barriers, 200u);
  cudaFree(data);
}

__global__ void vote(int* out, int divisor) {
  const int p = threadIdx.x % divisor == 0;
  const int count = __syncthreads_count(p), all = __syncthreads_and(p), any = __syncthreads_or(p);
  if (threadIdx.x == blockDim.x - 1) out[0] = count, out[1] = all, out[2] = any;
}

TEST(Runtime, VotesOfTheBlock) {
  int* out = managed<int>(3);
  vote<<<1, 100>>>(out, 3);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(std::vector<int>(out, out + 3), (std::vector<int>{34, 0, 1}));
  vote<<<1, 100>>>(out, 1);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(std::vector<int>(out, out + 3), (std::vector<int>{100, 1, 1}));
  cudaFree(out);
}

constexpr int kEarlyBarrier = __LINE__ + 3;
__global__ void early_return(int n) {
  if (static_cast<int>(threadIdx.x) >= n) return;
  __syncthreads();
}

TEST(Runtime, BarrierThatReturnedThreadsNeverReach) {
  simt::require_whole_barriers();  // as the days do
  const std::string text = report_of([] { early_return<<<1, 64>>>(40); }, cudaErrorLaunchFailure);
  simt::require_whole_barriers(false);
  EXPECT_HAS(text, "error: a part of the block never comes to the barrier [simt-barrier-divergence]\n");
  EXPECT_HAS(text, at(kEarlyBarrier, "early_return", 0, 0));
  EXPECT_HAS(text, "\n    __syncthreads();\n");
  EXPECT_HAS(text, "40 threads of block (0,0,0) at __syncthreads(): thread (0,0,0), ...");
  EXPECT_HAS(text, "24 threads of block (0,0,0) have returned: thread (40,0,0), ...");
}

// The threads with an even number return at different times; the others still exchange values.
constexpr int kBarrierOfTheRest = __LINE__ + 9;
__global__ void without_returned(int* out) {
  __shared__ int values[64];
  __shared__ int votes;
  const int t = threadIdx.x;
  if (t == 0) return;
  values[t] = t;
  for (int round = 0; round < 2; ++round) {
    if (t % 2 == 0 && round == t / 2 % 2) return;
    __syncthreads();
  }
  const int odd = __syncthreads_count(t % 4 == 1);
  if (t == 1) votes = odd;
  __syncthreads();
  out[t] = values[64 - t] + 100 * votes;
}

TEST(Runtime, PlainBuildsLetTheOthersPassABarrier) {
  int* out = managed<int>(2 * 64);
  const auto run = [&] {
    testing::internal::CaptureStderr();
    for (int i = 0; i < 2; ++i) without_returned<<<1, 64>>>(out);
    const cudaError_t error = cudaDeviceSynchronize();
    return std::make_pair(error, testing::internal::GetCapturedStderr());
  };
  if (simt::checked_build) {
    const std::string text = report_of([&] { without_returned<<<1, 64>>>(out); }, cudaErrorLaunchFailure);
    EXPECT_HAS(text, "[simt-barrier-divergence]");
    return;
  }
  const auto [error, text] = run();
  ASSERT_EQ(error, cudaSuccess) << text;
  for (int t = 1; t < 64; t += 2) ASSERT_EQ(out[t], 64 - t + 100 * 16) << t;
  EXPECT_EQ(text.find("note: kernel without_returned: 16 of 64 threads have returned before the barrier at "),
            0u)
      << text;
  EXPECT_HAS(text, ":" + std::to_string(kBarrierOfTheRest) + "\n");
  EXPECT_EQ(text.find("note:", 1), std::string::npos) << "once a kernel: " << text;
  EXPECT_EQ(simt::reports(), 0);
  cudaFree(out);
}

constexpr int kFirstBarrier = __LINE__ + 3;
__global__ void two_barriers() {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST(Runtime, TwoBarriersAreNotOne) {
  const std::string text = report_of([] { two_barriers<<<1, 64>>>(); }, cudaErrorLaunchFailure);
  EXPECT_HAS(text, "error: threads of one block wait at different barriers [simt-barrier-divergence]\n");
  EXPECT_HAS(text, at(kFirstBarrier + 2, "two_barriers", 0, 32));
  EXPECT_HAS(text, line_start(kFirstBarrier) + "the barrier where 32 other threads of the block wait");
}

// ---- warps ----

__global__ void warp_sums(int* out, int n) {
  int v = threadIdx.x;
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(~0u, v, offset);
  const unsigned even = __ballot_sync(~0u, threadIdx.x % 2 == 0);
  const unsigned same = __match_any_sync(~0u, threadIdx.x / 8);
  const int largest = __reduce_max_sync(~0u, static_cast<int>(threadIdx.x));
  if (static_cast<int>(threadIdx.x) < n) {
    out[threadIdx.x * 4] = v;
    out[threadIdx.x * 4 + 1] = even;
    out[threadIdx.x * 4 + 2] = same;
    out[threadIdx.x * 4 + 3] = largest;
  }
}

TEST(Runtime, WarpCollectives) {
  int* out = managed<int>(64 * 4);
  warp_sums<<<1, 64>>>(out, 64);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int t = 0; t < 64; ++t) {
    EXPECT_EQ(out[t * 4], t < 32 ? 496 : 496 + 32 * 32);
    EXPECT_EQ(out[t * 4 + 1], 0x55555555);
    EXPECT_EQ(static_cast<unsigned>(out[t * 4 + 2]), 0xffu << t % 32 / 8 * 8);
    EXPECT_EQ(out[t * 4 + 3], t < 32 ? 31 : 63);
  }
  EXPECT_EQ(simt::stats().last.warp_collectives, 2u * 8);
  cudaFree(out);
}

// Lanes that returned and lanes that a partial warp lacks take no part, as on a GPU.
__global__ void partial_warp(unsigned* out) {
  if (threadIdx.x == 3) return;
  out[threadIdx.x] = __ballot_sync(~0u, 1);
}

TEST(Runtime, PartialWarpAndReturnedLanes) {
  unsigned* out = managed<unsigned>(20);
  partial_warp<<<1, 20>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int t = 0; t < 20; ++t) EXPECT_EQ(out[t], t == 3 ? ~0u : 0xffff7u);  // 3: poison, never written
  cudaFree(out);
}

__global__ void halves(int* out) {
  const unsigned mask = threadIdx.x < 16 ? 0xffffu : 0xffff0000u;
  int v = threadIdx.x;
  if (threadIdx.x < 16) {
    v = __shfl_sync(mask, v, 5);
  } else {
    v = __shfl_sync(mask, v, 20);
    __syncwarp(mask);
  }
  out[threadIdx.x] = v;
}

TEST(Runtime, MasksOfParts) {
  int* out = managed<int>(32);
  halves<<<1, 32>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 16 ? 5 : 20);
  cudaFree(out);
}

__global__ void active(unsigned* out) {
  if (threadIdx.x % 2) {
    out[threadIdx.x] = __activemask();
  } else {
    out[threadIdx.x] = __activemask();
  }
}

TEST(Runtime, ActiveMask) {
  unsigned* out = managed<unsigned>(32);
  active<<<1, 32>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out[t], t % 2 ? 0xaaaaaaaau : 0x55555555u);
  cudaFree(out);
}

constexpr int kMissing = __LINE__ + 2;
__global__ void missing_lanes() {
  if (threadIdx.x < 16) __syncwarp();
  __syncthreads();
}

TEST(Runtime, LanesThatNeverCome) {
  const std::string text = report_of([] { missing_lanes<<<1, 32>>>(); }, cudaErrorLaunchFailure);
  EXPECT_HAS(text, "error: lanes named in a mask never come to the warp operation [simt-warp-mask]\n");
  EXPECT_HAS(text, at(kMissing, "missing_lanes", 0, 0));
  EXPECT_HAS(text, "__syncwarp with mask 0xffffffff lacks lanes 0xffff0000");
}

constexpr int kMasks = __LINE__ + 2;
__global__ void different_masks(int* out) {
  out[threadIdx.x] = __shfl_sync(threadIdx.x < 16 ? ~0u : 0x7fffffffu, 1, 0);
}

TEST(Runtime, LanesThatNameDifferentMasks) {
  int* out = managed<int>(31);
  const std::string text = report_of([=] { different_masks<<<1, 31>>>(out); }, cudaErrorLaunchFailure);
  EXPECT_HAS(text, "error: the lanes of one __shfl_sync name different masks [simt-warp-mask]\n");
  EXPECT_HAS(text, at(kMasks, "different_masks", 0, 16));
}

constexpr int kOperations = __LINE__ + 3;
__global__ void different_operations(int* out) {
  if (threadIdx.x < 16) {
    out[threadIdx.x] = __shfl_sync(~0u, 1, 0);
  } else {
    out[threadIdx.x] = __ballot_sync(~0u, 1);
  }
}

TEST(Runtime, LanesInDifferentOperations) {
  int* out = managed<int>(32);
  const std::string text = report_of([=] { different_operations<<<1, 32>>>(out); }, cudaErrorLaunchFailure);
  EXPECT_HAS(text, "error: lanes of one mask are in different warp operations [simt-warp-mask]\n");
  EXPECT_HAS(text, at(kOperations + 2, "different_operations", 0, 16));
  EXPECT_HAS(text, line_start(kOperations) + "lane 0: __shfl_sync");
}

constexpr int kNotNamed = __LINE__ + 2;
__global__ void not_named() {
  __syncwarp(0x0000ffffu);
}

TEST(Runtime, MaskWithoutTheCaller) {
  const std::string text = report_of([] { not_named<<<1, 32>>>(); }, cudaErrorLaunchFailure);
  EXPECT_HAS(text,
             "lane 16 calls __syncwarp with mask 0x0000ffff, which does not name it [simt-warp-mask]\n");
  EXPECT_HAS(text, at(kNotNamed, "not_named", 0, 16));
}

constexpr int kAbsent = __LINE__ + 2;
__global__ void shuffle_from_absent_lane(int* out) {
  out[threadIdx.x] = __shfl_down_sync(~0u, static_cast<int>(threadIdx.x), 16);
}

TEST(Runtime, ShuffleFromALaneThatTakesNoPart) {
  int* out = managed<int>(20);
  const std::string text =
      report_of([=] { shuffle_from_absent_lane<<<1, 20>>>(out); }, cudaErrorLaunchFailure);
  EXPECT_HAS(text, "error: lane 4 shuffles from lane 20, which takes no part [simt-warp-mask]\n");
  EXPECT_HAS(text, line_start(kAbsent));
}

// ---- waiting for other threads ----

__global__ void pass_the_token(volatile int* token, int n) {
  while (*token != static_cast<int>(threadIdx.x)) {
  }
  *token = threadIdx.x + 1 < static_cast<unsigned>(n) ? threadIdx.x + 1 : n;
}

TEST(Runtime, SpinningInsideABlockEnds) {
  int* token = managed<int>(1);
  *token = 0;
  pass_the_token<<<1, 200>>>(token, 200);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*token, 200);
  cudaFree(token);
}

// Each block takes a ticket and waits for the block before it, as single-pass scans do.
__global__ void look_back(int* ticket, volatile int* sums) {
  __shared__ int mine;
  if (threadIdx.x == 0) {
    mine = atomicAdd(ticket, 1);
    int before = 0;
    if (mine > 0) {
      while ((before = sums[mine - 1]) < 0) {
      }
    }
    __threadfence();
    sums[mine] = before + mine;
  }
  __syncthreads();
}

TEST(Runtime, LookBackAcrossBlocksEnds) {
  int *ticket = managed<int>(1), *sums = managed<int>(500);
  *ticket = 0;
  std::fill(sums, sums + 500, -1);
  look_back<<<500, 64>>>(ticket, sums);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(sums[499], 499 * 500 / 2);
  cudaFree(ticket);
  cudaFree(sums);
}

__global__ void count_atomically(int* counter) {
  atomicAdd(counter, 1);
}

TEST(Runtime, AtomicsAcrossBlocks) {
  int* counter = managed<int>(1);
  *counter = 0;
  count_atomically<<<100, 250>>>(counter);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*counter, 25000);
  EXPECT_EQ(simt::stats().last.atomics, 25000u);
  cudaFree(counter);
}

// ---- memory ----

constexpr int kBeyond = __LINE__ + 3;
__global__ void write_beyond(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;
}

TEST(Runtime, OutOfBoundsOnGlobalMemory) {
  int* out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 1024 * sizeof(int)), cudaSuccess);
  const std::string text = report_of([=] { write_beyond<<<5, 256>>>(out); }, cudaErrorIllegalAddress);
  EXPECT_HAS(text, "error: out of bounds on global memory [simt-oob-global]\n");
  EXPECT_HAS(text, at(kBeyond, "write_beyond", 4, 0));
  EXPECT_HAS(text, "\n    out[i] = i;\n");
  EXPECT_HAS(text, " right past the end of a device buffer of 4096 bytes.");
}

TEST(Runtime, ANamedBuffer) {
  int* out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 1024 * sizeof(int)), cudaSuccess);
  simt::name_memory(out, "c (32 x 32)");
  EXPECT_HAS(report_of([=] { write_beyond<<<5, 256>>>(out); }, cudaErrorIllegalAddress),
             " right past the end of c (32 x 32), a device buffer of 4096 bytes.");
}

TEST(Runtime, SmallOverrunOnGlobalMemory) {
  int* out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 1000 * sizeof(int)), cudaSuccess);
  const std::string text = report_of([=] { write_beyond<<<1, 1001>>>(out); }, cudaErrorIllegalAddress);
  EXPECT_HAS(text, "error: out of bounds on global memory [simt-oob-global]\n");
  if (simt::checked_build) {  // stopped at the access, not found when the block or the launch ends
    EXPECT_HAS(text, at(kBeyond, "write_beyond", 0, 1000));
    EXPECT_HAS(text, "The thread writes 4 bytes, right past the end of a device buffer of 4000 bytes.\n");
  } else {
    EXPECT_HAS(text, "kernel write_beyond wrote a byte right past the end of a buffer of 4000 bytes\n");
  }
}

__global__ void write_byte(char* out, long at) {
  out[at] = 1;
}

TEST(Runtime, OneByteIsNotBytes) {
  if (!simt::checked_build) GTEST_SKIP() << "a plain build sees it when the launch ends";
  char* out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 1), cudaSuccess);
  EXPECT_HAS(report_of([=] { write_byte<<<1, 1>>>(out, 1); }, cudaErrorIllegalAddress),
             "The thread writes 1 byte, right past the end of a device buffer of 1 byte.\n");
  EXPECT_HAS(report_of([=] { write_byte<<<1, 1>>>(out, 2); }, cudaErrorIllegalAddress),
             "The thread writes 1 byte, 1 byte past the end of a device buffer of 1 byte.\n");
  EXPECT_HAS(report_of([=] { write_byte<<<1, 1>>>(out, -1); }, cudaErrorIllegalAddress),
             "The thread writes 1 byte, 1 byte before a device buffer of 1 byte.\n");
}

constexpr int kBefore = __LINE__ + 2;
__global__ void read_before(const float* in, float* out, long distance) {
  out[0] = in[-distance];
}

TEST(Runtime, ReadBeforeABuffer) {
  float *in = nullptr, *out = nullptr;
  ASSERT_EQ(cudaMalloc(&in, 1 << 20), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&out, 4), cudaSuccess);
  const std::string text = report_of([=] { read_before<<<1, 1>>>(in, out, 1); }, cudaErrorIllegalAddress);
  EXPECT_HAS(text, at(kBefore, "read_before", 0, 0));
  EXPECT_HAS(text, " 4 bytes before a device buffer of 1048576 bytes.");
}

// After the launch has failed cudaMalloc fails, so the program frees what nobody has set: one report is enough.
TEST(Runtime, FreesAfterAFailureAreQuiet) {
  float* out = managed<float>(1);
  float* const never_set = reinterpret_cast<float*>(std::uintptr_t{0x12345000});
  const std::string text = report_of(
      [=] {
        read_before<<<1, 1>>>(nullptr, out, 0);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
        EXPECT_EQ(cudaFree(never_set), cudaErrorIllegalAddress);
      },
      cudaErrorIllegalAddress);
  EXPECT_HAS(text, "simt-oob-global");
  EXPECT_EQ(text.find("simt-free"), std::string::npos) << text;
}

TEST(Runtime, UseAfterFree) {
  float *in = nullptr, *out = nullptr;
  ASSERT_EQ(cudaMalloc(&out, 4), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&in, 4096), cudaSuccess);
  ASSERT_EQ(cudaFree(in), cudaSuccess);
  const std::string text = report_of([=] { read_before<<<1, 1>>>(in, out, -3); }, cudaErrorIllegalAddress);
  EXPECT_HAS(text, "error: use of freed global memory [simt-use-after-free]\n");
  EXPECT_HAS(text, at(kBefore, "read_before", 0, 0));
  EXPECT_HAS(text, "The thread reads byte 12 of a device buffer of 4096 bytes that was freed.");
}

TEST(Runtime, NullPointer) {
  float* out = managed<float>(1);
  const std::string text =
      report_of([=] { read_before<<<1, 1>>>(nullptr, out, 0); }, cudaErrorIllegalAddress);
  EXPECT_HAS(text, "error: null pointer [simt-oob-global]\n");
  EXPECT_HAS(text, at(kBefore, "read_before", 0, 0));
}

using Four = float __attribute__((vector_size(16)));  // which compilers move by one instruction

constexpr int kMisaligned = __LINE__ + 2;
__global__ void load_misaligned(const float* in, float* out) {
  *reinterpret_cast<Four*>(out) = *reinterpret_cast<const Four*>(in + 1);
}

TEST(Runtime, MisalignedVectorAccess) {
#if !defined(__x86_64__)
  if (!simt::checked_build) GTEST_SKIP() << "arm64 loads unaligned vectors; a checked build finds them";
#endif
  float *in = managed<float>(64), *out = managed<float>(64);
  const std::string text = report_of([=] { load_misaligned<<<1, 1>>>(in, out); }, cudaErrorMisalignedAddress);
  EXPECT_HAS(text, "error: misaligned access [simt-misaligned]\n");
  EXPECT_HAS(text, at(kMisaligned, "load_misaligned", 0, 0));
  EXPECT_HAS(text,
             "The thread reads 16 bytes at byte 4 of a managed buffer of 256 bytes.\n"
             "Its address must be a multiple of 16, and is 4 past one.\n");
}

__global__ void store_misaligned(const Four* in) {
  __shared__ float numbers[36];
  const unsigned skipped = threadIdx.x == 2 ? 3 : 0;
  *reinterpret_cast<Four*>(numbers + 4 * threadIdx.x + skipped) = in[threadIdx.x];
}

TEST(Runtime, MisalignedVectorStore) {
#if !defined(__x86_64__)
  if (!simt::checked_build) GTEST_SKIP() << "arm64 stores unaligned vectors; a checked build finds them";
#endif
  Four* in = managed<Four>(8);
  const std::string text = report_of([=] { store_misaligned<<<1, 8>>>(in); }, cudaErrorMisalignedAddress);
  EXPECT_HAS(text, "error: misaligned access [simt-misaligned]\n");
  EXPECT_HAS(text, "thread (2,0,0)");
  EXPECT_HAS(text, "The thread writes 16 bytes at numbers[11].");
  EXPECT_HAS(text, "Its address must be a multiple of 16, and is 12 past one.\n");
}

__global__ void read_where_nothing_can_be(const float* in, float* out) {
  *out = *in;
}

TEST(Runtime, AddressThatNoMemoryHas) {
  float* out = managed<float>(1);
  const auto* nowhere = reinterpret_cast<const float*>(std::uintptr_t{1} << 60);
  const std::string text =
      report_of([=] { read_where_nothing_can_be<<<1, 1>>>(nowhere, out); }, cudaErrorIllegalAddress);
  EXPECT_HAS(text, "error: out of bounds on global memory [simt-oob-global]\n");
  EXPECT_HAS(text, "a wild pointer or index.");
}

TEST(Runtime, NewMemoryIsPoisoned) {
  unsigned char* data = managed<unsigned char>(300);
  EXPECT_EQ(reinterpret_cast<std::size_t>(data) % 256, 0u);
  EXPECT_TRUE(std::all_of(data, data + 300, [](unsigned char b) { return b == 0xff; }));
  cudaFree(data);
}

TEST(Runtime, OutOfMemoryIsAnError) {
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, std::size_t{1} << 60), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

__global__ void shared_is_poisoned(unsigned* out) {
  __shared__ unsigned tile[32];
  extern __shared__ unsigned more[];
  out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x] & more[threadIdx.x];
  tile[threadIdx.x] = more[threadIdx.x] = 7;
}

TEST(Runtime, SharedMemoryIsPoisonedForEachBlock) {
  if (simt::checked_build) GTEST_SKIP() << "a checked build stops at the read";
  unsigned* out = managed<unsigned>(64 * 32);
  std::fill(out, out + 64 * 32, 0);
  shared_is_poisoned<<<64, 32, 128>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 64 * 32; ++i) ASSERT_EQ(out[i], ~0u);
  cudaFree(out);
}

constexpr int kBeyondDynamic = __LINE__ + 3;
__global__ void overrun_dynamic() {
  extern __shared__ int tile[];
  tile[threadIdx.x] = 1;
}

TEST(Runtime, OverrunOfDynamicSharedMemory) {
  const std::string text = report_of([] { overrun_dynamic<<<2, 64, 60 * 4>>>(); }, cudaErrorIllegalAddress);
  EXPECT_HAS(text, "error: out of bounds on shared memory [simt-oob-shared]\n");
  EXPECT_HAS(text, line_start(kBeyondDynamic) + "kernel overrun_dynamic, block (");
  EXPECT_HAS(text, "0,0), thread (60,0,0)\n");
  EXPECT_HAS(text, " right past the end of the 240 bytes of dynamic shared memory that <<<>>> gave.");
}

constexpr int kBeyondStatic = __LINE__ + 3;
__global__ void overrun_static(int n) {
  __shared__ int tile[40];
  tile[threadIdx.x] = n;
}

TEST(Runtime, OverrunOfStaticSharedMemory) {
  const std::string text = report_of([] { overrun_static<<<1, 41>>>(1); }, cudaErrorIllegalAddress);
  EXPECT_HAS(text, "error: out of bounds on shared memory [simt-oob-shared]\n");
  if (simt::checked_build) {
    EXPECT_HAS(text, at(kBeyondStatic, "overrun_static", 0, 40));
    EXPECT_HAS(text, "Index 40 of an array of type 'int [40]'.\n");
  } else {
    EXPECT_HAS(text,
               "kernel overrun_static, block (0,0,0): something wrote right past the end of shared tile");
  }
}

__device__ int recurse(int n, volatile int* sink) {
  volatile int local[64] = {n};
  return n == 0 ? 0 : recurse(n - 1, sink) + local[n % 64] + sink[0];
}
__global__ void overflow_stack(int* out) {
  out[0] = recurse(1 << 20, out);
}

TEST(Runtime, StackOverflow) {
  int* out = managed<int>(1);
  const std::string text = report_of([=] { overflow_stack<<<1, 1>>>(out); }, cudaErrorLaunchFailure);
  EXPECT_HAS(text, "error: stack overflow [simt-oob-local]\n");
  EXPECT_HAS(text, "kernel overflow_stack, block (0,0,0), thread (0,0,0)\n");
  EXPECT_HAS(text, "\nsimt/tests/runtime_test.cu:");
}

__device__ int use(volatile int* local, int n) {
  return local[n];
}
__global__ void large_local(int* out, int n) {
  volatile int local[1 << 18];  // 1 MiB: all of it lies beyond the guard
  local[n] = 7;
  out[0] = use(local, n);
}
__device__ int middling(int n) {
  volatile int local[40 << 10];  // 160 KiB: its start would lie in another thread's stack
  local[n] = 7;
  return use(local, n);
}
__global__ void middling_local(int* out) {
  __syncthreads();  // all threads have their stacks now
  out[threadIdx.x] = middling(static_cast<int>(threadIdx.x));
}

TEST(Runtime, LargeLocalArrayIsAStackOverflow) {
  int* out = managed<int>(64);
  for (const int n : {0, (1 << 18) - 1}) {
    const std::string text = report_of([=] { large_local<<<1, 1>>>(out, n); }, cudaErrorLaunchFailure);
    EXPECT_HAS(text, "error: stack overflow [simt-oob-local]\n");
    EXPECT_HAS(text, "need more than 128 KiB.\nSIMT_STACK=512 gives each thread so many KiB");
    EXPECT_HAS(text, "kernel large_local, block (0,0,0), thread (0,0,0)\n");
    EXPECT_HAS(text, "\nsimt/tests/runtime_test.cu:");
  }
#if defined(__linux__) && defined(__x86_64__)
  const std::string text = report_of([=] { middling_local<<<1, 64>>>(out); }, cudaErrorLaunchFailure);
  EXPECT_HAS(text, "error: stack overflow [simt-oob-local]\n");
#endif
}

// ---- other mistakes in kernels ----

constexpr int kDivision = __LINE__ + 2;
__global__ void divide(int* out, int divisor) {
  out[threadIdx.x] = 7 / (divisor - static_cast<int>(threadIdx.x));
}

TEST(Runtime, IntegerDivisionByZero) {
  int* out = managed<int>(4);
  const std::string text = report_of([=] { divide<<<1, 4>>>(out, 2); }, cudaErrorLaunchFailure);
  EXPECT_HAS(text, "error: integer division by zero [simt-division]\n");
  EXPECT_HAS(text, at(kDivision, "divide", 0, 2));
}

constexpr int kAssertion = __LINE__ + 2;
__global__ void assert_small(int n) {
  assert(static_cast<int>(threadIdx.x) < n);
}

TEST(Runtime, Assertion) {
  const std::string text = report_of([] { assert_small<<<1, 32>>>(30); }, cudaErrorAssert);
  EXPECT_HAS(text, "[simt-assert]\n");
  EXPECT_HAS(text, at(kAssertion, "assert_small", 0, 30));
}

__global__ void launch_from_kernel(int* out, int n) {
  if (threadIdx.x == 0) write_indices<<<1, n>>>(out, n);
}

TEST(Runtime, LaunchInsideAKernel) {
  int* out = managed<int>(64);
  launch_from_kernel<<<1, 32>>>(out, 64);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[63], 63);
  cudaFree(out);
}

TEST(Runtime, TheProcessGoesOnAfterAReport) {
  (void)report_of([] { not_named<<<1, 32>>>(); }, cudaErrorLaunchFailure);
  int* out = managed<int>(64);
  write_indices<<<1, 64>>>(out, 64);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[63], 63);
  cudaFree(out);
}

// ---- launch configurations ----

__global__ void nothing() {}

TEST(Runtime, ConfigurationsThatCudaRefuses) {
  const struct {
    dim3 grid, block;
    std::size_t shared;
    cudaError_t error;
  } cases[] = {
      {1, 1025, 0, cudaErrorInvalidConfiguration},
      {1, dim3(32, 33), 0, cudaErrorInvalidConfiguration},
      {0, 32, 0, cudaErrorInvalidConfiguration},
      {1, 0, 0, cudaErrorInvalidConfiguration},
      {dim3(1, 65536), 1, 0, cudaErrorInvalidConfiguration},
      {1, dim3(1, 1, 65), 0, cudaErrorInvalidConfiguration},
      {1, 32, 48 * 1024 + 1, cudaErrorInvalidValue},
      {1, 32, 48 * 1024, cudaSuccess},
      {1, 1024, 0, cudaSuccess},
      {1, dim3(1, 1, 64), 0, cudaSuccess},
  };
  for (const auto& c : cases) {
    nothing<<<c.grid, c.block, c.shared>>>();
    EXPECT_EQ(cudaGetLastError(), c.error);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "not sticky";
  }
  EXPECT_EQ(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024),
            cudaSuccess);
  nothing<<<1, 32, 227 * 1024>>>();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  nothing<<<1, 32, 227 * 1024 + 1>>>();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

// ---- cooperative grids and clusters ----

__global__ void sum_in_two_phases(int* partial, int* out) {
  if (threadIdx.x == 0) partial[blockIdx.x] = blockIdx.x + 1;
  simt::sync_grid(simt::here());
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
    *out = sum;
  }
  simt::sync_grid(simt::here());
  if (threadIdx.x == 0) partial[blockIdx.x] = *out;
}

TEST(Runtime, CooperativeGrid) {
  int *partial = managed<int>(16), *out = managed<int>(1);
  void* arguments[] = {&partial, &out};
  ASSERT_EQ(cudaLaunchCooperativeKernel(sum_in_two_phases, 16, 64, arguments), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int b = 0; b < 16; ++b) EXPECT_EQ(partial[b], 136);
  EXPECT_EQ(cudaLaunchCooperativeKernel(sum_in_two_phases, 10000, 64, arguments),
            cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
  cudaFree(partial);
  cudaFree(out);
}

constexpr int kGridBarrier = __LINE__ + 2;
__global__ void leave_the_grid() {
  if (blockIdx.x % 2 == 0) simt::sync_grid(simt::here());
}

TEST(Runtime, GridBarrierThatSomeBlocksNeverReach) {
  const std::string text =
      report_of([] { cudaLaunchCooperativeKernel(leave_the_grid, 8, 32, static_cast<void**>(nullptr)); },
                cudaErrorLaunchFailure);
  EXPECT_HAS(text, "error: a part of the blocks never comes to the barrier [simt-barrier-divergence]\n");
  EXPECT_HAS(text, line_start(kGridBarrier) + "kernel leave_the_grid");
}

__global__ void read_neighbour(int* out) {
  __shared__ int value;
  if (threadIdx.x == 0) value = blockIdx.x;
  simt::sync_cluster(simt::here());
  if (threadIdx.x == 0) {
    const unsigned next = (simt::cluster_rank() + 1) % 4;
    out[blockIdx.x] = *static_cast<int*>(simt::map_shared(&value, next));
  }
  simt::sync_cluster(simt::here());
}

TEST(Runtime, Clusters) {
  int* out = managed<int>(16);
  simt::LaunchOptions options;
  options.cluster = {4, 1, 1};
  simt::push_config(16, 32, 0, nullptr, options), read_neighbour(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int b = 0; b < 16; ++b) EXPECT_EQ(out[b], b / 4 * 4 + (b + 1) % 4);
  cudaFree(out);
}

// ---- processes of their own ----

__global__ void order_of_threads(int* order, int* next) {
  order[atomicAdd(next, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
}

TEST(RuntimeApart, DISABLED_Order) {
  int *order = managed<int>(8), *next = managed<int>(1);
  *next = 0;
  order_of_threads<<<2, 4>>>(order, next);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 8; ++i) std::printf("%d%c", order[i], i < 7 ? ' ' : '\n');
}

TEST(Runtime, OrderOfThreadsAndBlocks) {
  int status;
  EXPECT_HAS(run_apart("SIMT_ORDER=normal", "Order", &status), "0 1 2 3 4 5 6 7\n");
  EXPECT_HAS(run_apart("SIMT_ORDER=reversed", "Order", &status), "7 6 5 4 3 2 1 0\n");
  const std::string one = run_apart("SIMT_ORDER=shuffle:1", "Order", &status);
  EXPECT_EQ(one.find("0 1 2 3 4 5 6 7\n"), std::string::npos);
  const std::string bad = run_apart("SIMT_ORDER=backwards", "Order", &status);
  EXPECT_HAS(bad, "error: SIMT_ORDER=backwards must be normal, reversed, shuffle or shuffle:SEED\n");
}

__global__ void spin_for_ever(volatile int* flag) {
  while (*flag != 2) {
  }
}
__global__ void loop_for_ever(volatile int* flag) {
  for (unsigned i = 0; i < 10; i += 0) *flag = 1;
}

TEST(RuntimeApart, DISABLED_Spin) {
  spin_for_ever<<<1, 32>>>(managed<int>(1));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
}
TEST(RuntimeApart, DISABLED_Loop) {
  loop_for_ever<<<1, 32>>>(managed<int>(1));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
}

__global__ void takes_its_time(int* done) {
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  atomicAdd(done, 1);
}

TEST(RuntimeApart, DISABLED_Long) {
  int* done = managed<int>(1);
  *done = 0;
  takes_its_time<<<8, 1>>>(done);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*done, 8);
}

TEST(Runtime, ALongKernelThatGetsOnIsNoHang) {
  int status;
  const std::string text = run_apart("SIMT_TIMEOUT=1 SIMT_THREADS=1", "Long", &status);
  EXPECT_EQ(status, 0) << text;
}

TEST(Runtime, HangsAreReported) {
  for (const char* test : {"Spin", "Loop"}) {
    int status;
    const std::string text = run_apart("SIMT_TIMEOUT=0.3", test, &status);
    EXPECT_HAS(text, "error: the kernel runs for more than 0.3 s [simt-hang]\nsimt/tests/runtime_test.cu:");
    EXPECT_HAS(text, "[       OK ]");
    EXPECT_NE(status, 0) << "a report makes the exit status 1";
  }
}

// raise() and kill() end the program as they would without handlers for a kernel's faults.
__global__ void does_nothing() {}
template <int kSignal>
void raise_after_a_kernel() {
  does_nothing<<<1, 1>>>();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  raise(kSignal);
  std::printf("alive\n");
}
TEST(RuntimeApart, DISABLED_RaiseSegv) {
  raise_after_a_kernel<SIGSEGV>();
}
TEST(RuntimeApart, DISABLED_RaiseFpe) {
  raise_after_a_kernel<SIGFPE>();
}

TEST(Runtime, SentSignalsEndTheProgram) {
  const std::pair<const char*, int> sent[] = {{"RaiseSegv", SIGSEGV}, {"RaiseFpe", SIGFPE}};
  for (const auto& [test, signal] : sent) {
    int status;
    const std::string text = run_apart("", test, &status);
    EXPECT_EQ(text.find("alive"), std::string::npos) << text;
    const bool by_shell = WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal;
    EXPECT_TRUE(by_shell || (WIFSIGNALED(status) && WTERMSIG(status) == signal)) << status << text;
  }
}

constexpr int kNoBlocks = __LINE__ + 4;
TEST(Runtime, RefusedLaunchesNameTheirExtents) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) {
    does_nothing<<<0, 32>>>();
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  }
  does_nothing<<<1, dim3(64, 32)>>>();
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "note: kernel does_nothing, grid (0,1,1), block (32,1,1): invalid configuration argument" +
                line_start(kNoBlocks) +
                "No extent may be 0.\n"
                "note: kernel does_nothing, grid (1,1,1), block (64,32,1): invalid configuration argument" +
                line_start(kNoBlocks + 3) + "A block of 2048 threads; 1024 are the most.\n");
}

__global__ void writes_at_exit(int* done) {
  std::printf("done: %d\n", atomicAdd(done, 1) + 1);
}
// What runs when the program exits needs what the runtime keeps: kernels that were never run before, inline PTX,
// tiles of a group, launches by a kernel.
__global__ void parent(int* done) {
  __shared__ int shared;
  if (threadIdx.x == 0) shared = 1;
  auto tile = cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block());
  tile.sync();
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  if (lane == 0) atomicAdd(done, shared);
  if (threadIdx.x == 0) writes_at_exit<<<1, 1>>>(done);
}
TEST(RuntimeApart, DISABLED_EndsWithoutWaiting) {
  int* done = managed<int>(1);
  *done = 0;
  parent<<<1, 64>>>(done);  // the first use of what exit() takes away again
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  does_nothing<<<1, 1>>>();
  parent<<<1, 64>>>(done);
}

TEST(Runtime, KernelsThatRunWhenTheProgramExitsFindAllTheyNeed) {
  int status;
  // Freed memory is overwritten.
  const std::string text = run_apart("MALLOC_PERTURB_=165", "EndsWithoutWaiting", &status);
  EXPECT_EQ(status, 0) << text;
  EXPECT_HAS(text, "done: 3\n");
  EXPECT_HAS(text, "done: 6\n");
}

TEST(RuntimeApart, DISABLED_Lenient) {
  early_return<<<1, 64>>>(40);
  shuffle_from_absent_lane<<<1, 20>>>(managed<int>(20));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST(Runtime, LenientModeTakesWhatGpusTake) {
  int status;
  const std::string text = run_apart("SIMT_LENIENT=1", "Lenient", &status);
  EXPECT_EQ(status, 0) << text;
}

}  // namespace runtime_test
