// SPDX-License-Identifier: MIT
//
// Memory that is not what a program takes it for: host memory that ends before a copy does, an index that has overflowed, a variable's
// other address, an object of the other side. What a plain build finds is looked at there, too.
#include "checked.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "simt/async_copies.h"

namespace checked_wrong_memory_test {

using checked::device;
using checked::report_of;
using checked::run_apart;

const std::string kFile = "simt/tests/checked_wrong_memory_test.cu:";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
#define EXPECT_SAYS(text, part) EXPECT_PRED2(has, text, part)

// ---- copies and the host's memory ----

constexpr int kFloats = 100;
float of_program[5];

// Where the compiler knows nothing of the pointer.
__attribute__((noinline)) cudaError_t fetch(void* to, const void* from, std::size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}
// Copies that many bytes into memory of `left` bytes, and then so many as there are.
void expect_end(void* to, std::size_t left, std::size_t at_least, const std::string& what) {
  const std::string text = report_of([&] {
    const float* from = device<float>(kFloats);
    EXPECT_EQ(fetch(to, from, left), cudaSuccess);
    EXPECT_EQ(fetch(to, from, kFloats * sizeof(float)), cudaErrorInvalidValue);
  });
  EXPECT_SAYS(text, "error: cudaMemcpy: the destination needs 400 bytes, but " +
                        (at_least ? std::to_string(at_least) + " are left of " : "") + what);
  EXPECT_SAYS(text, "[simt-memcpy]\n" + kFile);
}

TEST(HostMemory, EndsOfTheHeapsBlocks) {
  void* block = std::malloc(20);
  expect_end(block, 20, 24, "the 24 of a block on the heap (malloc, new)");
  std::free(block);
  std::vector<float> values(50);
  expect_end(values.data(), 200, 200, "the 200 of a block");
  std::vector<float> enough(kFloats + 3);
  EXPECT_EQ(report_of([&] { EXPECT_EQ(fetch(enough.data() + 3, device<float>(kFloats), 400), cudaSuccess); }),
            "");
  // Bytes before the destination that look like a block's beginning.
  std::vector<std::size_t> numbers(200, 33);
  EXPECT_EQ(report_of([&] { EXPECT_EQ(fetch(&numbers[100], device<float>(kFloats), 400), cudaSuccess); }),
            "");
}

// A pointer into a block is told while few blocks lie before it, so this runs in a process of its own.
TEST(HostMemory, EndOfABlockFromWithin) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto look = [] {
    std::vector<float> values(50);
    expect_end(values.data() + 10, 160, 160, "the 200 of a block");
    std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(look(), ::testing::ExitedWithCode(0), "");
}

TEST(HostMemory, EndOfALargeBlock) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  void* block = std::malloc(kBytes);
  const std::string text = report_of([&] {
    const char* from = device<char>(2 * kBytes);
    EXPECT_EQ(fetch(block, from, kBytes), cudaSuccess);
    EXPECT_EQ(fetch(block, from, 2 * kBytes), cudaErrorInvalidValue);
  });
  EXPECT_SAYS(text, "the destination needs 2097152 bytes, but 10");
  std::free(block);
}

TEST(HostMemory, EndsOfLocalVariables) {
  float local[4];
  const std::string text = report_of([&] {
    const float* from = device<float>(1024);
    EXPECT_EQ(fetch(local, from, sizeof local), cudaSuccess);
    EXPECT_EQ(fetch(local, from, 4096), cudaErrorInvalidValue);
  });
  EXPECT_SAYS(text, "error: cudaMemcpy: the destination needs 4096 bytes, but ");
  EXPECT_SAYS(text, " are left of the stack frame of the local variable there [simt-memcpy]\n" + kFile);
}

