// SPDX-License-Identifier: MIT
//
// Checked builds: races on shared and global memory, each with its whole report, and the reports of reads
// that nothing has written.
#include <string>
#include <thread>

#include "checked.h"

namespace checked_races_test {

using checked::device;
using checked::report_of;

const std::string kFile = "simt/tests/checked_races_test.cu:";
const std::string kEnd = "\nThe result may have been right this time; the order is not guaranteed.\n";

constexpr int kMissingBarrier = __LINE__ + 3;
__global__ void missing_barrier(int* out) {
  __shared__ int part[64];
  part[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = part[threadIdx.x ^ 32];
}

TEST(CheckedRaces, MissingBarrier) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] { missing_barrier<<<1, 64>>>(device<int>(64)); }),
            "error: race on shared memory [simt-race-shared]\n" + kFile +
                std::to_string(kMissingBarrier + 1) +
                "  out[threadIdx.x] = part[threadIdx.x ^ 32];    thread 0 reads part[32]\n" + kFile +
                std::to_string(kMissingBarrier) +
                "  part[threadIdx.x] = threadIdx.x;    thread 32 writes part[32]\n"
                "kernel missing_barrier, block 0; no __syncthreads() between line " +
                std::to_string(kMissingBarrier) + " and line " + std::to_string(kMissingBarrier + 1) + kEnd);
  const std::string reversed =
      report_of([] { missing_barrier<<<1, 64>>>(device<int>(64)); }, simt::Order::reversed);
  EXPECT_NE(reversed.find("thread 63 reads part[31]\n"), std::string::npos) << reversed;
}

constexpr int kLoadTile = __LINE__ + 5;
__global__ void missing_second_barrier(int* out, int turns) {
  __shared__ int tile[64];
  int sum = 0;
  for (int turn = 0; turn < turns; ++turn) {
    tile[threadIdx.x] = turn + static_cast<int>(threadIdx.x);
    __syncthreads();
    sum += tile[threadIdx.x ^ 32];
  }
  out[threadIdx.x] = sum;
}

// The barrier between the two lines is there; the one on the way back is not.
TEST(CheckedRaces, MissingBarrierOfALoop) {
  SKIP_UNLESS_CHECKED();
  for (const simt::Order order : checked::kOrders) {
    const std::string text = report_of([] { missing_second_barrier<<<1, 64>>>(device<int>(64), 3); }, order);
    EXPECT_NE(text.find("no __syncthreads() on the way from line " + std::to_string(kLoadTile + 2) +
                        " back to line " + std::to_string(kLoadTile) + "\n"),
              std::string::npos)
        << text;
  }
}

__global__ void all_blocks_race(int* out, int slow) {
  __shared__ int part[64];
  if (blockIdx.x < 2)
    for (int i = 0; i < slow; ++i) out[blockIdx.x * 64 + threadIdx.x] += i;
  part[threadIdx.x] = threadIdx.x;
  out[blockIdx.x * 64 + threadIdx.x] = part[threadIdx.x ^ 32];
}

// However many workers there are, and whoever comes first: those before the block that fails run to their end.
TEST(CheckedRaces, TheLowestBlockIsReported) {
  SKIP_UNLESS_CHECKED();
  for (int i = 0; i < 10; ++i) {
    const std::string text = report_of([] { all_blocks_race<<<256, 64>>>(device<int>(256 * 64), 3000); });
    EXPECT_NE(text.find("thread 0 reads part[32]\n"), std::string::npos) << text;
    EXPECT_NE(text.find("kernel all_blocks_race, block 0; "), std::string::npos) << text;
  }
}

__global__ void waits_for_a_block_that_fails(int* out, volatile int* flag, const int* in) {
  if (blockIdx.x == 0) {
    while (*flag == 0) {
    }
  } else if (blockIdx.x == 255) {
    out[0] = in[1 << 28];
    *flag = 1;
  }
}

// The first block waits for one that has stopped: it is stopped too, and its hang is not what is told.
TEST(CheckedRaces, ABlockThatWaitsForOneThatFailed) {
  SKIP_UNLESS_CHECKED();
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one worker runs one block after the other";
  const std::string text = report_of(
      [] { waits_for_a_block_that_fails<<<256, 32>>>(device<int>(1), device<int>(1), device<int>(1)); });
  EXPECT_NE(text.find("[simt-oob-global]"), std::string::npos) << text;
}

__global__ void ordered_only_by_shuffle(int* out) {
  __shared__ int tile[4][8];
  const int t = threadIdx.x;
  tile[t / 8][t % 8] = t;
  const int other = __shfl_xor_sync(~0u, t, 1);
  out[t] = tile[other / 8][other % 8];
}

