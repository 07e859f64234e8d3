// SPDX-License-Identifier: MIT
//
// Tests of common/ that need no kernel of their own: arithmetic, types, random numbers, comparison, shapes,
// JSON, text.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/check.h"
#include "common/compare.h"
#include "common/device.h"
#include "common/error.h"
#include "common/harness/text.h"
#include "common/inputs.h"
#include "common/json.h"
#include "common/limits.h"
#include "common/needs.h"
#include "common/problems/matmul.h"
#include "common/random.h"
#include "common/testing.h"
#include "common/timing.h"
#include "common/util.h"

namespace days {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Check, ThrowsWithEverythingThatHelps) {
  try {
    CUDA_CHECK(cudaMemcpy(nullptr, nullptr, 1, static_cast<cudaMemcpyKind>(77)));
    FAIL() << "no exception";
  } catch (const CudaError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("common_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("cudaMemcpy(nullptr"), std::string::npos) << text;
    EXPECT_NE(text.find(cudaGetErrorName(error.code())), std::string::npos) << text;
    EXPECT_NE(text.find(cudaGetErrorString(error.code())), std::string::npos) << text;
  }
  // The next launch check must not find that error again.
  EXPECT_NO_THROW(CUDA_CHECK_LAUNCH());
}

TEST(Check, RequireNamesTheValue) {
  EXPECT_NO_THROW(require(true, "n"));
  try {
    require(false, "float4", ": n must be positive, not", -3);
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "float4: n must be positive, not -3");
  }
  try {
    require(false, std::string("rate"), ": of", ~size_t{0}, " only", -1.5, " comes");
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "rate: of 18446744073709551615 only -1.500000 comes");
  }
}

TEST(Util, CeilDiv) {
  EXPECT_EQ(ceil_div(0, 32), 0);
  EXPECT_EQ(ceil_div(1, 32), 1);
  EXPECT_EQ(ceil_div(32, 32), 1);
  EXPECT_EQ(ceil_div(33, 32), 2);
  EXPECT_EQ(ceil_div(std::numeric_limits<int64_t>::max(), 2), int64_t{1} << 62);  // no overflow on the way
  EXPECT_EQ(round_up(33, 32), 64);
  static_assert(std::is_same_v<decltype(ceil_div(int64_t{1}, 2)), int64_t>);
}

TEST(Util, Aligned16) {
  alignas(16) float data[8] = {};
  EXPECT_TRUE(aligned16(data, data + 4));
  EXPECT_FALSE(aligned16(data, data + 1));
}

// Every half and bf16 survives the way through float, and rounding is to nearest, ties to even.
TEST(Types, ConversionsRoundToNearestEven) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint16_t word = static_cast<uint16_t>(bits);
    half h;
    bf16 b;
    std::memcpy(static_cast<void*>(&h), &word, 2);
    std::memcpy(static_cast<void*>(&b), &word, 2);
    if (!std::isnan(to_float(h))) {
      EXPECT_EQ(to_float(from_float<half>(to_float(h))), to_float(h));
    }
    if (!std::isnan(to_float(b))) {
      EXPECT_EQ(to_float(from_float<bf16>(to_float(b))), to_float(b));
    }
  }
  EXPECT_EQ(to_float(from_float<half>(1 + 0x1p-11f)), 1.0f);             // a tie: to even
  EXPECT_EQ(to_float(from_float<half>(1 + 3 * 0x1p-11f)), 1 + 0x1p-9f);  // a tie: to even
  EXPECT_EQ(to_float(from_float<bf16>(1 + 0x1p-8f)), 1.0f);
}

