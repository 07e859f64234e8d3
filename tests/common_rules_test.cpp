// SPDX-License-Identifier: MIT
//
// Tests of ladders' checks of results that are not unique, of set-ups, and of what fills outputs before a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "common/instance.h"
#include "common/ladder.h"
#include "common/must_reject.h"
#include "common/run_day.h"
#include "common/testing.h"
#include "common/timing.h"
#include "tests/common_rules_test.h"

namespace rules_test {

inline days::Report check_keep(const KeepFloat& p) {
  std::vector<float> want, got;
  for (int i = 0; i < p.n; ++i)
    if (p.x[i] > 0) want.push_back(p.x[i]);
  if (*p.count != static_cast<int>(want.size()))
    return days::Report::failed("count[0] is " + std::to_string(*p.count) + ", expected " +
                                std::to_string(want.size()));
  got.assign(p.kept, p.kept + *p.count);
  std::sort(got.begin(), got.end());
  std::sort(want.begin(), want.end());
  const auto other = std::mismatch(got.begin(), got.end(), want.begin());
  if (other.first == got.end()) return {};
  return days::Report::failed("kept holds " + days::Report::number(*other.first) + " where it should hold " +
                              days::Report::number(*other.second));
}

inline const auto keep =
    days::ladder<Keep>("keep")
        .extents({"n"})
        .types<float>()
        .variant("forward", LAUNCHER(keep_forward))
        .variant("backward", LAUNCHER(keep_backward))
        .variant("plan", LAUNCHER(keep_plan))
        .setup(LAUNCHER(keep_plan_setup))
        .variant("indices", LAUNCHER(keep_indices))
        .setup(LAUNCHER(keep_indices_setup))
        .workspace([](const auto& p) { return sizeof(int32_t) * static_cast<size_t>(p.n); })
        .baseline("library")
        .reference(LAUNCHER(keep_reference))
        .parallel(LAUNCHER(keep_reference))
        .shapes({{1}, {2}, {33}, {1000}})
        .bench({{1000}})
        .show({{64}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.n = s[0];
          p.x = in.normal("x", s[0]);
          p.kept = in.output("kept", s[0]);
          p.count = in.output("count", 1);
        })
        .hostile("none",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.n = s[0];
                   p.x = in.constant("x", s[0], 0);
                   p.kept = in.output("kept", s[0]);
                   p.count = in.output("count", 1);
                 })
        .check(LAUNCHER(check_keep));

REGISTER_LADDER(keep);
REGISTER_BASELINE(Keep, "keep", "library", LAUNCHER(keep_plan), float);
REGISTER_BASELINE_SETUP(Keep, "keep", "library", LAUNCHER(keep_plan_setup), float);

MUST_REJECT(keep, keeps_zero, "none: count[0] is 1, expected 0");
MUST_REJECT(keep, keeps_first_twice, "where it should hold");
MUST_REJECT(keep, drops_last, "1: count[0] is 0, expected 1");
MUST_REJECT(keep, counts_one_more, "none: count[0] is 1, expected 0");
MUST_REJECT(keep, keeps_nothing, "count[0] is -1515870811, expected 1");

// Every value of a byte; floats of which a third are NaN, some of them with all bits set, as outputs are filled.
inline const auto copied = days::ladder<Copied>("copied")
                               .extents({"n"})
                               .types<float, uint8_t>()
                               .variant("right", LAUNCHER(copied_right))
                               .reference(LAUNCHER(copied_reference))
                               .parallel(LAUNCHER(copied_reference))
                               .shapes({{1000}})
                               .inputs([](auto& p, days::Shape s, days::Inputs& in) {
                                 constexpr bool kFloat = std::is_same_v<decltype(p.y), float*>;
                                 p.n = s[0];
                                 p.x = in.fill("x", s[0], [](size_t i) {
                                   return kFloat && i % 3 == 0 ? std::nan("") : static_cast<double>(i % 256);
                                 });
                                 p.y = in.output("y", s[0]);
                               })
                               .hostile("all of them",
                                        [](auto& p, days::Shape s, days::Inputs& in) {
                                          constexpr bool kFloat = std::is_same_v<decltype(p.y), float*>;
                                          p.n = s[0];
                                          p.x = in.constant("x", s[0], kFloat ? std::nan("") : 165);
                                          p.y = in.output("y", s[0]);
                                        })
                               .tolerance(days::exact);

REGISTER_LADDER(copied);
MUST_REJECT(copied, leaves_nan, "hold what filled them before the run");
MUST_REJECT(copied, leaves_165, "hold what filled them before the run");

