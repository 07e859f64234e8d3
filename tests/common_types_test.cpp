// SPDX-License-Identifier: MIT
//
// Tests of fp8 and of packed numbers as elements of a ladder, and of inputs that are made as a whole.
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/instance.h"
#include "common/ladder.h"
#include "common/must_reject.h"
#include "common/structures.h"
#include "common/testing.h"
#include "common/timing.h"
#include "tests/common_types_test.h"

namespace types_test {

inline const auto codes =
    days::ladder<Codes>("codes")
        .extents({"rows", "cols"})
        .types<float, days::fp8_e4m3, days::fp8_e5m2>()
        .variant("right", LAUNCHER(codes_right))
        .reference(LAUNCHER(codes_reference))
        .parallel(LAUNCHER(codes_reference))
        .shapes({{1, 1}, {1, 2}, {3, 5}, {7, 64}, {33, 31}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.rows = s[0];
          p.cols = s[1];
          p.x = in.normal("x", s[0] * s[1]);
          p.negative = in.output("negative", s[0], s[1]);
          p.codes = in.output("codes", s[0], s[1]);
        })
        .hostile("misaligned",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.rows = s[0];
                   p.cols = s[1];
                   p.x = in.normal("x", s[0] * s[1], 1000) + 1;  // beyond the largest e4m3, 448
                   p.negative = in.output("negative", s[0], s[1]) + 3;
                   p.codes = in.output("codes", s[0], s[1]) + 2;  // a whole byte
                 })
        .traffic([](const auto& p) { return days::reads(p.x, p.n()) + days::writes(p.codes, p.n()); })
        .tolerance(days::exact);

// `mean` numbers in a row.
inline auto matrix(int mean, days::RowLengths lengths) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    const days::Csr& csr =
        in.structure([&](uint64_t seed) { return days::random_csr(seed, p.rows, p.cols, mean, lengths); });
    p.row_ptr = in.values("row_ptr", csr.row_ptr);
    p.columns = in.values("columns", csr.columns);
    p.values = in.values("values", csr.values);
    p.x = in.normal("x", s[1]);
    p.y = in.output("y", s[0]);
  };
}
inline const auto spmv = days::ladder<Spmv>("spmv")
                             .extents({"rows", "cols"})
                             .types<float, days::half>()
                             .variant("right", LAUNCHER(spmv_right))
                             .reference(LAUNCHER(spmv_reference))
                             .shapes({{1, 1}, {33, 7}, {200, 300}})
                             .inputs(matrix(5, days::RowLengths::kEven))
                             .hostile("uneven", matrix(9, days::RowLengths::kUneven))
                             .hostile("empty", matrix(0, days::RowLengths::kEven))
                             .tolerance(days::dot_product([](const auto& p) { return p.cols; }));

REGISTER_LADDER(codes);
REGISTER_LADDER(spmv);

MUST_REJECT(codes, codes_swapped, "codes[");
MUST_REJECT(codes, codes_drop_last, "codes[");
MUST_REJECT(codes, codes_off_by_one, "codes[");
MUST_REJECT(spmv, spmv_skips_empty, "y[");
MUST_REJECT(spmv, spmv_sorts_in_place, "input columns[");