TEST(Types, DoublesAreRoundedOnce) {
  // Just above the middle of two halves: rounded to float first, it would land on the middle, and then on the
  // even one below.
  const double above = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(to_float(from_double<half>(above)), 1 + 0x1p-10f);
  EXPECT_EQ(to_float(from_double<half>(-above)), -(1 + 0x1p-10f));
  EXPECT_EQ(to_float(from_double<half>(1 + 3 * 0x1p-11 - 0x1p-40)), 1 + 0x1p-10f);
  EXPECT_EQ(to_float(from_double<bf16>(1 + 0x1p-8 + 0x1p-50)), 1 + 0x1p-7f);
  EXPECT_TRUE(std::isinf(to_float(from_double<half>(1e300))));
  EXPECT_TRUE(std::isnan(to_float(from_double<half>(kNan))));
}

TEST(Types, InfoMatchesTheType) {
  EXPECT_EQ(TypeInfo<float>::kEpsilon, static_cast<double>(std::numeric_limits<float>::epsilon()));
  EXPECT_EQ(TypeInfo<float>::kDenormMin, static_cast<double>(std::numeric_limits<float>::denorm_min()));
  EXPECT_EQ(TypeInfo<float>::kMax, static_cast<double>(std::numeric_limits<float>::max()));
  EXPECT_EQ(TypeInfo<double>::kEpsilon, std::numeric_limits<double>::epsilon());
  EXPECT_EQ(TypeInfo<double>::kDenormMin, std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(TypeInfo<half>::kMax, 65504.0);
  EXPECT_EQ(TypeInfo<half>::kEpsilon, 0x1p-10);
  EXPECT_EQ(TypeInfo<half>::kDenormMin, 0x1p-24);
  EXPECT_EQ(TypeInfo<bf16>::kEpsilon, 0x1p-7);
}

// Fixed values: a change of the generator would change every recorded result.
TEST(Random, IsTheSameEverywhere) {
  EXPECT_EQ(mix(1), 0x5692161d100b05e5u);
  // Vigna's SplitMix64 started at 0 gives this first.
  EXPECT_EQ(mix(0x9e3779b97f4a7c15u), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random_bits(7, 3), random_bits(7, 3));
  EXPECT_NE(random_bits(7, 3), random_bits(7, 4));
  EXPECT_NE(random_bits(7, 3), random_bits(8, 3));
}

TEST(Random, NormalHasItsMoments) {
  constexpr size_t kCount = 1 << 20;
  for (const uint64_t seed : {1u, 2u, 99u}) {
    double sum = 0, squares = 0, fourths = 0, product = 0, before = 0, most = 0;
    for (size_t i = 0; i < kCount; ++i) {
      const double x = static_cast<double>(normal(seed, i));
      sum += x;
      squares += x * x;
      fourths += x * x * x * x;
      product += x * before;
      before = x;
      most = std::max(most, std::abs(x));
    }
    EXPECT_NEAR(sum / kCount, 0, 0.005);
    EXPECT_NEAR(squares / kCount, 1, 0.008);
    EXPECT_NEAR(fourths / kCount, 2.97, 0.05);
    EXPECT_NEAR(product / kCount, 0, 0.005);  // neighbours have nothing to do with each other
    EXPECT_GT(most, 4.2);
    EXPECT_LT(most, 8.3);
  }
}

// The distribution function at a few points, of which a table of the normal distribution says 0.1587, 0.5 and
// 0.9772.
TEST(Random, NormalHasItsShape) {
  constexpr size_t kCount = 1 << 20;
  size_t below[3] = {};
  std::set<float> values;
  for (size_t i = 0; i < kCount; ++i) {
    const float x = normal(5, i);
    below[0] += x < -1;
    below[1] += x < 0;
    below[2] += x < 2;
    if (i < 10000) values.insert(x);
  }
  EXPECT_NEAR(static_cast<double>(below[0]) / kCount, 0.1587, 0.004);
  EXPECT_NEAR(static_cast<double>(below[1]) / kCount, 0.5, 0.002);
  EXPECT_NEAR(static_cast<double>(below[2]) / kCount, 0.9772, 0.002);
  EXPECT_GT(values.size(), 9990u);  // hardly any ties
}

TEST(Random, UniformStaysInItsRange) {
  double sum = 0;
  int64_t least = 100, most = -100;
  for (size_t i = 0; i < 100000; ++i) {
    const float x = uniform(3, i);
    ASSERT_GE(x, 0.0f);
    ASSERT_LT(x, 1.0f);
    sum += static_cast<double>(x);
    const int64_t n = uniform_integer(4, i, -3, 5);
    least = std::min(least, n);
    most = std::max(most, n);
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
  EXPECT_EQ(least, -3);
  EXPECT_EQ(most, 4);
  EXPECT_EQ(random_value<int8_t>(Distribution::kConstant, 0, 0, -7, 0), -7);
  std::set<uint8_t> bytes;
  for (size_t i = 0; i < 5000; ++i) bytes.insert(random_value<uint8_t>(Distribution::kUniform, 1, i, 0, 0));
  EXPECT_EQ(bytes.size(), 256u);
}

TEST(Compare, NanAndInfinityOnlyMatchThemselves) {
  const Bound loose{1e30, 1e30};
  const auto wrong = [&](float got, float want) { return compare(&got, &want, 1, loose).wrong; };
  EXPECT_EQ(wrong(1, 2), 0u);
  EXPECT_EQ(wrong(kNan, 1), 1u);
  EXPECT_EQ(wrong(1, kNan), 1u);
  EXPECT_EQ(wrong(kNan, kNan), 0u);
  EXPECT_EQ(wrong(kInfinity, kInfinity), 0u);
  EXPECT_EQ(wrong(-kInfinity, kInfinity), 1u);
  EXPECT_EQ(wrong(kInfinity, 1), 1u);
  EXPECT_EQ(wrong(1, kInfinity), 1u);  // relative * infinity would allow anything
  EXPECT_EQ(wrong(kNan, kInfinity), 1u);
}

TEST(Compare, ReportsCountWorstAndFirstFive) {
  const int rows = 40, cols = 7;
  std::vector<float> want(rows * cols, 2.0f), got = want;
  for (int i = 3; i < 3 + 8 * cols; i += cols) got[static_cast<size_t>(i)] = 2.5f;  // column 3 of eight rows
  got[10 * cols + 6] = -1.0f;
  Report report = compare(got.data(), want.data(), got.size(), {0.25, 0});
  report.name = "y";
  report.dims = {rows, cols};
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.compared, 280u);
  EXPECT_EQ(report.wrong, 9u);
  EXPECT_EQ(report.worst, 3.0);
  ASSERT_EQ(report.first.size(), 5u);
  EXPECT_EQ(report.shown()[1].place, "y[1,3]");
  EXPECT_EQ(report.lines().front(), "y[0,3] is 2.5, expected 2");
  EXPECT_EQ(report.lines().back(), "9 of 280 wrong, worst error 3 at y[10,6]");
  EXPECT_EQ(compare(got.data(), want.data(), got.size(), {3, 0}).wrong, 0u);
  EXPECT_EQ(compare(got.data(), want.data(), got.size(), {0, 1.5}).wrong, 0u);
}

// Large arrays are compared by several threads: nothing may be lost where their parts meet.
TEST(Compare, CoversEveryElementOfALargeArray) {
  std::vector<int32_t> want(5000011, 7), got = want;
  for (size_t i = 0; i < got.size(); i += 1000003) got[i] = 8;
  got.back() = 0;
  const Report report = compare(got.data(), want.data(), got.size(), {});
  EXPECT_EQ(report.compared, got.size());
  EXPECT_EQ(report.wrong, 6u);
  EXPECT_EQ(report.worst_at, got.size() - 1);
  EXPECT_EQ(report.first.front().index, 0u);
}

// 0xA5 in each byte is what filled the output before the run.
TEST(Compare, SeesWhatTheWrongElementsHaveInCommon) {
  const std::vector<uint32_t> want = {0, 7, 9, 4000000000u};
  std::vector<uint32_t> got = want;
  for (uint32_t& value : got) value += 0xA5A5A5A5u;
  EXPECT_EQ(compare(got.data(), want.data(), got.size(), {}, 0xA5).added, 4u);
  got[1] = want[1];
  EXPECT_EQ(compare(got.data(), want.data(), got.size(), {}, 0xA5).added, 3u);
  got[2] += 1;
  EXPECT_EQ(compare(got.data(), want.data(), got.size(), {}, 0xA5).added, 2u);

  const std::vector<float> right = {1, 0, -2, 5}, eightfold = {8, 0, -16, 40}, odd = {8, 0, -16, 5};
  const Report scaled = compare(eightfold.data(), right.data(), right.size(), {});
  EXPECT_EQ(scaled.least_ratio, 8);
  EXPECT_EQ(scaled.most_ratio, 8);
  const Report partly = compare(odd.data(), right.data(), right.size(), {});
  EXPECT_EQ(partly.wrong, 2u);
  EXPECT_EQ(partly.most_ratio, 8);  // of the wrong ones alone
  EXPECT_GT(compare(right.data(), right.data(), right.size(), {}).least_ratio, 1e300);
  EXPECT_EQ(Report::number(2779096487.0), "2779096487");
  EXPECT_EQ(Report::number(0.1), "0.1");
}

TEST(Compare, ExactSeesLargeIntegersApart) {
  const int64_t got = (int64_t{1} << 60) + 1, want = int64_t{1} << 60;  // the same as doubles
  EXPECT_EQ(compare(&got, &want, 1, {}).wrong, 1u);
}

struct Facts {
  double value = 1, error = 0;
  template <class T>
  double rms() const {
    return value;
  }
  double worst_output_error() const { return error; }
};

TEST(Tolerance, PoliciesScaleWithTypeLengthAndInputs) {
  Facts facts;
  const int problem = 0;
  EXPECT_EQ(exact(Type<float>{}, problem, facts).absolute, 0);
  EXPECT_EQ(exact(Type<float>{}, problem, facts).relative, 0);
  EXPECT_EQ(relative(Type<float>{}, problem, facts).relative, 4 * 0x1p-23);
  EXPECT_LT(relative(Type<float>{}, problem, facts).absolute, 1e-40);  // zeros for tiny results do not pass
  EXPECT_EQ(relative(0.5, 0.25)(Type<half>{}, problem, facts).absolute, 0.25);
  const auto length = [](int n) { return dot_product([n](const int&) { return n; }); };
  const Bound shorter = length(16)(Type<float>{}, problem, facts),
              longer = length(1024)(Type<float>{}, problem, facts);
  EXPECT_NEAR(longer.absolute / shorter.absolute, 64, 1);
  EXPECT_GT(length(16)(Type<half>{}, problem, facts).relative, 0x1p-11);
  facts.value = 1e-20;  // of the product of two inputs' root mean squares
  EXPECT_LT(length(16)(Type<float>{}, problem, facts).absolute, 1e-24);
  facts.error = 0.5;
  const auto plain = [](const int&) {};
  EXPECT_NEAR(at_most_twice(plain)(Type<float>{}, problem, facts).absolute, 1.0, 1e-6);
}

TEST(Shape, RefusesWhatDoesNotFit) {
  const Shape shape({int64_t{1} << 31, 3, int64_t{1} << 62});
  EXPECT_THROW({ [[maybe_unused]] const int n = shape[0]; }, TooLarge);
  const int64_t wide = shape[0];
  EXPECT_EQ(wide, int64_t{1} << 31);
  EXPECT_THROW(static_cast<void>(shape[1] * shape[2]), TooLarge);
  const size_t product = shape[0] * shape[1] + 1;
  EXPECT_EQ(product, 3 * (size_t{1} << 31) + 1);
  EXPECT_EQ((size_t{7} % shape[1]), 1);
  EXPECT_TRUE(shape[1] == 3 && shape[1] < 4 && 2 < shape[1]);
  EXPECT_EQ(Shape({4096, 33}).text("x"), "4096x33");
  EXPECT_THROW(shape[3], std::out_of_range);
}

TEST(Json, EscapesAndNests) {
  Json json;
  json.open('{');
  json.member("text", "a \"b\"\n\\");
  json.member("none", std::nan(""));
  json.member("count", size_t{3});
  json.member("bytes", 1073741824.0);  // to the last digit
  json.member("yes", true);
  json.key("list");
  json.open('[');
  json.value(1.5);
  json.value("x");
  json.close();
  json.key("empty");
  json.open('[');
  json.close();
  json.key("flat");
  json.open_flat('[');
  json.open('[');
  json.value(1);
  json.value(2);
  json.close();
  json.open('{');
  json.member("a", 3);
  json.close();
  json.close();
  json.member("last", 4);
  json.close();
  EXPECT_EQ(json.text(),
            "{\n  \"text\": \"a \\\"b\\\"\\u000a\\\\\",\n  \"none\": null,\n  \"count\": 3,\n"
            "  \"bytes\": 1073741824,\n  \"yes\": true,\n"
            "  \"list\": [\n    1.5,\n    \"x\"\n  ],\n  \"empty\": [],\n"
            "  \"flat\": [[1, 2], {\"a\": 3}],\n  \"last\": 4\n}");
}

TEST(Text, NumbersAsPeopleReadThem) {
  EXPECT_EQ(detail::time_text(0.0446), "44.6 ms");
  EXPECT_EQ(detail::time_text(0.00384), "3.84 ms");
  EXPECT_EQ(detail::time_text(0.602), "602 ms");
  EXPECT_EQ(detail::time_text(12.3e-6), "12.3 us");
  EXPECT_EQ(detail::time_text(2.5), "2.50 s");
  EXPECT_EQ(detail::bytes_text(256.0 * 1024 * 1024), "256 MiB");
  EXPECT_EQ(detail::error_text(6.2e-8), "6e-08");
  EXPECT_EQ(detail::error_text(0), "0");
  EXPECT_EQ(detail::columns("3.84 ms \u00b15%"), 11u);
  EXPECT_EQ(detail::nearest("foat4", {"naive", "float4", "shared"}), "float4");
  EXPECT_EQ(detail::nearest("xyzxyz", {"naive", "float4"}), "");
  EXPECT_EQ(detail::wrap("aaa bbb ccc", "  ", 7), "aaa bbb\n  ccc");
}

TEST(Timing, MedianAndNoise) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({}), 0);
  const Timing timing = summarize({1.0, 1.0, 1.0, 1.0, 9.0});  // one outlier is no noise
  EXPECT_EQ(timing.seconds, 1.0);
  EXPECT_EQ(timing.noise, 0.0);
  EXPECT_GT(summarize({1.0, 1.1, 0.9, 1.2, 0.8}).noise, 0.05);
}

