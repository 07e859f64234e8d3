// SPDX-License-Identifier: MIT
//
// Tests of what common/ has for kernels, and of the harness's own kernels; and the kernels that
// common_ladder_test.cpp runs.

#include <cooperative_groups.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/cooperative.h"
#include "common/device.h"
#include "common/epilogue.cuh"
#include "common/graph.h"
#include "common/harness.h"
#include "common/harness/limit_kernels.cuh"
#include "common/moments.cuh"
#include "common/ptx.h"
#include "common/random.h"
#include "common/reduce.cuh"
#include "common/ring.cuh"
#include "common/stream.h"
#include "common/ticket.cuh"
#include "common/types.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "tests/common_ladder_test.h"

namespace {

using days::DeviceBuffer;

// ---- Random numbers: host and device agree bit for bit, for every type, distribution and a count of no
// round size.

template <class T>
void expect_same(days::Distribution distribution, double a, double b) {
  constexpr size_t kCount = 100003;
  const DeviceBuffer<T> buffer(kCount);
  days::fill_on_device(buffer.data(), kCount, distribution, 11, a, b, nullptr);
  const std::vector<T> device = buffer.download();
  for (size_t i = 0; i < kCount; ++i) {
    const T host = days::random_value<T>(distribution, 11, i, a, b);
    ASSERT_EQ(std::memcmp(&host, &device[i], sizeof(T)), 0)
        << days::TypeInfo<T>::kName << " element " << i << ": " << days::to_double(device[i])
        << " on the device, " << days::to_double(host) << " on the host";
  }
  EXPECT_EQ(buffer.damage(), "");
}

template <class T>
void expect_same_everywhere() {
  using days::Distribution;
  expect_same<T>(Distribution::kNormal, 1, 0);
  expect_same<T>(Distribution::kNormal, 1e-20, 0);
  expect_same<T>(Distribution::kNormal, 1e-40, 0);  // denormals
  expect_same<T>(Distribution::kNormal, 12.34567, 0);
  expect_same<T>(Distribution::kUniform, 0, 0);
  expect_same<T>(Distribution::kUniform, -3, 100);
  expect_same<T>(Distribution::kConstant, 42, 0);
}

TEST(FillOnDevice, MatchesTheHost) {
  expect_same_everywhere<float>();
  expect_same_everywhere<double>();
  expect_same_everywhere<days::half>();
  expect_same_everywhere<days::bf16>();
  expect_same_everywhere<days::fp8_e4m3>();
  expect_same_everywhere<days::fp8_e5m2>();
  expect_same_everywhere<int8_t>();
  expect_same_everywhere<uint8_t>();
  expect_same_everywhere<int32_t>();
  expect_same_everywhere<uint64_t>();
}

// ---- Epilogues: each element gets its own bias and residual, and they follow each other from left to right.

template <class Epilogue>
__global__ void epilogue_kernel(float* c, int n, Epilogue epilogue) {
  c[blockIdx.x * n + threadIdx.x] = epilogue(static_cast<float>(threadIdx.x), blockIdx.x, threadIdx.x);
}

template <class Epilogue>
std::vector<float> after(int m, int n, Epilogue epilogue) {
  const DeviceBuffer<float> c(static_cast<size_t>(m * n));
  epilogue_kernel<<<m, n>>>(c.data(), n, epilogue);
  CUDA_CHECK_LAUNCH();
  return c.download();
}

TEST(Epilogue, StepsFollowEachOther) {
  DeviceBuffer<float> bias(3);
  DeviceBuffer<days::half> residual(8);  // 2 x 3, rows 4 apart
  bias.upload({0.5f, -1, 2});
  std::vector<days::half> elements;
  for (int i = 0; i < 8; ++i)
    elements.push_back(days::from_float<days::half>(100.0f * static_cast<float>(i)));
  residual.upload(elements);
  EXPECT_EQ(after(2, 3, days::Identity{}), (std::vector<float>{0, 1, 2, 0, 1, 2}));
  const days::AddBias<float> add_bias{bias.data()};
  const days::AddResidual<days::half> add_residual{residual.data(), 4};
  EXPECT_EQ(after(2, 3, days::in_order(add_bias, days::Scale{2}, add_residual)),
            (std::vector<float>{1, 100, 208, 401, 500, 608}));
  EXPECT_EQ(after(2, 3, days::in_order(days::Scale{2}, add_bias, add_residual)),
            (std::vector<float>{0.5f, 101, 206, 400.5f, 501, 606}));
  const std::vector<float> squashed = after(1, 3, days::in_order(add_bias, days::Tanh{}));
  EXPECT_NEAR(squashed[0], std::tanh(0.5), 1e-6);
  EXPECT_EQ(squashed[1], 0);
  EXPECT_NEAR(squashed[2], std::tanh(4.0), 1e-6);
}

// ---- Buffers

TEST(Buffer, IsPoisonedAndCopies) {
  DeviceBuffer<float> buffer(5);
  for (const float x : buffer.download()) EXPECT_TRUE(std::isnan(x));
  buffer.upload({1, 2, 3, 4, 5});
  EXPECT_EQ(buffer.download(), (std::vector<float>{1, 2, 3, 4, 5}));
  EXPECT_THROW(buffer.upload({1, 2}), std::invalid_argument);
  buffer.poison();
  EXPECT_TRUE(std::isnan(buffer.download()[4]));
  EXPECT_EQ(buffer.damage(), "");
  const DeviceBuffer<float> none(0);
  EXPECT_TRUE(none.download().empty());
}

#ifndef __SIMT__
// On the CPU backend the write itself is an error (simt/tests).
__global__ void write_at(unsigned char* data, int64_t at) {
  data[at] = 1;
}

TEST(Buffer, GuardsShowTheNearestDamage) {
  for (const int64_t at : {int64_t{100}, int64_t{16483}, int64_t{-1}, int64_t{-16384}}) {
    const days::DeviceMemory memory(100);
    write_at<<<1, 1>>>(static_cast<unsigned char*>(memory.data()), at);
    CUDA_CHECK_LAUNCH();
    const std::string want = at < 0 ? "overwritten " + std::to_string(-at) + " bytes before its start"
                                    : "overwritten " + std::to_string(at - 100) + " bytes after its end";
    EXPECT_EQ(memory.damage(), want);
  }
  const days::DeviceMemory memory(100);
  write_at<<<1, 1>>>(static_cast<unsigned char*>(memory.data()), 99);
  CUDA_CHECK_LAUNCH();
  EXPECT_EQ(memory.damage(), "");
}
#endif

// ---- Reductions

template <class Op>
__global__ void reduce_kernel(const float* x, float* out, int n, Op op, float identity) {
  const int i = static_cast<int>(threadIdx.x);
  const float mine = i < n ? x[i] : identity;
  out[i] = days::block_reduce(mine, op, identity);
  out[blockDim.x + i] = days::block_reduce(-mine, op, op(identity, -identity) == identity ? identity : 0.0f);
}

TEST(Reduce, SumsInEveryThread) {
  for (const int threads : {32, 64, 96, 1024}) {
    for (const int n : {1, 31, threads - 1, threads}) {
      std::vector<float> x(static_cast<size_t>(threads));
      float sum = 0;
      for (int i = 0; i < n; ++i) sum += x[static_cast<size_t>(i)] = static_cast<float>(i % 17 - 5);
      const DeviceBuffer<float> in(x), out(2 * static_cast<size_t>(threads));
      reduce_kernel<<<1, threads>>>(in.data(), out.data(), n, days::Sum{}, 0.0f);
      CUDA_CHECK_LAUNCH();
      const std::vector<float> got = out.download();
      for (int i = 0; i < threads; ++i) {
        ASSERT_EQ(got[static_cast<size_t>(i)], sum) << threads << " threads, n " << n << ", thread " << i;
        ASSERT_EQ(got[static_cast<size_t>(threads + i)], -sum);  // a second call at once
      }
    }
  }
}

__global__ void extremes_kernel(const float* x, float* out) {
  const float mine = x[threadIdx.x];
  const float most = days::warp_reduce(mine, days::Max{}), least = days::warp_reduce(mine, days::Min{});
  out[threadIdx.x] = most;
  out[32 + threadIdx.x] = least;
}

TEST(Reduce, MaxAndMinKeepNan) {
  std::vector<float> x(32);
  for (int i = 0; i < 32; ++i) x[static_cast<size_t>(i)] = static_cast<float>((i * 7) % 32 - 16);
  for (const bool with_nan : {false, true}) {
    if (with_nan) x[20] = NAN;
    const DeviceBuffer<float> in(x), out(64);
    extremes_kernel<<<1, 32>>>(in.data(), out.data());
    CUDA_CHECK_LAUNCH();
    const std::vector<float> got = out.download();
    for (size_t i = 0; i < 32; ++i) {
      EXPECT_TRUE(with_nan ? std::isnan(got[i]) && std::isnan(got[32 + i])
                           : got[i] == 15 && got[32 + i] == -16)
          << i;
    }
  }
}

// Every block writes a number and draws a ticket; the last one adds them up.
__global__ void ticket_kernel(volatile unsigned* places, unsigned* ticket,
                              unsigned* result) {  // result: (2), sum and last blocks
  if (threadIdx.x == 0) places[blockIdx.x] = blockIdx.x + 1;
  if (!days::draws_last_ticket(ticket)) return;
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += places[i];
  sum = days::block_reduce(sum, days::Sum{}, 0u);
  if (threadIdx.x != 0) return;
  result[0] = sum;
  atomicAdd(&result[1], 1u);
}
TEST(Ticket, OneBlockIsLastAndSeesAllOthersInEachLaunch) {
  for (const unsigned blocks : {1u, 2u, 97u}) {
    const DeviceBuffer<unsigned> places(blocks), ticket(std::vector<unsigned>(1, 0)),
        result(std::vector<unsigned>(2, 0));
    for (unsigned launch = 1; launch <= 3; ++launch) {
      ticket_kernel<<<blocks, 64>>>(places.data(), ticket.data(), result.data());
      CUDA_CHECK_LAUNCH();
      EXPECT_EQ(result.download(), (std::vector<unsigned>{blocks * (blocks + 1) / 2, launch}));
      EXPECT_EQ(ticket.download()[0], 0u) << "the next launch begins with 0";
      CUDA_CHECK(cudaMemset(places.data(), 0, blocks * sizeof(unsigned)));
    }
  }
}

// ---- Ring: who fills and who uses go by the same turns, so where these are wrong for both, results may still be right.

__global__ void turns_kernel(int* out, int turns) {
  days::Turn<4> turn;
  for (int i = 0; i < turns; ++i, turn.next()) {
    out[2 * i] = turn.stage;
    out[2 * i + 1] = static_cast<int>(turn.phase);
  }
}

TEST(Ring, EachStageHasItsTurnInEachPhase) {
  constexpr int kTurns = 13;
  const DeviceBuffer<int> out(2 * kTurns);
  turns_kernel<<<1, 1>>>(out.data(), kTurns);
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::vector<int> got = out.download();
  for (int i = 0; i < kTurns; ++i) {
    EXPECT_EQ(got[2 * static_cast<size_t>(i)], i % 4) << "stage of turn " << i;
    EXPECT_EQ(got[2 * static_cast<size_t>(i) + 1], i / 4 % 2) << "phase of turn " << i;
  }
}

// Two warps read a stage, one after the other.
__global__ void releases_kernel(int* out) {
  constexpr int kReaders = 2, kStage = 1;
  __shared__ days::Ring<int4, 3, kReaders> ring;
  ring.init();
  for (int reader = 0; reader < kReaders; ++reader) {
    if (static_cast<int>(threadIdx.x) / days::kWarpSize == reader) ring.release(kStage);
    __syncthreads();
    if (threadIdx.x == 0) out[reader] = days::ptx::mbarrier_test_wait_parity(&ring.empty[kStage], 0);
    __syncthreads();
  }
}

// One arrival a warp: with more, a stage would be filled again while another warp still reads it.
TEST(Ring, StageIsEmptyOnceAllWarpsHaveReadIt) {
  if (!days::sm_80.met(days::current_device())) GTEST_SKIP() << "no mbarriers before compute capability 8.0";
  const DeviceBuffer<int> out(2);
  releases_kernel<<<1, 2 * days::kWarpSize>>>(out.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  EXPECT_EQ(out.download(), (std::vector<int>{0, 1}));
}

// ---- Moments that merge: a lane has every 32nd number, and the first lanes have more than the last ones, or none.

__global__ void moments_kernel(const float* x, int n, float* whole,  // (32, 3)
                               int neighbours) {
  days::Moments mine;
  for (int i = threadIdx.x; i < n; i += 32) mine.add(x[i]);
  mine = neighbours == 1   ? days::merge_pairs(mine)
         : neighbours == 8 ? days::merge_pairs<8>(mine)
                           : days::merge_lanes<32>(mine);
  whole[3 * threadIdx.x] = mine.n;
  whole[3 * threadIdx.x + 1] = mine.mean;
  whole[3 * threadIdx.x + 2] = mine.m2;
}
TEST(Moments, OfAllLanesAsOne) {
  for (const int n : {1, 5, 32, 1000}) {
    for (const int neighbours : {0, 1, 8}) {
      std::vector<float> x(static_cast<size_t>(n));
      for (size_t i = 0; i < x.size(); ++i) x[i] = 1e4f + static_cast<float>(i * 37 % 101) / 25;
      const DeviceBuffer<float> in(x);
      const DeviceBuffer<float> out(3 * 32);
      moments_kernel<<<1, 32>>>(in.data(), n, out.data(), neighbours);
      CUDA_CHECK_LAUNCH();
      const std::vector<float> got = out.download();
      for (size_t lane = 0; lane < 32; ++lane) {
        double count = 0, sum = 0, squares = 0;
        const auto each = [&](const auto& visit) {
          for (size_t i = 0; i < x.size(); ++i)
            if (neighbours != 8 || i % 8 == lane % 8) visit(static_cast<double>(x[i]));
        };
        each([&](double value) { count += 1, sum += value; });
        if (count > 0) each([&](double value) { squares += std::pow(value - sum / count, 2); });
        ASSERT_EQ(static_cast<double>(got[3 * lane]), count) << n << " numbers, lane " << lane;
        if (count == 0) continue;
        ASSERT_NEAR(static_cast<double>(got[3 * lane + 1]), sum / count, 0.003);
        ASSERT_NEAR(static_cast<double>(got[3 * lane + 2]), squares, 0.003 * squares + 1e-4);
      }
    }
  }
}
TEST(Moments, EqualNumbersHaveExactlyTheirMeanAndNoDistance) {
  for (const float value : {0.1f, 1e7f + 1, 1e10f, 0.0f}) {
    const DeviceBuffer<float> in(std::vector<float>(999, value));
    const DeviceBuffer<float> out(3 * 32);
    moments_kernel<<<1, 32>>>(in.data(), 999, out.data(), 1);
    CUDA_CHECK_LAUNCH();
    const std::vector<float> got = out.download();
    for (size_t lane = 0; lane < 32; ++lane) {
      ASSERT_EQ(got[3 * lane + 1], value);
      ASSERT_EQ(got[3 * lane + 2], 0.0f);
    }
  }
}

// ---- Cooperative launches: each block needs what all others have written.

__global__ void meeting_kernel(const int* scale, int* left, int* right) {
  extern __shared__ int mine[];
  if (threadIdx.x == 0) mine[0] = *scale * static_cast<int>(blockIdx.x + 1);
  __syncthreads();
  if (threadIdx.x == 0) left[blockIdx.x] = mine[0];
  cooperative_groups::this_grid().sync();
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += left[b];
  if (threadIdx.x == 0) right[blockIdx.x] = sum;
}
TEST(Cooperative, AllBlocksMeetInALaunchAndInAGraph) {
  constexpr int kBytes = 60 << 10;  // more than a kernel has without asking
  const int most = days::resident_blocks(meeting_kernel, 64, kBytes);
  ASSERT_GE(most, days::multiprocessors());
  const days::Stream stream;
  const DeviceBuffer<int> scale(std::vector<int>(1, 1));
  for (const int blocks : {1, most}) {
    const DeviceBuffer<int> left(static_cast<size_t>(blocks)), right(static_cast<size_t>(blocks));
    const auto launch = [&] {
      days::launch_cooperative("meeting", meeting_kernel, blocks, 64, kBytes, stream, scale.data(),
                               left.data(), right.data());
    };
    const auto expect = [&](int factor) {
      CUDA_CHECK(cudaStreamSynchronize(stream));
      const std::vector<int> sums(static_cast<size_t>(blocks), factor * blocks * (blocks + 1) / 2);
      EXPECT_EQ(right.download(), sums);
    };
    CUDA_CHECK(cudaMemset(scale.data(), 0, sizeof(int)));
    launch();
    expect(0);
    const days::Graph graph(stream, launch);
    const int one = 1;
    CUDA_CHECK(cudaMemcpy(scale.data(), &one, sizeof one, cudaMemcpyHostToDevice));
    graph.launch(stream);
    expect(1);
  }
}
TEST(Cooperative, RefusesMoreBlocksThanFitAndNone) {
  const int most = days::resident_blocks(meeting_kernel, 64);
  const DeviceBuffer<int> numbers(3);
  for (const int blocks : {most + 1, 0}) {
    try {
      days::launch_cooperative("meeting", meeting_kernel, blocks, 64, 0, nullptr, numbers.data(),
                               numbers.data() + 1, numbers.data() + 2);
      FAIL() << blocks << " blocks were launched";
    } catch (const std::invalid_argument& error) {
      const std::string wanted =
          blocks == 0
              ? "meeting: a launch needs a block at least, not 0"
              : "meeting: blocks that wait for each other must all be on the device at once, which holds " +
                    std::to_string(most) + " of these, not " + std::to_string(blocks);
      EXPECT_EQ(error.what(), wanted);
    }
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// ---- Sixteen bytes at a time

template <class T>
__global__ void vector_kernel(const T* x, T* y, int how) {
  constexpr int kPer = days::Vec<T>::kSize;
  const int i = static_cast<int>(threadIdx.x) * kPer;
  days::Vec<T> v = how == 0   ? days::load16(x + i)
                   : how == 1 ? days::load16_streaming(x + i)
                              : days::load16_readonly(x + i);
  for (int lane = 0; lane < kPer / 2; ++lane) {  // reversed, so that the order of the lanes shows
    const T other = v[lane];
    v[lane] = v[kPer - 1 - lane];
    v[kPer - 1 - lane] = other;
  }
  how == 1 ? days::store16_streaming(y + i, v) : days::store16(y + i, v);
}

template <class T>
void expect_reversed_lanes() {
  constexpr size_t kPer = 16 / sizeof(T), kCount = 64 * kPer;
  static_assert(sizeof(days::Vec<T>) == 16 && alignof(days::Vec<T>) == 16);
  std::vector<T> x(kCount);
  for (size_t i = 0; i < kCount; ++i) x[i] = days::from_float<T>(static_cast<float>(i % 120));
  for (const int how : {0, 1, 2}) {
    const DeviceBuffer<T> in(x), out(kCount);
    vector_kernel<<<1, 64>>>(in.data(), out.data(), how);
    CUDA_CHECK_LAUNCH();
    const std::vector<T> y = out.download();
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(days::to_float(y[i]), days::to_float(x[i / kPer * kPer + kPer - 1 - i % kPer]))
          << "way " << how << ", " << i;
    }
    EXPECT_EQ(out.damage(), "");
  }
}

TEST(Vector, MovesSixteenBytesInOrder) {
  expect_reversed_lanes<float>();
  expect_reversed_lanes<double>();
  expect_reversed_lanes<days::half>();
  expect_reversed_lanes<days::bf16>();
  expect_reversed_lanes<int8_t>();
}

// ---- The kernels that measure limits do move what they claim to

template <days::Mix kMix, int kUnroll>
std::vector<float> moved(float a_value, float b_value) {
  constexpr size_t kThreads = 64, kBlocks = 3, kCount = kBlocks * kThreads * kUnroll;  // float4s
  const DeviceBuffer<float> a(std::vector<float>(4 * kCount, a_value)),
      b(std::vector<float>(4 * kCount, b_value)), c(std::vector<float>(4 * kCount, 7)),
      out((kMix == days::Mix::kOneToThree ? 3 : 1) * 4 * kCount);
  days::detail::bandwidth_kernel<kMix, kUnroll><<<kBlocks, kThreads>>>(
      reinterpret_cast<const float4*>(a.data()), reinterpret_cast<const float4*>(b.data()),
      reinterpret_cast<const float4*>(c.data()), reinterpret_cast<float4*>(out.data()), kCount);
  CUDA_CHECK_LAUNCH();
  EXPECT_EQ(out.damage(), "");
  return out.download();
}

template <int kUnroll>
void expect_moved() {
  using days::Mix;
  for (const float x : moved<Mix::kCopy, kUnroll>(3, 5)) ASSERT_EQ(x, 3);
  for (const float x : moved<Mix::kTwoToOne, kUnroll>(3, 5)) ASSERT_EQ(x, 8);
  for (const float x : moved<Mix::kThreeToOne, kUnroll>(3, 5)) ASSERT_EQ(x, 15);
  for (const float x : moved<Mix::kOneToThree, kUnroll>(3, 5)) ASSERT_EQ(x, 3);  // all three arrays
  for (const float x : moved<Mix::kWrite, kUnroll>(3, 5)) ASSERT_EQ(x, 0);
  // Each thread's sum shows that it read all of its values; of zeros nothing is written.
  for (const std::vector<float> sums = moved<Mix::kRead, kUnroll>(3, 5);
       const size_t i : {0, 255, 256 * kUnroll}) {
    ASSERT_EQ(sums[i], 3 * 4 * kUnroll);
  }
  for (const float x : moved<Mix::kRead, kUnroll>(0, 5)) ASSERT_TRUE(std::isnan(x));
}

TEST(LimitKernels, MoveEveryByte) {
  expect_moved<1>();
  expect_moved<2>();
  expect_moved<8>();
}

TEST(LimitKernels, MultiplyAndAddAsOftenAsTheySay) {
  // With a = b = 1 each step adds one, exactly, until a float is full: chain i of thread t ends at t + i +
  // steps, and the sum that the kernel looks for is that of thread 0 alone.
  const DeviceBuffer<float> out(std::vector<float>(32, -1.0f));
  days::detail::ffma_kernel<4><<<1, 32>>>(out.data(), 1.0f, 1.0f, 4.0f * days::detail::kFmaSteps + 6);
  CUDA_CHECK_LAUNCH();
  const std::vector<float> got = out.download();
  EXPECT_EQ(got[0], 4.0f * days::detail::kFmaSteps + 6);
  EXPECT_EQ(got[1], -1.0f);
}

// One step of each instruction's kernel on lane 0's numbers: c[0] is the sum over k of row 0 of a and column 0 of b, whose
// size, with inputs of 1 to 2, is at most 4 for each of its depth, and not 0.
template <days::Rate kRate>
__global__ void step_kernel(float* out) {
  uint32_t a[4], b[2];
  for (uint32_t i = 0; i < 4; ++i) a[i] = days::detail::random_register<kRate>(threadIdx.x * 8 + i);
  for (uint32_t i = 0; i < 2; ++i) b[i] = days::detail::random_register<kRate>(threadIdx.x * 8 + 4 + i);
  days::detail::Sum<kRate> c[4] = {};
  days::detail::mma_step<kRate>(c, a, b);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + static_cast<unsigned>(i)] = static_cast<float>(c[i]);
}
template <days::Rate kRate>
void expect_products(float largest, int from) {
  if (days::current_device().code < from) return;
  const DeviceBuffer<float> out(128);
  step_kernel<kRate><<<1, 32>>>(out.data());
  CUDA_CHECK_LAUNCH();
  double squares = 0;
  for (const float c : out.download()) {
    EXPECT_LE(std::abs(c), largest * largest * static_cast<float>(days::detail::depth_of(kRate)));
    squares += static_cast<double>(c) * static_cast<double>(c);
  }
  EXPECT_GT(squares, 0) << static_cast<int>(kRate);
}
TEST(LimitKernels, MultiplyRandomNumbersOfTheirTypes) {
  expect_products<days::Rate::mma_fp16>(2, 75);
  expect_products<days::Rate::mma_int8>(128, 75);
  expect_products<days::Rate::mma_bf16>(2, 80);
  expect_products<days::Rate::mma_tf32>(2, 80);
  expect_products<days::Rate::mma_fp8>(2, 89);
}

}  // namespace

// ---- Launchers for common_ladder_test.cpp

namespace common_test {
namespace {

// What a launch does beside, or instead of, the right thing.
enum class Does {
  kRight,
  kNothing,
  kMost,
  kPastTheEnd,
  kBeforeTheStart,
  kWritesInput,
  kDropsOddColumn,
  kOffByAnUlp,
  kReadsPastTheEnd,
};

template <class T>
__global__ void scale_kernel(const T* x, T* y, float* total, int rows, int cols, Does does) {
  const int n = rows * cols, i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n || does == Does::kNothing) return;
  if (does == Does::kMost && i == n - 1) return;
  if (does == Does::kDropsOddColumn && cols % 2 == 1 && i % cols == cols - 1) return;
  float value = 2 * days::to_float(x[i]);
  if (does == Does::kReadsPastTheEnd && i == n - 1) value += 0 * days::to_float(x[n]);
  if (does == Does::kOffByAnUlp) value = value * (1 + 0x1p-23f);
  y[i] = days::from_float<T>(value);
  if (i == 0) *total += 1;
  if (does == Does::kPastTheEnd && i == 0) y[n] = y[0];
  if (does == Does::kBeforeTheStart && i == 0) y[-1] = y[0];
  if (does == Does::kWritesInput && i == n - 1) const_cast<T*>(x)[n - 1] = days::from_float<T>(1.5f);
}

template <class T>
void launch(const Scale<T>& p, cudaStream_t stream, Does does) {
  scale_kernel<<<days::ceil_div(p.rows * p.cols, 128), 128, 0, stream>>>(p.x, p.y, p.total, p.rows, p.cols,
                                                                         does);
  CUDA_CHECK_LAUNCH();
}

__global__ void scratch_kernel(float* scratch, int n) {
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) scratch[i] = 1;
}

}  // namespace

