// SPDX-License-Identifier: MIT
//
// <cuda/...>: atomics with scopes, latches, semaphores; cuda::std; nv/target.

#include <gtest/gtest.h>

#include <cuda/annotated_ptr>
#include <cuda/atomic>
#include <cuda/bit>
#include <cuda/cmath>
#include <cuda/discard_memory>
#include <cuda/functional>
#include <cuda/latch>
#include <cuda/numeric>
#include <cuda/ptx>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/semaphore>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda/stream_ref>
#include <cuda/type_traits>
#include <cuda/version>
#include <cuda/warp>
#include <nv/target>
#include <vector>

#include "managed.h"

namespace libcudacxx_test {

// ---- atomics ----

struct Counters {
  cuda::atomic<int, cuda::thread_scope_device> sum{0}, least{1000}, most{-1000};
  cuda::atomic<float, cuda::thread_scope_device> real{0.0f};
  cuda::std::atomic<unsigned char> bits{0};
  int plain = 0;
};

__global__ void count_kernel(Counters* c) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  c->sum.fetch_add(i, cuda::memory_order_relaxed);
  c->least.fetch_min(i - 7);
  c->most.fetch_max(i);
  c->real += 0.5f;
  c->bits |= static_cast<unsigned char>(1 << i % 8);
  cuda::atomic_ref<int, cuda::thread_scope_device> plain(c->plain);
  int seen = plain.load();
  while (!plain.compare_exchange_weak(seen, seen + 2)) {
  }
}

TEST(CudaAtomic, CountsAcrossBlocks) {
  Managed<char> memory(sizeof(Counters) + 64);
  auto* c = new (memory.get()) Counters;
  count_kernel<<<8, 64>>>(c);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(c->sum.load(), 512 * 511 / 2);
  EXPECT_EQ(c->least.load(), -7);
  EXPECT_EQ(c->most.load(), 511);
  EXPECT_EQ(c->real.load(), 256.0f);
  EXPECT_EQ(c->bits.load(), 255);
  EXPECT_EQ(c->plain, 1024);
}

TEST(CudaAtomic, OperatorsAndPointers) {
  cuda::atomic<unsigned> a(5);
  EXPECT_EQ(a++, 5u);
  EXPECT_EQ(--a, 5u);
  EXPECT_EQ(a -= 6, ~0u);
  EXPECT_EQ(a.exchange(3), ~0u);
  EXPECT_EQ(a ^= 1, 2u);
  int numbers[4] = {1, 2, 3, 4};
  cuda::atomic<int*> p(numbers);
  EXPECT_EQ(*++p, 2);
  EXPECT_EQ(p.fetch_add(2), numbers + 1);
  EXPECT_EQ(p.load(), numbers + 3);
  struct Pair {
    short x, y;
  };
  cuda::atomic<Pair> pair(Pair{1, 2});
  Pair expected = {9, 9};
  EXPECT_FALSE(pair.compare_exchange_strong(expected, Pair{3, 4}));
  EXPECT_EQ(expected.y, 2);
  EXPECT_TRUE(pair.compare_exchange_strong(expected, Pair{3, 4}));
  EXPECT_EQ(pair.load().x, 3);
  static_assert(sizeof(cuda::atomic<long long>) == 8 && cuda::atomic<int>::is_always_lock_free);
}

__global__ void hand_over(cuda::atomic<int, cuda::thread_scope_device>* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;
    flag->store(1, cuda::memory_order_release);
    flag->notify_all();
  } else {
    flag->wait(0, cuda::memory_order_acquire);
    *out = *data;
  }
}

