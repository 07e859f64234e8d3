// SPDX-License-Identifier: MIT
//
// Streams run late: what is ordered, what is not, and how a missing synchronisation shows.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "apart.h"

namespace streams_test {

class Streams : public testing::Test {
 protected:
  void SetUp() override {
    simt::set_order(simt::Order::normal);  // whatever SIMT_ORDER says
    cudaGetLastError();
    for (cudaStream_t* s : {&a_, &b_})
      ASSERT_EQ(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&event_), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&x_, kCount * sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&y_, kCount * sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&pinned_, kCount * sizeof(int)), cudaSuccess);
    for (int i = 0; i < kCount; ++i) x_[i] = y_[i] = pinned_[i] = 0;
  }
  void TearDown() override {
    for (cudaStream_t s : {a_, b_}) EXPECT_EQ(cudaStreamDestroy(s), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(event_), cudaSuccess);
    EXPECT_EQ(cudaFree(x_), cudaSuccess);
    EXPECT_EQ(cudaFree(y_), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(pinned_), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(simt::reports(), 0);
    simt::reset_order();
  }

  static constexpr int kCount = 64;
  cudaStream_t a_ = nullptr, b_ = nullptr;
  cudaEvent_t event_ = nullptr;
  int *x_ = nullptr, *y_ = nullptr, *pinned_ = nullptr;
};

template <class Call>
std::string report_of(Call call) {
  simt::forget_reports();
  testing::internal::CaptureStderr();
  call();
  const int reports = simt::reports();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(reports, 1) << text;
  simt::forget_reports();
  return text;
}

// Runs one of this program's disabled tests in a process of its own; its output and exit status.
std::string run_apart(const std::string& environment, const std::string& test, int* status) {
  return apart::run(environment, "StreamsApart", test, status);
}

__global__ void add(int* x, int value) {
  x[threadIdx.x] += value;
}
__global__ void copy_values(int* to, const int* from) {
  to[threadIdx.x] = from[threadIdx.x];
}
__global__ void out_of_bounds(int* x) {
  x[1 << 20] = 1;
}

// ---- lateness ----

TEST_F(Streams, ALaunchRunsWhenSomethingWaitsForIt) {
  add<<<1, kCount>>>(x_, 5);
  EXPECT_EQ(x_[0], 0) << "read without a synchronisation";
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(x_[0], 5);
  add<<<1, kCount, 0, a_>>>(x_, 1);
  ASSERT_EQ(cudaStreamSynchronize(b_), cudaSuccess);
  EXPECT_EQ(x_[0], 5) << "the wrong stream was waited for";
  ASSERT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  EXPECT_EQ(x_[0], 6);
}

TEST_F(Streams, ArgumentsAreThoseOfTheCall) {
  int value = 3;
  add<<<1, kCount>>>(x_, value);
  value = 100;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(x_[kCount - 1], 3);
}

TEST_F(Streams, AStreamKeepsItsOrder) {
  for (int i = 1; i <= 100; ++i) {
    add<<<1, kCount, 0, a_>>>(x_, i);
    if (i == 50) copy_values<<<1, kCount, 0, a_>>>(y_, x_);
  }
  ASSERT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  EXPECT_EQ(x_[1], 5050);
  EXPECT_EQ(y_[1], 1275);
}

TEST_F(Streams, MoreThanAQueueHolds) {
  for (int i = 0; i < 3000; ++i) add<<<1, 1, 0, a_>>>(x_, 1);
  EXPECT_GT(x_[0], 1500) << "a full queue runs";
  EXPECT_LT(x_[0], 3000);
  ASSERT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  EXPECT_EQ(x_[0], 3000);
}

TEST_F(Streams, AskingMakesProgress) {
  add<<<1, kCount, 0, a_>>>(x_, 1);
  add<<<1, kCount, 0, a_>>>(x_, 1);
  int asked = 1;
  while (cudaStreamQuery(a_) == cudaErrorNotReady) ++asked;
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(x_[0], 2);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  add<<<1, kCount, 0, a_>>>(x_, 1);
  ASSERT_EQ(cudaEventRecord(event_, a_), cudaSuccess);
  asked = 1;
  while (cudaEventQuery(event_) == cudaErrorNotReady) ++asked;
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(x_[0], 3);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
}