TEST(Limits, MixIsTheNearest) {
  EXPECT_EQ(mix_of({100, 0}), Mix::kRead);
  EXPECT_EQ(mix_of({100, 4}), Mix::kRead);
  EXPECT_EQ(mix_of({0, 100}), Mix::kWrite);
  EXPECT_EQ(mix_of({100, 100}), Mix::kCopy);
  EXPECT_EQ(mix_of({200, 100}), Mix::kTwoToOne);
  EXPECT_EQ(mix_of({300, 100}), Mix::kThreeToOne);
  EXPECT_EQ(mix_of({100, 300}), Mix::kOneToThree);
  // Four bits and a scale for 64 of them become 16 bits each, and the other way.
  EXPECT_EQ(mix_of({36, 128}), Mix::kOneToThree);
  EXPECT_EQ(mix_of({128, 36}), Mix::kThreeToOne);
  EXPECT_EQ(mix_of({1, 8}), Mix::kWrite);
  EXPECT_EQ(mix_of({40, 60}), Mix::kCopy);
}

TEST(Ladder, KnowsTheDayOfItsFile) {
  EXPECT_EQ(day_of("day05_matmul/ladder.cpp"), "day05_matmul");
  EXPECT_EQ(day_of("/a/day05_matmul/ladder.cpp"), "day05_matmul");
  EXPECT_EQ(day_of("/a/day05_matmul/x/ladder.cpp"), "day05_matmul");
  EXPECT_EQ(day_of("tests/common_test.cpp"), "");
  EXPECT_EQ(day_of("ladder.cpp"), "");
}