TEST(CheckedRaces, AShuffleOrdersNoMemory) {
  SKIP_UNLESS_CHECKED();
  const std::string text = report_of([] { ordered_only_by_shuffle<<<1, 32>>>(device<int>(32)); });
  EXPECT_NE(text.find("    thread 30 writes tile[3][6]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    thread 31 reads tile[3][6]\n"), std::string::npos) << text;
  const char* missing = "warp 0; no __syncwarp() or __syncthreads() between line ";
  EXPECT_NE(text.find(std::string("kernel ordered_only_by_shuffle, block 0, ") + missing), std::string::npos)
      << text;
}

constexpr int kCount = __LINE__ + 5;
__global__ void plain_and_atomic(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  if (threadIdx.x == 0) out[0] = count;
}

TEST(CheckedRaces, PlainReadOfAnAtomicCounter) {
  SKIP_UNLESS_CHECKED();
  const std::string text = report_of([] { plain_and_atomic<<<1, 64>>>(device<int>(1)); });
  EXPECT_NE(text.find("    thread 0 reads count\n"), std::string::npos) << text;
  EXPECT_NE(text.find(kFile + std::to_string(kCount) +
                      "  atomicAdd(&count, 1);    thread 1 atomically writes count\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find("between line " + std::to_string(kCount) + " and line " + std::to_string(kCount + 1) + "\n"),
      std::string::npos)
      << text;
}

constexpr int kNeighbour = __LINE__ + 4;
__global__ void neighbours_in_place(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 >= n) return;
  data[i] = data[i + 1] + 1;
}

TEST(CheckedRaces, BlocksThatReadWhatOthersWrite) {
  SKIP_UNLESS_CHECKED();
  for (const simt::Order order : checked::kOrders) {
    const std::string text = report_of([] { neighbours_in_place<<<4, 1>>>(device<int>(4), 4); }, order);
    EXPECT_EQ(
        text.rfind("error: race on global memory [simt-race-global]\n" + kFile + std::to_string(kNeighbour) +
                       "  data[i] = data[i + 1] + 1;    thread 0 of block ",
                   0),
        0u)
        << text;
    EXPECT_NE(text.find("kernel neighbours_in_place, different blocks; no __threadfence() and flag, or grid "
                        "barrier, between the two" +
                        kEnd),
              std::string::npos)
        << text;
  }
}

// The last block sums what all have written; without the fence nothing says that it sees it.
template <bool kFence>
__global__ void sum_in_the_last_block(int* partial, unsigned* ticket, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = blockIdx.x;
    if (kFence) __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  atomicAdd(out, partial[threadIdx.x]);
}

TEST(CheckedRaces, TicketWithoutAFence) {
  SKIP_UNLESS_CHECKED();
  const std::string text = report_of(
      [] { sum_in_the_last_block<false><<<32, 32>>>(device<int>(32), device<unsigned>(1), device<int>(1)); });
  EXPECT_NE(text.find("[simt-race-global]"), std::string::npos) << text;
  EXPECT_NE(text.find("  partial[blockIdx.x] = blockIdx.x;    thread 0 of block"), std::string::npos) << text;
  for (const simt::Order order : checked::kOrders) {
    EXPECT_EQ(report_of(
                  [] {
                    sum_in_the_last_block<true>
                        <<<32, 32>>>(device<int>(32), device<unsigned>(1), device<int>(1));
                  },
                  order),
              "");
  }
}

__global__ void store_block_index(int* out) {
  if (threadIdx.x == 0) *out = blockIdx.x;
}

TEST(CheckedRaces, BlocksThatStoreDifferentValues) {
  SKIP_UNLESS_CHECKED();
  const std::string text = report_of([] { store_block_index<<<8, 32>>>(device<int>(1)); });
  EXPECT_NE(text.find("writes byte 0 of a device buffer of 4 bytes\n"), std::string::npos) << text;
}

__global__ void read_what_is_new(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];
}

constexpr int kReadNew = __LINE__ - 3;
TEST(CheckedRaces, UninitialisedGlobalMemory) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] { read_what_is_new<<<1, 32>>>(device<float>(32, false), device<float>(32)); }),
            "error: read of uninitialised global memory [simt-uninit-global]\n" + kFile +
                std::to_string(kReadNew) +
                "  kernel read_what_is_new, block (0,0,0), thread (0,0,0)\n"
                "    out[threadIdx.x] = in[threadIdx.x];\n"
                "The thread reads byte 0 of a device buffer of 128 bytes, which nothing has written since "
                "cudaMalloc.\n");
  // Half of it copied by the host: the other half is found.
  const std::string text = report_of([] {
    float* in = device<float>(32, false);
    const float half[16] = {};
    EXPECT_EQ(cudaMemcpy(in, half, sizeof half, cudaMemcpyHostToDevice), cudaSuccess);
    read_what_is_new<<<1, 32>>>(in, device<float>(32));
  });
  EXPECT_NE(text.find("The thread reads byte 64 of a device buffer"), std::string::npos) << text;
}

