// SPDX-License-Identifier: MIT
//
// Cooperative groups: tiles of every size, nested and of several warps, reductions and scans of any type in
// the order of CUDA's headers, partitions.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

namespace group_tiles_test {

template <class T, class F>
__global__ void fill_kernel(T* out, F f) {
  out[threadIdx.x] = f(static_cast<int>(threadIdx.x));
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

// A tile's sum, scans and ranks, all from one function; the expected ones are plain loops.
struct Seen {
  int sum, inclusive, exclusive, first, rank, meta_rank, meta_size;
  bool operator==(const Seen&) const = default;
};
template <unsigned kSize>
void check_tiles(int threads) {
  const std::vector<Seen> seen = of_threads<Seen>(threads, [](int i) {
    const auto tile = cg::tiled_partition<kSize>(cg::this_thread_block());
    const int value = i * i % 17;
    Seen s;
    s.sum = cg::reduce(tile, value, cg::plus<int>());
    s.inclusive = cg::inclusive_scan(tile, value);
    s.exclusive = cg::exclusive_scan(tile, value);
    s.first = tile.shfl(i, 0);
    s.rank = static_cast<int>(tile.thread_rank());
    s.meta_rank = static_cast<int>(tile.meta_group_rank());
    s.meta_size = static_cast<int>(tile.meta_group_size());
    tile.sync();
    return s;
  });
  const int size = static_cast<int>(kSize);
  for (int i = 0; i < threads; ++i) {
    const int first = i / size * size, end = std::min(first + size, threads);
    Seen s = {0, 0, 0, first, i - first, i / size, (threads + size - 1) / size};
    for (int k = first; k < end; ++k) {
      s.sum += k * k % 17;
      if (k < i) s.exclusive += k * k % 17;
      if (k <= i) s.inclusive += k * k % 17;
    }
    ASSERT_EQ(seen[static_cast<size_t>(i)], s) << "tile of " << kSize << ", thread " << i;
  }
}

TEST(Tiles, OfEverySize) {
  check_tiles<1>(64);
  check_tiles<2>(64);
  check_tiles<4>(96);
  check_tiles<8>(64);
  check_tiles<16>(64);
  check_tiles<32>(96);
  check_tiles<64>(256);
  check_tiles<128>(512);
  check_tiles<256>(512);
  check_tiles<512>(1024);
  check_tiles<1024>(1024);
}

TEST(Tiles, TheLastOneMayBePartial) {
  check_tiles<16>(72);
  check_tiles<32>(71);
  check_tiles<128>(200);
}

TEST(Tiles, NestAndForgetTheirParent) {
  EXPECT_EQ(of_threads<int>(256,
                            [](int i) {
                              const auto outer = cg::tiled_partition<128>(cg::this_thread_block());
                              const auto warp = cg::tiled_partition<32>(outer);
                              const cg::thread_block_tile<8> inner = cg::tiled_partition<8>(warp);
                              return static_cast<int>(warp.meta_group_rank()) == i % 128 / 32 &&
                                     warp.meta_group_size() == 4 &&
                                     static_cast<int>(inner.meta_group_rank()) == i % 32 / 8 &&
                                     inner.meta_group_size() == 4 && cg::this_thread().size() == 1;
                            }),
            std::vector<int>(256, 1));
}

__global__ void separate_tiles(int* out) {
  __shared__ int turn[4];
  __shared__ cg::block_tile_memory<256> memory;
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  // Each tile goes through its own number of barriers: no other tile takes part in them.
  const unsigned me = tile.meta_group_rank();
  if (tile.thread_rank() == 0) turn[me] = 0;
  for (unsigned k = 0; k < 3 * (me + 1); ++k) {
    tile.sync();
    if (tile.thread_rank() == k % 64) ++turn[me];
  }
  tile.sync();
  if (tile.any(tile.thread_rank() == 5) && tile.all(turn[me] > 0)) out[threadIdx.x] = turn[me];
}

TEST(Tiles, OfSeveralWarpsMeetByThemselves) {
  int* out;
  ASSERT_EQ(cudaMallocManaged(&out, 256 * sizeof(int)), cudaSuccess);
  separate_tiles<<<1, 256>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(out[i], 3 * (i / 64 + 1)) << i;
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

// Which operand comes first shows in a product of matrices; the order of a sum of floats in its last bits.
struct Matrix {
  int a, b, c, d;
  bool operator==(const Matrix&) const = default;
};
__host__ __device__ Matrix operator*(const Matrix& x, const Matrix& y) {
  const auto m = [](int v) { return ((v % 1009) + 1009) % 1009; };
  return {m(x.a * y.a + x.b * y.c), m(x.a * y.b + x.b * y.d), m(x.c * y.a + x.d * y.c),
          m(x.c * y.b + x.d * y.d)};
}
struct Times {
  __host__ __device__ Matrix operator()(const Matrix& x, const Matrix& y) const { return x * y; }
};

TEST(Scans, CombineTheLaterOperandFirst) {
  const auto value = [](int i) { return Matrix{i + 1, 2, 3, i}; };
  const std::vector<Matrix> scans = of_threads<Matrix>(128, [value](int i) {
    const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    return cg::inclusive_scan(tile, value(i), Times());
  });
  for (int first = 0; first < 128; first += 64) {
    Matrix product = value(first);
    for (int i = first + 1; i < first + 64; ++i) {
      product = value(i) * product;
      ASSERT_EQ(scans[static_cast<size_t>(i)], product) << i;
    }
  }
}

TEST(Reductions, FoldHalvesAsOnADevice) {
  const auto value = [](int i) { return 1.0f / static_cast<float>(i * 7 % 31 + 1); };
  const std::vector<float> sums = of_threads<float>(64, [value](int i) {
    return cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), value(i), cg::plus<float>());
  });
  for (int first = 0; first < 64; first += 32) {
    std::vector<float> v(32);
    for (int i = 0; i < 32; ++i) v[static_cast<size_t>(i)] = value(first + i);
    for (size_t step = 16; step > 0; step /= 2) {
      const std::vector<float> before = v;
      for (size_t i = 0; i < 32; ++i) v[i] = before[i] + before[i ^ step];
    }
    for (int i = 0; i < 32; ++i) ASSERT_EQ(sums[static_cast<size_t>(first + i)], v[0]);
  }
}

struct Wide {
  double sum;
  long long most;
  int count, pad[3];
};
TEST(Reductions, OfThirtyTwoBytesWithAnyFunction) {
  static_assert(sizeof(Wide) == 32);
  const std::vector<Wide> all = of_threads<Wide>(96, [](int i) {
    const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    return cg::reduce(tile, Wide{i * 0.5, i, 1, {}}, [](Wide a, Wide b) {
      return Wide{a.sum + b.sum, a.most > b.most ? a.most : b.most, a.count + b.count, {}};
    });
  });
  for (int i = 0; i < 96; ++i) {
    const int first = i / 32 * 32;
    EXPECT_EQ(all[static_cast<size_t>(i)].sum, (first * 32 + 496) * 0.5);
    EXPECT_EQ(all[static_cast<size_t>(i)].most, first + 31);
    EXPECT_EQ(all[static_cast<size_t>(i)].count, 32);
  }
}

TEST(Partitions, OfRunTimeSizesAndCoalescedLanes) {
  EXPECT_EQ(
      of_threads<int>(32,
                      [](int i) {
                        if (i % 2 == 0) return 0;
                        const auto odd = cg::coalesced_threads();       // 16 lanes
                        const auto part = cg::tiled_partition(odd, 4);  // lanes 1 3 5 7, ...
                        const int last = part.shfl(i, 3);
                        return last * 100 +
                               static_cast<int>(part.meta_group_rank() * 10 + part.meta_group_size());
                      }),
      of_threads<int>(32, [](int i) { return i % 2 == 0 ? 0 : (i / 8 * 8 + 7) * 100 + i / 8 * 10 + 4; }));
  EXPECT_EQ(of_threads<int>(
                40,
                [](int i) {
                  const cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), 16);
                  const cg::thread_group part = cg::tiled_partition(tile, 4);
                  return static_cast<int>(tile.size() * 100 + part.size() * 10 + part.thread_rank()) + i * 0;
                }),
            of_threads<int>(40, [](int i) { return (i < 32 ? 1600 : 800) + 40 + i % 4; }));
}