// The parallel version against the reference, and Freivalds' check on right and on slightly wrong products.
template <class T>
struct Product {
  std::vector<T> a, b, c;
  Matmul<T> p{};
  Product(int m, int n, int k)
      : a(static_cast<size_t>(m) * k), b(static_cast<size_t>(k) * n), c(static_cast<size_t>(m) * n) {
    for (size_t i = 0; i < a.size(); ++i) a[i] = random_value<T>(Distribution::kNormal, 1, i, 1, 0);
    for (size_t i = 0; i < b.size(); ++i) b[i] = random_value<T>(Distribution::kNormal, 2, i, 1, 0);
    p = {a.data(), b.data(), c.data(), m, n, k};
  }
};

template <class T>
class MatmulProblem : public ::testing::Test {};
using MatmulTypes = ::testing::Types<float, half, bf16, double>;
TYPED_TEST_SUITE(MatmulProblem, MatmulTypes);

TYPED_TEST(MatmulProblem, CheckLargeSeesWhatIsWrong) {
  Product<TypeParam> product(70, 90, 130);
  const auto& p = product.p;
  matmul_parallel(p);
  EXPECT_TRUE(matmul_check_large(p).ok()) << matmul_check_large(p).text();
  matmul_reference(p);
  ASSERT_TRUE(matmul_check_large(p).ok()) << matmul_check_large(p).text();
  const std::vector<TypeParam> right = product.c;

  product.c[37 * 90 + 11] = from_float<TypeParam>(0);  // one element
  EXPECT_FALSE(matmul_check_large(p).ok());
  product.c = right;
  product.c[90 * 70 - 1] = from_float<TypeParam>(kNan);  // the last corner
  EXPECT_FALSE(matmul_check_large(p).ok());
  product.c = right;
  for (int row = 0; row < 70; ++row)
    std::swap(product.c[static_cast<size_t>(row) * 90], product.c[static_cast<size_t>(row) * 90 + 1]);
  EXPECT_FALSE(matmul_check_large(p).ok());  // two columns swapped
  for (TypeParam& x : product.c) x = from_float<TypeParam>(0);
  EXPECT_FALSE(matmul_check_large(p).ok());
}