TEST_F(Streams, ADestroyedStreamStillRuns) {
  cudaStream_t gone;
  ASSERT_EQ(cudaStreamCreate(&gone), cudaSuccess);
  add<<<1, kCount, 0, gone>>>(x_, 9);
  ASSERT_EQ(cudaStreamDestroy(gone), cudaSuccess);
  add<<<1, kCount, 0, gone>>>(x_, 9);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(x_[0], 0);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(x_[0], 9);
}

TEST_F(Streams, FreeingWaits) {
  int* other;
  ASSERT_EQ(cudaMallocManaged(&other, 4), cudaSuccess);
  add<<<1, kCount, 0, a_>>>(x_, 2);
  ASSERT_EQ(cudaFree(other), cudaSuccess);
  EXPECT_EQ(x_[0], 2);
}

// ---- errors ----

TEST_F(Streams, ErrorsOfTheConfigurationComeAtOnceThoseOfTheKernelLater) {
  add<<<1, 2000, 0, a_>>>(x_, 1);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  const std::string text = report_of([&] {
    out_of_bounds<<<1, 1, 0, a_>>>(x_);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    add<<<1, kCount, 0, a_>>>(x_, 1);
    EXPECT_EQ(cudaStreamSynchronize(a_), cudaErrorIllegalAddress);
  });
  EXPECT_NE(text.find("[simt-oob-global]"), std::string::npos) << text;
  EXPECT_EQ(x_[0], 0) << "nothing runs after a failed kernel";
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);  // takes the fixture's memory with it
  ASSERT_EQ(cudaMallocManaged(&x_, 4), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&y_, 4), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned_, 4), cudaSuccess);
}

// ---- order between streams ----

TEST_F(Streams, WithoutAnEventTheConsumerIsEarly) {
  if (simt::checked_build) GTEST_SKIP() << "some of these are not ordered, and a checked build says so";
  add<<<1, kCount, 0, a_>>>(x_, 7);
  copy_values<<<1, kCount, 0, b_>>>(y_, x_);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(y_[0], 0) << "copied before it was written";
}

