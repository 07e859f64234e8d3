// SPDX-License-Identifier: MIT
//
// Checked builds: loops of host code, which are not watched where all that they touch is the host's. They compute
// what they computed, and whatever is not the host's is still reported.
#include "checked.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace checked_host_loops_test {

using checked::device;
using checked::report_of;
using checked::run_apart;

const std::string kFile = "simt/tests/checked_host_loops_test.cu:";

__host__ __device__ inline float doubled(float x) {
  return x * 2;
}
struct Point {
  float x, y;
};
struct Matrix {
  int rows, cols;
  float* data;
};
int weights[4] = {1, 2, 3, 4};

template <class T>
T total(const T* values, int n) {
  T sum = 0;
  for (int i = 0; i < n; ++i) sum += values[i];
  return sum;
}

int first_negative(const std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0) return -1;
  }
  return 1;
}

int lower_bound_of(const std::vector<int>& sorted, int x) {
  int low = 0, high = static_cast<int>(sorted.size());
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void expect_what_loops_compute() {  // in a member function, as a TEST is one, loops stay as they are
  const int n = 100;
  std::vector<float> a(n), b(n, 1.0f);
  for (int i = 0; i < n; ++i) a[i] = doubled(static_cast<float>(i)) + static_cast<float>(weights[i % 4]);
  EXPECT_EQ(a[5], 12.0f);
  for (float& x : a) x += 1;
  EXPECT_EQ(total(a.data(), n), 2 * 4950 + 250 + 100);
  EXPECT_EQ(first_negative(a), 1);
  a[n - 1] = -1;
  EXPECT_EQ(first_negative(a), -1);
  EXPECT_EQ(lower_bound_of({1, 2, 5, 9}, 5), 2);

  int histogram[10] = {}, bits = 1, last = 0;
  for (int i = 0, j = n; i < j; ++i, --j) {
    ++histogram[i % 10];
    if (i == 7) bits <<= 4;
    if (i == 8) continue;
    last = j;
  }
  EXPECT_EQ(histogram[9], 5);
  EXPECT_EQ(bits, 16);
  EXPECT_EQ(last, 51);

  std::vector<Point> points(4);
  std::array<double, 4> sums{};
  float grid[3][4];
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x) grid[y][x] = static_cast<float>(10 * y + x);
  for (int i = 0; i < 4; ++i) {
    Point p = points[i];
    p.x = grid[2][i];
    points[i] = p;
    sums[i] = std::max(points[i].x, 22.0f);
  }
  EXPECT_EQ(sums[1] + sums[3], 45.0);

  Matrix m{2, 3, b.data()};
  for (int i = 0; i < m.rows; ++i) {
    const float* row = b.data();
    for (int j = 0; j < m.cols; ++j) m.data[i * m.cols + j] += row[n - 1];
  }
  EXPECT_EQ(b[5], 2.0f);
  // Two names of one variable.
  int& count = histogram[0];
  for (int i = 0; i < 4; ++i) {
    ++histogram[0];
    count *= 2;
  }
  EXPECT_EQ(count, 110);
  // What is no array of numbers, but looks like one.
  std::vector<bool> flags(n);
  std::vector<std::vector<int>> rows(3, std::vector<int>(3));
  for (int i = 0; i < n; ++i) flags[i] = i % 2 == 1;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) rows[i][j] = i * j;
  EXPECT_TRUE(flags[7] && rows[2][2] == 4);
}

TEST(CheckedHostLoops, ComputeWhatTheyComputed) {
  expect_what_loops_compute();
}

// Statements without braces, as many programs write them: each is what it was.
int bare_statements(int n) {
  unsigned char bytes[64] = {};
  unsigned char* p = bytes;
  int length = n;
  if (length) do
      *p++ = 3;
    while (--length);
  int sum = 0, i = 0;
  do
    for (int j = 0; j < 2; ++j) sum += bytes[j];
  while (++i < 3);
  i = 0;
  do
    while (i < n) ++i;
  while (i < n);
  do
    if (i > 2)
      --i;
    else
      i = 0;
  while (i > 2);
  for (int j = 0; j < n; ++j)
    if (j % 2)
      bytes[j] = 1;
    else
      do bytes[j] = static_cast<unsigned char>(bytes[j] + 1);
      while (bytes[j] < 8);
  p = bytes;
  for (int j = 0; j < n; ++j)
    if (j == 2) *p = 100;
  do try {
      if (n > 0) throw n;
    } catch (int thrown) {
      sum += thrown;
    }
  while (false);
  switch (n)
  case 8:
  again:
    for (int j = 0; j < n; ++j) sum += bytes[j];
  if (sum < 100) goto again;
  if (n == 8) [[likely]]
    for (int j = 0; j < n; ++j) ++sum;
  else
    while (n < 0) ++n;
  return sum;
}
// The same for code of both sides, whose loops take turns.
__host__ __device__ int bare_statements_of_both(int n) {
  int sum = 0, i = n;
  do sum += i;
  while (--i > 0);
  do
    for (int j = 0; j < n; ++j) ++sum;
  while (++i < 2);
  if (n > 3) do
      ++sum;
    while (sum % 7);
  else
    while (n) --n;
  return sum;
}
__global__ void run_bare_statements(int* out, int n) {
  *out = bare_statements_of_both(n);
}