namespace {

using days::Instance;
using days::Report;
using days::Row;

Row row_named(const std::string& name) {
  for (const Row& row : keep.rows)
    if (row.name == name) return row;
  throw std::invalid_argument(name);
}
template <class Problem>
Row with_launcher(Row row, void (*launcher)(const Problem&, cudaStream_t), size_t type = 0) {
  row.launch[type] = days::detail::erase_launcher<Problem>(launcher);
  return row;
}
// With buffers that are allocated one by one, and then with those that share memory, which makes no difference.
Report run(const Row& row, const days::Shape& shape = {33}, size_t maker = 0) {
  const days::Stream stream;
  Report own = Instance(keep, 0, shape, maker).run(row, stream);
  EXPECT_EQ(Instance(keep, 0, shape, maker, Instance::Memory::kShared).run(row, stream).text(), own.text());
  return own;
}

TEST(Check, SaysWhatIsWrongWithAResultThatIsNotUnique) {
  EXPECT_TRUE(run(row_named("forward")).ok());
  EXPECT_TRUE(run(row_named("backward")).ok());
  const Row plain = row_named("forward");
  const Report more = run(with_launcher(plain, counts_one_more));
  ASSERT_EQ(more.notes.size(), 1u) << more.text();
  EXPECT_EQ(more.notes[0].rfind("count[0] is ", 0), 0u) << more.text();
  EXPECT_EQ(more.lines().size(), 1u) << more.text();  // and no word of errors that nobody measured
  const Report twice = run(with_launcher(plain, keeps_first_twice));
  EXPECT_EQ(twice.lines()[0].rfind("kept holds ", 0), 0u) << twice.text();
  const Report nothing = run(with_launcher(plain, keeps_nothing));
  EXPECT_EQ(nothing.unwritten, 34u);
  EXPECT_EQ(nothing.compared, 34u);
  EXPECT_EQ(nothing.wrong, 34u);
}

// What is compared with the reference, beside what is not.
TEST(Check, MayBeOfOneOutput) {
  const auto ladder = days::ladder<Keep>("one")
                          .extents({"n"})
                          .types<float>()
                          .variant("backward", LAUNCHER(keep_backward))
                          .reference(LAUNCHER(keep_reference))
                          .shapes({{33}})
                          .inputs([](auto& p, days::Shape s, days::Inputs& in) {
                            p.n = s[0];
                            p.x = in.normal("x", s[0]);
                            p.kept = in.output("kept", s[0]);
                            p.count = in.output("count", 1);
                          })
                          .tolerance(days::exact)
                          .check("kept", LAUNCHER(check_keep));
  const days::Stream stream;
  Instance instance(ladder, 0, {33});
  EXPECT_TRUE(instance.run(ladder.rows[0], stream).ok());
  const Report more = instance.run(with_launcher(ladder.rows[0], counts_one_more), stream);
  const std::vector<std::string> lines = more.lines();
  ASSERT_EQ(lines.size(), 4u) << more.text();
  EXPECT_EQ(lines[1].rfind("count[0] is ", 0), 0u) << more.text();
  EXPECT_EQ(lines[2].rfind("count: 1 of 1 wrong", 0), 0u) << more.text();
  EXPECT_EQ(lines[3], "kept: wrong");
  EXPECT_THROW(ladder.check(LAUNCHER(check_keep)), std::invalid_argument);
  EXPECT_THROW(ladder.check("kept", LAUNCHER(check_keep)), std::invalid_argument);
  EXPECT_THROW(Instance(ladder.check("x", LAUNCHER(check_keep)), 0, {33}).run_serial(),
               std::invalid_argument);
}

TEST(Setup, IsMadeForEachInstanceAndDestroyed) {
  const days::Stream stream;
  {
    Instance first(keep, 0, {33}), second(keep, 0, {1000});
    EXPECT_TRUE(first.run(row_named("plan"), stream).ok());
    EXPECT_EQ(Plan::alive, 1);
    EXPECT_GT(first.setup_seconds(), 0);
    EXPECT_TRUE(second.run(row_named("plan"), stream).ok());
    EXPECT_EQ(Plan::alive, 2);
    EXPECT_TRUE(first.run(row_named("library"), stream).ok());  // instead of the one before
    EXPECT_EQ(Plan::alive, 2);
    EXPECT_TRUE(first.run(row_named("forward"), stream).ok());
    EXPECT_EQ(Plan::alive, 1);
    EXPECT_EQ(first.setup_seconds(), 0);
  }
  EXPECT_EQ(Plan::alive, 0);
}

TEST(Setup, MayUseTheWorkspaceAndTheOutputs) {
  EXPECT_TRUE(run(row_named("indices")).ok());
  // The set-up's results in the outputs are not taken for the launch's.
  const Report nothing = run(with_launcher(row_named("indices"), keeps_nothing));
  EXPECT_EQ(nothing.unwritten, 34u) << nothing.text();
}

TEST(Setup, HasToOutliveALaunch) {
  const Report once = run(with_launcher(row_named("indices"), keep_indices_once));
  ASSERT_FALSE(once.ok());
  EXPECT_EQ(once.notes[0], "right at the first launch after its set-up, wrong at the second");
}

TEST(Setup, IsAskedForByTheLauncher) {
  const days::Stream stream;
  Instance instance(keep, 0, {33});
  for (const char* name : {"plan", "indices", "library"})
    EXPECT_TRUE(instance.refuse_no_setup(row_named(name), stream).ok()) << name;
  EXPECT_TRUE(instance.refuse_no_setup(row_named("forward"), stream).ok());
  const Report careless = instance.refuse_no_setup(with_launcher(row_named("plan"), keep_backward), stream);
  EXPECT_NE(careless.text().find("did not refuse a problem that was not set up"), std::string::npos)
      << careless.text();
  const auto other =
      keep.variant("other", LAUNCHER(keep_plan)).setup([](const KeepFloat&, cudaStream_t) { return 1; });
  EXPECT_EQ(Instance(other, 0, {33}).run(other.rows.back(), stream).text(),
            "refused a shape that it has to take: plan: was set up for another variant");
}

TEST(Setup, ThatRefusesIsARefusal) {
  const days::Stream stream;
  const auto refuse = [](const KeepFloat&, cudaStream_t) -> Indices { throw std::invalid_argument("no"); };
  const auto ladder = keep.variant("refuses", LAUNCHER(keep_indices)).setup(refuse);
  Instance instance(ladder, 0, {33});
  EXPECT_EQ(instance.run(ladder.rows.back(), stream).text(), "refused a shape that it has to take: no");
  EXPECT_TRUE(instance.refuse(ladder.rows.back(), stream).ok());
}

std::string run_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "rules_test");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  EXPECT_EQ(days::run_day(static_cast<int>(argv.size()), argv.data(), {&keep}), 0);
  return testing::internal::GetCapturedStdout();
}