TEST_F(Streams, WithAnEventItWaits) {
  if (simt::checked_build) GTEST_SKIP() << "some of these are not ordered, and a checked build says so";
  add<<<1, kCount, 0, a_>>>(x_, 7);
  ASSERT_EQ(cudaEventRecord(event_, a_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(b_, event_), cudaSuccess);
  add<<<1, kCount, 0, a_>>>(x_, 100);  // after the event: not waited for
  copy_values<<<1, kCount, 0, b_>>>(y_, x_);
  ASSERT_EQ(cudaStreamSynchronize(b_), cudaSuccess);
  EXPECT_EQ(y_[0], 7);
  EXPECT_EQ(cudaEventQuery(event_), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_F(Streams, TheLegacyStreamWaitsForBlockingOnesAndTheyForIt) {
  if (simt::checked_build) GTEST_SKIP() << "some of these are not ordered, and a checked build says so";
  cudaStream_t blocking;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  add<<<1, kCount, 0, blocking>>>(x_, 1);
  copy_values<<<1, kCount>>>(y_, x_);
  add<<<1, kCount, 0, blocking>>>(x_, 1);
  add<<<1, kCount, 0, cudaStreamPerThread>>>(x_, 1);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(y_[0], 1);
  EXPECT_EQ(x_[0], 3);
  add<<<1, kCount, 0, a_>>>(x_, 1);
  copy_values<<<1, kCount>>>(y_, x_);  // a_ does not block: nothing orders these
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(y_[0], 3);
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
}

TEST_F(Streams, EventsAreRecordedInOrder) {
  cudaEvent_t never;
  ASSERT_EQ(cudaEventCreate(&never), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(never), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(a_, never), cudaSuccess);
  add<<<1, kCount, 0, a_>>>(x_, 1);
  ASSERT_EQ(cudaEventRecord(never, a_), cudaSuccess);
  add<<<1, kCount, 0, a_>>>(x_, 1);
  ASSERT_EQ(cudaEventRecord(event_, a_), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, never, event_), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  ASSERT_EQ(cudaEventSynchronize(never), cudaSuccess);
  EXPECT_GE(x_[0], 1);
  ASSERT_EQ(cudaEventSynchronize(event_), cudaSuccess);
  EXPECT_EQ(x_[0], 2);
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, never, event_), cudaSuccess);
  EXPECT_GE(milliseconds, 0.0f);
  EXPECT_EQ(cudaEventDestroy(never), cudaSuccess);
}

// ---- copies ----

TEST_F(Streams, CopiesOfPinnedMemoryAreLatePageableSourcesAreReadAtOnce) {
  int* device;
  ASSERT_EQ(cudaMalloc(&device, kCount * sizeof(int)), cudaSuccess);
  std::vector<int> pageable(kCount, 11);
  ASSERT_EQ(cudaMemcpyAsync(device, pageable.data(), kCount * sizeof(int), cudaMemcpyHostToDevice, a_),
            cudaSuccess);
  pageable.assign(kCount, 0);
  ASSERT_EQ(cudaMemcpyAsync(pinned_, device, kCount * sizeof(int), cudaMemcpyDeviceToHost, a_), cudaSuccess);
  EXPECT_EQ(pinned_[0], 0) << "not there before the synchronisation";
  ASSERT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  EXPECT_EQ(pinned_[0], 11);
  pinned_[0] = 20;
  ASSERT_EQ(cudaMemcpyAsync(device, pinned_, kCount * sizeof(int), cudaMemcpyHostToDevice, a_), cudaSuccess);
  pinned_[0] = 21;  // too early: the copy has not read it
  ASSERT_EQ(cudaMemcpyAsync(pageable.data(), device, kCount * sizeof(int), cudaMemcpyDeviceToHost, a_),
            cudaSuccess);
  EXPECT_EQ(pageable[0], 21) << "a copy to pageable memory waits";
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

constexpr int kFirstCopy = __LINE__ + 5;
TEST_F(Streams, OverlappingCopiesInNoOrderAreReported) {
  int* device;
  ASSERT_EQ(cudaMalloc(&device, 4096), cudaSuccess);
  const std::string text = report_of([&] {
    EXPECT_EQ(cudaMemsetAsync(device, 0, 4096, a_), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(pinned_, device + 1000, 96, cudaMemcpyDeviceToHost, b_), cudaSuccess);
  });
  EXPECT_NE(text.find("[simt-stream-order]\nsimt/tests/streams_test.cu:" + std::to_string(kFirstCopy + 1)),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nsimt/tests/streams_test.cu:" + std::to_string(kFirstCopy) +
                      "  cudaMemsetAsync writes it too"),
            std::string::npos)
      << text;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);

  // Ordered by the host, by an event, or by not touching the same bytes: no report (TearDown counts them).
  EXPECT_EQ(cudaMemsetAsync(device, 0, 4096, a_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(device, 1, 4096, b_), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event_, b_), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(a_, event_), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(pinned_, device, 96, cudaMemcpyDeviceToHost, a_), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaMemset2DAsync(device, 128, 3, 64, 32, a_), cudaSuccess);
  EXPECT_EQ(cudaMemset2DAsync(device + 16, 128, 4, 64, 31, b_), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(Streams, MemoryOfAStreamBelongsToIt) {
  int* p;
  ASSERT_EQ(cudaMallocAsync(&p, 256, a_), cudaSuccess);
  const std::string text = report_of([&] { EXPECT_EQ(cudaMemsetAsync(p, 0, 256, b_), cudaSuccess); });
  EXPECT_NE(text.find("[simt-stream-order]"), std::string::npos) << text;
  EXPECT_NE(text.find("cudaMallocAsync"), std::string::npos) << text;
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(p, a_), cudaSuccess);
  const std::string freed = report_of([&] {
    EXPECT_EQ(cudaMemsetAsync(p, 0, 256, a_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(a_), cudaErrorIllegalAddress);
  });
  EXPECT_NE(freed.find("[simt-use-after-free]"), std::string::npos) << freed;
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&x_, 4), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&y_, 4), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned_, 4), cudaSuccess);
}

// ---- host functions ----

