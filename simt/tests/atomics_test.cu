// SPDX-License-Identifier: MIT
//
// Atomics: every function and type, all threads of several blocks on one cell, old values, wrap-around and 16
// bytes.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace atomics_test {

constexpr int kBlocks = 8, kThreads = 128, kAll = kBlocks * kThreads;

// One value in managed memory.
template <class T>
class Cell {
 public:
  explicit Cell(T start) {
    EXPECT_EQ(cudaMallocManaged(&value_, sizeof(T)), cudaSuccess);
    *value_ = start;
  }
  ~Cell() { EXPECT_EQ(cudaFree(value_), cudaSuccess); }
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  T* get() { return value_; }
  T operator*() const { return *value_; }

 private:
  T* value_ = nullptr;
};

template <class T, class Operation>
__global__ void everyone(T* cell, Operation operation) {
  operation(cell, static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
}

// What the cell holds after each of kAll threads has run operation(cell, i).
template <class T, class Operation>
T after(T start, Operation operation) {
  Cell<T> cell(start);
  everyone<<<kBlocks, kThreads>>>(cell.get(), operation);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return *cell;
}

constexpr long long kSum = 1ll * kAll * (kAll - 1) / 2;

TEST(Atomics, Add) {
  EXPECT_EQ(after<int>(0, [](int* p, int i) { atomicAdd(p, i); }), kSum);
  EXPECT_EQ(after<unsigned>(5, [](unsigned* p, int i) { atomicAdd(p, static_cast<unsigned>(i)); }),
            kSum + 5u);
  EXPECT_EQ(after<unsigned long long>(~0ull, [](unsigned long long* p, int) { atomicAdd(p, 1ull << 40); }),
            (static_cast<unsigned long long>(kAll) << 40) - 1);
  EXPECT_EQ(after<float>(0, [](float* p, int i) { atomicAdd(p, static_cast<float>(i)); }),
            static_cast<float>(kSum));
  EXPECT_EQ(after<double>(0, [](double* p, int i) { atomicAdd(p, 0.5 * i); }), 0.5 * kSum);
  EXPECT_EQ(after<int>(0, [](int* p, int i) { atomicAdd_block(p, i), atomicAdd_system(p, i); }), 2 * kSum);
}

TEST(Atomics, AddVectorsAndHalves) {
  Cell<float4> quad(make_float4(0, 0, 0, 0));
  everyone<<<kBlocks, kThreads>>>(quad.get(), [](float4* p, int) { atomicAdd(p, make_float4(1, 2, 3, 4)); });
  Cell<__half2> halves(__floats2half2_rn(0.0f, 0.0f));
  everyone<<<kBlocks, kThreads>>>(halves.get(),
                                  [](__half2* p, int) { atomicAdd(p, __floats2half2_rn(1.0f, -1.0f)); });
  Cell<__half> half_cell(__float2half(0.0f));
  everyone<<<kBlocks, kThreads>>>(half_cell.get(), [](__half* p, int) { atomicAdd(p, __float2half(1.0f)); });
  Cell<__nv_bfloat16> bf(__float2bfloat16(0.0f));
  everyone<<<1, kThreads>>>(bf.get(), [](__nv_bfloat16* p, int) { atomicAdd(p, __float2bfloat16(1.0f)); });
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ((*quad).x, kAll);
  EXPECT_EQ((*quad).w, 4.0f * kAll);
  EXPECT_EQ(__low2float(*halves), kAll);
  EXPECT_EQ(__high2float(*halves), -kAll);
  EXPECT_EQ(__half2float(*half_cell), kAll);
  EXPECT_EQ(__bfloat162float(*bf), kThreads);
}

TEST(Atomics, SubtractAndLogic) {
  EXPECT_EQ(after<int>(0, [](int* p, int i) { atomicSub(p, i); }), -kSum);
  EXPECT_EQ(after<unsigned>(0, [](unsigned* p, int) { atomicSub(p, 1u); }), 0u - kAll);
  EXPECT_EQ(after<unsigned>(0, [](unsigned* p, int i) { atomicOr(p, 1u << i % 32); }), ~0u);
  EXPECT_EQ(after<int>(-1, [](int* p, int i) { atomicAnd(p, ~(1 << i % 31)); }), INT32_MIN);
  EXPECT_EQ(after<unsigned long long>(7, [](unsigned long long* p, int i) { atomicXor(p, 1ull << i % 64); }),
            kAll / 64 % 2 ? ~7ull : 7ull);
}

TEST(Atomics, MinimumAndMaximum) {
  EXPECT_EQ(after<int>(0, [](int* p, int i) { atomicMin(p, 5 - i); }), 6 - kAll);
  EXPECT_EQ(after<unsigned>(~0u, [](unsigned* p, int i) { atomicMin(p, static_cast<unsigned>(i) + 3); }), 3u);
  EXPECT_EQ(after<int>(-5, [](int* p, int i) { atomicMax(p, i - kAll); }), -1);
  EXPECT_EQ(after<unsigned>(1, [](unsigned* p, int i) { atomicMax(p, i == 77 ? 0x80000000u : 0u); }),
            0x80000000u);
  EXPECT_EQ(after<long long>(0, [](long long* p, int i) { atomicMin(p, -(1ll << 40) * i); }),
            -(1ll << 40) * (kAll - 1));
  EXPECT_EQ(after<unsigned long long>(0, [](unsigned long long* p, int i) { atomicMax(p, ~0ull - i); }),
            ~0ull);
}

TEST(Atomics, CountersWrapAround) {
  EXPECT_EQ(after<unsigned>(0, [](unsigned* p, int) { atomicInc(p, 99); }), kAll % 100u);
  EXPECT_EQ(after<unsigned>(500,
                            [](unsigned* p, int i) {
                              if (i == 0) atomicInc(p, 99);  // above the limit: back to 0
                            }),
            0u);
  EXPECT_EQ(after<unsigned>(0, [](unsigned* p, int) { atomicDec(p, 99); }), (100u - kAll % 100) % 100);
  EXPECT_EQ(after<unsigned>(500,
                            [](unsigned* p, int i) {
                              if (i == 0) atomicDec(p, 99);  // above the limit: to the limit
                            }),
            99u);
}

__global__ void tickets(unsigned* counter, unsigned* taken) {
  taken[atomicAdd(counter, 1u)] = blockIdx.x * blockDim.x + threadIdx.x;
}

TEST(Atomics, OldValuesAreEachGivenOnce) {
  Cell<unsigned> counter(0);
  unsigned* taken;
  ASSERT_EQ(cudaMallocManaged(&taken, kAll * sizeof(unsigned)), cudaSuccess);
  tickets<<<kBlocks, kThreads>>>(counter.get(), taken);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<unsigned> seen(taken, taken + kAll);
  std::sort(seen.begin(), seen.end());
  for (unsigned i = 0; i < kAll; ++i) ASSERT_EQ(seen[i], i);
  ASSERT_EQ(cudaFree(taken), cudaSuccess);
}

// A lock in the way of books: spinning threads let the holder run.
__global__ void locked_increments(int* lock, int* count) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *count = *count + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

TEST(Atomics, CompareAndSwapMakesALock) {
  Cell<int> lock(0), count(0);
  locked_increments<<<kBlocks, kThreads>>>(lock.get(), count.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*count, kAll);
  EXPECT_EQ(*lock, 0);
}

TEST(Atomics, CompareAndSwapOfEverySize) {
  EXPECT_EQ(after<unsigned short>(3,
                                  [](unsigned short* p, int) {
                                    unsigned short old = *p, seen;
                                    do {
                                      seen = old;
                                      old = atomicCAS(p, seen, static_cast<unsigned short>(seen + 1));
                                    } while (old != seen);
                                  }),
            3 + kAll);
  EXPECT_EQ(after<double>(0,
                          [](double* p, int i) {
                            // The guide's atomicAdd for double, by patterns.
                            auto* bits = reinterpret_cast<unsigned long long*>(p);
                            unsigned long long old = *bits, seen;
                            do {
                              seen = old;
                              old = atomicCAS(bits, seen,
                                              static_cast<unsigned long long>(
                                                  __double_as_longlong(__longlong_as_double(seen) + i)));
                            } while (old != seen);
                          }),
            static_cast<double>(kSum));
}

TEST(Atomics, ExchangeGivesEveryValueOnce) {
  float* cells;
  ASSERT_EQ(cudaMallocManaged(&cells, 2 * sizeof(float)), cudaSuccess);
  cells[0] = -1.0f;
  cells[1] = 0.0f;
  everyone<<<kBlocks, kThreads>>>(
      cells, [](float* p, int i) { atomicAdd(p + 1, atomicExch(p, static_cast<float>(i))); });
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cells[0] + cells[1], static_cast<float>(kSum - 1));
  ASSERT_EQ(cudaFree(cells), cudaSuccess);
}