TEST(CudaAtomic, WaitsForAnotherBlock) {
  Managed<int> data(2);
  Managed<char> memory(64);
  auto* flag = new (memory.get()) cuda::atomic<int, cuda::thread_scope_device>(0);
  int *from = &data[0], *to = &data[1];
  void* arguments[] = {&flag, &from, &to};  // cooperative: both blocks run at a time, whatever their order
  ASSERT_EQ(cudaLaunchCooperativeKernel(hand_over, 2, 1, arguments), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(data[1], 42);
}

// ---- latches, semaphores ----

__global__ void latch_and_semaphore(cuda::latch<cuda::thread_scope_device>* latch,
                                    cuda::binary_semaphore<cuda::thread_scope_device>* mutex, int* numbers) {
  mutex->acquire();
  numbers[0] = numbers[0] + 1;  // nobody else is here
  mutex->release();
  latch->arrive_and_wait();
  if (*static_cast<volatile int*>(numbers) != 64) numbers[1] = 1;
}

TEST(CudaLatch, AndSemaphore) {
  Managed<int> numbers(2);
  Managed<char> memory(128);
  auto* latch = new (memory.get()) cuda::latch<cuda::thread_scope_device>(64);
  auto* mutex = new (memory.get() + 64) cuda::binary_semaphore<cuda::thread_scope_device>(1);
  latch_and_semaphore<<<1, 64>>>(latch, mutex, numbers.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(numbers[0], 64);
  EXPECT_EQ(numbers[1], 0);
}

// ---- cuda::std, nv/target ----

__global__ void standard_kernel(int* out) {
  cuda::std::array<int, 3> a = {1, 2, 3};
  cuda::std::tuple<int, float> t = cuda::std::make_tuple(4, 5.0f);
  cuda::std::optional<int> o = 6;
  cuda::std::complex<float> z(1.0f, 2.0f);
  cuda::std::span<int> s(a.data(), 3);
  cuda::std::mdspan<int, cuda::std::extents<int, 2, cuda::std::dynamic_extent>> m(out, 5);
  m(1, 2) = s[2] + cuda::std::get<0>(t) + *o + static_cast<int>((z * z).imag());
  m(0, 4) = cuda::std::numeric_limits<int>::max();
  m(1, 0) = cuda::std::popcount(0xffu) + cuda::ceil_div(10, 4);
  m(1, 1) = static_cast<int>(m.size()) + (cuda::std::is_same<int, int>::value ? 100 : 0);
  NV_IF_ELSE_TARGET(NV_IS_DEVICE, (m(1, 3) = 1;), (m(1, 3) = 2;))
  NV_DISPATCH_TARGET(NV_PROVIDES_SM_100, (m(1, 4) = 100;), NV_PROVIDES_SM_80, (m(1, 4) = 80;), NV_IS_HOST,
                     (m(1, 4) = 0;))
}

TEST(CudaStd, InKernels) {
  Managed<int> out(10);
  standard_kernel<<<1, 1>>>(out.get());
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[7], 3 + 4 + 6 + 4);
  EXPECT_EQ(out[4], 2147483647);
  EXPECT_EQ(out[5], 8 + 3);
  EXPECT_EQ(out[6], 110);
  EXPECT_EQ(out[8], 1);
  EXPECT_EQ(out[9], 80);
  int target = 0;
  NV_IF_TARGET(NV_IS_HOST, (target = 1;))
  EXPECT_EQ(target, 1);
}

TEST(CudaStd, LayoutsOfViews) {
  int data[24];
  for (int i = 0; i < 24; ++i) data[i] = i;
  const cuda::std::mdspan rows(data, 2, 3, 4);
  EXPECT_EQ(rows(1, 2, 3), 23);
  EXPECT_EQ(rows.stride(0), 12u);
  EXPECT_EQ((rows[cuda::std::array<int, 3>{1, 0, 2}]), 14);
  const cuda::std::mdspan<int, cuda::std::dextents<int, 2>, cuda::std::layout_left> columns(data, 4, 6);
  EXPECT_EQ(columns(1, 2), 9);
  EXPECT_EQ(columns.mapping().required_span_size(), 24);
  EXPECT_EQ(cuda::round_up(10, 4), 12);
  EXPECT_EQ(cuda::maximum<>()(2, 3.5), 3.5);
  EXPECT_EQ(cuda::proclaim_return_type<long>([](int x) { return x + 1; })(2), 3l);
}

// ---- numbers and bits ----

static_assert(cuda::bit_reverse(1u) == 0x80000000u &&
              cuda::bit_reverse(static_cast<unsigned char>(0x1e)) == 0x78);
static_assert(cuda::bitmask(4, 8) == 0xff0u && cuda::bitmask(0, 32) == ~0u && cuda::bitmask(32, 0) == 0);
static_assert(cuda::bitfield_insert(0xffffu, 0xau, 4, 4) == 0xffafu &&
              cuda::bitfield_extract(0xabcdu, 4, 8) == 0xbcu);
static_assert(cuda::overflow_cast<unsigned char>(300).overflow && !cuda::overflow_cast<short>(300).overflow);
static_assert(cuda::overflow_cast<unsigned>(-1).overflow && cuda::overflow_cast<int>(1ll << 31).overflow);
static_assert(cuda::overflow_cast<int>(-7ll).value == -7 && !cuda::overflow_cast<int>(-7ll));
static_assert(cuda::is_floating_point_v<const __half> && cuda::is_floating_point_v<float> &&
              !cuda::is_floating_point_v<int>);

// ---- shuffles ----

struct Large {
  double a;
  int b[5];
};
__global__ void shuffle_kernel(int* out) {
  const int t = static_cast<int>(threadIdx.x);
  int* const mine = out + 8 * t;
  const Large from = cuda::device::warp_shuffle_idx(Large{1.0 * t, {t, 0, 0, 0, 2 * t}}, 3);
  mine[0] = static_cast<int>(from.a) + from.b[4];
  mine[1] = cuda::device::warp_shuffle_idx<8>(t, 11);
  const auto down = cuda::device::warp_shuffle_down<8>(t, 3);
  mine[2] = down.data;
  mine[3] = down.pred;
  const auto up = cuda::device::warp_shuffle_up(t, 2, cuda::std::integral_constant<int, 16>());
  mine[4] = up.data;
  mine[5] = up.pred;
  mine[6] = cuda::device::warp_shuffle_xor(t, 5);
  mine[7] = cuda::device::warp_shuffle_xor<1>(t, 0);
  cuda::discard_memory(out, 0);
}

TEST(CudaWarp, ShufflesPartsOfAWarp) {
  Managed<int> out(8 * 32);
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const cuda::stream_ref ref(stream);
  shuffle_kernel<<<1, 32, 0, ref.get()>>>(out.get());
  ref.wait();
  EXPECT_TRUE(ref.ready());
  EXPECT_EQ(ref.priority(), 0);
  EXPECT_TRUE(ref == cuda::stream_ref(stream) && ref != cuda::stream_ref());
  for (int t = 0; t < 32; ++t) {
    const bool down = t % 8 + 3 < 8, up = t % 16 >= 2;
    const int expected[] = {9, t / 8 * 8 + 3, down ? t + 3 : t, down, up ? t - 2 : t, up, t ^ 5, t};
    for (int i = 0; i < 8; ++i) EXPECT_EQ(out[8 * t + i], expected[i]) << t << " " << i;
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace libcudacxx_test
