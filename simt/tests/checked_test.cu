// SPDX-License-Identifier: MIT
//
// Checked builds: arrays of known size, memory of the wrong side, and launches that nobody asked about.
#include "checked.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace checked_test {

using checked::device;
using checked::report_of;
using checked::run_apart;

const std::string kFile = "simt/tests/checked_test.cu:";

constexpr int kLocal = __LINE__ + 3;
__global__ void local_array(int* out, int n) {
  int window[8] = {};
  for (int i = 0; i < n; ++i) window[i] += i;
  out[threadIdx.x] = window[n % 8];
}

TEST(Checked, LocalArray) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] { local_array<<<1, 32>>>(device<int>(32), 8); }), "");
  EXPECT_EQ(report_of([] { local_array<<<1, 32>>>(device<int>(32), 9); }),
            "error: out of bounds on a local array [simt-oob-local]\n" + kFile + std::to_string(kLocal) +
                "  kernel local_array, block (0,0,0), thread (0,0,0)\n"
                "    for (int i = 0; i < n; ++i) window[i] += i;\n"
                "Index 8 of an array of type 'int [8]'.\n");
}

constexpr int kColumn = __LINE__ + 3;
__global__ void local_column(int* out, int n) {
  int column[8][1] = {};
  for (int i = 0; i < n; ++i) column[i][0] += i;
  out[threadIdx.x] = column[n % 8][0];
}

// Rows of one element are no array of any size: the extent that is indexed is the first.
TEST(Checked, LocalColumn) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] { local_column<<<1, 32>>>(device<int>(32), 8); }), "");
  EXPECT_EQ(report_of([] { local_column<<<1, 32>>>(device<int>(32), 9); }),
            "error: out of bounds on a local array [simt-oob-local]\n" + kFile + std::to_string(kColumn) +
                "  kernel local_column, block (0,0,0), thread (0,0,0)\n"
                "    for (int i = 0; i < n; ++i) column[i][0] += i;\n"
                "Index 8 of an array of type 'int [8][1]'.\n");
}

// An index that is just past the end is out of bounds where the element is used, through a reference too; its
// address alone is not.
template <class T, int N>
struct Elements {
  T data[N];
  __device__ T& operator[](int i) { return data[i]; }
  __device__ auto at(int i) const -> const T& { return this->data[i]; }
};
constexpr int kElement = __LINE__ - 3;
__global__ void elements(float* out, int n) {
  struct {
    Elements<float, 4> a;
    float behind = 7;
  } local;
  for (int i = 0; i < n; ++i) local.a[i] = 1;
  float sum = 0;
  for (const float *p = &local.a[0], *end = &local.a[4]; p != end; ++p) sum += *p;
  const auto copy = local;
  out[0] = sum + copy.a.at(3) + static_cast<float>(&local.a.data[4] - local.a.data);
}
constexpr int kReference = __LINE__ + 3;
__global__ void reference(float* out, int n) {
  float local[8] = {};
  float& last = local[n];
  last = 1;
  out[0] = local[7];
}

// The neighbour of an array's last element is the struct's next member, and no report shows that it was overwritten.
template <class T, int kMany>
struct Words {
  T word[kMany];
  float edge;
  __device__ Words(const T* from, int n) {
    for (int i = 0; i < n; ++i) word[i] = from[i];
    edge = 1;
  }
};
constexpr int kCopied = __LINE__ - 4, kTaken = __LINE__ + 4;
template <class T>
__global__ void objects(const T* in, float* out, int stored, int taken) {
  const Words<T, 2> words(in, stored);
  const T last = words.word[taken - 1];
  out[0] = last.x + words.edge;
}

TEST(Checked, ElementsThatAreObjects) {
  SKIP_UNLESS_CHECKED();
  const auto of = [](int stored, int taken) {
    return report_of([&] { objects<<<1, 1>>>(device<float4>(4), device<float>(1), stored, taken); });
  };
  const auto past_end = [](int line, const char* text) {
    return "error: out of bounds on a local array [simt-oob-local]\n" + kFile + std::to_string(line) +
           "  kernel objects, block (0,0,0), thread (0,0,0)\n    " + text +
           "\nIndex 2 of an array of 2 elements.\n";
  };
  EXPECT_EQ(of(2, 2), "");
  EXPECT_EQ(of(3, 2), past_end(kCopied, "for (int i = 0; i < n; ++i) word[i] = from[i];"));
  EXPECT_EQ(of(2, 3), past_end(kTaken, "const T last = words.word[taken - 1];"));
}

