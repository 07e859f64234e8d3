// SPDX-License-Identifier: MIT
//
// Tests of ladders with several outputs: each has its name, its extents and its tolerance.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "common/instance.h"
#include "common/ladder.h"
#include "common/must_reject.h"
#include "common/testing.h"
#include "common/timing.h"
#include "tests/common_outputs_test.h"

namespace outputs_test {

// y `past` elements after an aligned address.
inline auto columns_inputs(int past) {
  return [past](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.cols = s[1];
    p.x = in.normal("x", s[0] * s[1]);
    p.y = in.output("y", s[0], s[1]) + past;
    p.sums = in.output("sums", s[1]);
    p.negative = in.output("negative", 1);
  };
}

inline const auto bare = days::ladder<Columns>("columns")
                             .extents({"rows", "cols"})
                             .types<float, days::half>()
                             .variant("right", LAUNCHER(columns_right))
                             .reference(LAUNCHER(columns_reference))
                             .shapes({{1, 1}, {3, 5}, {64, 7}})
                             .inputs(columns_inputs(0))
                             .hostile("misaligned y", columns_inputs(1));

inline const auto sums_policy = days::in_type<float>(days::dot_product([](const auto& p) { return p.rows; }));

inline const auto columns = bare.tolerance(days::relative).tolerance("sums", sums_policy);

REGISTER_LADDER(columns);

MUST_REJECT(columns, sums_in_half, "y: right; sums: 3 of 5 wrong");
MUST_REJECT(columns, sums_off, "y: right; sums: 1 of 1 wrong");
MUST_REJECT(columns, all_off, "y: 1 of 1 wrong");
MUST_REJECT(columns, counts_one_more, "negative[0] is 1, expected 0");
MUST_REJECT(columns, writes_before_y, "before its start|cudaErrorIllegalAddress");

namespace {

using days::Instance;
using days::Report;
using days::Row;
using Lines = std::vector<std::string>;

template <class T>
Report run(void (*launcher)(const Columns<T>&, cudaStream_t), size_t type = 0,
           const days::Shape& shape = {3, 5}, size_t maker = 0, const days::LadderInfo& ladder = columns) {
  Row row = ladder.rows[0];
  row.launch[type] = days::detail::erase_launcher<Columns<T>>(launcher);
  Instance instance(ladder, type, shape, maker);
  const days::Stream stream;
  return instance.run(row, stream);
}

TEST(Outputs, AreNamedWithTheirOwnCoordinates) {
  const Report report = run(sums_off);
  const Lines lines = report.lines();
  ASSERT_EQ(lines.size(), 4u) << report.text();
  EXPECT_EQ(lines[0].rfind("sums[4] is ", 0), 0u) << lines[0];
  EXPECT_EQ(lines[1], "y: right");
  EXPECT_EQ(lines[2].rfind("sums: 1 of 5 wrong, worst error 0.0001", 0), 0u) << lines[2];
  EXPECT_NE(lines[2].find(" at sums[4]"), std::string::npos) << lines[2];
  EXPECT_EQ(lines[3], "negative: right");
  EXPECT_EQ(report.compared, 21u);
  EXPECT_EQ(report.wrong, 1u);
}

TEST(Outputs, AreAllShownWhereAllAreWrong) {
  const Lines lines = run(all_off).lines();  // two of each output, then what is said of each
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[0].rfind("y[0,0] is ", 0), 0u) << lines[0];
  EXPECT_EQ(lines[1].rfind("y[0,1] is ", 0), 0u) << lines[1];
  EXPECT_EQ(lines[2].rfind("sums[0] is ", 0), 0u) << lines[2];
  EXPECT_EQ(lines[3].rfind("sums[1] is ", 0), 0u) << lines[3];
  EXPECT_EQ(lines[4].rfind("y: 15 of 15 wrong", 0), 0u) << lines[4];
  EXPECT_EQ(lines[5].rfind("sums: 5 of 5 wrong", 0), 0u) << lines[5];
  EXPECT_EQ(lines[6], "negative: right");
}

// Of half inputs, the sums are held to a float's tolerance and not to a half's.
TEST(Outputs, HaveTolerancesOfTheirOwn) {
  EXPECT_TRUE(run(columns_right<days::half>, 1).ok());
  const Report report = run(sums_in_half, 1);
  EXPECT_FALSE(report.ok());
  EXPECT_NE(report.text().find("y: right"), std::string::npos) << report.text();
  const auto loose = bare.tolerance(days::relative).tolerance("sums", days::relative);
  EXPECT_TRUE(run(sums_in_half, 1, {3, 5}, 0, loose).ok());
}

// However large the ladder's tolerance is: a count is no half.
TEST(Outputs, OfIntegersAreExact) {
  const auto loose = bare.tolerance(days::relative(1, 10)).tolerance("sums", days::relative(1, 10));
  const Report report = run(counts_one_more, 0, {64, 7}, 0, loose);
  EXPECT_EQ(report.wrong, 1u);
  EXPECT_EQ(report.lines()[0].rfind("negative[0] is ", 0), 0u) << report.text();
  EXPECT_TRUE(run(counts_one_more, 0, {64, 7}, 0, loose.tolerance("negative", days::relative(0, 1))).ok());
}

TEST(Outputs, MisalignedKeepTheirIndicesAndWhatIsBefore) {
  const Report off = run(all_off, 0, {3, 5}, 1);
  EXPECT_EQ(off.lines()[1].rfind("y[0,1] is ", 0), 0u) << off.text();
  EXPECT_EQ(off.wrong, 20u);
  const Report before = run(writes_before_y, 0, {3, 5}, 1);
  ASSERT_EQ(before.notes.size(), 1u) << before.text();
  EXPECT_EQ(before.notes[0], "output y: what is 1 before its first element was changed");
}

TEST(Outputs, OfALadderThatDoesNotFitAreAnError) {
  const auto expect = [](const auto& ladder, size_t type, const std::string& text) {
    try {
      type == 0 ? run(columns_right<float>, 0, {3, 5}, 0, ladder)
                : run(columns_right<days::half>, 1, {3, 5}, 0, ladder);
      ADD_FAILURE() << "no error: " << text;
    } catch (const std::logic_error& error) {
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  expect(columns.tolerance("x", days::exact), 0, "there is not: x");  // an input
  expect(bare.tolerance(days::relative), 1, "output sums is fp32, the ladder fp16");
  EXPECT_THROW(columns.tolerance("sums", days::exact), std::invalid_argument);
  const auto twice = days::ladder<Columns>("twice").extents({"n"}).types<float>().inputs(
      [](auto& p, days::Shape s, days::Inputs& in) {
        p.y = in.output("y", s[0]);
        p.sums = in.output("y", s[0]);
      });
  EXPECT_THROW(Instance(twice, 0, {3}), std::invalid_argument);
  const auto extents = days::ladder<Columns>("extents").extents({"n"}).types<float>().inputs(
      [](auto& p, days::Shape s, days::Inputs& in) { p.y = in.normal("y", s[0]).as(s[0], 2); });
  EXPECT_THROW(Instance(extents, 0, {3}), std::invalid_argument);
}

// A policy may ask for one input's size, and a plain version is measured on the output that it is asked about.
TEST(Outputs, TellTheirPoliciesApart) {
  std::vector<double> errors;
  const auto plain = [](const auto& p) {
    columns_reference(p);
    p.sums[0] += 0.5f;
    p.y[0] = days::from_double<std::remove_reference_t<decltype(p.y[0])>>(1 + days::to_double(p.y[0]));
  };
  const auto note = [&](auto, const auto& p, auto& inputs) {
    plain(p);
    errors.push_back(inputs.worst_output_error());
    EXPECT_NEAR(inputs.rms("x"), 1, 0.5);
    EXPECT_THROW(inputs.rms("sums"), std::invalid_argument);
    return days::Bound{100, 0};
  };
  const auto ladder = bare.tolerance(note).tolerance("sums", note).tolerance("negative", note);
  EXPECT_TRUE(run(all_off, 0, {64, 7}, 0, ladder).ok());
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_NEAR(errors[0], 1, 1e-5);
  EXPECT_NEAR(errors[1], 0.5, 1e-5);
  EXPECT_EQ(errors[2], 0);
}

}  // namespace
}  // namespace outputs_test