struct alignas(16) Wide {
  unsigned long long low, high;
};

TEST(Atomics, SixteenBytesAtOnce) {
  const Wide sum = after<Wide>(Wide{0, ~0ull}, [](Wide* p, int i) {
    Wide old = {0, 0}, seen;
    do {
      seen = old;
      old = atomicCAS(p, seen, Wide{seen.low + i, ~(seen.low + i)});
    } while (old.low != seen.low || old.high != seen.high);
  });
  EXPECT_EQ(sum.low, static_cast<unsigned long long>(kSum));
  EXPECT_EQ(sum.high, ~sum.low);
  const Wide last = after<Wide>(Wide{0, 0}, [](Wide* p, int i) {
    const unsigned long long n = static_cast<unsigned long long>(i);
    const Wide old = atomicExch(p, Wide{n, n});
    if (old.low != old.high) __trap();
  });
  EXPECT_EQ(last.low, last.high);
}

__global__ void shared_histogram(const int* values, int count, int* bins) {
  __shared__ int local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[values[i]], 1);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

TEST(Atomics, InSharedMemory) {
  constexpr int kCount = 10007;
  int* values;
  int* bins;
  ASSERT_EQ(cudaMallocManaged(&values, kCount * sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&bins, 16 * sizeof(int)), cudaSuccess);
  std::vector<int> expected(16);
  for (int i = 0; i < kCount; ++i) ++expected[static_cast<size_t>(values[i] = i * i % 16)];
  for (int b = 0; b < 16; ++b) bins[b] = 0;
  shared_histogram<<<kBlocks, kThreads>>>(values, kCount, bins);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(std::vector<int>(bins, bins + 16), expected);
  ASSERT_EQ(cudaFree(values), cudaSuccess);
  ASSERT_EQ(cudaFree(bins), cudaSuccess);
}