TEST(Checked, ElementsUsedThroughReferences) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] { elements<<<1, 1>>>(device<float>(1), 4); }), "");
  EXPECT_EQ(report_of([] { elements<<<1, 1>>>(device<float>(1), 5); }),
            "error: out of bounds on a local array [simt-oob-local]\n" + kFile + std::to_string(kElement) +
                "  kernel elements, block (0,0,0), thread (0,0,0)\n"
                "    __device__ T& operator[](int i) { return data[i]; }\n"
                "Index 4 of an array of 4 elements.\n");
  EXPECT_EQ(report_of([] { reference<<<1, 1>>>(device<float>(1), 7); }), "");
  EXPECT_EQ(report_of([] { reference<<<1, 1>>>(device<float>(1), 8); }),
            "error: out of bounds on a local array [simt-oob-local]\n" + kFile + std::to_string(kReference) +
                "  kernel reference, block (0,0,0), thread (0,0,0)\n"
                "    float& last = local[n];\n"
                "Index 8 of an array of 8 elements.\n");
}

constexpr int kRows = __LINE__ + 3;
__global__ void shared_rows(int* out, int n) {
  __shared__ int tile[4][8];
  tile[0][threadIdx.x % n] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[0][threadIdx.x % n];
}

// Past the end of a row lies the next row: no address shows it.
TEST(Checked, RowOfASharedArray) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] { shared_rows<<<1, 16>>>(device<int>(16), 8); }), "");
  EXPECT_EQ(report_of([] { shared_rows<<<1, 16>>>(device<int>(16), 9); }),
            "error: out of bounds on shared memory [simt-oob-shared]\n" + kFile + std::to_string(kRows) +
                "  kernel shared_rows, block (0,0,0), thread (8,0,0)\n"
                "    tile[0][threadIdx.x % n] = 1;\n"
                "Index 8 of an array of type 'int [8]'.\n");
}

struct Pair {
  float value;
  int index;
};
struct Row8 {
  double at[8];
};
__device__ __noinline__ Pair pair_of(float x) {
  return {x, static_cast<int>(x)};
}
__device__ __noinline__ float4 four_of(float x) {
  return make_float4(x, 2 * x, 3 * x, 4 * x);
}
__device__ __noinline__ Row8 row_of(float x) {
  Row8 row;
  for (int i = 0; i < 8; ++i) row.at[i] = x * static_cast<float>(i);
  return row;
}

__global__ void stores_results(const float* in, float4* out) {
  __shared__ Pair pairs[32];
  __shared__ float4 fours[32];
  __shared__ Row8 rows[32];
  const int i = static_cast<int>(threadIdx.x), j = 31 - i;
  pairs[i] = pair_of(in[i]);
  fours[i] = four_of(in[i]);
  rows[i] = row_of(in[i]);
  __syncthreads();
  out[i] = four_of(pairs[j].value + fours[j].y + static_cast<float>(pairs[j].index + rows[j].at[7]));
}

__global__ void copy_fours(const float4* in, float4* out) {
  out[threadIdx.x] = in[threadIdx.x];
}

// The compiler may store what a function returns without a word to the checker, unless it inlines it.
TEST(Checked, StructsThatFunctionsReturnAreWritten) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] {
              float4* out = device<float4>(32, false);
              stores_results<<<1, 32>>>(device<float>(32), out);
              copy_fours<<<1, 32>>>(out, device<float4>(32));
            }),
            "");
}

constexpr int kResults = __LINE__ + 3;
__global__ void crowds_results(float4* out) {
  __shared__ float4 four[1];
  four[0] = four_of(static_cast<float>(threadIdx.x));
  __syncthreads();
  out[threadIdx.x] = four[0];
}

TEST(Checked, StructsThatFunctionsReturnCanRace) {
  SKIP_UNLESS_CHECKED();
#ifdef __clang__
  GTEST_SKIP() << "clang takes stores of vector types for volatile ones, which do not race";
#endif
  const std::string text = report_of([] { crowds_results<<<1, 32>>>(device<float4>(32)); });
  EXPECT_NE(text.find("[simt-race-shared]\n" + kFile + std::to_string(kResults)), std::string::npos) << text;
}

constexpr int kCopy = __LINE__ + 2;
__global__ void copy(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];
}

const std::string kHeapRead = "error: a kernel touches host memory [simt-host-access]\n" + kFile +
                              std::to_string(kCopy) +
                              "  kernel copy, block (0,0,0), thread (0,0,0)\n"
                              "    out[threadIdx.x] = in[threadIdx.x];\n"
                              "The thread reads 4 bytes on the host's heap (malloc, new, std::vector). "
                              "Kernels reach cudaMalloc's memory, cudaMallocManaged's and what is pinned.\n";

TEST(Checked, KernelThatReadsTheHostsHeap) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] {
              const std::vector<int> in(32);
              copy<<<1, 32>>>(in.data(), device<int>(32));
              static_cast<void>(cudaDeviceSynchronize());  // while the vector lives
            }),
            kHeapRead);
}