TEST_F(Streams, HostFunctionsMayNotCallCuda) {
  struct Outcome {
    int* x;
    int seen = -1;
    cudaError_t launch = cudaSuccess, wait = cudaSuccess;
  } outcome{x_};
  add<<<1, kCount, 0, a_>>>(x_, 4);
  const auto function = [](void* data) {
    auto* o = static_cast<Outcome*>(data);
    o->seen = o->x[0];
    o->wait = cudaDeviceSynchronize();
    add<<<1, 1>>>(o->x, 1);
    o->launch = cudaGetLastError();
  };
  ASSERT_EQ(cudaLaunchHostFunc(a_, function, &outcome), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  EXPECT_EQ(outcome.seen, 4);
  EXPECT_EQ(outcome.wait, cudaErrorNotPermitted);
  EXPECT_EQ(outcome.launch, cudaErrorNotPermitted);
  EXPECT_EQ(x_[0], 4);
  cudaGetLastError();
}

TEST_F(Streams, AHostThatWaitsForASignalGetsIt) {
  std::atomic<bool> reached{false};
  add<<<1, kCount, 0, a_>>>(x_, 4);
  ASSERT_EQ(cudaLaunchHostFunc(
                a_, [](void* p) { *static_cast<std::atomic<bool>*>(p) = true; }, &reached),
            cudaSuccess);
  while (!reached) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(x_[0], 4);
  ASSERT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
}

TEST_F(Streams, ManyHostThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        add<<<1, 1, 0, cudaStreamPerThread>>>(x_ + t, 1);
        if (i % 10 == t) {
          EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int t = 0; t < 4; ++t) EXPECT_EQ(x_[t], 100);
}

__global__ void spin(long long ticks) {
  for (const long long start = clock64(); clock64() - start < ticks;) {
  }
}

// The other thread always has a newer operation ready than the one that the host's call is about.
TEST_F(Streams, SynchronisingEndsThoughAnotherThreadGoesOnLaunching) {
  constexpr int kMost = 20000;
  std::atomic<int> launched{0};
  std::atomic<bool> stop{false};
  add<<<1, kCount, 0, a_>>>(x_, 5);
  std::thread other([&] {
    for (; launched < kMost && !stop; ++launched) spin<<<1, 1, 0, b_>>>(20000);
  });
  while (launched < 500) std::this_thread::yield();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const int until_then = launched;
  stop = true;
  other.join();
  EXPECT_EQ(x_[0], 5);
  EXPECT_LT(until_then, kMost);
}

// ---- other orders, and the end of the program ----

__global__ void say(int what) {
  printf("%d ", what);
}

TEST(StreamsApart, DISABLED_Order) {
  cudaStream_t streams[3];
  for (cudaStream_t& s : streams)
    ASSERT_EQ(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
  for (int i = 0; i < 6; ++i) say<<<1, 1, 0, streams[i % 3]>>>(i);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  printf("\n");
}
TEST(StreamsApart, DISABLED_Exit) {
  say<<<1, 1>>>(77);
  std::exit(0);
}
TEST(StreamsApart, DISABLED_FailedAtExit) {
  out_of_bounds<<<1, 1>>>(nullptr);
  std::exit(0);
}

TEST(Streams_, OrdersOfTheStreams) {
  int status;
  std::string text = run_apart("SIMT_ORDER=normal", "Order", &status);
  EXPECT_NE(text.find("2 5 1 4 0 3 \n"), std::string::npos) << text;
  text = run_apart("SIMT_ORDER=reversed", "Order", &status);
  EXPECT_NE(text.find("0 3 1 4 2 5 \n"), std::string::npos) << text;
  text = run_apart("SIMT_STREAMS=now", "Order", &status);
  EXPECT_NE(text.find("0 1 2 3 4 5 \n"), std::string::npos) << text;
  const std::string one = run_apart("SIMT_ORDER=shuffle:1", "Order", &status);
  bool differs = false;
  for (int seed = 2; seed < 6; ++seed)
    differs |= run_apart("SIMT_ORDER=shuffle:" + std::to_string(seed), "Order", &status) != one;
  EXPECT_TRUE(differs);
  text = run_apart("SIMT_STREAMS=soon", "Order", &status);
  EXPECT_NE(text.find("error: SIMT_STREAMS=soon must be late or now\n"), std::string::npos) << text;
}

TEST(Streams_, WhatIsQueuedRunsAtTheEnd) {
  int status;
  EXPECT_NE(run_apart("", "Exit", &status).find("77 "), std::string::npos);
  EXPECT_EQ(status, 0);
  EXPECT_NE(run_apart("", "FailedAtExit", &status).find("[simt-oob-global]"), std::string::npos);
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

}  // namespace streams_test