#if !defined(__CUDACC__) || (__CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208)
// The values that one thread gets from each of the compiler's own functions.
template <class T>
__global__ void scoped_steps(T* cell, T* seen) {
  __nv_atomic_store_n(cell, 12, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
  *seen++ = __nv_atomic_load_n(cell, __NV_ATOMIC_ACQUIRE);
  *seen++ = __nv_atomic_exchange_n(cell, 20, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  *seen++ = __nv_atomic_fetch_add(cell, 5, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
  *seen++ = __nv_atomic_fetch_sub(cell, 4, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  *seen++ = __nv_atomic_fetch_and(cell, 29, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  *seen++ = __nv_atomic_fetch_or(cell, 2, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  *seen++ = __nv_atomic_fetch_xor(cell, 3, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  *seen++ = __nv_atomic_fetch_min(cell, 7, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  *seen++ = __nv_atomic_fetch_max(cell, 9, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  T expected = 8, wanted = 30, now = 0;
  *seen++ = __nv_atomic_compare_exchange_n(cell, &expected, 30, false, __NV_ATOMIC_ACQ_REL,
                                           __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  *seen++ = expected;
  *seen++ = __nv_atomic_compare_exchange(cell, &expected, &wanted, true, __NV_ATOMIC_ACQ_REL,
                                         __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_load(cell, &now, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_BLOCK);
  *seen++ = now;
  __nv_atomic_store(cell, &expected, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_exchange(cell, &wanted, &now, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_BLOCK);
  *seen++ = now;
  __nv_atomic_add(cell, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_max(cell, 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
}
__global__ void scoped_sums(float* sum, double* difference) {
  __nv_atomic_fetch_add(sum, 0.5f, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_sub(difference, 0.25, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

template <class T>
void expect_scoped_steps() {
  T* cell;
  ASSERT_EQ(cudaMallocManaged(&cell, 20 * sizeof(T)), cudaSuccess);
  scoped_steps<<<1, 1>>>(cell, cell + 1);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(std::vector<T>(cell, cell + 15),
            (std::vector<T>{31, 12, 12, 20, 25, 21, 21, 23, 20, 7, 0, 9, 1, 30, 9}));
  ASSERT_EQ(cudaFree(cell), cudaSuccess);
}

TEST(Atomics, OfTheCompilerWithOrderAndScope) {
  expect_scoped_steps<int>();
  expect_scoped_steps<unsigned>();
  expect_scoped_steps<unsigned long long>();
  double* sums;
  ASSERT_EQ(cudaMallocManaged(&sums, 2 * sizeof(double)), cudaSuccess);
  sums[0] = sums[1] = 0;
  scoped_sums<<<4, 32>>>(reinterpret_cast<float*>(sums), sums + 1);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*reinterpret_cast<float*>(sums), 64);
  EXPECT_EQ(sums[1], -32);
  ASSERT_EQ(cudaFree(sums), cudaSuccess);
}
#endif

// What nvcc refuses must not compile here either: atomics for types that CUDA has none for.
template <class T>
concept HasAdd = requires(T* p, T v) {
  atomicAdd(p, v);
};
template <class T>
concept HasMin = requires(T* p, T v) {
  atomicMin(p, v);
};
static_assert(HasAdd<int> && HasAdd<unsigned long long> && HasAdd<double> && HasAdd<__half2> &&
              HasAdd<float2>);
static_assert(!HasAdd<long> && !HasAdd<long long> && !HasAdd<short> && !HasAdd<char>);
static_assert(HasMin<long long> && !HasMin<float> && !HasMin<double>);

}  // namespace atomics_test