namespace {

using days::fp8_e4m3;
using days::fp8_e5m2;
using days::from_double;
using days::Instance;
using days::Report;
using days::Row;
using days::to_double;
using days::TypeInfo;

template <class Problem>
Report run(const days::LadderInfo& ladder, size_t type, void (*launcher)(const Problem&, cudaStream_t),
           const days::Shape& shape, size_t maker = 0) {
  Row row = ladder.rows[0];
  row.launch[type] = days::detail::erase_launcher<Problem>(launcher);
  const days::Stream stream;
  return Instance(ladder, type, shape, maker).run(row, stream);
}

template <class T>
void expect_rounds() {
  const double epsilon = TypeInfo<T>::kEpsilon, most = TypeInfo<T>::kMax, least = TypeInfo<T>::kDenormMin;
  const auto rounded = [](double x) { return to_double(from_double<T>(x)); };
  EXPECT_EQ(rounded(1 + epsilon), 1 + epsilon);
  EXPECT_EQ(rounded(1 + epsilon / 2), 1);  // in the middle, to even
  EXPECT_EQ(rounded(1 + epsilon / 2 + 1e-14), 1 + epsilon);
  EXPECT_EQ(rounded(-1 - 3 * epsilon / 2 + 1e-14), -1 - epsilon);
  EXPECT_EQ(rounded(most), most);
  EXPECT_EQ(rounded(4 * most), most);
  EXPECT_EQ(rounded(-4 * most), -most);
  EXPECT_EQ(rounded(least), least);
  EXPECT_EQ(rounded(0.51 * least), least);
  EXPECT_EQ(rounded(0.49 * least), 0);
  EXPECT_TRUE(std::isnan(rounded(std::nan(""))));
  T poison;
  std::memset(&poison, TypeInfo<T>::kPoison, sizeof poison);
  EXPECT_TRUE(std::isnan(to_double(poison)));
}
TEST(Fp8, RoundsToNearestAndSaturates) {
  expect_rounds<fp8_e4m3>();
  expect_rounds<fp8_e5m2>();
  EXPECT_STREQ(TypeInfo<fp8_e4m3>::kName, "fp8_e4m3");
  EXPECT_STREQ(TypeInfo<fp8_e5m2>::kName, "fp8_e5m2");
}

TEST(Packed, IsCountedInNumbersAndStoredInBytes) {
  EXPECT_EQ(Instance::device_bytes(codes, 1, {3, 5}), 15 + 15 + 8 + 6.0 * days::DeviceMemory::kGuardBytes);
  Codes<fp8_e4m3> p{nullptr, nullptr, nullptr, 3, 5};
  const days::LadderInfo& info = codes;
  EXPECT_EQ(info.types[1].traffic(&p).written, 7.5);
  EXPECT_EQ(info.types[1].traffic(&p).read, 15);
}

TEST(Packed, IsNamedByTheNumber) {
  const Report one = run(codes, 1, codes_off_by_one, {3, 5});
  EXPECT_EQ(one.wrong, 1u);
  EXPECT_EQ(one.compared, 30u);
  EXPECT_EQ(one.lines()[0].rfind("codes[0,3] is ", 0), 0u) << one.text();
  const Report last = run(codes, 2, codes_drop_last, {3, 5});
  EXPECT_EQ(last.wrong, 1u) << last.text();
  EXPECT_NE(last.text().find("codes[2,4] is "), std::string::npos) << last.text();
}

// What is filled from the same seed is the same on the device and on the host, each number by itself.
template <class T>
void expect_same_inputs(int64_t n) {
  days::Inputs device(days::Inputs::Where::kDevice), host(days::Inputs::Where::kHost);
  for (days::Inputs* in : {&device, &host}) {
    const T* normal = in->normal("normal", n, 3);
    const T* uniform = in->uniform("uniform", n, 0, 8);
    const T* bits = in->fill("function", n, [](size_t i) { return static_cast<double>(i % 7); });
    static_cast<void>(normal), static_cast<void>(uniform), static_cast<void>(bits);
  }
  for (size_t i = 0; i < 3; ++i) {
    const auto& there = device.buffers()[i];
    std::vector<unsigned char> got(there.bytes());
    CUDA_CHECK(cudaMemcpy(got.data(), there.device.data(), got.size(), cudaMemcpyDeviceToHost));
    EXPECT_EQ(std::memcmp(got.data(), host.buffers()[i].host.get(), got.size()), 0) << there.name;
  }
}
TEST(SmallTypes, AreFilledAlikeOnBothSides) {
  for (const int64_t n : {1, 2, 33, 100003}) {
    expect_same_inputs<fp8_e4m3>(n);
    expect_same_inputs<fp8_e5m2>(n);
    expect_same_inputs<days::uint4x2>(n);
  }
  days::Inputs host(days::Inputs::Where::kHost);
  const days::uint4x2* uniform = host.uniform("uniform", 10000);
  size_t seen[16] = {};
  for (int i = 0; i < 5000; ++i) {
    ++seen[uniform[i].lower()];
    ++seen[uniform[i].upper()];
  }
  for (const size_t count : seen) EXPECT_NEAR(static_cast<double>(count), 625, 150);
  const days::uint4x2* counted = host.fill("counted", 5, [](size_t i) { return static_cast<double>(i + 1); });
  EXPECT_EQ(counted[0].bits, 0x21);
  EXPECT_EQ(counted[1].bits, 0x43);
  EXPECT_EQ(counted[2].bits, 0x05);
  EXPECT_THROW(static_cast<void>(static_cast<const days::uint4x2*>(host.uniform("odd", 4) + 1)),
               std::invalid_argument);
}

TEST(Structures, AreMadeOnceForBothSides) {
  int made = 0;
  const auto maker = [&made](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    const std::vector<int32_t>& row_ptr = in.structure([&](uint64_t seed) {
      ++made;
      return std::vector<int32_t>(static_cast<size_t>(p.rows) + 1, static_cast<int32_t>(seed));
    });
    p.row_ptr = in.values("row_ptr", row_ptr);
    p.x = in.values("x", std::vector<double>(static_cast<size_t>(p.cols), 1.0 / 3));
    p.y = in.output("y", s[0]);
  };
  const auto ladder =
      days::ladder<Spmv>("made").extents({"rows", "cols"}).types<float, days::half>().inputs(maker);
  days::Inputs device(days::Inputs::Where::kDevice), host(days::Inputs::Where::kHost, &device);
  Spmv<days::half> on_device, on_host;
  ladder.makers[0].make[1](&on_device, {3, 4}, device);
  EXPECT_EQ(made, 1);
  ladder.makers[0].make[1](&on_host, {3, 4}, host);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(days::to_double(on_host.x[3]), days::to_double(from_double<days::half>(1.0 / 3)));
  std::vector<int32_t> got(4);
  CUDA_CHECK(cudaMemcpy(got.data(), on_device.row_ptr, 16, cudaMemcpyDeviceToHost));
  EXPECT_TRUE(std::equal(got.begin(), got.end(), on_host.row_ptr));
  days::Inputs other(days::Inputs::Where::kHost);
  EXPECT_THROW(static_cast<void>(static_cast<const int64_t*>(other.values("n", got))), std::invalid_argument);
}

TEST(Structures, AreInputsThatNobodyMayChange) {
  const Report report = run(spmv, 0, spmv_sorts_in_place, {33, 7});
  ASSERT_EQ(report.notes.size(), 1u) << report.text();
  EXPECT_EQ(report.notes[0], "input columns[0] was changed");
}

void expect_csr(int64_t rows, int64_t cols, int64_t mean, days::RowLengths lengths) {
  const days::Csr csr = days::random_csr(7, rows, cols, mean, lengths);
  ASSERT_EQ(csr.row_ptr.size(), static_cast<size_t>(rows) + 1);
  EXPECT_EQ(csr.row_ptr.front(), 0);
  EXPECT_EQ(static_cast<size_t>(csr.row_ptr.back()), csr.columns.size());
  EXPECT_EQ(csr.values.size(), csr.columns.size());
  int64_t longest = 0, empty = 0;
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    const int32_t begin = csr.row_ptr[row], end = csr.row_ptr[row + 1];
    ASSERT_LE(begin, end);
    longest = std::max<int64_t>(longest, end - begin);
    empty += begin == end;
    for (int32_t i = begin; i < end; ++i) {
      ASSERT_TRUE(csr.columns[static_cast<size_t>(i)] >= 0 && csr.columns[static_cast<size_t>(i)] < cols);
      if (i > begin) {
        ASSERT_LT(csr.columns[static_cast<size_t>(i) - 1], csr.columns[static_cast<size_t>(i)]);
      }
    }
  }
  if (lengths == days::RowLengths::kUneven && rows >= 1000) {
    EXPECT_EQ(longest, std::min(16 * mean, cols));
    EXPECT_NEAR(static_cast<double>(empty), static_cast<double>(rows) * (1.0 / 8 + 1.0 / (2 * mean + 1)),
                static_cast<double>(rows) / 20);
  }
  const days::Csr same = days::random_csr(7, rows, cols, mean, lengths);
  EXPECT_EQ(csr.columns, same.columns);
  EXPECT_EQ(csr.values, same.values);
  if (csr.columns.size() > 50 && cols > 50) {
    EXPECT_NE(csr.columns, days::random_csr(8, rows, cols, mean, lengths).columns);
  }
}
TEST(Structures, SparseMatrices) {
  for (const days::RowLengths lengths : {days::RowLengths::kEven, days::RowLengths::kUneven}) {
    expect_csr(1, 1, 1, lengths);
    expect_csr(10, 3, 8, lengths);
    expect_csr(2000, 1000, 12, lengths);
  }
  EXPECT_THROW(days::random_csr(1, 3, int64_t{1} << 40, int64_t{1} << 31), days::TooLarge);
}