template <class T>
void scale_plain(const Scale<T>& p, cudaStream_t stream) {
  launch(p, stream, Does::kRight);
}
template void scale_plain(const Scale<float>&, cudaStream_t);
template void scale_plain(const Scale<days::half>&, cudaStream_t);

void waits(const Problem& p, cudaStream_t stream) {
  launch(p, stream, Does::kRight);
  CUDA_CHECK(cudaStreamSynchronize(stream));
}
void takes_another_stream(const Problem& p, cudaStream_t) {
  const days::Stream own;
  launch(p, own, Does::kRight);
  CUDA_CHECK(cudaStreamSynchronize(own));
}

void scale_even(const Problem& p, cudaStream_t stream) {
  days::require(p.cols % 2 == 0, "even: cols must be even, not", p.cols);
  launch(p, stream, Does::kRight);
}

void scale_scratch(const Problem& p, cudaStream_t stream) {
  const size_t bytes = sizeof(float) * static_cast<size_t>(p.rows) * static_cast<size_t>(p.cols);
  days::require(p.workspace.bytes >= bytes, "scratch: workspace too small:", p.workspace.bytes);
  scratch_kernel<<<1, 64, 0, stream>>>(static_cast<float*>(p.workspace.data), p.rows * p.cols);
  CUDA_CHECK_LAUNCH();
  launch(p, stream, Does::kRight);
}