constexpr int kReadShared = __LINE__ + 5;
__global__ void sum_too_many_parts(float* out) {
  __shared__ float part[8];
  if (threadIdx.x < 6) part[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = part[threadIdx.x];
}

TEST(CheckedRaces, UninitialisedSharedMemory) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] { sum_too_many_parts<<<2, 32>>>(device<float>(8)); }),
            "error: read of uninitialised shared memory [simt-uninit-shared]\n" + kFile +
                std::to_string(kReadShared) +
                "  kernel sum_too_many_parts, block (0,0,0), thread (6,0,0)\n"
                "    if (threadIdx.x < 8) out[threadIdx.x] = part[threadIdx.x];\n"
                "The thread reads part[6], which no thread of block 0 has written.\n");
}

constexpr int kAdd = __LINE__ + 6;
template <bool kShared>
__global__ void count_atomically(int* out) {
  __shared__ int count;
  if (!kShared) count = 0;
  __syncthreads();
  atomicAdd(kShared ? &count : out, 1);
  __syncthreads();
  if (kShared && threadIdx.x == 0) *out = count;
}
__global__ void store_atomically(int* out) {
  __shared__ int seen;
  if (threadIdx.x == 0) atomicExch(&seen, 7);
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(out, seen);
}

// An atomic operation reads what it changes; atomicExch is a way to store, too.
TEST(CheckedRaces, AtomicsOnUninitialisedMemory) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] { count_atomically<false><<<1, 64>>>(device<int>(1)); }), "");
  EXPECT_EQ(report_of([] { store_atomically<<<1, 64>>>(device<int>(1, false)); }), "");
  EXPECT_EQ(report_of([] {
              int* pinned = nullptr;
              EXPECT_EQ(cudaMallocManaged(&pinned, sizeof(int)), cudaSuccess);
              *pinned = 0;
              count_atomically<false><<<1, 64>>>(pinned);
            }),
            "");
  const std::string global = report_of([] { count_atomically<false><<<1, 64>>>(device<int>(1, false)); });
  EXPECT_NE(global.find("[simt-uninit-global]\n" + kFile + std::to_string(kAdd)), std::string::npos)
      << global;
  EXPECT_NE(
      global.find("The thread atomically updates byte 0 of a device buffer of 4 bytes, which nothing has "
                  "written since cudaMalloc.\n"),
      std::string::npos)
      << global;
  const std::string shared = report_of([] { count_atomically<true><<<1, 64>>>(device<int>(1)); });
  EXPECT_NE(shared.find("[simt-uninit-shared]\n" + kFile + std::to_string(kAdd)), std::string::npos)
      << shared;
}

enum class Between { nothing, sync_warp, shuffle };

// As it was written for GPUs whose lanes ran in lockstep.
constexpr int kLockstep = __LINE__ + 10;
template <Between kBetween, bool kOwnRead>
__global__ void reduce_in_lockstep(const int* in, int* out) {
  __shared__ volatile int part[64];
  const unsigned t = threadIdx.x;
  part[t] = in[t];
  __syncthreads();
  if (t >= 32) return;
  int sum = part[t];
  for (int step = 32; step > 0; step /= 2) {
    sum = (kOwnRead ? part[t] : sum) + part[t + step];
    if (kBetween == Between::sync_warp) __syncwarp();
    part[t] = sum;
    if (kBetween == Between::sync_warp) __syncwarp();
    if (kBetween == Between::shuffle) __shfl_xor_sync(~0u, sum, 1);
  }
  if (t == 0) *out = part[0];
}

TEST(CheckedRaces, LanesInLockstep) {
  SKIP_UNLESS_CHECKED();
  for (const bool own_read : {false, true}) {
    const std::string text = report_of([&] {
      const int* in = device<int>(64);
      EXPECT_EQ(cudaMemset(const_cast<int*>(in), 1, 256), cudaSuccess);
      if (own_read) reduce_in_lockstep<Between::nothing, true><<<1, 64>>>(in, device<int>(1));
      if (!own_read) reduce_in_lockstep<Between::nothing, false><<<1, 64>>>(in, device<int>(1));
    });
    EXPECT_NE(
        text.find("error: race on shared memory [simt-race-shared]\n" + kFile + std::to_string(kLockstep)),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("  part[t] = sum;    thread 1 writes part[1]\n"), std::string::npos) << text;
    EXPECT_NE(text.find("no __syncwarp() or __syncthreads() between "), std::string::npos) << text;
  }
}

