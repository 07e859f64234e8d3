// SPDX-License-Identifier: MIT
//
// Threads together: shuffles with widths, votes, matches, reductions over masks, cooperative groups, the
// grid.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

namespace cg = cooperative_groups;

namespace groups_test {

constexpr unsigned int kFull = 0xffffffffu;

template <class T, class F>
__global__ void fill_kernel(T* out, F f) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = f(static_cast<int>(threadIdx.x));
}

// f(thread) of every thread of one block.
template <class T, class F>
std::vector<T> of_threads(int threads, F f) {
  T* out;
  EXPECT_EQ(cudaMallocManaged(&out, static_cast<size_t>(threads) * sizeof(T)), cudaSuccess);
  fill_kernel<<<1, threads>>>(out, f);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<T> result(out, out + threads);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
  return result;
}

// The same by a function of the thread's number, for comparison.
template <class T>
std::vector<T> expected(int threads, const std::function<T(int)>& f) {
  std::vector<T> result;
  for (int i = 0; i < threads; ++i) result.push_back(f(i));
  return result;
}

TEST(Shuffles, ReadAnyLaneWithinTheWidth) {
  EXPECT_EQ(of_threads<int>(64, [](int i) { return __shfl_sync(kFull, 100 + i, 3); }),
            expected<int>(64, [](int i) { return 103 + i / 32 * 32; }));
  EXPECT_EQ(of_threads<int>(32, [](int i) { return __shfl_sync(kFull, i, 9, 8); }),
            expected<int>(32, [](int i) { return i / 8 * 8 + 1; }));  // 9 modulo 8
  EXPECT_EQ(of_threads<int>(32, [](int i) { return __shfl_sync(kFull, i, -1); }),
            expected<int>(32, [](int) { return 31; }));
  EXPECT_EQ(of_threads<int>(32, [](int i) { return __shfl_up_sync(kFull, i, 3, 16); }),
            expected<int>(32, [](int i) { return i % 16 < 3 ? i : i - 3; }));
  EXPECT_EQ(of_threads<int>(32, [](int i) { return __shfl_down_sync(kFull, i, 3, 16); }),
            expected<int>(32, [](int i) { return i % 16 > 12 ? i : i + 3; }));
  EXPECT_EQ(of_threads<int>(32, [](int i) { return __shfl_xor_sync(kFull, i, 5); }),
            expected<int>(32, [](int i) { return i ^ 5; }));
  // Beyond a segment's end a lane keeps its own value, below its start it may read.
  EXPECT_EQ(of_threads<int>(32, [](int i) { return __shfl_xor_sync(kFull, i, 16, 16); }),
            expected<int>(32, [](int i) { return i < 16 ? i : i - 16; }));
}

TEST(Shuffles, MoveEveryType) {
  EXPECT_EQ(of_threads<double>(32, [](int i) { return __shfl_sync(kFull, i + 0.25, 7); }),
            std::vector<double>(32, 7.25));
  EXPECT_EQ(of_threads<long long>(32, [](int i) { return __shfl_sync(kFull, (1ll << 40) + i, 7); }),
            std::vector<long long>(32, (1ll << 40) + 7));
  EXPECT_EQ(of_threads<unsigned>(
                32, [](int i) { return __shfl_xor_sync(kFull, ~0u - static_cast<unsigned>(i), 31); }),
            expected<unsigned>(32, [](int i) { return ~0u - static_cast<unsigned>(i ^ 31); }));
  // Narrow integers become int, as with CUDA's own overloads.
  static_assert(std::is_same_v<decltype(__shfl_sync(kFull, static_cast<short>(1), 0)), int>);
  static_assert(std::is_same_v<decltype(__shfl_sync(kFull, 1.0f, 0)), float>);
}