#ifdef __OPTIMIZE__
TEST(HostMemory, EndsThatTheCompilerSees) {
  const std::string text = report_of([] {
    float local[8];
    float* from = device<float>(kFloats);
    EXPECT_EQ(cudaMemcpy(local, from, sizeof local, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(from, &local[2], sizeof local, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  });
  EXPECT_SAYS(text,
              "error: cudaMemcpyAsync: the source needs 32 bytes, but 24 are left of what it points to");
}
#endif

TEST(HostMemory, EndsOfTheProgramsVariables) {
  static float of_function[6];
  expect_end(of_program, sizeof of_program, 20,
             "the 20 of the variable checked_wrong_memory_test::of_program");
  expect_end(&of_function[2], 16, 16, "the 24 of the variable checked_wrong_memory_test::");
}

TEST(HostMemory, RowsThatEndBehindIt) {
  std::vector<float> rows(4 * 8);
  const std::string text = report_of([&] {
    float* from = device<float>(4 * 8);
    for (const std::size_t height : {4u, 5u}) {
      EXPECT_EQ(cudaMemcpy2D(rows.data(), 32, from, 32, 32, height, cudaMemcpyDeviceToHost),
                height == 4 ? cudaSuccess : cudaErrorInvalidValue);
    }
  });
  EXPECT_SAYS(
      text,
      "the destination needs 160 bytes (5 rows of 32, 32 apart), but 136 are left of the 136 of a block");
}

// ---- indices ----

constexpr int kFar = __LINE__ + 3;
__global__ void index_far(float4* p, int i, bool write) {
  if (write) {
    p[i] = float4{};
  } else if (p[i].x == 3) {
    p[0].x = 1;
  }
}
constexpr int kFarther = __LINE__ + 2;
__global__ void index_by_64_bits(int* p, long long i) {
  p[i] = 1;
}
TEST(FarIndex, IsOutOfBoundsWhereverItLeads) {
  for (const bool write : {false, true}) {
    for (const int distance : {-(1 << 20), -(1 << 28), -(1 << 30), -2147483647 - 1, 1 << 28, 2147483647}) {
      const std::string text = report_of([&] {
        float4* p = device<float4>(16);
        index_far<<<1, 1>>>(p, distance, write);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
      });
      // So near, another test may have freed what was there.
      if (distance == -(1 << 20) && has(text, "error: use of freed global memory")) continue;
      EXPECT_SAYS(text, "error: out of bounds on global memory [simt-oob-global]\n" + kFile +
                            std::to_string(kFar + !write));
      EXPECT_SAYS(text, "a device buffer of 256 bytes");
      EXPECT_EQ(has(text, "an int that has overflowed, perhaps"), distance != -(1 << 20)) << text;
    }
  }
}

TEST(FarIndex, IsReportedAtAnyDistance) {
  SKIP_UNLESS_CHECKED();
  for (int bits = 30; bits < 44; ++bits) {
    for (const long long distance : {1ll << bits, -(1ll << bits)}) {
      const std::string text = report_of([&] {
        index_by_64_bits<<<1, 1>>>(device<int>(16), distance);
        EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
      });
      EXPECT_SAYS(text, "error: ");
      EXPECT_SAYS(text, kFile + std::to_string(kFarther));
    }
  }
}

// ---- the host's memory ----

__global__ void read_plainly(const int* p, int* out) {
  *out = *p;
}
__global__ void read_by_function(const int* p, int* out) {
  *out = __ldg(p);
}
__global__ void read_a_class(const int* p, int* out) {
  *out = (*reinterpret_cast<const int4*>(p)).x;
}
__global__ void read_by_library(const int* p, int* out) {
  *out = std::max(*p, *out);
}
__global__ void add_to(const int* p, int* out) {
  *out = atomicAdd(const_cast<int*>(p), 1);
}
void expect_hosts(const int* p, const std::string& where) {
  for (auto* const kernel : {read_plainly, read_by_function, read_a_class, read_by_library, add_to}) {
    const std::string text = report_of([&] {
      kernel<<<1, 1>>>(p, device<int>(1));
      EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
    });
    EXPECT_SAYS(text, "error: a kernel touches host memory [simt-host-access]\n" + kFile);
    EXPECT_SAYS(text, where);
  }
}
TEST(HostsMemory, OnTheHeapOrAStack) {
  SKIP_UNLESS_CHECKED();
  const std::vector<int> on_heap(4);
  expect_hosts(on_heap.data(), "on the host's heap");
  alignas(16) const int on_stack[4] = {};
  expect_hosts(on_stack, "on the stack of the host's thread");
  std::thread([] {
    alignas(16) const int on_other_stack[4] = {};
    expect_hosts(on_other_stack, "in memory that the host has mapped");
  }).join();
}
TEST(HostsMemory, ThatIsMapped) {
  SKIP_UNLESS_CHECKED();
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  expect_hosts(static_cast<int*>(memory) + 1000, "in memory that the host has mapped");
  EXPECT_EQ(cudaHostRegister(memory, kBytes, cudaHostRegisterDefault), cudaSuccess);
  EXPECT_EQ(report_of([&] { read_plainly<<<1, 1>>>(static_cast<int*>(memory) + 1000, device<int>(1)); }), "");
  EXPECT_EQ(cudaHostUnregister(memory), cudaSuccess);  // or what is mapped there next counts as registered
  munmap(memory, kBytes);
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(ftruncate(fileno(file), 4096), 0);
  void* const words = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  ASSERT_NE(words, MAP_FAILED);
  expect_hosts(static_cast<const int*>(words), "in a file that the host has mapped");
  munmap(words, 4096);
  std::fclose(file);
}

// ---- device variables ----

__device__ int counts[32];
__constant__ float weights[8];
__device__ int others[4], by_symbol;
__managed__ int shared_count = 3;

__global__ void count(int* p) {
  p[threadIdx.x] = static_cast<int>(threadIdx.x) + by_symbol;
}
struct Holder {
  int n;
  int* p;
};
__global__ void count_in(Holder h) {
  h.p[threadIdx.x % h.n] = 1;
}
__global__ void use_by_name(float* out) {
  out[threadIdx.x] = weights[threadIdx.x % 8] + static_cast<float>(counts[threadIdx.x] + others[0]);
}

constexpr int kGiven = __LINE__ + 2;
void give_variable() {
  count<<<1, 32>>>(counts);
}
TEST(DeviceVariables, AreNoArgumentsOfKernels) {
  std::string text = report_of([] {
    give_variable();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  });
  EXPECT_SAYS(
      text,
      "error: kernel count is given the host's address of a variable of the device [simt-host-access]\n" +
          kFile + std::to_string(kGiven) + "\n    count<<<1, 32>>>(counts);\n");
  EXPECT_SAYS(text,
              "counts is __device__: in host code its name is no address that a kernel can use.\n"
              "cudaGetSymbolAddress() gives that; or the kernel uses counts by its name.\n");
  text = report_of([] { count_in<<<1, 32>>>(Holder{4, &counts[2]}); });
  EXPECT_SAYS(text, "kernel count_in is given the host's address");
}
TEST(DeviceVariables, AreNoTargetsOfPlainCopies) {
  int host[32] = {};
  std::string text = report_of([&] {
    EXPECT_EQ(cudaMemcpyToSymbol(counts, host, sizeof host), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(counts, host, sizeof host, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  });
  EXPECT_SAYS(text, "error: cudaMemcpy: the destination is counts, a __device__ variable [simt-memcpy]\n");
  EXPECT_SAYS(text, "cudaMemcpyToSymbol(counts, ...) copies it.\n");
  text = report_of(
      [&] { EXPECT_EQ(cudaMemcpy(host, weights, 32, cudaMemcpyDeviceToHost), cudaErrorInvalidValue); });
  EXPECT_SAYS(text, "the source is weights, a __constant__ variable");
}
TEST(DeviceVariables, AreReachedBySymbol) {
  EXPECT_EQ(report_of([] {
              const int values[4] = {1, 2, 3, 4}, zero = 0;
              void* address = nullptr;
              EXPECT_EQ(cudaMemcpyToSymbol(others, values, sizeof values), cudaSuccess);
              EXPECT_EQ(cudaMemcpyToSymbol(by_symbol, &zero, sizeof zero), cudaSuccess);
              EXPECT_EQ(cudaGetSymbolAddress(&address, others), cudaSuccess);
              count<<<1, 4>>>(static_cast<int*>(address));
              use_by_name<<<1, 32>>>(device<float>(32));
              int back[4] = {};
              EXPECT_EQ(cudaMemcpy(back, address, sizeof back, cudaMemcpyDeviceToHost), cudaSuccess);
              EXPECT_EQ(back[3], 3);
            }),
            "");
}

__global__ void set_shared_count(int value) {
  shared_count = value;
}
TEST(ManagedVariables, AreBothSides) {
  int value = 0;
  EXPECT_EQ(report_of([&] {
              count<<<1, 1>>>(&shared_count);
              EXPECT_EQ(cudaMemcpy(&value, &shared_count, sizeof value, cudaMemcpyDefault), cudaSuccess);
            }),
            "");
  EXPECT_EQ(value, by_symbol);
}
constexpr int kEarly = __LINE__ + 3;
TEST(CheckedApart, DISABLED_ManagedVariableTooEarly) {
  set_shared_count<<<1, 1>>>(5);
  const int early = shared_count;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(early, 3);
}
TEST(CheckedApart, DISABLED_ManagedVariableInTime) {
  set_shared_count<<<1, 1>>>(5);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(shared_count, 5);
  set_shared_count<<<1, 1>>>(7);
  while (shared_count != 7 && cudaStreamQuery(nullptr) == cudaErrorNotReady) {
  }
  EXPECT_EQ(shared_count, 7);
}
TEST(ManagedVariables, AreReadTooEarly) {
  SKIP_UNLESS_CHECKED();
  int status;
  std::string text = run_apart("ManagedVariableInTime", &status);
  EXPECT_FALSE(has(text, "error:")) << text;
  EXPECT_EQ(status, 0);
  text = run_apart("ManagedVariableTooEarly", &status);
  EXPECT_SAYS(
      text,
      "error: host code reads memory before the operation that writes it has run [simt-stream-order]\n" +
          kFile + std::to_string(kEarly) + "\n");
  EXPECT_SAYS(
      text,
      "It reads byte 0 of the managed variable shared_count, which kernel set_shared_count, issued before, "
      "changes later.");
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

// ---- virtual functions ----

struct Shape {
  __host__ __device__ virtual ~Shape() {}
  __host__ __device__ virtual float area() const { return 0; }
  int id = 4;
};
struct Square : Shape {
  __host__ __device__ explicit Square(float side_) : side(side_) {}
  __host__ __device__ float area() const override { return side * side; }
  float side;
};
__global__ void area_of(const Shape* s, float* out) {
  *out = s->area();
}
__global__ void id_of(const Shape* s, float* out) {
  *out = static_cast<float>(s->id);
}
__global__ void make_square(Square* s) {
  new (s) Square(3);
}
float result_of(float* out) {
  float result = 0;
  EXPECT_EQ(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
  return result;
}
const char kVirtual[] =
    "error: a kernel uses a virtual function of an object that the host has made [simt-host-access]\n";

TEST(VirtualFunctions, OfAnObjectThatTheHostMade) {
  SKIP_UNLESS_CHECKED();
  const std::string text = report_of([] {
    const Square square(3);
    auto *first = device<Square>(2), *second = device<Square>(1);
    EXPECT_EQ(cudaMemcpy(first + 1, &square, sizeof square, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(second, first + 1, sizeof square, cudaMemcpyDeviceToDevice), cudaSuccess);
    area_of<<<1, 1>>>(second, device<float>(1));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  });
  EXPECT_SAYS(text, kVirtual);
  EXPECT_SAYS(
      text,
      "The thread looks for functions of checked_wrong_memory_test::Square at byte 0 of a device buffer of ");
}
TEST(VirtualFunctions, OfAManagedObject) {
  SKIP_UNLESS_CHECKED();
  EXPECT_SAYS(report_of([] {
                void* memory = nullptr;
                EXPECT_EQ(cudaMallocManaged(&memory, sizeof(Square)), cudaSuccess);
                area_of<<<1, 1>>>(new (memory) Square(2), device<float>(1));
              }),
              kVirtual);
}
TEST(VirtualFunctions, OfAnObjectThatAKernelMade) {
  EXPECT_EQ(report_of([] {
              const Square square(5);
              auto* made = device<Square>(1);
              float* out = device<float>(1);
              // The host's object may be copied, as long as nobody calls; and a kernel may put its own in its place.
              EXPECT_EQ(cudaMemcpy(made, &square, sizeof square, cudaMemcpyHostToDevice), cudaSuccess);
              id_of<<<1, 1>>>(made, out);
              EXPECT_EQ(result_of(out), 4);
              make_square<<<1, 1>>>(made);
              area_of<<<1, 1>>>(made, out);
              EXPECT_EQ(result_of(out), 9);
              auto* copy = device<Square>(1);
              EXPECT_EQ(cudaMemcpy(copy, made, sizeof square, cudaMemcpyDeviceToDevice), cudaSuccess);
              area_of<<<1, 1>>>(copy, out);
              EXPECT_EQ(result_of(out), 9);
            }),
            "");
}

// ---- child grids ----

__global__ void child(int* p) {
  *p += 1;
}
constexpr int kLocal = __LINE__ + 4;
__global__ void gives_local(int* out) {
  int local = 5;
  *out = local;
  child<<<1, 1>>>(&local);
  out[1] = local;
}
__global__ void gives_shared() {
  __shared__ int own[4];
  own[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) child<<<1, 1>>>(own + 1);
}
TEST(ChildGrids, ReachNoMemoryOfTheirParents) {
  std::string text = report_of([] { gives_local<<<1, 1>>>(device<int>(2)); });
  EXPECT_SAYS(text, "error: kernel child is given the address of local memory [simt-launch]\n" + kFile +
                        std::to_string(kLocal));
  EXPECT_SAYS(text, "Only the thread that has it can reach it.");
  text = report_of([] { gives_shared<<<1, 4>>>(); });
  EXPECT_SAYS(text, "error: kernel child is given the address of shared memory [simt-launch]\n");
}

__global__ void add_thread(int* p) {
  p[threadIdx.x] += static_cast<int>(threadIdx.x);
}
__global__ void sum_all(const int* p, int* out) {
  int sum = 0;
  for (int i = 0; i < 32; ++i) sum += p[i];
  *out = 10 * *out + sum;
}
__global__ void parent_with_tail(int* p, int* out) {
  p[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  sum_all<<<1, 1, 0, cudaStreamTailLaunch>>>(p, out);
  add_thread<<<1, 32, 0, cudaStreamFireAndForget>>>(p);
  add_thread<<<1, 32>>>(p);
}
TEST(ChildGrids, OfATailComeLast) {
  int result = 0;
  EXPECT_EQ(report_of([&] {
              int *p = device<int>(32), *out = device<int>(1);
              parent_with_tail<<<1, 32>>>(p, out);
              EXPECT_EQ(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
            }),
            "");
  EXPECT_EQ(result, 32 + 2 * 496);
}

// ---- a wait that comes too late ----

constexpr int kCopy = __LINE__ + 4, kWait = kCopy + 4, kRead = kCopy + 5;
__global__ void late_wait(const float* in, float* out, bool in_time) {
  __shared__ float row[32], own[64];
  const int t = static_cast<int>(threadIdx.x);
  if (t < 32) simt::async_copy(&row[t], in + t, 4, 4);
  if (in_time) simt::async_wait_all();
  __syncthreads();
  simt::async_copy(&own[t], in + t, 4, 4);
  simt::async_wait_all();
  out[t] = row[t % 32] + own[t];
}
TEST(LateWait, NamesTheCopy) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] { late_wait<<<1, 64>>>(device<float>(64), device<float>(64), true); }), "");
  const std::string text =
      report_of([] { late_wait<<<1, 64>>>(device<float>(64), device<float>(64), false); });
  EXPECT_EQ(text,
            "error: race on shared memory [simt-race-shared]\n" + kFile + std::to_string(kCopy) +
                "  if (t < 32) simt::async_copy(&row[t], in + t, 4, 4);    thread 0 copies to row[0]\n" +
                kFile + std::to_string(kRead) +
                "  out[t] = row[t % 32] + own[t];    thread 32 reads row[0]\n"
                "kernel late_wait, block 0; that copy is not waited for before the barrier below it\n"
                "Its thread waits at " +
                kFile + std::to_string(kWait) + ", and no __syncthreads() follows before the read.\n");
}

// ---- reasons ----

__global__ void shuffle_down(int* out, unsigned mask) {
  out[threadIdx.x] = __shfl_down_sync(mask, static_cast<int>(threadIdx.x), 4);
}
TEST(Reasons, OfALaneThatTakesNoPart) {
  std::string text = report_of([] { shuffle_down<<<1, 32>>>(device<int>(32), 0x1f); });
  EXPECT_SAYS(text, "error: lane 1 shuffles from lane 5, which takes no part [simt-warp-mask]\n");
  EXPECT_SAYS(text, "The mask 0x0000001f does not name lane 5. The value would be undefined.\n");
  text = report_of([] { shuffle_down<<<1, 20>>>(device<int>(32), ~0u); });
  EXPECT_SAYS(text, "The warp has no more than 20 threads, and so no lane 20.");
}

__global__ void of_shared_memory(float* out) {
  extern __shared__ float s[];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void __launch_bounds__(64) of_few_threads() {}
template <class Launch>
std::string note_of(Launch launch, cudaError_t error) {
  testing::internal::CaptureStderr();
  launch();
  EXPECT_EQ(cudaGetLastError(), error);
  return testing::internal::GetCapturedStderr();
}
TEST(Reasons, OfRefusedLaunches) {
  const int line = __LINE__ + 1;
  std::string text = note_of([] { of_shared_memory<<<1, 64, 65536>>>(nullptr); }, cudaErrorInvalidValue);
  EXPECT_EQ(
      text,
      "note: kernel of_shared_memory, grid (1,1,1), block (64,1,1): invalid argument\n" + kFile +
          std::to_string(line) +
          "  It asks for 65536 bytes of dynamic shared memory; 49152 are allowed without\n"
          "cudaFuncSetAttribute(of_shared_memory, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536).\n");
  text = note_of([] { of_shared_memory<<<1, 64, 1 << 20>>>(nullptr); }, cudaErrorInvalidValue);
  EXPECT_SAYS(text, "1048576 bytes of dynamic shared memory; 49152 are allowed, and 232448 at most.");
  EXPECT_EQ(cudaFuncSetAttribute(of_shared_memory, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536),
            cudaSuccess);
  text = note_of([] { of_shared_memory<<<1, 64, 65540>>>(nullptr); }, cudaErrorInvalidValue);
  EXPECT_SAYS(text, "65540 bytes of dynamic shared memory; cudaFuncSetAttribute() has allowed 65536.");
  text = note_of([] { of_shared_memory<<<1, dim3(33, 33)>>>(nullptr); }, cudaErrorInvalidConfiguration);
  EXPECT_SAYS(text, "A block of 1089 threads; 1024 are the most.");
  text = note_of([] { of_few_threads<<<1, 65>>>(); }, cudaErrorInvalidConfiguration);
  EXPECT_SAYS(text, "A block of 65 threads; 64 are the most, by the kernel's __launch_bounds__.");
  text = note_of([] { of_few_threads<<<dim3(1, 65536), 32>>>(); }, cudaErrorInvalidConfiguration);
  EXPECT_SAYS(text, "A grid has at most (2147483647,65535,65535) blocks.");
}

}  // namespace checked_wrong_memory_test
