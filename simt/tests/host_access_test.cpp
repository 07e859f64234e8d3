// SPDX-License-Identifier: MIT
//
// Checked builds: host code that nobody instruments (a .cpp file, the C library) touches device memory.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "simt/runtime.h"

#include "checked.h"

namespace {

using checked::run_apart;

const std::string kFile = "simt/tests/host_access_test.cpp:";

// A buffer of 16 bytes that holds 'a's.
char* letters() {
  char* data = nullptr;
  EXPECT_EQ(cudaMalloc(&data, 16), cudaSuccess);
  EXPECT_EQ(cudaMemset(data, 'a', 16), cudaSuccess);
  return data;
}

constexpr int kRead = __LINE__ + 3;
TEST(CheckedApart, DISABLED_CppReads) {
  const int* data = reinterpret_cast<int*>(letters());
  std::printf("%d\n", data[3]);
}

constexpr int kWrite = __LINE__ + 4;
TEST(CheckedApart, DISABLED_CppWritesWhatNothingHasUsed) {
  volatile float* data = nullptr;
  ASSERT_EQ(cudaMalloc(const_cast<float**>(&data), 400), cudaSuccess);
  for (int i = 0; i < 100; ++i) data[i] = 1;
}

constexpr int kLibrary = __LINE__ + 4;
TEST(CheckedApart, DISABLED_LibraryReads) {
  std::vector<char> host(static_cast<std::size_t>(std::rand() % 2) + 15);
  const char* data = letters();
  std::memcpy(host.data(), data, host.size());
  std::printf("%s\n", host.data());
}

constexpr int kText = __LINE__ + 2;
TEST(CheckedApart, DISABLED_PrintfReads) {
  const int printed = std::printf("%s\n", letters());
  EXPECT_EQ(printed, 17);  // and so no jump from here into the library
}

constexpr int kFreed = __LINE__ + 5;
TEST(CheckedApart, DISABLED_FreedMemory) {
  const char* data = letters();
  ASSERT_EQ(cudaFree(const_cast<char*>(data)), cudaSuccess);
  std::vector<char> host(16);
  host[0] = data[0];
  std::printf("%c\n", host[0]);
}

constexpr int kThread = __LINE__ + 3;
TEST(CheckedApart, DISABLED_AnotherThreadWrites) {
  char* data = letters();
  std::thread([data] { *static_cast<volatile char*>(data + 2) = 'b'; }).join();
}

constexpr int kManaged = __LINE__ + 4;
TEST(CheckedApart, DISABLED_PastManagedMemory) {
  volatile char* data = nullptr;
  ASSERT_EQ(cudaMallocManaged(const_cast<char**>(&data), 256), cudaSuccess);
  for (int i = 0; i <= 256; ++i) data[i] = 'a';
}

void expect_report(const char* test, const std::string& title, int line, const std::string& source,
                   const std::string& details) {
  int status;
  const std::string text = run_apart(test, &status);
  EXPECT_NE(text.find("error: " + title + "\n" + kFile + std::to_string(line) + "\n    " + source + "\n" +
                      details + "\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(WEXITSTATUS(status), 1) << text;
}

const std::string kTitle = "host code touches device memory [simt-host-access]";

TEST(CheckedHost, CppFilesAndLibrariesInDeviceMemory) {
  SKIP_UNLESS_CHECKED();
  expect_report(
      "CppReads", kTitle, kRead, "std::printf(\"%d\\n\", data[3]);",
      "It reads byte 12 of a buffer of 16 bytes from cudaMalloc; cudaMemcpy brings them to the host.");
  expect_report("CppWritesWhatNothingHasUsed", kTitle, kWrite, "for (int i = 0; i < 100; ++i) data[i] = 1;",
                "It writes byte 0 of a buffer of 400 bytes from cudaMalloc; cudaMemcpy brings data there.");
  expect_report(
      "LibraryReads", kTitle, kLibrary, "std::memcpy(host.data(), data, host.size());",
      "It reads byte 0 of a buffer of 16 bytes from cudaMalloc; cudaMemcpy brings them to the host.");
  expect_report(
      "PrintfReads", kTitle, kText, "const int printed = std::printf(\"%s\\n\", letters());",
      "It reads byte 0 of a buffer of 16 bytes from cudaMalloc; cudaMemcpy brings them to the host.");
  expect_report("FreedMemory", kTitle, kFreed, "host[0] = data[0];",
                "It reads byte 0 of a buffer of 16 bytes from cudaMalloc, which was freed.");
  expect_report("AnotherThreadWrites", kTitle, kThread,
                "std::thread([data] { *static_cast<volatile char*>(data + 2) = 'b'; }).join();",
                "It writes byte 2 of a buffer of 16 bytes from cudaMalloc; cudaMemcpy brings data there.");
  expect_report("PastManagedMemory", "out of bounds on global memory [simt-oob-global]", kManaged,
                "for (int i = 0; i <= 256; ++i) data[i] = 'a';",
                "It writes right past the end of a managed buffer of 256 bytes.");
}

TEST(CheckedHost, ManagedAndPinnedMemoryIsTheHostsToo) {
  char* data[2] = {};
  ASSERT_EQ(cudaMallocManaged(&data[0], 16), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&data[1], 16), cudaSuccess);
  for (char* p : data) {
    ASSERT_EQ(cudaMemset(p, 'a', 15), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    p[15] = 0;
    EXPECT_EQ(std::string(p), std::string(15, 'a'));
  }
  EXPECT_EQ(cudaFree(data[0]), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(data[1]), cudaSuccess);
}

bool copies_come_back() {
  std::vector<int> out(100, 7), in(100);
  int* data = nullptr;
  cudaStream_t stream;
  bool good = cudaStreamCreate(&stream) == cudaSuccess;
  for (int i = 0; i < 20; ++i) {
    good &= cudaMalloc(&data, 400) == cudaSuccess;
    good &= cudaMemcpyAsync(data, out.data(), 400, cudaMemcpyHostToDevice, stream) == cudaSuccess;
    good &= cudaMemcpyAsync(in.data(), data, 400, cudaMemcpyDeviceToHost, stream) == cudaSuccess;
    good &= cudaStreamSynchronize(stream) == cudaSuccess && in == out;
    good &= cudaFree(data) == cudaSuccess;
  }
  return good && cudaStreamDestroy(stream) == cudaSuccess;
}

// One thread's operations run while the others go on or allocate.
TEST(CheckedHost, SeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (int& result : good) threads.emplace_back([&result] { result = copies_come_back(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 1));
}

TEST(CheckedHost, ForkedProcess) {
  char* data = letters();
  const pid_t child = fork();
  if (child == 0) _exit(copies_come_back() && cudaMemset(data, 0, 16) == cudaSuccess ? 0 : 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cudaMemset(data, 0, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

}  // namespace