// One thread polls, lanes wait for each other's flags, a lane tells the others to stop, and a lock is opened.
__global__ void flags_in_a_warp(int* lock, int* out) {
  __shared__ volatile int ready[32], found;
  __shared__ int locks[32];
  __shared__ volatile int guarded[32];
  const unsigned t = threadIdx.x;
  ready[t] = 0;
  guarded[t] = 0;
  locks[t] = 0;
  if (t == 0) found = 0;
  __syncthreads();
  ready[t] = 1;
  while (ready[(t + 1) % 32] == 0) {
  }
  __syncwarp();
  if (found == 0 && t % 3 == 0) found = static_cast<int>(t) + 1;
  __syncwarp();
  for (bool done = false; !done;) {
    if (atomicCAS(&locks[t / 4], 0, 1) != 0) continue;
    guarded[t / 4] = guarded[t / 4] + 1;
    *static_cast<volatile int*>(&locks[t / 4]) = 0;
    done = true;
  }
  __syncthreads();
  out[t] = guarded[t / 4];
}

TEST(CheckedRaces, VolatileFlagsAndStepsThatMeet) {
  SKIP_UNLESS_CHECKED();
  for (const simt::Order order : checked::kOrders) {
    EXPECT_EQ(report_of([] { flags_in_a_warp<<<1, 32>>>(device<int>(1), device<int>(32)); }, order), "");
    EXPECT_EQ(
        report_of(
            [] { reduce_in_lockstep<Between::sync_warp, true><<<1, 64>>>(device<int>(64), device<int>(1)); },
            order),
        "");
  }
}

__global__ void write_bytes(unsigned char* bytes) {
  bytes[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
}
__global__ void read_bytes(const unsigned char* bytes, int* out) {
  out[threadIdx.x] = bytes[threadIdx.x];
}
constexpr int kReadWord = __LINE__ + 4;
constexpr int kWriteByte = __LINE__ + 4;
__global__ void read_words_write_byte(unsigned char* bytes, int words, int byte, unsigned* out) {
  const unsigned i = threadIdx.x;
  if (i < 32 && static_cast<int>(i) < words) out[i] = reinterpret_cast<const unsigned*>(bytes)[i];
  if (i == 32) bytes[byte] = 1;
}

// What is written as bytes and read as words has a record for each byte, then one for all, and so on.
TEST(CheckedRaces, BytesAndWordsOfTheSameMemory) {
  SKIP_UNLESS_CHECKED();
  const auto run = [](int byte) {
    return report_of([&] {
      auto* bytes = device<unsigned char>(64, false);
      auto* out = device<unsigned>(64);
      for (int i = 0; i < 2; ++i) {
        write_bytes<<<1, 64>>>(bytes);
        read_words_write_byte<<<1, 32>>>(bytes, 16, 0, out);
        read_bytes<<<1, 64>>>(bytes, reinterpret_cast<int*>(out));
      }
      read_words_write_byte<<<1, 64>>>(bytes, 10, byte, out);
    });
  };
  EXPECT_EQ(run(40), "");
  const std::string text = run(39);
  EXPECT_NE(text.find("[simt-race-global]\n" + kFile + std::to_string(kReadWord)), std::string::npos) << text;
  EXPECT_NE(text.find(kFile + std::to_string(kWriteByte) +
                      "  if (i == 32) bytes[byte] = 1;    thread 32 writes "
                      "byte 39 of a device buffer of 64 bytes"),
            std::string::npos)
      << text;
}

__global__ void three_bytes(unsigned char* bytes) {
  if (threadIdx.x % 4 != 3) bytes[threadIdx.x] = 0;
}

TEST(CheckedRaces, BytesThatNothingHasWritten) {
  SKIP_UNLESS_CHECKED();
  const std::string text = report_of([] {
    auto* bytes = device<unsigned char>(64, false);
    three_bytes<<<1, 64>>>(bytes);
    read_bytes<<<1, 64>>>(bytes, device<int>(64));
  });
  EXPECT_NE(text.find("The thread reads byte 3 of a device buffer of 64 bytes, which nothing has written"),
            std::string::npos)
      << text;
}

}  // namespace checked_races_test