TEST(Setup, IsInNoCount) {
  if (!days::current_device().simt) GTEST_SKIP() << "nothing is counted on a GPU";
  const std::string json = run_program({"--json", "-", "--variant", "indices"});
  EXPECT_NE(json.find("\"launches\": 1,"), std::string::npos) << json;
  EXPECT_NE(json.find("\"threads\": 1,"), std::string::npos) << json;
  EXPECT_NE(json.find("\"workspace_bytes\": 256"), std::string::npos) << json;
  const size_t written =
      json.find("\"workspace_written_bytes\": ");  // a word for each of some 32 of 64 elements
  ASSERT_NE(written, std::string::npos) << json;
  const int bytes = std::stoi(json.substr(json.find(": ", written) + 2));
  EXPECT_TRUE(bytes > 64 && bytes < 192 && bytes % 4 == 0) << bytes;
  EXPECT_NE(json.find("\"verified\": \"checked\""), std::string::npos) << json;
}

TEST(Check, ShowsNoError) {
  const std::string text = run_program({"--variant", "backward"});
  EXPECT_NE(text.find("ok      rule"), std::string::npos) << text;
}

// An output may hold what fills it before a run, and be right; or it may not have been written.
TEST(Fill, IsNeverTakenForAResult) {
  const days::Stream stream;
  const auto expect = [&](const Report& report) {
    ASSERT_FALSE(report.notes.empty()) << report.text();
    EXPECT_EQ(report.notes[0], Report::kByLuck);
    EXPECT_GT(report.unwritten, 0u);
  };
  for (const size_t both : {size_t{0}, size_t{1}, size_t{2}, size_t{3}}) {
    for (const size_t type : {size_t{0}, size_t{1}}) {
      Instance instance(copied, type, {1000}, both % 2,
                        both < 2 ? Instance::Memory::kOwn : Instance::Memory::kShared);
      EXPECT_TRUE(instance.run(copied.rows[0], stream).ok()) << type;
      const Row wrong = type == 0 ? with_launcher(copied.rows[0], leaves_nan, 0)
                                  : with_launcher(copied.rows[0], leaves_165, 1);
      expect(instance.run(wrong, stream));
      EXPECT_FALSE(instance.again());
      EXPECT_TRUE(instance.run(copied.rows[0], stream).ok()) << type;
    }
  }
}

TEST(Fill, OfTheHostsVersionsIsNoResultEither) {
  const auto lazy = [](const auto& p) {
    for (int i = 0; i < p.n; ++i)
      if (const double x = days::to_double(p.x[i]); !std::isnan(x) && x != 165) p.y[i] = p.x[i];
  };
  const auto ladder = copied.parallel(lazy);
  for (const size_t type : {size_t{0}, size_t{1}}) {
    EXPECT_TRUE(Instance(copied, type, {1000}).run_parallel().ok());
    EXPECT_FALSE(Instance(ladder, type, {1000}).run_parallel().ok());
  }
}

}  // namespace
}  // namespace rules_test
