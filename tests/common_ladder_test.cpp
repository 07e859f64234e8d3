// SPDX-License-Identifier: MIT
//
// Tests of the harness: that a right variant passes every check, and that each way to be wrong is found and
// named.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/harness/text.h"
#include "common/instance.h"
#include "common/ladder.h"
#include "common/limits.h"
#include "common/must_reject.h"
#include "common/run_day.h"
#include "common/testing.h"
#include "common/timing.h"
#include "tests/common_ladder_test.h"
#include "tests/wrong_kernels.h"

namespace common_test {

inline const auto scale =
    days::ladder<Scale>("scale")
        .extents({"rows", "cols"})
        .types<float, days::half>()
        .variant("plain", LAUNCHER(scale_plain))
        .variant("even", LAUNCHER(scale_even))
        .needs(days::multiple_of("cols", 2, [](const auto& p) { return p.cols; }))
        .variant("scratch", LAUNCHER(scale_scratch))
        .workspace([](const auto& p) {
          return sizeof(float) * static_cast<size_t>(p.rows) * static_cast<size_t>(p.cols);
        })
        .variant("elsewhere", LAUNCHER(scale_plain))
        .runs_on({"a device of no kind", [](const days::Device&) { return false; }})
        .baseline("registered")
        .baseline("absent")
        .reference(LAUNCHER(scale_reference))
        .parallel(LAUNCHER(scale_reference))
        .shapes({{1, 1}, {1, 2}, {3, 33}, {128, 7}, {5, 1000}})
        .bench({{64, 64}})
        .show({{16, 16}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.rows = s[0];
          p.cols = s[1];
          p.x = in.normal("x", s[0] * s[1]);
          p.y = in.output("y", s[0], s[1]);
          p.total = in.constant("total", 1, 3.0);  // a pointer to non-const: in place
        })
        .hostile("misaligned",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   p.rows = s[0];
                   p.cols = s[1];
                   p.x = in.uniform("x", s[0] * s[1], -1, 1) + 1;
                   p.y = in.output("y", s[0], s[1]);
                   p.total = in.constant("total", 1, -1.0);
                 })
        .traffic([](const auto& p) {
          return days::reads(p.x, 1.0 * p.rows * p.cols) + days::writes(p.y, 1.0 * p.rows * p.cols);
        })
        .tolerance(days::exact)
        .lesson("the harness works.");

REGISTER_LADDER(scale);
REGISTER_BASELINE(Scale, "scale", "registered", LAUNCHER(scale_plain), float, days::half);

MUST_REJECT(scale, writes_nothing, "y[0,0] is nan, expected");
MUST_REJECT(scale, writes_most, "y[0,0] is nan, expected");
MUST_REJECT(scale, writes_past_the_end, "after its end|cudaErrorIllegalAddress");
MUST_REJECT(scale, writes_before_the_start, "before its start|cudaErrorIllegalAddress");
MUST_REJECT(scale, writes_input, "input x[0] was changed");
MUST_REJECT(scale, off_by_an_ulp, "1 x 1: y[0,0] is 1.69535255, expected 1.69535232");
// What it reads there is a guard where there is one.
MUST_REJECT(scale, reads_past_the_end, "cudaErrorIllegalAddress|1 x 1: y[0,0] is nan");