// Columns that are alike are rounded alike: their errors do not average out, and elements are larger than of inputs of both signs.
TYPED_TEST(MatmulProblem, CheckLargeTakesColumnsThatAreAlike) {
  for (const int k : {520, 1003}) {
    Product<TypeParam> product(17, 128, k);
    const auto& p = product.p;
    for (size_t i = 0; i < product.a.size(); ++i) product.a[i] = from_double<TypeParam>(1 + i % 7 / 8.0);
    for (size_t i = 0; i < product.b.size(); ++i)
      product.b[i] = from_double<TypeParam>(1 + i / 128 % 5 / 4.0);
    matmul_reference(p);
    EXPECT_TRUE(matmul_check_large(p).ok()) << matmul_check_large(p).text();
    const std::vector<TypeParam> right = product.c;
    for (const float wrong : {0.0f, 2.0f, kInfinity, kNan}) {
      product.c = right;
      TypeParam& element = product.c[5 * 128 + 77];
      element =
          from_double<TypeParam>(std::isfinite(wrong) ? double{wrong} * to_double(element) : double{wrong});
      EXPECT_FALSE(matmul_check_large(p).ok()) << wrong;
    }
    product.c = right;
    const double lost = std::max(8 * TypeInfo<TypeParam>::kEpsilon, 1.0 / k);  // a term of k, if that is seen
    for (size_t i = 0; i < product.c.size(); ++i)
      product.c[i] = from_double<TypeParam>(to_double(right[i]) * (1 - lost));
    EXPECT_FALSE(matmul_check_large(p).ok());
  }
}