TEST(Votes, CountOnlyTheMask) {
  EXPECT_EQ(of_threads<unsigned>(32, [](int i) { return __ballot_sync(kFull, i % 3 == 0); }),
            std::vector<unsigned>(32, 0x49249249u));
  EXPECT_EQ(of_threads<unsigned>(32,
                                 [](int i) {
                                   const unsigned half = i < 16 ? 0xffffu : 0xffff0000u;
                                   return __ballot_sync(half, i % 2);
                                 }),
            expected<unsigned>(32, [](int i) { return i < 16 ? 0xaaaau : 0xaaaa0000u; }));
  EXPECT_EQ(of_threads<int>(40, [](int i) { return __any_sync(i < 32 ? kFull : 0xffu, i == 5); }),
            expected<int>(40, [](int i) { return i < 32 ? 1 : 0; }));
  EXPECT_EQ(of_threads<int>(32, [](int i) { return __all_sync(kFull, i != 5); }), std::vector<int>(32, 0));
  EXPECT_EQ(of_threads<int>(32, [](int) { return __all_sync(kFull, 2); }), std::vector<int>(32, 1));
  EXPECT_EQ(
      of_threads<int>(32, [](int i) { return __uni_sync(kFull, i / 64) + 2 * __uni_sync(kFull, i / 16); }),
      std::vector<int>(32, 1));
}

TEST(Matches, CompareBits) {
  EXPECT_EQ(of_threads<unsigned>(32, [](int i) { return __match_any_sync(kFull, i % 4); }),
            expected<unsigned>(32, [](int i) { return 0x11111111u << i % 4; }));
  EXPECT_EQ(of_threads<unsigned>(32, [](int i) { return __match_any_sync(kFull, i % 2 ? 0.0 : -0.0); }),
            expected<unsigned>(32, [](int i) { return i % 2 ? 0xaaaaaaaau : 0x55555555u; }));
  EXPECT_EQ(of_threads<unsigned>(32,
                                 [](int i) {
                                   int all = -1, some = -1;
                                   const unsigned same = __match_all_sync(kFull, 5ull, &all);
                                   const unsigned different = __match_all_sync(kFull, i / 31, &some);
                                   return same == kFull && all == 1 && different == 0 && some == 0 ? 1u : 0u;
                                 }),
            std::vector<unsigned>(32, 1));
}

TEST(Reductions, OverAnyMask) {
  EXPECT_EQ(of_threads<int>(32, [](int i) { return __reduce_add_sync(kFull, i - 20); }),
            std::vector<int>(32, 31 * 16 - 640));
  EXPECT_EQ(of_threads<int>(32,
                            [](int i) {
                              const unsigned odd = 0xaaaaaaaau;
                              return i % 2 ? __reduce_min_sync(odd, 10 - i) : __reduce_max_sync(~odd, 10 - i);
                            }),
            expected<int>(32, [](int i) { return i % 2 ? -21 : 10; }));
  EXPECT_EQ(of_threads<unsigned>(20, [](int i) { return __reduce_or_sync(0xfffffu, 1u << i); }),
            std::vector<unsigned>(20, 0xfffffu));
  EXPECT_EQ(
      of_threads<unsigned>(32, [](int i) { return __reduce_max_sync(kFull, i == 4 ? 0x80000000u : 1u); }),
      std::vector<unsigned>(32, 0x80000000u));
  EXPECT_EQ(
      of_threads<unsigned>(32, [](int i) { return __reduce_xor_sync(kFull, static_cast<unsigned>(i)); }),
      std::vector<unsigned>(32, 0u));
}

TEST(Blocks, BarriersThatVote) {
  EXPECT_EQ(of_threads<int>(100, [](int i) { return __syncthreads_count(i % 7 == 0); }),
            std::vector<int>(100, 15));
  EXPECT_EQ(of_threads<int>(100, [](int i) { return __syncthreads_and(i < 99); }), std::vector<int>(100, 0));
  EXPECT_EQ(of_threads<int>(100, [](int i) { return __syncthreads_or(i == 99) != 0; }),
            std::vector<int>(100, 1));
}

TEST(Clocks, MoveOn) {
  const auto clocks = of_threads<int>(1, [](int) {
    const long long start = clock64();
    while (clock64() - start < 1000000) __nanosleep(100);
    return simt::nanoseconds() > 0 ? 1 : 0;
  });
  EXPECT_EQ(clocks, std::vector<int>(1, 1));
}