TEST(Structures, TokensOfText) {
  // Of 1,000 words by Zipf's law the first has 1 / 7.485 of all, the tenth a tenth of that.
  const days::Tokens zipf = days::random_tokens(5, 100000, 1000, 1);
  std::vector<int64_t> times(1000);
  for (const int32_t token : zipf.tokens) {
    ASSERT_TRUE(token >= 0 && token < 1000) << token;
    ++times[static_cast<size_t>(token)];
  }
  EXPECT_NEAR(static_cast<double>(times[0]), 13360, 500);
  EXPECT_NEAR(static_cast<double>(times[9]), 1336, 150);
  EXPECT_EQ(zipf.distinct, 1000 - std::count(times.begin(), times.end(), 0));
  const days::Tokens even = days::random_tokens(5, 100000, 10, 0);
  for (int32_t word = 0; word < 10; ++word)
    EXPECT_NEAR(static_cast<double>(std::count(even.tokens.begin(), even.tokens.end(), word)), 10000, 500);
  EXPECT_EQ(days::random_tokens(5, 7, 1, 1).tokens, std::vector<int32_t>(7, 0));
  EXPECT_EQ(days::random_tokens(5, 100, 1000, 1).tokens,
            std::vector<int32_t>(zipf.tokens.begin(), zipf.tokens.begin() + 100));
  EXPECT_NE(days::random_tokens(6, 100, 1000, 1).tokens, days::random_tokens(5, 100, 1000, 1).tokens);
  EXPECT_THROW(days::random_tokens(1, 0, 1, 1), std::invalid_argument);
  EXPECT_THROW(days::random_tokens(1, 1, int64_t{1} << 31, 1), std::invalid_argument);
}