// A row of a with a NaN and columns of b with infinities make a row and columns of the like: these are right, nothing else may become
// so, and what lies among them is still seen.
TYPED_TEST(MatmulProblem, CheckLargeKnowsInfinityAndNan) {
  Product<TypeParam> product(70, 90, 130);
  const auto& p = product.p;
  const auto set = [](std::vector<TypeParam>& x, size_t at, double value) {
    x[at] = from_double<TypeParam>(value);
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  set(product.a, 5 * 130 + 7, kNan);
  set(product.b, 11 * 90 + 13, kInfinity);
  set(product.b, 0 * 90 + 89, -kInfinity);
  matmul_parallel(p);
  EXPECT_TRUE(matmul_check_large(p).ok()) << matmul_check_large(p).text();
  matmul_reference(p);
  ASSERT_TRUE(matmul_check_large(p).ok()) << matmul_check_large(p).text();
  const std::vector<TypeParam> right = product.c;
  ASSERT_TRUE(std::isnan(to_double(right[5 * 90 + 40])));
  ASSERT_TRUE(std::isinf(to_double(right[6 * 90 + 13])));
  ASSERT_TRUE(std::isfinite(to_double(right[6 * 90 + 40])));

  const auto with = [&](size_t row, size_t col, double value) {
    product.c = right;
    set(product.c, row * 90 + col, value);
    return matmul_check_large(p);
  };
  EXPECT_FALSE(with(5, 40, 1).ok());                                     // the NaN is lost in one element
  EXPECT_FALSE(with(6, 40, kNan).ok());                                  // and comes up in another row
  EXPECT_FALSE(with(6, 13, 1).ok());                                     // an infinity is lost,
  EXPECT_FALSE(with(6, 13, kNan).ok());                                  // has become none,
  EXPECT_FALSE(with(6, 13, -to_double(right[6 * 90 + 13])).ok());        // has the other sign,
  EXPECT_FALSE(with(6, 14, kInfinity).ok());                             // comes up in another column
  EXPECT_FALSE(with(6, 40, to_double(right[6 * 90 + 40]) + 1000).ok());  // a number among them is wrong
  product.c = right;
  for (size_t col = 0; col < 90; ++col) set(product.c, 5 * 90 + col, 0);  // the row was skipped
  EXPECT_FALSE(matmul_check_large(p).ok());
  product.c = right;
  for (size_t col = 0; col < 90; ++col) set(product.c, 69 * 90 + col, kNan);  // a row takes another one's
  EXPECT_FALSE(matmul_check_large(p).ok());
}

// The same of operands that are stored transposed.
TEST(GemmCheck, CheckLargeFindsTheRowOfATransposedOperand) {
  constexpr int kM = 40, kN = 50, kK = 60;
  for (const Op op_a : {Op::kN, Op::kT}) {
    for (const Op op_b : {Op::kN, Op::kT}) {
      Product<float> product(kM, kN, kK);
      const BasicGemm<float, float, float> p{product.a.data(),
                                             product.b.data(),
                                             product.c.data(),
                                             kM,
                                             kN,
                                             kK,
                                             op_a == Op::kN ? kK : kM,
                                             op_b == Op::kN ? kN : kK,
                                             kN,
                                             0.5f,
                                             0,
                                             op_a,
                                             op_b};
      product.a[static_cast<size_t>(p.at_a(3, 9))] = kNan;
      product.b[static_cast<size_t>(p.at_b(9, 4))] = std::numeric_limits<float>::infinity();
      gemm_reference(p);
      EXPECT_TRUE(gemm_check_large(p).ok()) << gemm_check_large(p).text();
      product.c[3 * kN + 17] = 0;
      EXPECT_FALSE(gemm_check_large(p).ok());
      gemm_reference(p);
      product.c[9 * kN + 17] = kNan;
      EXPECT_FALSE(gemm_check_large(p).ok());
    }
  }
}

// A lower precision, small and everywhere, is seen too: products of inputs that were rounded to half.
TEST(MatmulCheck, CheckLargeSeesLowerPrecision) {
  Product<float> exact_product(64, 64, 300), rounded(64, 64, 300);
  for (float& x : rounded.a) x = to_float(from_float<half>(x));
  for (float& x : rounded.b) x = to_float(from_float<half>(x));
  matmul_reference(rounded.p);
  exact_product.c = rounded.c;
  exact_product.p.c = exact_product.c.data();
  EXPECT_FALSE(matmul_check_large(exact_product.p).ok());
}

TEST(MatmulCheck, ReferenceByHand) {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
  float c[4] = {};
  matmul_reference(Matmul<float>{a, b, c, 2, 2, 3});
  EXPECT_EQ(c[0], 58);
  EXPECT_EQ(c[1], 64);
  EXPECT_EQ(c[2], 139);
  EXPECT_EQ(c[3], 154);
}

struct Sizes {
  int rows, cols;
};
constexpr auto kFewRows = at_most("rows", 8 * kMaxGridY, [](const auto& p) { return p.rows; });
constexpr auto kManyCols = at_least("cols", -10, [](const auto& p) { return p.cols; });
constexpr auto kWholeCols = multiple_of("cols", 4, [](const auto& p) { return p.cols; });
constexpr auto kMoreRows = needs("more rows than cols", [](const auto& p) { return p.rows > p.cols; });

// What require_needs says of the sizes; "" where it does not throw.
std::string refusal(const Sizes& p) {
  try {
    require_needs(p, "some", kFewRows, kManyCols, kWholeCols, kMoreRows);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(Needs, TheErrorHasTheTablesWordsAndTheValue) {
  EXPECT_STREQ(kFewRows.text.c_str(), "rows <= 524280");
  EXPECT_STREQ(kManyCols.text.c_str(), "cols >= -10");
  EXPECT_STREQ(kWholeCols.text.c_str(), "cols % 4 == 0");
  EXPECT_EQ(refusal({524280, -8}), "");
  EXPECT_EQ(refusal({524281, 4}), "some: needs rows <= 524280; rows is 524281");
  EXPECT_EQ(refusal({5, -12}), "some: needs cols >= -10; cols is -12");
  EXPECT_EQ(refusal({8, 6}), "some: needs cols % 4 == 0; cols is 6");
  EXPECT_EQ(refusal({8, 8}), "some: needs more rows than cols");
}

TEST(Device, PredicatesKnowFamilies) {
  Device device;
  device.major = 9;
  EXPECT_TRUE(sm_90a.met(device));
  EXPECT_TRUE(sm_80.met(device));
  device.major = 10;
  EXPECT_FALSE(sm_90a.met(device));  // 90a code runs on 9.0 alone
  EXPECT_TRUE(sm_90.met(device));
  device.major = 7;
  device.minor = 5;
  EXPECT_FALSE(sm_80.met(device));
  EXPECT_EQ(device.sm(), "sm_75");
  EXPECT_EQ(cuda_version(13000), "13.0");
  EXPECT_EQ(cuda_version(12040), "12.4");
  EXPECT_NE(machine_error(cudaErrorNoDevice), "");
  EXPECT_NE(machine_error(cudaErrorNoKernelImageForDevice), "");
  EXPECT_NE(machine_error(cudaErrorInsufficientDriver), "");
  EXPECT_EQ(machine_error(cudaErrorInvalidValue), "");
}

}  // namespace
}  // namespace days