TEST(CheckedHostLoops, BareStatementsAreWhatTheyWere) {
  // 18 of the first two, 8 thrown; then 100, 7 x 1 and 8, or what is above 8 already; 8 more.
  int sum = 3 * 6 + 8;
  const int bytes[8] = {100, 1, 8, 1, 8, 1, 8, 1};
  for (const int b : bytes) sum += b;
  EXPECT_EQ(bare_statements(8), sum + 8);
  int* out = device<int>(1);
  run_bare_statements<<<1, 1>>>(out, 8);
  int result = 0;
  EXPECT_EQ(cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(result, bare_statements_of_both(8));
  EXPECT_EQ(result, 56);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

double seconds() {
  timespec t = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::vector<float> combined(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) c[i] = 2.0f * a[i] + b[i];
  return c;
}
// The same in words that are watched.
std::vector<float> combined_watched(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) *(c.data() + i) = 2.0f * *(a.data() + i) + *(b.data() + i);
  return c;
}

TEST(CheckedHostLoops, TakeNoLonger) {
  SKIP_UNLESS_CHECKED();
  int* unused = device<int>(32);
  const std::vector<float> a(1 << 18, 1), b(a.size(), 2);
  double unwatched = 1, watched = 1;
  for (int time = 0; time < 3; ++time) {
    const double start = seconds();
    const std::vector<float> c = combined(a, b);
    const double middle = seconds();
    EXPECT_EQ(c, combined_watched(a, b));
    watched = std::min(watched, seconds() - middle);
    unwatched = std::min(unwatched, middle - start);
  }
  EXPECT_LT(unwatched, watched / 2);
  EXPECT_EQ(cudaFree(unused), cudaSuccess);
}

constexpr int kPointer = __LINE__ + 3;
float sum_of(const float* p, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += p[i];
  return sum;
}
TEST(CheckedApart, DISABLED_LoopOverDeviceMemory) {
  EXPECT_EQ(sum_of(std::vector<float>(8).data(), 8), 0);
  std::printf("%g\n", sum_of(device<float>(8), 8));
}
constexpr int kMember = __LINE__ + 2;
void clear(Matrix m) {
  for (int i = 0; i < m.cols; ++i) m.data[i] = 0;
}
TEST(CheckedApart, DISABLED_LoopOverAMember) {
  std::vector<float> host(8);
  clear({1, 8, host.data()});
  clear({1, 8, device<float>(8)});
}
constexpr int kTable = __LINE__ + 3;
float sum_of_rows(const std::vector<float*>& rows) {
  float sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) sum += rows[i][0];
  return sum;
}
TEST(CheckedApart, DISABLED_LoopOverPointers) {
  std::printf("%g\n", sum_of_rows({device<float>(8)}));
}

TEST(CheckedHostLoops, DeviceMemoryIsReported) {
  SKIP_UNLESS_CHECKED();
  const std::pair<const char*, int> tests[] = {
      {"LoopOverDeviceMemory", kPointer}, {"LoopOverAMember", kMember}, {"LoopOverPointers", kTable}};
  for (const auto& [test, line] : tests) {
    int status;
    const std::string text = run_apart(test, &status);
    EXPECT_NE(text.find("error: host code touches device memory [simt-host-access]\n" + kFile +
                        std::to_string(line) + "\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(WEXITSTATUS(status), 1);
  }
}

__global__ void fill(int* out) {
  out[threadIdx.x] = 5;
}

// An allocator of a program's own, as many have for managed memory.
template <class T>
struct Managed {
  using value_type = T;
  T* allocate(std::size_t n) {
    void* p = nullptr;
    EXPECT_EQ(cudaMallocManaged(&p, n * sizeof(T)), cudaSuccess);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t) { EXPECT_EQ(cudaFree(p), cudaSuccess); }
};

int early_sum(bool managed_vector, bool wait) {
  int* pinned = nullptr;
  EXPECT_EQ(cudaMallocHost(&pinned, 128), cudaSuccess);
  std::vector<int, Managed<int>> managed(32);
  fill<<<1, 32>>>(managed_vector ? managed.data() : pinned);
  if (wait) {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  int sum = 0;
  if (managed_vector) {
    for (int i = 0; i < 32; ++i) sum += managed[i];
  } else {
    for (int i = 0; i < 32; ++i) sum += pinned[i];
  }
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  return sum;
}

TEST(CheckedHostLoops, WhatIsReadTooEarlyIsReported) {
  SKIP_UNLESS_CHECKED();
  for (const bool managed_vector : {false, true}) {
    EXPECT_EQ(report_of([&] { EXPECT_EQ(early_sum(managed_vector, true), 160); }), "");
    const std::string text = report_of([&] { EXPECT_NE(early_sum(managed_vector, false), 160); });
    EXPECT_NE(text.find("error: host code reads memory before the operation that writes it has run"),
              std::string::npos)
        << text;
  }
}

}  // namespace checked_host_loops_test