TEST(Partitions, ByPredicateAndLabel) {
  EXPECT_EQ(of_threads<int>(32,
                            [](int i) {
                              const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
                              const auto part = cg::binary_partition(tile, i % 16 < 3 || i >= 16);
                              return static_cast<int>(part.size() * 100 + part.meta_group_rank() * 10 +
                                                      part.meta_group_size());
                            }),
            of_threads<int>(32, [](int i) { return i >= 16 ? 1601
                                                   : i < 3 ? 312
                                                           : 1302; }));
  EXPECT_EQ(of_threads<int>(32,
                            [](int i) {
                              const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
                              const auto part = cg::labeled_partition(tile, i * i % 4);  // 0 or 1
                              return cg::invoke_one_broadcast(
                                  part, [i](int add) { return i + add; }, 100);
                            }),
            of_threads<int>(32, [](int i) { return 100 + i % 2; }));
}

// ---- clusters ----

struct ClusterView {
  unsigned rank, blocks, threads, thread_rank, owner_of_mine, owner_of_others;
  int from_other;
  bool good;
};
__cluster_dims__(2, 2, 1) __global__ void look_around(ClusterView* out) {
  __shared__ int mine;
  const auto cluster = cg::this_cluster();
  const auto grid = cg::this_grid();
  const unsigned rank = cluster.block_rank(), other = rank ^ 1;
  if (threadIdx.x == 0) mine = 100 + static_cast<int>(grid.block_rank());
  const auto token = cluster.barrier_arrive();
  const int own_work = static_cast<int>(threadIdx.x);
  cluster.barrier_wait(cg::cluster_group::arrival_token(token));
  int* const theirs = cluster.map_shared_rank(&mine, static_cast<int>(other));
  ClusterView v;
  v.rank = rank;
  v.blocks = cluster.num_blocks();
  v.threads = cluster.num_threads();
  v.thread_rank = cluster.thread_rank();
  v.owner_of_mine = cluster.query_shared_rank(&mine);
  v.owner_of_others = cluster.query_shared_rank(theirs);
  v.from_other = *theirs;
  v.good = own_work >= 0 && __isCtaShared(&mine) && !__isCtaShared(theirs) && __isClusterShared(theirs) &&
           __clusterDim().y == 2 && __clusterGridDimInClusters().x == 2 &&
           __clusterRelativeBlockIdx().x == blockIdx.x % 2 && __clusterIdx().x == blockIdx.x / 2 &&
           grid.num_clusters() == 2 && grid.cluster_rank() == blockIdx.x / 2 && __clusterDimIsSpecified();
  cluster.sync();  // nobody leaves while others read
  out[grid.thread_rank()] = v;
}

TEST(Clusters, KnowTheirBlocks) {
  constexpr unsigned kThreads = 32;
  ClusterView* out;
  ASSERT_EQ(cudaMallocManaged(&out, 8 * kThreads * sizeof *out), cudaSuccess);
  look_around<<<dim3(4, 2), kThreads>>>(out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (unsigned block = 0; block < 8; ++block) {
    const unsigned x = block % 4, y = block / 4, rank = x % 2 + 2 * y;
    const ClusterView& v = out[block * kThreads + 5];
    EXPECT_EQ(v.rank, rank);
    EXPECT_EQ(v.blocks, 4u);
    EXPECT_EQ(v.threads, 4 * kThreads);
    EXPECT_EQ(v.thread_rank, rank * kThreads + 5);
    EXPECT_EQ(v.owner_of_mine, rank);
    EXPECT_EQ(v.owner_of_others, rank ^ 1);
    EXPECT_EQ(v.from_other, 100 + static_cast<int>(block ^ 1));
    EXPECT_TRUE(v.good);
  }
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

}  // namespace group_tiles_test