namespace {

using days::Instance;
using days::Report;
using days::Row;

// A row of one launcher for the first type, as .variant makes it.
Row row_of(void (*launcher)(const Problem&, cudaStream_t)) {
  Row row;
  row.name = "wrong";
  row.launch.resize(2);
  row.needs.resize(2);
  row.workspace.resize(2);
  row.launch[0] = days::detail::erase_launcher<Problem>(launcher);
  return row;
}

using Memory = Instance::Memory;
Report run(void (*launcher)(const Problem&, cudaStream_t), const days::Shape& shape,
           Memory memory = Memory::kOwn) {
  Instance instance(scale, 0, shape, 0, memory);
  const days::Stream stream;
  return instance.run(row_of(launcher), stream);
}

// Of buffers that are allocated one by one, and of those that share memory.
class Harness : public ::testing::TestWithParam<Memory> {};
INSTANTIATE_TEST_SUITE_P(With, Harness, ::testing::Values(Memory::kOwn, Memory::kShared),
                         [](const auto& info) {
                           return std::string(info.param == Memory::kOwn ? "MemoryOfTheirOwn"
                                                                         : "SharedMemory");
                         });

TEST_P(Harness, SaysWhatIsUnwritten) {
  const Report nothing = run(writes_nothing, {3, 33}, GetParam());
  EXPECT_EQ(nothing.wrong, 100u);  // 99 elements, and the total, which is one short
  EXPECT_NE(nothing.text().find("y[0,0] is nan, expected "), std::string::npos) << nothing.text();
  const Report most = run(writes_most, {3, 33}, GetParam());
  EXPECT_EQ(most.wrong, 1u);
  EXPECT_NE(most.text().find("y[2,32] is nan, expected "), std::string::npos) << most.text();
}

TEST_P(Harness, SaysWhichInputChanged) {
  const Report report = run(writes_input, {3, 33}, GetParam());
  ASSERT_EQ(report.notes.size(), 1u) << report.text();
  EXPECT_EQ(report.notes[0], "input x[98] was changed");
}

TEST_P(Harness, SaysWhichGuardWasHit) {
#ifdef __SIMT__
  if (GetParam() == Memory::kOwn) GTEST_SKIP() << "the write itself is an error here";
#endif
  EXPECT_EQ(run(writes_past_the_end, {3, 33}, GetParam()).text(),
            "output y: overwritten 0 bytes after its end");
  EXPECT_NE(run(writes_before_the_start, {3, 33}, GetParam()).text().find("before its start"),
            std::string::npos);
}

// One instance for many runs, as the tests of a shape have it: what one of them did is nothing to the next.
TEST_P(Harness, ReadiesEveryRun) {
  const days::Stream stream;
  for (const days::Shape& shape :
       {days::Shape{3, 33}, days::Shape{1000, 259}}) {  // y: a few bytes, and a mebibyte
    for (const size_t maker : {size_t{0}, size_t{1}}) {
      Instance instance(scale, 0, shape, maker, GetParam());
      const Row plain = row_of(scale_plain<float>);
      EXPECT_TRUE(instance.run(plain, stream).ok());
      EXPECT_FALSE(instance.run(row_of(writes_nothing), stream).ok());
      EXPECT_TRUE(instance.run(plain, stream).ok());
      EXPECT_TRUE(instance.run(scale.rows[2], stream).ok()) << "with a workspace";
      EXPECT_TRUE(instance.refuse_short_workspace(scale.rows[2], stream).ok());
      EXPECT_EQ(instance.workspace_written(), 0u);
      EXPECT_TRUE(instance.run(plain, stream).ok());
      const Report late = instance.refuse(row_of(refuses_after_writing), stream);
      EXPECT_NE(late.text().find("output y[0,0] was changed"), std::string::npos) << late.text();
      EXPECT_NE(late.text().find("in-place total[0] was changed"), std::string::npos) << late.text();
      EXPECT_TRUE(instance.run_parallel().ok());
    }
  }
}

// What it says of each row is what the tools go by.
TEST(OneRun, DescribesALadder) {
  const std::string text = days::description({&scale});
  for (const char* row :
       {R"({"name": "plain", "kind": "variant", "launcher": "scale_plain", "types": ["fp32", "fp16"]})",
        R"("launcher": "scale_even", "types": ["fp32"], "needs": "cols % 2 == 0"})",
        R"("launcher": "scale_scratch", "types": ["fp32"], "workspace": true})",
        R"("launcher": "scale_plain", "types": ["fp32", "fp16"], "runs_on": "a device of no kind"})",
        R"({"name": "absent", "kind": "library"})",
        R"("test": [[1, 1], [1, 2], [3, 33], [128, 7], [5, 1000]])"})
    EXPECT_NE(text.find(row), std::string::npos) << row << " in\n" << text;
  EXPECT_TRUE(scale.rows[1].at_most.empty());
  const auto limited =
      scale.needs(days::at_most("rows", 7, [](const auto& p) { return p.rows; }),
                  days::needs("rows <= cols", [](const auto& p) { return p.rows <= p.cols; }));
  ASSERT_EQ(limited.rows.back().at_most.size(), 1u);
  EXPECT_EQ(limited.rows.back().at_most[0].most, 7);
  const auto more =
      scale.exercise(LAUNCHER(::common_test::scale_plain), "a goal", "plain", "even", {.conflicts = 0});
  EXPECT_NE(days::description({&more}).find(R"("gates": {"conflicts": 0})"), std::string::npos);
}

TEST(MemoryOfTests, IsSharedOnAGpuWhereNoSanitizerLooksOn) {
  using days::testing_detail::memory_for;
  EXPECT_EQ(memory_for(nullptr, nullptr, true), Memory::kShared);
  EXPECT_EQ(memory_for("", nullptr, true), Memory::kShared);
  EXPECT_EQ(memory_for(nullptr, "49152", true), Memory::kOwn);
  EXPECT_EQ(memory_for("shared", "49152", true), Memory::kShared);
  EXPECT_EQ(memory_for("own", nullptr, true), Memory::kOwn);
  EXPECT_EQ(memory_for(nullptr, nullptr, false), Memory::kOwn);
  EXPECT_EQ(memory_for("shared", nullptr, false), Memory::kShared);
  EXPECT_THROW(memory_for("both", nullptr, true), std::invalid_argument);
}

TEST(WrongKernels, OneHas16BitsWhereTheLaddersDo) {
  using days::testing_detail::missing_16_bits;
  EXPECT_EQ(missing_16_bits({"fp32"}, {"fp32"}), "");
  EXPECT_EQ(missing_16_bits({"fp32", "fp16", "bf16"}, {}), "");  // a program without wrong kernels
  EXPECT_EQ(missing_16_bits({"fp32", "fp16"}, {"fp32", "bf16"}), "");
  EXPECT_NE(missing_16_bits({"fp32", "bf16"}, {"fp32", "fp32"}).find("none of its wrong kernels"),
            std::string::npos);
}

// What MUST_REJECT makes of what the process of a wrong kernel says.
TEST(OneRun, WantsARejectionToSayWhy) {
  using days::testing_detail::problem_of_rejection;
  const std::string rejected =
      "noise\nrejected at 3 x 33, misaligned: y[0,1] is nan, expected 2; 1 of 99 wrong\n";
  EXPECT_EQ(problem_of_rejection(rejected, "misaligned: y[0,1] is nan"), "");
  EXPECT_EQ(problem_of_rejection(rejected, "is 0, expected|is nan, expected"), "");
  EXPECT_NE(problem_of_rejection(rejected, "y[0,0]").find("for another reason"), std::string::npos);
  EXPECT_NE(problem_of_rejection(rejected, "noise").find("for another reason"), std::string::npos);
  EXPECT_NE(problem_of_rejection("accepted\n", "y").find("is wrong, but no shape"), std::string::npos);
  EXPECT_NE(problem_of_rejection("did not launch at 1 x 1: x.cu:1: kernel launch", "kernel launch")
                .find("no kernel ran"),
            std::string::npos);
  EXPECT_NE(problem_of_rejection("terminate called", "terminate").find("before any check"),
            std::string::npos);
}

// In the process of the wrong kernels: one that merely fails to launch, one that nothing is wrong with, and one that ends the
// process, after which it starts again.
[[noreturn]] void ends_the_process(const Problem&, cudaStream_t) {
  std::fputs("no more\n", stderr);
  std::_Exit(0);
}
[[maybe_unused]] const bool untested[] = {
    days::testing_detail::register_wrong("scale", "too_many_threads", too_many_threads, nullptr, __FILE__,
                                         __LINE__),
    days::testing_detail::register_wrong("scale", "nothing_wrong", scale_plain<float>, nullptr, __FILE__,
                                         __LINE__),
    days::testing_detail::register_wrong("scale", "ends_the_process", ends_the_process, nullptr, __FILE__,
                                         __LINE__)};

TEST(WrongKernels, AreEachJudgedByThemselves) {
  using days::testing_detail::output_of_wrong;
  for (int i = 0; i < 2; ++i) {
    const std::string output = output_of_wrong("too_many_threads");
    EXPECT_NE(output.find("did not launch at 1 x 1: "), std::string::npos) << output;
    EXPECT_EQ(output_of_wrong("nothing_wrong"), "accepted\n");
    EXPECT_EQ(output_of_wrong("ends_the_process"), "no more\n");
    const std::string wrote = output_of_wrong("writes_input"), past = output_of_wrong("writes_past_the_end");
    EXPECT_EQ(wrote.rfind("rejected at 1 x 1: input x[0] was changed", 0), 0u) << wrote;
    EXPECT_NE(past.find("rejected at 1 x 1: "), std::string::npos) << past;
  }
  EXPECT_THROW(output_of_wrong("nobody"), std::invalid_argument);
}

TEST(OneRun, CapturesALauncherOrSaysWhyNot) {
  Instance instance(scale, 0, {3, 33});
  const days::Stream stream;
  EXPECT_TRUE(instance.run_captured(row_of(scale_plain<float>), stream).ok());
  EXPECT_NE(instance.run_captured(row_of(waits), stream).text().find("captured into a graph: "),
            std::string::npos);
  EXPECT_NE(instance.run_captured(row_of(takes_another_stream), stream).text().find("captured into a graph"),
            std::string::npos);
  EXPECT_NE(instance.run_captured(row_of(writes_most), stream).text().find("the graph's first launch"),
            std::string::npos);
  EXPECT_TRUE(instance.run_captured(row_of(scale_plain<float>), stream).ok());  // the stream is as it was
}

TEST(OneRun, TakesNoRefusalOfASupportedShape) {
  const Report report = run(refuses_all, {2, 2});
  EXPECT_FALSE(report.ok());
  EXPECT_NE(report.text().find("refused a shape that it has to take: refuses rows 2"), std::string::npos)
      << report.text();
}

TEST(OneRun, CountsWhatNobodyChangedInPlaceAsUnwritten) {
  const Report report = run(writes_nothing, {3, 33});
  EXPECT_EQ(report.in_place, 1u);  // total
  EXPECT_EQ(report.compared, 100u);
  EXPECT_EQ(report.unwritten, 100u);
}

TEST_P(Harness, WantsRefusalsThatTouchNothing) {
  Instance instance(scale, 0, {3, 33}, 0, GetParam());
  const days::Stream stream;
  EXPECT_TRUE(instance.refuse(row_of(scale_even), stream).ok());
  const Report late = instance.refuse(row_of(refuses_after_writing), stream);
  EXPECT_NE(late.text().find("output y[0,0] was changed"), std::string::npos) << late.text();
  EXPECT_NE(late.text().find("in-place total[0] was changed"), std::string::npos) << late.text();
  EXPECT_NE(instance.refuse(row_of(refuses_nothing), stream).text().find("did not refuse"),
            std::string::npos);
  EXPECT_THROW(instance.refuse(row_of(throws_runtime_error), stream), std::runtime_error);
}

TEST_P(Harness, WantsSizesRefusedByTheirNumber) {
  Instance instance(scale, 0, {3, 33}, 0, GetParam());
  const days::Stream stream;
  Row row = scale.rows[0];
  const auto refused = [&](size_t extent, int64_t number, auto launcher) {
    row.launch[0] = days::detail::erase_launcher<Problem>(launcher);
    return instance.refuse_size(row, extent, number, stream).text();
  };
  const auto named = [](const Problem& p, cudaStream_t) {
    days::require(p.rows > 0, "rows must be positive, not", p.rows);
    days::require(p.cols < 2 || p.x + int64_t{3} * p.cols <= p.y || p.y + int64_t{3} * p.cols <= p.x,
                  "overlap");
    days::require(p.cols > 0 && p.cols <= 1 << 20, "cols must be 1 to 1048576, not", p.cols);
  };
  for (const int64_t number : {0, -1}) EXPECT_EQ(refused(0, number, named), "");
  for (const int64_t number : {0, -1, (1 << 20) + 1}) EXPECT_EQ(refused(1, number, named), "");
  const auto unnamed = [](const Problem& p, cudaStream_t) {
    days::require(p.rows > 0, "rows must be 1 to 100000000, not", p.rows - 10);
  };
  EXPECT_EQ(refused(0, 0, unnamed),
            "refused rows = 0 without naming it: rows must be 1 to 100000000, not -10");
  EXPECT_EQ(refused(1, 0, unnamed), "did not refuse cols = 0 with std::invalid_argument");
  const auto writes = [](const Problem& p, cudaStream_t) {
    CUDA_CHECK(cudaMemset(p.y, 0, sizeof(float)));
    days::require(p.rows > 0, "rows is", p.rows);
  };
  EXPECT_NE(refused(0, -1, writes).find("output y[0,0] was changed"), std::string::npos);
}

// Where the ladder makes no problem of a size, its inputs must have said so by the number: no launcher is asked then.
TEST_P(Harness, WantsSizesThatMakeNoProblemRefusedByTheirNumber) {
  const auto refused = [](auto make) {
    const auto ladder = days::ladder<Scale>("made")
                            .extents({"rows", "cols"})
                            .types<float>()
                            .variant("plain", LAUNCHER(scale_plain))
                            .inputs([=](auto& p, days::Shape s, days::Inputs& in) {
                              make(s);
                              p.rows = s[0];
                              p.cols = s[1];
                              p.x = in.uniform("x", s[0] * s[1]);
                              p.y = in.output("y", s[0], s[1]);
                              p.total = in.constant("total", 1, 0);
                            });
    Instance instance(ladder, 0, {3, 33}, 0, GetParam());
    const days::Stream stream;
    return instance.refuse_size(ladder.rows[0], 1, 0, stream).text();
  };
  EXPECT_EQ(
      refused([](days::Shape s) { days::require(s[1] > 0, "cols must be positive, not", s[1].value()); }),
      "");
  EXPECT_EQ(refused([](days::Shape s) { days::require(s[1] > 0, "no columns"); }),
            "no launcher was asked to refuse cols = 0, because its inputs cannot be made: no columns");
}

TEST_P(Harness, WantsAShortWorkspaceRefused) {
  Instance instance(scale, 0, {3, 33}, 0, GetParam());
  const days::Stream stream;
  Row row = scale.rows[2];
  ASSERT_EQ(row.name, "scratch");
  EXPECT_EQ(instance.workspace_bytes(row), 99 * sizeof(float));
  EXPECT_TRUE(instance.refuse_short_workspace(row, stream).ok());
  row.launch[0] = days::detail::erase_launcher<Problem>(trusts_workspace);
  EXPECT_NE(instance.refuse_short_workspace(row, stream).text().find("workspace one byte short"),
            std::string::npos);
}

// In-place buffers start each run from the same values, and a second run of the same instance is as good as
// the first.
TEST_P(Harness, ResetsWhatIsChangedInPlace) {
  Instance instance(scale, 1, {128, 7}, 0, GetParam());
  const days::Stream stream;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(instance.run(scale.rows[0], stream).ok());
  EXPECT_TRUE(instance.run_parallel().ok());
  EXPECT_GE(instance.reference_seconds(), 0);
}

TEST(OneRun, CountsBytesAndRefusesWhatOverflows) {
  EXPECT_EQ(Instance::device_bytes(scale, 0, {3, 5}), 2 * 60 + 4 + 6.0 * days::DeviceMemory::kGuardBytes);
  EXPECT_THROW(Instance::device_bytes(scale, 0, {int64_t{1} << 40, int64_t{1} << 40}), days::TooLarge);
  EXPECT_THROW(Instance::device_bytes(scale, 0, {int64_t{1} << 40, 1}), days::TooLarge);  // rows is an int
}

TEST(OneRun, KnowsWhyARowIsAbsent) {
  const days::Device& device = days::current_device();
  EXPECT_EQ(scale.absent(scale.rows[0], 0, device), "");
  EXPECT_EQ(scale.absent(scale.rows[1], 1, device), "no fp16");
  EXPECT_EQ(scale.absent(scale.rows[3], 0, device), "needs a device of no kind, this is " + device.sm());
  EXPECT_EQ(scale.absent(scale.rows[4], 1, device), "");
  EXPECT_EQ(scale.absent(scale.rows[5], 0, device), "not built");
}

TEST(Registry, KnowsALadderByItsDay) {
  static const days::LadderInfo one("twin", "a/day97_x/ladder.cpp"), other("twin", "day98_y/ladder.cpp"),
      again("twin", "/b/day97_x/more.cpp");
  days::register_ladder(one);
  EXPECT_EQ(&days::find_ladder("twin"), &one);
  days::register_ladder(other);
  EXPECT_EQ(&days::find_ladder("day97_x", "twin"), &one);
  EXPECT_EQ(&days::find_ladder("day98_y/twin"), &other);
  EXPECT_THROW(days::find_ladder("twin"), std::invalid_argument);  // which?
  EXPECT_THROW(days::find_ladder("day05_matmul", "twin"), std::invalid_argument);
  EXPECT_THROW(days::register_ladder(again), std::invalid_argument);
}

TEST(OneRun, RefusesABadDescription) {
  EXPECT_THROW(days::ladder<Scale>("x").extents({"n"}).types<float>().shapes({{1, 2}}),
               std::invalid_argument);
  EXPECT_THROW(days::ladder<Scale>("x").extents({"n"}).types<float>().shapes({{0}}), std::invalid_argument);
  const auto one = days::ladder<Scale>("x").extents({"n"}).types<float>();
  EXPECT_NO_THROW(one.sweep({{2}}, {.over = "n", .type = "fp32"}));
  EXPECT_THROW(one.sweep({{2}}, {.over = "m"}), std::invalid_argument);
  EXPECT_THROW(one.sweep({{2}}, {.each = "m"}), std::invalid_argument);
  EXPECT_THROW(one.sweep({{2}}, {.type = "fp16"}), std::invalid_argument);
  EXPECT_THROW(
      days::ladder<Scale>("x").types<float>().needs(days::needs("n", [](const auto&) { return true; })),
      std::invalid_argument);
  EXPECT_THROW(days::ladder<Scale>("x").types<float>().baseline("b").variant("b", LAUNCHER(scale_plain)),
               std::invalid_argument);
}

TEST(Limits, AreMeasuredOnAGpuAndNotClaimedElsewhere) {
  for (const days::Mix mix : days::kMixes) {
    const auto limit = days::bandwidth_limit(mix);
    ASSERT_EQ(limit.has_value(), !days::current_device().simt);
    if (limit) {
      EXPECT_GT(limit->burst, 1e10) << days::mix_name(mix);
    }
  }
  using days::Rate;
  const days::Device& device = days::current_device();
  const struct {
    Rate rate;
    int from;
  } rates[] = {{Rate::ffma, 75},       {Rate::mma_fp16, 75},   {Rate::mma_int8, 75},   {Rate::mma_bf16, 80},
               {Rate::mma_tf32, 80},   {Rate::mma_fp8, 89},    {Rate::wgmma_fp16, 90}, {Rate::wgmma_bf16, 90},
               {Rate::wgmma_tf32, 90}, {Rate::wgmma_int8, 90}, {Rate::wgmma_fp8, 90}};
  for (const auto& [rate, from] : rates) {
    const bool wgmma = from == 90;
    const auto limit = days::rate_limit(rate);
    if (device.simt || device.code < from || (wgmma && !days::sm_90a.met(device))) {
      EXPECT_FALSE(limit) << days::rate_name(rate);
    } else if (!wgmma) {  // of which code for 90, without the a, has none
      EXPECT_TRUE(limit) << days::rate_name(rate);
    }
    if (limit) {
      EXPECT_GT(limit->burst, 1e11) << days::rate_name(rate);
    }
  }
  EXPECT_THROW(device.simt ? throw std::invalid_argument("")
                           : static_cast<void>(days::rate_limit(Rate::wgmma_by_type)),
               std::invalid_argument);
}

TEST(Rates, AreALaddersOrARowsOwn) {
  using days::Rate;
  const auto launcher = [](const auto&, cudaStream_t) {};
  const auto plain = days::ladder<Scale>("rates")
                         .extents({"rows", "cols"})
                         .types<float, days::half, days::bf16, int8_t>()
                         .variant("plain", launcher)
                         .variant("mma", launcher)
                         .rate(Rate::by_type)
                         .variant("tf32", launcher)
                         .rate(Rate::wgmma_tf32)
                         .variant("wgmma", launcher)
                         .rate(Rate::wgmma_by_type)
                         .flops([](const auto& p) { return 1.0 * p.rows; }, Rate::ffma);
  const Rate expected[4][4] = {{Rate::ffma, Rate::ffma, Rate::wgmma_tf32, Rate::ffma},
                               {Rate::ffma, Rate::mma_fp16, Rate::wgmma_tf32, Rate::wgmma_fp16},
                               {Rate::ffma, Rate::mma_bf16, Rate::wgmma_tf32, Rate::wgmma_bf16},
                               {Rate::ffma, Rate::mma_int8, Rate::wgmma_tf32, Rate::wgmma_int8}};
  for (size_t type = 0; type < 4; ++type) {
    EXPECT_EQ(plain.rate_of(type), Rate::ffma);
    for (size_t row = 0; row < 4; ++row) EXPECT_EQ(plain.rate_of(plain.rows[row], type), expected[type][row]);
  }
  EXPECT_THROW(days::ladder<Scale>("x").types<float>().rate(Rate::ffma), std::invalid_argument);
}

// ---- The day's executable

struct Outcome {
  int code;
  std::string out, err;
};
Outcome run_program(std::vector<std::string> arguments, const days::LadderInfo& ladder = scale) {
  arguments.insert(arguments.begin(), "common_test");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = days::run_day(static_cast<int>(argv.size()), argv.data(), {&ladder});
  const std::string err = testing::internal::GetCapturedStderr();
  // As one line, wherever it was broken.
  std::string joined;
  for (size_t i = 0; i < err.size(); ++i) {
    const bool broken = err.compare(i, 3, "\n  ") == 0;
    joined += broken ? ' ' : err[i];
    i += broken ? 2 : 0;
  }
  return {code, testing::internal::GetCapturedStdout(), joined};
}

TEST(RunDay, RunsChecksAndCounts) {
  const Outcome all = run_program({});
  EXPECT_EQ(all.code, 0) << all.out << all.err;
  EXPECT_NE(all.out.find("plain       ok"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("elsewhere   skip    needs a device of no kind"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("absent      miss"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("Lesson: the harness works."), std::string::npos) << all.out;
  EXPECT_EQ(all.out.find('\033'), std::string::npos);  // no escapes off a terminal
  size_t start = 0;
  for (size_t end; (end = all.out.find('\n', start)) != std::string::npos; start = end + 1) {
    EXPECT_LE(days::detail::columns(all.out.substr(start, end - start)), 80u)
        << all.out.substr(start, end - start);
  }
}

TEST(RunDay, NamesWhatIsWrongInItsArguments) {
  const auto expect = [](std::vector<std::string> arguments, int code, const std::string& text) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.rfind("error: ", 0), 0u) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  };
  expect({"--size", "0x3"}, 2, "at least 1");
  expect({"--size", "3x-3"}, 2, "positive");
  expect({"--size", "3xq"}, 2, "\"q\" is no number");
  expect({"--size", "3x"}, 2, "\"\" is no number");
  expect({"--size", "3"}, 2, "scale takes rowsxcols");
  expect({"--size", "99999999999999999999x2"}, 3, "too large");
  expect({"--size", "999999999999x2"}, 3, "largest like it: --size ");
  expect({"--size", "2000000000x2000000000"}, 3, "largest like it: --size ");
  expect({"--size", "3x33", "--variant", "even"}, 2, "cols % 2 == 0");
  expect({"--variant", "plan"}, 2, "Nearest: plain --variant plain");
  expect({"--type", "fp8"}, 2, "there is fp16 fp32");
  expect({"--sise=3"}, 2, "Nearest: --size");
  expect({"extra"}, 2, "unknown argument extra");
  expect({"--variant"}, 2, "needs a value");
  expect({"--color=pink"}, 2, "not pink");
  expect({"--list=3"}, 2, "takes no value");
  expect({"--once", "--json", "-"}, 2, "--once has no results");
}

TEST(RunDay, FailsWhereNoKernelRan) {
  const Outcome outcome = run_program({"--variant", "elsewhere"});
  EXPECT_EQ(outcome.code, 3) << outcome.err;  // this machine cannot
  EXPECT_NE(outcome.err.find("no kernel ran"), std::string::npos);
  EXPECT_EQ(run_program({"--variant", "absent"}).code, 1);
}

TEST(RunDay, DoesNotTimeWhatIsWrong) {
  const auto wrong = scale.variant("most", LAUNCHER(writes_most));
  const Outcome outcome = run_program({"--variant", "most,plain", "--size", "4097x33"}, wrong);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.out.find("most        FAIL    not timed\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("is nan, expected "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("plain       ok"), std::string::npos) << outcome.out;
}

TEST(RunDay, LaunchesForAProfilerAndChecksNothing) {
  const auto wrong = scale.variant("most", LAUNCHER(writes_most));
  const Outcome outcome =
      run_program({"--once", "--variant", "most,even,elsewhere", "--size", "4097x33"}, wrong);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("launched scale most fp32 4097x33\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("left out scale even fp32 4097x33: needs cols % 2 == 0\n"), std::string::npos)
      << outcome.out;
  const Outcome none = run_program({"--once", "--variant", "elsewhere"});
  EXPECT_EQ(none.code, 3);
  EXPECT_NE(none.err.find("no kernel ran"), std::string::npos) << none.err;
}

TEST(RunDay, SelectsTypesAndLists) {
  const Outcome both = run_program({"--type", "all", "--size=5x6", "--variant", "plain,even"});
  EXPECT_EQ(both.code, 0);
  EXPECT_NE(both.out.find("5 x 6 fp32"), std::string::npos) << both.out;
  EXPECT_NE(both.out.find("5 x 6 fp16"), std::string::npos) << both.out;
  EXPECT_NE(both.out.find("even        skip    no fp16"), std::string::npos) << both.out;
  const Outcome list = run_program({"--list"});
  EXPECT_EQ(list.code, 0);
  EXPECT_NE(list.out.find("needs cols % 2 == 0; no fp16"), std::string::npos) << list.out;
  EXPECT_EQ(run_program({"--help"}).code, 0);
}

TEST(RunDay, WritesJson) {
  const Outcome outcome = run_program({"--json", "-", "--size", "4x6"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out.front(), '{');
  for (const char* part : {"\"schema\": 1", "\"ladder\": \"scale\"", "\"rows\": 4", "\"cols\": 6",
                           "\"name\": \"plain\"", "\"result\": \"ok\"", "\"result\": \"skip\"",
                           "\"result\": \"missing\"", "\"driver\": ", "\"date\": "}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
  // Never a time of the CPU backend's.
  EXPECT_EQ(outcome.out.find("\"seconds\"") == std::string::npos, days::current_device().simt);
  const std::string file = testing::TempDir() + "common_test.json";
  EXPECT_EQ(run_program({"--json", file, "--size", "4x6"}).code, 0);
  std::ifstream stream(file);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_EQ(text.front(), '{');
  std::remove(file.c_str());
  EXPECT_EQ(run_program({"--json", "/no/such/folder/x.json", "--size", "4x6"}).code, 2);
}

}  // namespace
}  // namespace common_test
