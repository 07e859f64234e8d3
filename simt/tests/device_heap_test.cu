// SPDX-License-Identifier: MIT
//
// malloc, free, new and delete in kernels.

#include <gtest/gtest.h>

#include <string>

#include "simt/runtime.h"

namespace device_heap_test {

struct Managed {
  int* numbers = nullptr;
  explicit Managed(int n) {
    EXPECT_EQ(cudaMallocManaged(&numbers, static_cast<size_t>(n) * sizeof(int)), cudaSuccess);
    for (int i = 0; i < n; ++i) numbers[i] = 0;
  }
  ~Managed() { EXPECT_EQ(cudaFree(numbers), cudaSuccess); }
};

__global__ void scratch_kernel(int* out, int n) {
  int* own = static_cast<int*>(malloc(sizeof(int) * static_cast<size_t>(n)));
  for (int i = 0; i < n; ++i) own[i] = static_cast<int>(threadIdx.x) + i;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += own[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  free(own);
}

TEST(DeviceHeap, EachThreadHasItsOwn) {
  Managed out(128);
  for (int round = 0; round < 3; ++round) {
    scratch_kernel<<<2, 64>>>(out.numbers, 10);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < 128; ++i) ASSERT_EQ(out.numbers[i], 10 * (i % 64) + 45);
  }
}

// Objects with virtual functions that live from kernel to kernel, as in many ray tracers.
__device__ int destroyed;
struct Shape {
  __device__ virtual ~Shape() { atomicAdd(&destroyed, 1); }
  __device__ virtual int area() const = 0;
};
struct Named {
  int name = 7;
  __device__ virtual int get() const { return name; }
};
struct Square : Named, Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ ~Square() override { atomicAdd(&destroyed, 10); }
  __device__ int area() const override { return side * side; }
};
struct Counted {
  int value = 3;
  __device__ ~Counted() { atomicAdd(&destroyed, 1000); }
};

__global__ void create(Shape** shapes, Counted** counted, float** plain) {
  shapes[threadIdx.x] = new Square(static_cast<int>(threadIdx.x));
  if (threadIdx.x == 0) {
    *counted = new Counted[5];
    *plain = new float[100]();
  }
}
__global__ void use(Shape** shapes, Counted** counted, float** plain, int* out) {
  out[threadIdx.x] = shapes[threadIdx.x]->area() + (*counted)[4].value + static_cast<int>((*plain)[99]);
}
__global__ void destroy(Shape** shapes, Counted** counted, float** plain) {
  delete shapes[threadIdx.x];
  if (threadIdx.x == 0) {
    delete[] * counted;
    delete[](*plain);
    delete static_cast<int*>(nullptr);
  }
}

TEST(DeviceHeap, ObjectsLiveUntilTheyAreDeleted) {
  Shape** shapes;
  Counted** counted;
  float** plain;
  ASSERT_EQ(cudaMalloc(&shapes, 8 * sizeof *shapes), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&counted, sizeof *counted), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&plain, sizeof *plain), cudaSuccess);
  Managed out(8);
  int zero = 0;
  ASSERT_EQ(cudaMemcpyToSymbol(destroyed, &zero, sizeof zero), cudaSuccess);
  create<<<1, 8>>>(shapes, counted, plain);
  use<<<1, 8>>>(shapes, counted, plain, out.numbers);
  destroy<<<1, 8>>>(shapes, counted, plain);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out.numbers[i], i * i + 3);
  int count = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&count, destroyed, sizeof count), cudaSuccess);
  EXPECT_EQ(count, 8 * 11 + 5 * 1000);
  for (void* p : {static_cast<void*>(shapes), static_cast<void*>(counted), static_cast<void*>(plain)}) {
    EXPECT_EQ(cudaFree(p), cudaSuccess);
  }
}

__global__ void exhaust(int* out, size_t bytes) {
  void* first = malloc(bytes);
  void* second = malloc(bytes);
  out[0] = first != nullptr;
  out[1] = second == nullptr;
  free(first);
  second = malloc(bytes);
  out[2] = second != nullptr;
  free(second);
}