void writes_nothing(const Problem& p, cudaStream_t stream) {
  launch(p, stream, Does::kNothing);
}
void writes_most(const Problem& p, cudaStream_t stream) {
  launch(p, stream, Does::kMost);
}
void writes_past_the_end(const Problem& p, cudaStream_t stream) {
  launch(p, stream, Does::kPastTheEnd);
}
void writes_before_the_start(const Problem& p, cudaStream_t stream) {
  launch(p, stream, Does::kBeforeTheStart);
}
void writes_input(const Problem& p, cudaStream_t stream) {
  launch(p, stream, Does::kWritesInput);
}
void refuses_all(const Problem& p, cudaStream_t) {
  days::require(p.rows < 0, "refuses rows", p.rows);
}
void refuses_after_writing(const Problem& p, cudaStream_t stream) {
  launch(p, stream, Does::kRight);
  days::require(p.cols % 2 == 0, "cols must be even, not", p.cols);
}
void refuses_nothing(const Problem& p, cudaStream_t stream) {
  launch(p, stream, Does::kDropsOddColumn);
}
void trusts_workspace(const Problem& p, cudaStream_t stream) {
  launch(p, stream, Does::kRight);
}
void throws_runtime_error(const Problem&, cudaStream_t) {
  throw std::runtime_error("of its own");
}
void too_many_threads(const Problem& p, cudaStream_t stream) {
  scale_kernel<<<1, 4096, 0, stream>>>(p.x, p.y, p.total, p.rows, p.cols, Does::kRight);
  CUDA_CHECK_LAUNCH();
}
void off_by_an_ulp(const Problem& p, cudaStream_t stream) {
  launch(p, stream, Does::kOffByAnUlp);
}
void reads_past_the_end(const Problem& p, cudaStream_t stream) {
  launch(p, stream, Does::kReadsPastTheEnd);
}

}  // namespace common_test
