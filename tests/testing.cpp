// SPDX-License-Identifier: MIT
//
// The tests of all ladders and of all wrong kernels that a program registers, and the main() of every test
// program with ladders. Compiled once for all of them.
#include "common/testing.h"

#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/device.h"
#include "common/error.h"
#include "common/instance.h"
#include "common/must_reject.h"
#include "common/timing.h"
#include "tests/wrong_kernels.h"

namespace days {

#ifdef __SIMT__
constexpr simt::Order kOrders[] = {simt::Order::normal, simt::Order::reversed, simt::Order::shuffle};
InOrder::InOrder(int turn) {
  simt::set_order(kOrders[static_cast<size_t>(turn) % std::size(kOrders)]);
}
InOrder::~InOrder() {
  simt::reset_order();
}
#endif

namespace testing_detail {
namespace {

// What the whole program did, for its last line.
struct Tally {
  size_t ladders = 0, kernels = 0;
  size_t left_out = 0;                           // by tests_shape() and tests_inputs()
  std::map<std::string, size_t> skipped;         // by reason
  std::set<std::pair<const Row*, size_t>> took;  // rows, and the types in which they took some shape
};
Tally& tally() {
  static Tally all;
  return all;
}

// The instances of one shape and type, kept from one row to the next so that each reference runs once. Freed when
// another shape comes, and before main returns: the CPU backend looks at the ends of every buffer after each launch.
class Instances {
 public:
  Instance& get(const LadderInfo& ladder, size_t type, const Shape& shape, size_t maker) {
    const std::string group =
        ladder.day + "/" + ladder.name + "/" + ladder.types[type].name + "/" + shape.text();
    if (group != group_) clear();
    group_ = group;
    const auto found = kept_.find(maker);
    if (found != kept_.end()) return *found->second;
    constexpr double kMostBytes = 1 << 28;
    const double bytes = Instance::device_bytes(ladder, type, shape, maker);
    if (bytes_ + bytes > kMostBytes) clear();
    bytes_ += bytes;
    return *(kept_[maker] = std::make_unique<Instance>(ladder, type, shape, maker, memory_of_tests()));
  }
  void clear() {
    kept_.clear();
    bytes_ = 0;
  }