TEST(DeviceHeap, HasTheSizeThatWasAskedFor) {
  size_t before = 0;
  ASSERT_EQ(cudaDeviceGetLimit(&before, cudaLimitMallocHeapSize), cudaSuccess);
  ASSERT_EQ(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20), cudaSuccess);
  Managed out(3);
  exhaust<<<1, 1>>>(out.numbers, 600 << 10);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(out.numbers[i], 1) << i;
  ASSERT_EQ(cudaDeviceSetLimit(cudaLimitMallocHeapSize, before), cudaSuccess);
}

// A linked list of thousands of nodes: more than there are allocations of their own.
struct Node {
  Node* next;
  int value;
};
__global__ void list_kernel(Node** heads, int length) {
  Node* head = nullptr;
  for (int i = 0; i < length; ++i) head = new Node{head, i};
  heads[threadIdx.x] = head;
}
__global__ void unlist_kernel(Node** heads, int* sums) {
  int sum = 0;
  for (Node* node = heads[threadIdx.x]; node;) {
    Node* const next = node->next;
    sum += node->value;
    delete node;
    node = next;
  }
  sums[threadIdx.x] = sum;
}

TEST(DeviceHeap, GivesOutManySmallBlocks) {
  Node** heads;
  ASSERT_EQ(cudaMalloc(&heads, 64 * sizeof *heads), cudaSuccess);
  Managed sums(64);
  for (int round = 0; round < 2; ++round) {
    list_kernel<<<1, 64>>>(heads, 200);
    unlist_kernel<<<1, 64>>>(heads, sums.numbers);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < 64; ++i) ASSERT_EQ(sums.numbers[i], 199 * 100);
  }
  EXPECT_EQ(cudaFree(heads), cudaSuccess);
}

// What one thread frees another gets, of another block too.
__global__ void reuse_kernel(int* sums, int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    int* own = new int[10];
    for (int j = 0; j < 10; ++j) own[j] = i;
    for (int j = 0; j < 10; ++j) sum += own[j];
    delete[] own;
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

TEST(DeviceHeap, FreedBlocksAreNobodys) {
  Managed sums(128);
  reuse_kernel<<<4, 32>>>(sums.numbers, 50);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 128; ++i) ASSERT_EQ(sums.numbers[i], 10 * 49 * 50 / 2);
}

// On the host the same functions use the host's heap.
__host__ __device__ int with_scratch(int n) {
  int* scratch = new int[static_cast<size_t>(n)];
  void* more = malloc(16);
  for (int i = 0; i < n; ++i) scratch[i] = i;
  const int last = scratch[n - 1];
  delete[] scratch;
  free(more);
  return last;
}
TEST(DeviceHeap, HostCodeKeepsItsOwnHeap) {
  EXPECT_EQ(with_scratch(10), 9);
}

__global__ void free_twice(int* p) {
  int* own = static_cast<int*>(malloc(4));
  free(own);
  free(p ? p : own);
}
__global__ void overrun() {
  volatile char* own = static_cast<char*>(malloc(256));
  own[256] = 1;
}
__global__ void use_after_free(int* out) {
  int* own = static_cast<int*>(malloc(4));
  *own = 1;
  free(own);
  *out = *static_cast<volatile int*>(own);
}

std::string report_of(void (*launch)(int*), int* argument) {
  testing::internal::CaptureStderr();
  launch(argument);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  simt::forget_reports();
  return report;
}

TEST(DeviceHeap, MisuseIsReported) {
  int* out;
  ASSERT_EQ(cudaMalloc(&out, 4), cudaSuccess);
  const std::string foreign = report_of([](int* p) { free_twice<<<1, 1>>>(p); }, out);
  EXPECT_NE(foreign.find("[simt-free]"), std::string::npos) << foreign;
  const std::string twice = report_of([](int*) { free_twice<<<1, 1>>>(nullptr); }, nullptr);
  EXPECT_NE(twice.find("[simt-free]"), std::string::npos) << twice;
  const std::string beyond = report_of([](int*) { overrun<<<1, 1>>>(); }, nullptr);
  EXPECT_NE(beyond.find("[simt-oob-global]"), std::string::npos) << beyond;
  ASSERT_EQ(cudaMalloc(&out, 4), cudaSuccess);
  const std::string late = report_of([](int* p) { use_after_free<<<1, 1>>>(p); }, out);
  EXPECT_NE(late.find("[simt-use-after-free]"), std::string::npos) << late;
}

}  // namespace device_heap_test
