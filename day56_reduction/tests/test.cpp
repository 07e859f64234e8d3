// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest: what each rung refuses,
// sizes that take several levels or rounds, and the bits of one_launch, which are those of a function on the host.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/setup.h"
#include "common/testing.h"
#include "day56_reduction/reduction.h"

namespace day56 {
namespace {

// The tree and its store are there, without anything to add up.
const bool kTreeIsGiven = days::skeleton_is_given("sum", "the tree over sums of 0", [](const days::Shape&) {
  return days::Given{1, false};
});

// More than one round of every block: 264 blocks of 512 threads with 8 vectors each are 4,325,376 floats.
constexpr int64_t kRounds = 4500003;
static_assert(kRounds > kWave * kShareThreads * kAhead * kOfVector<float>);

// A sum's or an argmax's problem on the device, with what its launcher needs.
template <class P>
struct Given {
  Given(P problem, size_t bytes) : scratch(bytes), p(problem) {
    p.workspace = {scratch.data(), bytes};
    made = ready(p, nullptr);
    p.setup = days::Setup(&made, &days::detail::kStateTag<Ready>);
  }
  days::DeviceBuffer<unsigned char> scratch;
  Ready made;
  P p;
};

template <class T>
Total<T> sum_by(void (*launch)(const Sum<T>&, cudaStream_t), const std::vector<T>& x, size_t bytes,
                int times = 1) {
  const days::DeviceBuffer<T> in(x);
  const days::DeviceBuffer<Total<T>> sum(1);
  const Given<Sum<T>> given({in.data(), sum.data(), static_cast<int64_t>(x.size()), {}, {}}, bytes);
  Total<T> first{};
  for (int i = 0; i < times; ++i) {
    launch(given.p, nullptr);
    const Total<T> got = sum.download()[0];
    if (i == 0) first = got;
    EXPECT_EQ(std::memcmp(&got, &first, sizeof got), 0)
        << "launch " << i << " gives " << got << ", not " << first;
  }
  return first;
}

TEST(Day56Refuses, WhatIsNoProblem) {
  alignas(16) float x[8] = {};
  alignas(16) char scratch[4096] = {};
  float sum = 0, value = 0;
  int64_t index = 0;
  const Ready made{};
  const days::Setup setup(&made, &days::detail::kStateTag<Ready>);
  for (const char* ladder : {"sum", "exact_sum"}) {
    for (const auto& variant : days::variants<Sum<float>>(ladder)) {
      for (const int64_t n : {int64_t{0}, int64_t{-1}, int64_t{1} << 50}) {
        EXPECT_THROW(variant.launch({x, &sum, n, {scratch, sizeof scratch}, setup}), std::invalid_argument)
            << variant.name << " " << n;
      }
      EXPECT_THROW(variant.launch({x, &sum, 1 << 20, {}, setup}), std::invalid_argument) << variant.name;
    }
  }
  for (const auto& variant : days::variants<Argmax<float>>("argmax")) {
    for (const int64_t n : {int64_t{0}, int64_t{-1}, int64_t{1} << 50}) {
      EXPECT_THROW(variant.launch({x, &value, &index, n, {scratch, sizeof scratch}, setup}),
                   std::invalid_argument)
          << variant.name << " " << n;
    }
    EXPECT_THROW(variant.launch({x, &value, &index, 8, {}, setup}), std::invalid_argument) << variant.name;
  }
  EXPECT_THROW(argmax_key<float>(
                   {x, &value, &index, (int64_t{1} << 32) + 1, {scratch, sizeof scratch}, setup}, nullptr),
               std::invalid_argument);
}

TEST(Day56Refuses, ATicketThatNobodySetTo0) {
  alignas(16) float x[8] = {};
  alignas(16) char scratch[4096] = {};
  float sum = 0, value = 0;
  int64_t index = 0;
  const days::Workspace workspace = {scratch, sizeof scratch};
  EXPECT_THROW(sum_one_launch<float>({x, &sum, 8, workspace, {}}, nullptr), std::invalid_argument);
  EXPECT_THROW(sum_two_sum<float>({x, &sum, 8, workspace, {}}, nullptr), std::invalid_argument);
  EXPECT_THROW(argmax_key<float>({x, &value, &index, 8, workspace, {}}, nullptr), std::invalid_argument);
  EXPECT_THROW(ready(Sum<float>{x, &sum, 8, {}, {}}, nullptr), std::invalid_argument);
}

// What the shapes are for: see reduction.h.
TEST(Day56, SharesAreEqualAndOfOneWaveWhileTheyAreSmall) {
  EXPECT_EQ(shares_of<float>(1).blocks, 1u);
  EXPECT_EQ(shares_of<float>(1).each, 1);
  EXPECT_EQ(shares_of<float>(1 << 24).blocks, kWave);
  EXPECT_EQ(shares_of<float>(1 << 24).each, 15888);
  EXPECT_EQ(shares_of<float>(1 << 30).blocks, 32 * kWave);
  EXPECT_EQ(shares_of<days::bf16>(1 << 30).blocks, 31 * kWave);
  for (const int64_t n : {int64_t{4095}, int64_t{1000003}, int64_t{100000007}, (int64_t{1} << 31) + 5}) {
    const Shares shares = shares_of<float>(n);
    const int64_t vectors = n / 4;
    EXPECT_GE(shares.each * shares.blocks, vectors);
    EXPECT_LT(shares.each * (shares.blocks - 1), vectors) << "a block of " << n << " has nothing";
  }
}

// Three levels of pairs and halves, two of chains and vectors; whole numbers, so that the sum is exact.
TEST(Day56, EachLevelIsAddedUp) {
  std::vector<int32_t> x(66001);
  int64_t truth = 0;
  for (size_t i = 0; i < x.size(); ++i) truth += x[i] = static_cast<int32_t>(i * 2654435761u);
  Sum<int32_t> p{};
  p.n = static_cast<int64_t>(x.size());
  EXPECT_EQ(sum_by(sum_pairs<int32_t>, x, pairs_workspace(p)), truth);
  EXPECT_EQ(sum_by(sum_halves<int32_t>, x, pairs_workspace(p)), truth);
  EXPECT_EQ(sum_by(sum_chains<int32_t>, x, chains_workspace(p)), truth);
  EXPECT_EQ(sum_by(sum_vectors<int32_t>, x, vectors_workspace(p)), truth);
}

// The sum of a power of two of numbers, halves first.
float tree_of(std::vector<float> v) {
  for (size_t half = v.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) v[i] += v[i + half];
  return v[0];
}
// As block_reduce: the lanes of each warp, then the warps.
float block_of(const std::vector<float>& v) {
  std::vector<float> warps(32);
  for (size_t warp = 0; warp < v.size() / 32; ++warp)
    warps[warp] = tree_of(
        {v.begin() + static_cast<int64_t>(32 * warp), v.begin() + static_cast<int64_t>(32 * warp + 32)});
  return tree_of(warps);
}
// one_launch's tree, in order of its definition. n alone shapes it.
float one_launch_tree(const std::vector<float>& x) {
  const int64_t n = static_cast<int64_t>(x.size()), vectors = n / 4;
  const Shares shares = shares_of<float>(n);
  const auto at = [&](int64_t vector, int64_t end, int64_t lane) {
    return vector < end ? x[static_cast<size_t>(4 * vector + lane)] : 0.0f;
  };
  std::vector<float> blocks;
  for (int64_t block = 0; block < shares.blocks; ++block) {
    const int64_t begin = block * shares.each, end = std::min(begin + shares.each, vectors);
    std::vector<float> threads;
    for (int64_t thread = 0; thread < kShareThreads; ++thread) {
      std::vector<float> chain(4);
      for (int64_t round = begin + thread; round < end; round += kAhead * kShareThreads) {
        for (int64_t lane = 0; lane < 4; ++lane) {
          std::vector<float> ahead;
          for (int64_t i = 0; i < kAhead; ++i) ahead.push_back(at(round + i * kShareThreads, end, lane));
          chain[static_cast<size_t>(lane)] += tree_of(ahead);
        }
      }
      const int64_t tail = 4 * vectors + thread;
      if (block == shares.blocks - 1 && tail < n) chain[0] += x[static_cast<size_t>(tail)];
      threads.push_back(tree_of(chain));
    }
    blocks.push_back(block_of(threads));
  }
  std::vector<float> places(kShareThreads);
  for (size_t i = 0; i < blocks.size(); ++i) places[i % kShareThreads] += blocks[i];
  return block_of(places);
}

TEST(Day56, OneLaunchHasTheBitsOfItsTree) {
  for (const int64_t n : {int64_t{3}, int64_t{2051}, int64_t{16501}, kRounds}) {
#ifdef __SIMT__
    if (simt::checked_build && n == kRounds) continue;  // the plain build compares them
#endif
    std::vector<float> x(static_cast<size_t>(n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 2654435761u % 100003) / 1009 - 40;
    Sum<float> p{};
    p.n = n;
    const float tree = one_launch_tree(x), got = sum_by(sum_one_launch<float>, x, sums_workspace(p), 3);
    EXPECT_EQ(std::memcmp(&got, &tree, sizeof got), 0) << n << ": " << got << ", not " << tree;
  }
}

// Whole numbers whose running sum passes 2^24 again and again: a float rounds it each time, and what is lost is a whole number,
// too. So the sum of a pair is the truth, rounded once.
TEST(Day56, TwoSumIsRoundedOnce) {
#ifdef __SIMT__
  const int64_t count = simt::checked_build ? 20001 : kRounds;
#else
  const int64_t count = kRounds;
#endif
  std::vector<float> x(static_cast<size_t>(count));
  int64_t truth = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t value = static_cast<int64_t>(i * 2654435761u % 20000003);
    x[i] = static_cast<float>(value);
    truth += static_cast<int64_t>(x[i]);
  }
  Sum<float> p{};
  p.n = count;
  EXPECT_EQ(sum_by(sum_two_sum<float>, x, pairs_of_floats_workspace(p), 2), static_cast<float>(truth));
}

TEST(Day56, ArgmaxFindsWhatItsBlocksFindInAnyRound) {
#ifdef __SIMT__
  const int64_t count = simt::checked_build ? 20003 : kRounds;
#else
  const int64_t count = kRounds;
#endif
  std::vector<float> x(static_cast<size_t>(count));
  for (size_t i = 0; i < x.size(); ++i) x[i] = -static_cast<float>(i * 40009 % 1009) - 1;
  const days::DeviceBuffer<float> value(1);
  const days::DeviceBuffer<int64_t> index(1);
  // 16500 lies in the second round of the first share of kRounds.
  for (const int64_t place : {int64_t{16500}, count / 2 - 1, count - 5, count - 1}) {
    std::vector<float> y = x;
    y[static_cast<size_t>(place)] = -0.5f;
    const days::DeviceBuffer<float> in(y);
    for (const bool by_key : {false, true}) {
      Argmax<float> p{in.data(), value.data(), index.data(), count, {}, {}};
      const Given<Argmax<float>> given(p, sizeof(Scratch) + argmax_pairs_workspace(p));
      for (int launch = 0; launch < 2; ++launch) {
        (by_key ? argmax_key<float> : argmax_pairs<float>)(given.p, nullptr);
        EXPECT_EQ(index.download()[0], place) << (by_key ? "key" : "pairs") << ", launch " << launch;
        EXPECT_EQ(value.download()[0], -0.5f);
      }
    }
  }
}

// Indices beyond 2^31: all 0 but the last element.
TEST(Day56, MoreElementsThanAnIntCounts) {
#ifdef __SIMT__
  GTEST_SKIP() << "2^31 threads: the GPU's tests have them";
#else
  constexpr int64_t kCount = (int64_t{1} << 31) + 5;
  const days::DeviceBuffer<days::half> x(kCount), value(1);
  const days::DeviceBuffer<float> sum(1);
  const days::DeviceBuffer<int64_t> index(1);
  const days::half one = days::from_float<days::half>(1);
  CUDA_CHECK(cudaMemset(x.data(), 0, sizeof(days::half) * kCount));
  CUDA_CHECK(cudaMemcpy(x.data() + kCount - 1, &one, sizeof one, cudaMemcpyHostToDevice));
  for (const char* ladder : {"sum", "exact_sum"}) {
    for (const auto& variant : days::variants<Sum<days::half>>(ladder)) {
      const Given<Sum<days::half>> given({x.data(), sum.data(), kCount, {}, {}}, size_t{1} << 26);
      variant.launch(given.p);
      EXPECT_EQ(sum.download()[0], 1.0f) << variant.name;
    }
  }
  for (const auto& variant : days::variants<Argmax<days::half>>("argmax")) {
    const Given<Argmax<days::half>> given({x.data(), value.data(), index.data(), kCount, {}, {}}, 1 << 20);
    variant.launch(given.p);
    EXPECT_EQ(index.download()[0], kCount - 1) << variant.name;
  }
#endif
}

}  // namespace
}  // namespace day56