 private:
  std::string group_;
  std::map<size_t, std::unique_ptr<Instance>> kept_;
  double bytes_ = 0;
};
Instances& instances() {
  static Instances all;
  return all;
}

std::string words(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

std::string maker_text(const LadderInfo& ladder, size_t maker) {
  return ladder.makers[maker].name.empty() ? "" : ", " + ladder.makers[maker].name;
}

// After a kernel's fault every later call fails: say so once instead of a hundred times.
bool device_lost() {
  return cudaDeviceSynchronize() != cudaSuccess;
}

// A test given as a function.
class FunctionTest : public ::testing::Test {
 public:
  explicit FunctionTest(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};
void add_test(const LadderInfo& ladder, const std::string& name, const char* file, int line,
              std::function<void()> body, const char* kind = nullptr) {
  const std::string suite = (ladder.day.empty() ? "" : ladder.day.substr(0, 5) + "_") + ladder.name;
  ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, kind, file, line,
                          [body]() -> ::testing::Test* { return new FunctionTest(body); });
}

// What builds for the CPU leave out, as most cases would repeat what others have shown. Both the plain and the checked
// build test
//
//   - of a type whose buffers are as large as an earlier type's (bf16 after fp16) every third shape: where a kernel
//     reads and writes is the same then, and how it rounds shows on any shape.
//
// An access costs some thirty plain ones in a checked build. The plain build compares the values of every case, while
// races, stray accesses and unset values depend on the shape, the alignment and the width of the type. So of a row a
// checked build tests
//
//   - each shape on the ladder's inputs: in the row's first type in three orders of the threads of a block and
//     the blocks of a grid, as what is right by luck in one order is wrong in another; in further types in one
//     order, the next shape in the next;
//   - each shape on one kind of hostile inputs, the next shape on the next kind, in one order;
//   - no shape of more than 2 MiB;
//
// and of what the host computes, which is not instrumented, nothing.
//
// A GPU tests every case on the ladder's shapes, and what its own big ones leave out test_big_shape() says.
// DAYS_TEST_ALL=1 in the environment tests all of it.
bool all_asked() {
  static const bool all = [] {
    const char* asked = std::getenv("DAYS_TEST_ALL");
    return asked != nullptr && *asked != '\0' && std::strcmp(asked, "0") != 0;
  }();
  return all;
}
bool tests_all() {
#ifdef __SIMT__
  return !simt::checked_build || all_asked();
#else
  return true;
#endif
}
bool takes_type(const Row& row, size_t type) {
  return type < row.launch.size() && row.launch[type];
}
// Is it the first of the types that the row takes?
bool takes_first(const Row& row, size_t type) {
  return takes_type(row, type) &&
         std::find_if(row.launch.begin(), row.launch.end(), [](const detail::Launch& launch) {
           return static_cast<bool>(launch);
         }) == row.launch.begin() + static_cast<ptrdiff_t>(type);
}
// Are the type's buffers as large as those of an earlier type that the row takes?
bool repeats_type(const LadderInfo& ladder, const Row& row, size_t type) {
#ifdef __SIMT__
  constexpr bool kOnGpu = false;
#else
  constexpr bool kOnGpu = true;
#endif
  if (kOnGpu || all_asked() || !takes_type(row, type) || ladder.test_shapes.empty()) return false;
  const auto bytes = [&](size_t of) {
    return Instance::device_bytes(ladder, of, ladder.test_shapes.back(), 0);
  };
  for (size_t earlier = 0; earlier < type; ++earlier) {
    if (takes_type(row, earlier) && bytes(earlier) == bytes(type)) return true;
  }
  return false;
}
// Is the shape left to the plain build?
bool too_big(const LadderInfo& ladder, size_t type, const Shape& shape) {
  constexpr double kMost = 1 << 21;  // bytes
  return !tests_all() && Instance::device_bytes(ladder, type, shape, 0) > kMost;
}
// One of the ladder's shapes, by which the others turn: its number among those that are tested of the type.
struct Turn {
  bool tested;
  size_t number;
};
Turn turn_of(bool repeats, size_t type, size_t shape) {
  if (repeats) return {shape % 3 == type % 3, shape / 3};
  return {true, shape};
}
// Is the shape of this turn tested on these inputs?
bool tests_inputs(const LadderInfo& ladder, size_t type, size_t turn, size_t maker) {
  if (tests_all() || maker == 0) return true;
  // Fewer shapes than kinds: some shapes have several, and no kind is left out.
  const size_t turns = std::min(ladder.test_shapes.size(), ladder.makers.size() - 1);
  return (turn + type) % turns == (maker - 1) % turns;
}

// Runs a row on an instance: in a checked build, the ladder's own inputs on small shapes in several orders.
Report run_in_orders(const LadderInfo& ladder, const Row& row, size_t type, const Shape& shape,
                     [[maybe_unused]] size_t turn, size_t maker, cudaStream_t stream) {
  Instance& instance = instances().get(ladder, type, shape, maker);
#ifdef __SIMT__
  constexpr double kSmall = 1 << 18;  // bytes
  if (simt::checked_build && maker == 0 && Instance::device_bytes(ladder, type, shape, maker) <= kSmall) {
    bool first = true;
    for (size_t earlier = 0; earlier < type; ++earlier) first = first && !takes_type(row, earlier);
    Report all;
    for (size_t i = 0; i < std::size(kOrders) && all.ok(); ++i) {
      if (!first && !tests_all() && i != turn % std::size(kOrders)) continue;
      const InOrder order(static_cast<int>(i));
      all.merge(instance.run(row, stream));
    }
    return all;
  }
#endif
  return instance.run(row, stream);
}

// False where the device is lost. `turn`: see Turn.
bool test_row(const LadderInfo& ladder, const Row& row, size_t type, const Shape& shape, size_t turn,
              size_t maker, cudaStream_t stream) {
  Instance& instance = instances().get(ladder, type, shape, maker);
  Report report;
  if (instance.supports(row)) {
    ++tally().kernels;
    tally().took.emplace(&row, type);
    report = run_in_orders(ladder, row, type, shape, turn, maker, stream);
    report.merge(instance.refuse_short_workspace(row, stream));
    report.merge(instance.refuse_no_setup(row, stream));
  } else {
    report = instance.refuse(row, stream);
  }
  if (report.ok()) return true;
  ADD_FAILURE() << row.name << " " << shape.text() << " " << ladder.types[type].name
                << maker_text(ladder, maker) << ":\n"
                << report.text();
  instances().clear();  // its buffers may have been damaged
  return !device_lost();
}

void test_shape(const LadderInfo& ladder, const Row& row, size_t type, const Shape& shape, size_t turn) {
  ASSERT_FALSE(device_lost()) << "an earlier kernel's fault left the device unusable";
  const std::string absent = ladder.absent(row, type, current_device());
  if (!absent.empty()) {
    ++tally().skipped[absent];
    GTEST_SKIP() << absent;
  }
  Stream stream;
  for (size_t maker = 0; maker < ladder.makers.size(); ++maker) {
    if (!tests_inputs(ladder, type, turn, maker)) {
      ++tally().left_out;
    } else if (!test_row(ladder, row, type, shape, turn, maker, stream)) {
      return;
    }
  }
}

// Of the shapes that the row takes, the largest of some KiB, or else the smallest.
const Shape* small_shape(const LadderInfo& ladder, const Row& row, size_t type) {
  constexpr double kSmall = 1 << 16;  // bytes
  const Shape* found = nullptr;
  double found_bytes = 0;
  for (const Shape& shape : ladder.test_shapes) {
    const double bytes = Instance::device_bytes(ladder, type, shape, 0);
    const bool better = found == nullptr ||
                        (bytes <= kSmall ? found_bytes > kSmall || bytes > found_bytes : bytes < found_bytes);
    if (!better || !instances().get(ladder, type, shape, 0).supports(row)) continue;
    found = &shape;
    found_bytes = bytes;
  }
  return found;
}

// Once a row, in its first type: what a capstone does with a rung that it runs again and again.
void test_captured(const LadderInfo& ladder, const Row& row, size_t type) {
  ASSERT_FALSE(device_lost()) << "an earlier kernel's fault left the device unusable";
  const std::string absent = ladder.absent(row, type, current_device());
  if (!absent.empty()) {
    ++tally().skipped[absent];
    GTEST_SKIP() << absent;
  }
  const Shape* const shape = small_shape(ladder, row, type);
  ASSERT_NE(shape, nullptr) << row.name << " takes none of the ladder's test shapes";
  ++tally().kernels;
  Stream stream;
  const Report report = instances().get(ladder, type, *shape, 0).run_captured(row, stream);
  if (report.ok()) return;
  ADD_FAILURE() << row.name << " " << shape->text() << " " << ladder.types[type].name << ":\n"
                << report.text();
  instances().clear();
}

#ifndef __SIMT__
// All rows on a big shape: its inputs and their reference take the CPU seconds, and are made once. On the ladder's own inputs and
// one hostile kind, the next big shape and type on the next: every kind runs on each small shape. `turn`: theirs, from 0.
void test_big_shape(const LadderInfo& ladder, size_t type, const Shape& shape, size_t turn) {
  ASSERT_FALSE(device_lost()) << "an earlier kernel's fault left the device unusable";
  Stream stream;
  const size_t kinds = ladder.makers.size() - 1;
  for (size_t maker = 0; maker < ladder.makers.size(); ++maker) {
    if (maker > 0 && maker - 1 != turn % kinds && !all_asked()) {
      ++tally().left_out;
      continue;
    }
    for (const Row& row : ladder.rows) {
      if (row.exercise) continue;
      const std::string absent = ladder.absent(row, type, current_device());
      if (!absent.empty()) {
        ++tally().skipped[absent];
      } else if (!test_row(ladder, row, type, shape, 0, maker, stream)) {
        return;
      }
    }
  }
}
#endif

void test_parallel(const LadderInfo& ladder, size_t type, const Shape& shape) {
  for (size_t maker = 0; maker < ladder.makers.size(); ++maker) {
    const Report report = instances().get(ladder, type, shape, maker).run_parallel();
    EXPECT_TRUE(report.ok()) << "parallel CPU version, " << shape.text() << maker_text(ladder, maker) << ":\n"
                             << report.text();
  }
}
// A ladder's own rule accepts what its reference makes.
void test_reference(const LadderInfo& ladder, size_t type, const Shape& shape) {
  for (size_t maker = 0; maker < ladder.makers.size(); ++maker) {
    const Report report = instances().get(ladder, type, shape, maker).run_serial();
    EXPECT_TRUE(report.ok()) << "reference, " << shape.text() << maker_text(ladder, maker) << ":\n"
                             << report.text();
  }
}
void test_by_rows(const LadderInfo& ladder, size_t type, const Shape& shape) {
  const Report report = instances().get(ladder, type, shape, 0).run_by_rows();
  EXPECT_TRUE(report.ok()) << "reference by rows, " << shape.text() << ":\n" << report.text();
}

// A launcher refuses sizes that are none, and those beyond its .needs, each by its number; the ladder those of which it makes no
// problem.
void test_refused_sizes(const LadderInfo& ladder, const Row& row, size_t type) {
  ASSERT_FALSE(device_lost()) << "an earlier kernel's fault left the device unusable";
  const auto shape =
      std::find_if(ladder.test_shapes.begin(), ladder.test_shapes.end(),
                   [&](const Shape& one) { return Instance(ladder, type, one, 0).supports(row); });
  ASSERT_NE(shape, ladder.test_shapes.end()) << row.name << " takes none of the ladder's test shapes";
  Stream stream;
  Instance& instance = instances().get(ladder, type, *shape, 0);
  const auto refuses = [&](size_t extent, int64_t number) {
    const Report report = instance.refuse_size(row, extent, number, stream);
    if (!report.ok()) ADD_FAILURE() << row.name << " " << shape->text() << ":\n" << report.text();
  };
  for (size_t extent = 0; extent < ladder.extents.size(); ++extent) {
    for (const int64_t number : {0, -1}) refuses(extent, number);
    for (const Row::Limit& limit : row.at_most) {
      if (limit.name == ladder.extents[extent]) refuses(extent, limit.most + 1);
    }
  }
  if (::testing::Test::HasFailure()) instances().clear();  // its buffers may have been damaged
}

// What a day says that its skeleton is given: of day and ladder.
struct Giving {
  const char* what;
  Given (*given)(const Shape&);
};
std::map<std::pair<std::string, std::string>, Giving>& givings() {
  static std::map<std::pair<std::string, std::string>, Giving> all;
  return all;
}

// exercise.cu as it is shipped compiles, launches, harms nothing, writes what the day says that it is given and nothing else, and
// is wrong on every other shape. In place a result may be right before anybody writes it: one element reversed.
void test_skeleton(const LadderInfo& ladder, const Row& row) {
  ASSERT_FALSE(device_lost()) << "an earlier kernel's fault left the device unusable";
  Stream stream;
  int wrong = 0;
  const auto found = givings().find({ladder.day, ladder.name});
  const std::string given_text =
      found == givings().end() ? "it is given nothing" : std::string("it is given ") + found->second.what;
  for (const Shape& shape : ladder.test_shapes) {
    Instance& instance = instances().get(ladder, 0, shape, 0);
    if (!instance.supports(row)) continue;
    ++tally().kernels;
    Report report = instance.run(row, stream);
    wrong += !report.ok();
    const Given given = found == givings().end() ? Given{0, false} : found->second.given(shape);
    const bool right_before = report.in_place == report.compared && report.unwritten == report.compared;
    EXPECT_TRUE(!report.ok() || given.right || right_before)
        << shape.text() << ": the skeleton is right, though " << given_text;
    EXPECT_TRUE(report.ok() || !given.right)
        << shape.text() << ": the skeleton is wrong, though " << given_text << ":\n"
        << report.text();
    EXPECT_EQ(report.compared - report.unwritten, given.written)
        << shape.text() << ": so many elements are written, though " << given_text;
    if (!report.notes.empty() && report.notes[0] == Report::kByLuck) report.notes.erase(report.notes.begin());
    EXPECT_TRUE(report.notes.empty() || !ladder.types[0].checks.empty())
        << shape.text() << ": " << report.text();
  }
  EXPECT_GT(wrong, 0) << "the skeleton is right on every shape: it leaves nothing to do";
}

// Of this process and of those that it started, wrong kernels' above all.
double cpu_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used = {};
    getrusage(who, &used);
    for (const timeval& t : {used.ru_utime, used.ru_stime})
      sum += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  }
  return sum;
}

// After all tests: the count, and a failure where nothing ran.
class LastLine : public ::testing::Environment {
 public:
  void TearDown() override {
    instances().clear();
    end_wrong_kernels();
    if (tally().ladders == 0) return;
    size_t skipped = 0;
    std::string reasons;
    for (const auto& [reason, count] : tally().skipped) {
      skipped += count;
      reasons += (reasons.empty() ? "" : "; ") + std::to_string(count) + ": " + reason;
    }
    std::printf("%zu kernels run, %zu skipped%s; %.1f s of CPU\n", tally().kernels, skipped,
                reasons.empty() ? "" : (" (" + reasons + ")").c_str(), cpu_seconds());
    if (tally().left_out > 0) {
      std::printf("%zu more would repeat what others show; DAYS_TEST_ALL=1 runs them too\n",
                  tally().left_out);
    }
    // A filter may leave only tests that are skipped here; a whole run may not.
    if (GTEST_FLAG_GET(filter) == "*" && tally().kernels == 0) ADD_FAILURE() << "no kernel ran";
  }
};

void add_tests(const LadderInfo& ladder) {
  const auto add = [&ladder](const std::string& name, std::function<void()> test,
                             const char* kind = nullptr) {
    add_test(ladder, name, ladder.file, 1, std::move(test), kind);
  };
  ++tally().ladders;
  const std::vector<Shape>& shapes = ladder.test_shapes;
  for (size_t type = 0; type < ladder.types.size(); ++type) {
    const Typed& typed = ladder.types[type];
    for (size_t i = 0; i < shapes.size(); ++i) {  // all of a shape, one after the other: see Instances
      const Shape& shape = shapes[i];
      const std::string of_shape = "/" + typed.name + "_" + shape.text("x");
      for (const Row& row : ladder.rows) {
        if (row.exercise || (row.baseline && !takes_type(row, type))) continue;
        const auto [tested, turn] = turn_of(repeats_type(ladder, row, type), type, i);
        if (!tested || too_big(ladder, type, shape)) {
          tally().left_out += ladder.makers.size();
          continue;
        }
        add(
            words(row.name) + of_shape,
            [&ladder, &row, type, &shape, turn = turn] { test_shape(ladder, row, type, shape, turn); },
            row.baseline ? "library" : nullptr);
      }
      if (!tests_all()) continue;
      if (typed.parallel) {
        add("CPU_parallel" + of_shape, [&ladder, type, &shape] { test_parallel(ladder, type, shape); });
      }
      if (!typed.checks.empty()) {
        add("CPU_reference_passes_the_checks" + of_shape,
            [&ladder, type, &shape] { test_reference(ladder, type, shape); });
      }
      if (typed.reference_by_rows) {
        add("CPU_by_rows" + of_shape, [&ladder, type, &shape] { test_by_rows(ladder, type, shape); });
      }
    }
    for (const Row& row : ladder.rows) {
      const std::string stem = words(row.name) + "/" + typed.name;
      if (!ladder.day.empty() && !row.baseline && !row.exercise && takes_first(row, type)) {
        add(stem + "_refuses_sizes", [&ladder, &row, type] { test_refused_sizes(ladder, row, type); });
      }
      if (row.baseline && !takes_type(row, type)) {  // one test: the library is not here
        add(stem, [&ladder, &row, type] { test_shape(ladder, row, type, ladder.test_shapes.front(), 0); });
      } else if (!row.exercise && !row.baseline && row.needs[type] && row.launch[type]) {
        add(stem + "_takes_some_shape", [&ladder, &row, type] {
          if (tally().took.count({&row, type}) > 0) return;
          for (const Shape& shape : ladder.test_shapes) {
            if (instances().get(ladder, type, shape, 0).supports(row)) return;
          }
          ADD_FAILURE() << row.name << " takes none of the ladder's test shapes: needs " << row.needs_text;
        });
      }
    }
#ifndef __SIMT__
    for (size_t i = 0; i < ladder.gpu_shapes.size(); ++i) {
      const Shape& shape = ladder.gpu_shapes[i];
      add("all_rungs/" + typed.name + "_" + shape.text("x"),
          [&ladder, type, &shape, turn = i * ladder.types.size() + type] {
            test_big_shape(ladder, type, shape, turn);
          });
    }
#endif
  }
  for (const Row& row : ladder.rows) {
    size_t type = 0;
    while (type < ladder.types.size() && !takes_type(row, type)) ++type;
    if (row.exercise || row.baseline || type == ladder.types.size() || !tests_all()) continue;
    add(words(row.name) + "/" + ladder.types[type].name + "_captured",
        [&ladder, &row, type] { test_captured(ladder, row, type); });
  }
  for (const Row& row : ladder.rows) {
    if (row.exercise) add("skeleton_is_unsolved", [&ladder, &row] { test_skeleton(ladder, row); });
  }
}

// The file beside the source that defines a ladder, without the line that says of which text it is.
std::string kept_description(const std::string& file) {
  std::ifstream kept(file, std::ios::binary);
  if (!kept) return "";
  const std::string text{std::istreambuf_iterator<char>(kept), {}};
  const size_t source = text.find("  \"source\": ");
  return source == std::string::npos
             ? text
             : text.substr(0, source) + text.substr(std::min(text.size(), text.find('\n', source) + 1));
}

// What the tools know of a day's ladders is what they are.
void test_description(const LadderInfo& first) {
  std::vector<const LadderInfo*> ladders;
  for (const LadderInfo* ladder : registered_ladders()) {
    if (ladder->day == first.day) ladders.push_back(ladder);
  }
  const std::string file = DAYS_ROOT "/" + first.day + "/ladder.json";
  const std::string now = description(ladders), kept = kept_description(file);
  if (now == kept) return;
  std::istringstream now_lines(now), kept_lines(kept);
  std::string said, says;
  while (said == says && now_lines) {
    if (!std::getline(now_lines, says)) says = "nothing more";
    if (!std::getline(kept_lines, said)) said = "nothing more";
  }
  ADD_FAILURE() << file << " is not what the ladders are: run tools/ladder_json.py " << first.day.substr(3, 2)
                << "\nit says:  " << said << "\nthey say: " << says;
}

void add_test(size_t number) {
  const Wrong& wrong = wrongs()[number];
  if (wrong.message == nullptr) return;
  const auto [ladder, type] = find_ladder(wrong.ladder, wrong.problem, wrong.file);
  const std::string name = kernel_name(wrong.name);
  const auto test = [number, name, message = std::string(wrong.message), right_on_gpu = wrong.right_on_gpu] {
#ifndef __SIMT__
    if (right_on_gpu != nullptr) {
      ++tally().skipped[right_on_gpu];
      GTEST_SKIP() << "right on a GPU: " << right_on_gpu;
    }
#endif
    static_cast<void>(right_on_gpu);
    const std::string output = output_of_wrong(number);
    ++tally().kernels;
    const std::string problem = problem_of_rejection(output, message);
    if (!problem.empty()) ADD_FAILURE() << name << " " << problem;
    if (problem.empty()) std::printf("  %s\n", rejection_in(output).c_str());
  };
  add_test(ladder, "must_reject/" + words(name), wrong.file, wrong.line, test);
}

}  // namespace

LadderAndType find_ladder(const char* name, const std::type_info& problem, const char* file) {
  const LadderInfo& ladder = days::find_ladder(day_of(file), name);
  for (size_t type = 0; type < ladder.types.size(); ++type)
    if (ladder.types[type].problem == problem) return {ladder, type};
  throw std::invalid_argument(ladder.name + " has no type of " + problem.name());
}

std::string missing_16_bits(const std::vector<std::string>& types, const std::vector<std::string>& of_wrong) {
  const auto of_16_bits = [](const std::string& type) { return type == "fp16" || type == "bf16"; };
  if (of_wrong.empty() || std::none_of(types.begin(), types.end(), of_16_bits)) return "";
  if (std::any_of(of_wrong.begin(), of_wrong.end(), of_16_bits)) return "";
  return "the day's ladders have a type of 16 bits, and none of its wrong kernels: what only rounding shows, "
         "these "
         "tests may miss; give one of them days::half or days::bf16";
}

bool runs_here(const LadderInfo& ladder, const Row& row, size_t type) {
  return ladder.absent(row, type, current_device()).empty();
}

void add_all_tests() {
  for (const auto& [ladder, giving] : givings())
    require(days::find_ladder(ladder.first, ladder.second).exercise_info.has_value(), ladder.first,
            ": its skeleton is given ", giving.what, ", but ", ladder.second, " has no exercise");
  std::set<std::string> days;
  for (const LadderInfo* ladder : registered_ladders()) {
    add_tests(*ladder);
    if (ladder->day.empty() || !days.insert(ladder->day).second) continue;
    add_test(*ladder, "ladder_json/is_what_the_ladders_are", ladder->file, 1,
             [ladder] { test_description(*ladder); });
  }
  for (size_t number = 0; number < wrongs().size(); ++number) add_test(number);
  std::vector<std::string> types, of_wrong;
  for (const LadderInfo* ladder : registered_ladders())
    for (const Typed& type : ladder->types) types.push_back(type.name);
  for (const Wrong& wrong : wrongs()) {
    if (wrong.message == nullptr) continue;
    const auto [ladder, type] = find_ladder(wrong.ladder, wrong.problem, wrong.file);
    of_wrong.push_back(ladder.types[type].name);
  }
  if (const std::string missing = missing_16_bits(types, of_wrong); !missing.empty())
    throw std::invalid_argument(missing);
}

}  // namespace testing_detail
}  // namespace days

bool days::skeleton_is_given(const char* ladder, const char* what, Given (*given)(const Shape&),
                             const char* file) {
  return testing_detail::givings().insert({{day_of(file), ladder}, {what, given}}).second;
}

int main(int argc, char** argv) {
  if (days::testing_detail::runs_wrong_kernels(argc, argv)) days::testing_detail::run_wrong_kernels();
  ::testing::InitGoogleTest(&argc, argv);
  try {
    static_cast<void>(days::testing_detail::memory_of_tests());
    days::testing_detail::add_all_tests();
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  if (!GTEST_FLAG_GET(list_tests)) {
    try {
      static_cast<void>(days::current_device());
    } catch (const days::CudaError& error) {
      const std::string machine = days::machine_error(error.code());
      std::fprintf(stderr, "error: %s\n%s", machine.empty() ? error.what() : machine.c_str(),
                   machine.empty() ? "" : "  ./days doctor\n");
      return 3;
    }
  }
  ::testing::AddGlobalTestEnvironment(new days::testing_detail::LastLine);
  return RUN_ALL_TESTS();
}