TEST(AddressSpaces, AreTold) {
  const auto answers = of_threads<int>(1, [](int) {
    __shared__ int shared[4];
    int local = 0;
    const size_t offset = __cvta_generic_to_shared(&shared[2]);
    const bool back = __cvta_shared_to_generic(offset) == &shared[2];
    return (__isShared(shared) ? 1 : 0) + (__isShared(&local) ? 2 : 0) + (__isLocal(&local) ? 4 : 0) +
           (__isGlobal(shared) ? 8 : 0) + (back ? 16 : 0);
  });
  EXPECT_EQ(answers, std::vector<int>(1, 1 + 4 + 16));
}

TEST(CachedAccess, IsThePlainOne) {
  float4* data;
  ASSERT_EQ(cudaMallocManaged(&data, 2 * sizeof(float4)), cudaSuccess);
  data[0] = make_float4(1, 2, 3, 4);
  of_threads<int>(1, [data](int) {
    const float4 v = __ldg(data);
    __stcs(data + 1, v);
    __stcg(&data[1].x, 9);  // an int converts as an argument would
    return static_cast<int>(__ldcs(&data->y) + __ldca(&data->z));
  });
  EXPECT_EQ(data[1].x, 9);
  EXPECT_EQ(data[1].w, 4);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

// ---- cooperative groups ----

TEST(Groups, BlocksAndTiles) {
  EXPECT_EQ(of_threads<int>(96,
                            [](int i) {
                              const auto block = cg::this_thread_block();
                              const auto tile = cg::tiled_partition<8>(block);
                              block.sync();
                              const bool good = block.thread_rank() == static_cast<unsigned>(i) &&
                                                block.size() == 96 && tile.size() == 8 &&
                                                tile.thread_rank() == static_cast<unsigned>(i % 8) &&
                                                tile.meta_group_rank() == static_cast<unsigned>(i / 8) &&
                                                tile.meta_group_size() == 12;
                              return good ? 1 : 0;
                            }),
            std::vector<int>(96, 1));
  EXPECT_EQ(of_threads<int>(64,
                            [](int i) {
                              const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
                              return tile.shfl(i, 2) * 1000 + static_cast<int>(tile.ballot(i % 2)) % 1000;
                            }),
            expected<int>(64, [](int i) { return (i / 16 * 16 + 2) * 1000 + 0xaaaa % 1000; }));
  EXPECT_EQ(of_threads<int>(32,
                            [](int i) {
                              const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
                              return tile.shfl_xor(i, 1) + 100 * tile.shfl_down(i, 1) +
                                     10000 * tile.shfl_up(i, 1);
                            }),
            expected<int>(32, [](int i) {
              return (i ^ 1) + 100 * (i % 4 == 3 ? i : i + 1) + 10000 * (i % 4 == 0 ? i : i - 1);
            }));
}

__device__ int sum_of_group(cg::thread_group group, int* scratch, int value) {
  const int rank = static_cast<int>(group.thread_rank());
  for (int half = static_cast<int>(group.size()) / 2; half > 0; half /= 2) {
    scratch[rank] = value;
    group.sync();
    if (rank < half) value += scratch[rank + half];
    group.sync();
  }
  return value;
}

__global__ void group_sums(int* out) {
  __shared__ int scratch[64];
  const auto block = cg::this_thread_block();
  const int whole = sum_of_group(block, scratch, static_cast<int>(threadIdx.x));
  const auto tile = cg::tiled_partition(block, 16);
  const int part = sum_of_group(tile, scratch + threadIdx.x / 16 * 16, static_cast<int>(threadIdx.x));
  if (block.thread_rank() == 0) out[0] = whole;
  if (tile.thread_rank() == 0) out[1 + threadIdx.x / 16] = part;
}

TEST(Groups, AnyGroupInOneFunction) {
  int* out;
  ASSERT_EQ(cudaMallocManaged(&out, 5 * sizeof(int)), cudaSuccess);
  group_sums<<<1, 64>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(std::vector<int>(out, out + 5), (std::vector<int>{2016, 120, 376, 632, 888}));
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

TEST(Groups, ReduceAndScan) {
  EXPECT_EQ(of_threads<int>(64,
                            [](int i) {
                              const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
                              return cg::reduce(tile, i, cg::plus<int>());
                            }),
            expected<int>(64, [](int i) { return i < 32 ? 496 : 496 + 1024; }));
  EXPECT_EQ(of_threads<int>(32,
                            [](int i) {
                              const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
                              return cg::reduce(tile, i * 37 % 32, cg::less<int>()) * 100 +
                                     cg::reduce(tile, i, cg::greater<int>());
                            }),
            expected<int>(32, [](int i) {
              int least = 99;
              for (int k = i / 8 * 8; k < i / 8 * 8 + 8; ++k) least = std::min(least, k * 37 % 32);
              return least * 100 + i / 8 * 8 + 7;
            }));
  EXPECT_EQ(of_threads<int>(32,
                            [](int i) {
                              const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
                              return cg::inclusive_scan(tile, i) * 1000 + cg::exclusive_scan(tile, 1);
                            }),
            expected<int>(32, [](int i) {
              const int first = i / 16 * 16;
              return (first + i) * (i - first + 1) / 2 * 1000 + i - first;
            }));
}

TEST(Groups, CoalescedLanesAndPartitions) {
  EXPECT_EQ(of_threads<int>(32,
                            [](int i) {
                              int result = -1;
                              if (i % 3 == 1) {
                                const auto group = cg::coalesced_threads();
                                result = static_cast<int>(group.size() * 10000 + group.thread_rank() * 100) +
                                         group.shfl(i, 1);
                              }
                              return result;
                            }),
            expected<int>(32, [](int i) { return i % 3 == 1 ? 11 * 10000 + i / 3 * 100 + 4 : -1; }));
  EXPECT_EQ(of_threads<int>(32,
                            [](int i) {
                              const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
                              const auto part = cg::labeled_partition(tile, i % 5);
                              return cg::reduce(part, 1, cg::plus<int>()) * 10 +
                                     static_cast<int>(part.meta_group_rank());
                            }),
            expected<int>(32, [](int i) { return (i % 5 < 2 ? 7 : 6) * 10 + i % 5; }));
  EXPECT_EQ(of_threads<int>(32,
                            [](int i) {
                              const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
                              return static_cast<int>(cg::binary_partition(tile, i < 10).size());
                            }),
            expected<int>(32, [](int i) { return i < 10 ? 10 : 22; }));
}

__global__ void two_phases(int* partial, int* total, int n) {
  const auto grid = cg::this_grid();
  int mine = 0;
  for (auto i = grid.thread_rank(); i < static_cast<unsigned>(n); i += grid.size())
    mine += static_cast<int>(i);
  partial[grid.thread_rank()] = mine;
  grid.sync();
  if (grid.thread_rank() == 0) {
    for (unsigned i = 0; i < grid.size(); ++i) *total += partial[i];
  }
}

TEST(Groups, TheGridMeets) {
  constexpr int kBlocks = 5, kThreads = 64, kCount = 1000;
  int *partial, *total;
  ASSERT_EQ(cudaMallocManaged(&partial, kBlocks * kThreads * sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&total, sizeof(int)), cudaSuccess);
  *total = 0;
  int n = kCount;
  void* arguments[] = {&partial, &total, &n};
  ASSERT_EQ(cudaLaunchCooperativeKernel(two_phases, kBlocks, kThreads, arguments), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*total, kCount * (kCount - 1) / 2);
  EXPECT_EQ(cudaFree(partial), cudaSuccess);
  EXPECT_EQ(cudaFree(total), cudaSuccess);
}

__global__ void staged(const int* in, int* out) {
  __shared__ int tile[48];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof(tile));
  cg::wait(block);
  for (unsigned i = threadIdx.x; i < 48; i += blockDim.x) out[i] = tile[47 - i];
}

TEST(Groups, CopiesTogether) {
  int *in, *out;
  ASSERT_EQ(cudaMallocManaged(&in, 48 * sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&out, 48 * sizeof(int)), cudaSuccess);
  for (int i = 0; i < 48; ++i) in[i] = i;
  staged<<<1, 32>>>(in, out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 48; ++i) EXPECT_EQ(out[i], 47 - i);
  EXPECT_EQ(cudaFree(in), cudaSuccess);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

}  // namespace groups_test