TEST(Structures, PageTables) {
  const days::PageTable table = days::random_pages(3, 50, 1000, 16);
  ASSERT_EQ(table.most_pages, 63);
  ASSERT_EQ(table.lengths.size(), 50u);
  ASSERT_EQ(table.pages.size(), 50u * 63);
  EXPECT_EQ(table.lengths[0], 1000);
  EXPECT_EQ(table.lengths[1], 1);
  std::vector<int32_t> used;
  for (size_t sequence = 0; sequence < 50; ++sequence) {
    const int64_t pages = (table.lengths[sequence] + 15) / 16;
    for (int64_t i = 0; i < 63; ++i) {
      const int32_t page = table.pages[sequence * 63 + static_cast<size_t>(i)];
      EXPECT_EQ(page == -1, i >= pages);
      if (page != -1) used.push_back(page);
    }
  }
  EXPECT_EQ(static_cast<int64_t>(used.size()), table.count);
  EXPECT_FALSE(std::is_sorted(used.begin(), used.end()));
  std::sort(used.begin(), used.end());
  for (size_t i = 0; i < used.size(); ++i) ASSERT_EQ(used[i], static_cast<int32_t>(i));  // each of them once
  EXPECT_EQ(days::random_pages(3, 50, 1000, 16).pages, table.pages);
}

}  // namespace
}  // namespace types_test