TEST(Checked, KernelThatReadsALargeVector) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] {
              const std::vector<int> in(1 << 20);
              copy<<<1, 32>>>(in.data() + (1 << 19), device<int>(32));
              static_cast<void>(cudaDeviceSynchronize());
            }),
            kHeapRead);
}

TEST(Checked, KernelThatReadsAnotherThreadsHeap) {
  SKIP_UNLESS_CHECKED();
  EXPECT_EQ(report_of([] {
              std::unique_ptr<int[]> in;
              std::thread([&in] { in = std::make_unique<int[]>(32); }).join();
              copy<<<1, 32>>>(in.get(), device<int>(32));
              static_cast<void>(cudaDeviceSynchronize());
            }),
            kHeapRead);
}

TEST(Checked, KernelThatWritesToTheHostsStack) {
  SKIP_UNLESS_CHECKED();
  const std::string text = report_of([] {
    int out[32];
    copy<<<1, 32>>>(device<int>(32), out);
    static_cast<void>(cudaDeviceSynchronize());  // while the array lives
  });
  EXPECT_NE(text.find("The thread writes 4 bytes on the stack of the host's thread (a local variable)."),
            std::string::npos)
      << text;
}

TEST(Checked, RegisteredMemoryIsTheDevicesToo) {
  SKIP_UNLESS_CHECKED();
  std::vector<int> in(32);
  const auto copies = [&in] {
    copy<<<1, 32>>>(in.data(), device<int>(32));
    return cudaDeviceSynchronize();
  };
  EXPECT_EQ(report_of([&] {
              ASSERT_EQ(cudaHostRegister(in.data(), 128, cudaHostRegisterDefault), cudaSuccess);
              ASSERT_EQ(copies(), cudaSuccess);
              ASSERT_EQ(cudaHostUnregister(in.data()), cudaSuccess);
            }),
            "");
  EXPECT_EQ(report_of(copies), kHeapRead);  // by the same line, which was right until now
}

constexpr int kHostRead = __LINE__ + 3;
TEST(CheckedApart, DISABLED_HostRead) {
  const int* in = device<int>(4);
  std::printf("%d\n", in[3]);
}

TEST(Checked, HostThatReadsDeviceMemory) {
  SKIP_UNLESS_CHECKED();
  int status;
  const std::string text = run_apart("HostRead", &status);
  EXPECT_NE(
      text.find("error: host code touches device memory [simt-host-access]\n" + kFile +
                std::to_string(kHostRead) +
                "\n    std::printf(\"%d\\n\", in[3]);\n"
                "It reads 4 bytes of a buffer of 16 bytes from cudaMalloc; cudaMemcpy brings them to the "
                "host.\n"),
      std::string::npos)
      << text;
  EXPECT_NE(status, 0);
}

constexpr int kUnasked = __LINE__ + 2;
TEST(CheckedApart, DISABLED_Unasked) {
  copy<<<1, 2048>>>(nullptr, nullptr);
}
TEST(CheckedApart, DISABLED_NoBlocks) {
  copy<<<0, 32>>>(nullptr, nullptr);
}
TEST(CheckedApart, DISABLED_NoThreads) {
  copy<<<1, dim3(32, 0)>>>(nullptr, nullptr);
}
TEST(CheckedApart, DISABLED_Asked) {
  copy<<<1, 2048>>>(nullptr, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

TEST(Checked, LaunchesThatFailUnheard) {
  int status;
  const std::string text = run_apart("Unasked", &status);
  EXPECT_NE(text.find("error: a launch failed, and the program never asked for its error [simt-launch]\n" +
                      kFile + std::to_string(kUnasked) +
                      "\n    copy<<<1, 2048>>>(nullptr, nullptr);\n"
                      "Kernel copy, grid (1,1,1), block (2048,1,1): invalid configuration argument.\n"
                      "A block of 2048 threads; 1024 are the most.\n"
                      "cudaGetLastError() after the launch would have told.\n"),
            std::string::npos)
      << text;
  EXPECT_NE(status, 0);
  EXPECT_NE(
      run_apart("NoBlocks", &status)
          .find(
              "error: a launch of no blocks failed, and the program never asked for its error [simt-launch]"),
      std::string::npos);
  EXPECT_NE(status, 0);
  EXPECT_NE(run_apart("NoThreads", &status).find("error: a launch of blocks without threads failed, and"),
            std::string::npos);
  EXPECT_NE(status, 0);
  EXPECT_EQ(run_apart("Asked", &status).find("error:"), std::string::npos);
  EXPECT_EQ(status, 0);
}

}  // namespace checked_test
