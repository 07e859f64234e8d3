// SPDX-License-Identifier: MIT
//
// What TEST_LADDER and MUST_REJECT (common/testing.h) register, and the main() of every test program with
// ladders. Compiled once for all of them.
#include "common/testing.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/device.h"
#include "common/error.h"
#include "common/instance.h"
#include "common/timing.h"

namespace days::testing_detail {
namespace {

// What the whole program did, for its last line.
struct Tally {
  size_t ladders = 0, kernels = 0;
  std::map<std::string, size_t> skipped;  // by reason
};
Tally& tally() {
  static Tally all;
  return all;
}

// Instances of small problems, kept from one variant to the next so that each reference runs once. Freed
// before main returns.
class Instances {
 public:
  Instance& get(const LadderInfo& ladder, size_t type, const Shape& shape, size_t maker) {
    const std::string key = ladder.day + "/" + ladder.name + "/" + ladder.types[type].name + "/" +
                            shape.text() + "/" + std::to_string(maker);
    const auto found = kept_.find(key);
    if (found != kept_.end()) return *found->second;
    constexpr double kMostBytes = 1 << 28;
    const double bytes = Instance::device_bytes(ladder, type, shape, maker);
    if (bytes_ + bytes > kMostBytes) clear();
    bytes_ += bytes;
    return *(kept_[key] = std::make_unique<Instance>(ladder, type, shape, maker));
  }
  void clear() {
    kept_.clear();
    bytes_ = 0;
  }

 private:
  std::map<std::string, std::unique_ptr<Instance>> kept_;
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
void add_test(const std::string& suite, const std::string& name, const char* file, int line,
              std::function<void()> body) {
  ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, file, line,
                          [body]() -> ::testing::Test* { return new FunctionTest(body); });
}

// Runs a row on an instance. A checked build for the CPU runs small shapes three times on the ladder's
// inputs, with the threads of a block and the blocks of a grid in different orders: what is right by luck in
// one is wrong in another. Hostile inputs, which test other things, run in one.
Report run_in_orders(const LadderInfo& ladder, const Row& row, size_t type, const Shape& shape, size_t maker,
                     cudaStream_t stream) {
  Instance& instance = instances().get(ladder, type, shape, maker);
#ifdef __SIMT__
  constexpr double kSmall = 1 << 18;  // bytes
  if (simt::checked_build && maker == 0 && Instance::device_bytes(ladder, type, shape, maker) <= kSmall) {
    Report all;
    for (const simt::Order order : {simt::Order::normal, simt::Order::reversed, simt::Order::shuffle}) {
      simt::set_order(order);
      all.merge(instance.run(row, stream));
      if (!all.ok()) break;
    }
    simt::reset_order();
    return all;
  }
#endif
  return instance.run(row, stream);
}

// False where the device is lost.
bool test_row(const LadderInfo& ladder, const Row& row, size_t type, const Shape& shape, size_t maker,
              cudaStream_t stream) {
  Instance& instance = instances().get(ladder, type, shape, maker);
  Report report;
  if (instance.supports(row)) {
    ++tally().kernels;
    report = run_in_orders(ladder, row, type, shape, maker, stream);
    report.merge(instance.refuse_short_workspace(row, stream));
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

void test_shape(const LadderInfo& ladder, const Row& row, size_t type, const Shape& shape) {
  ASSERT_FALSE(device_lost()) << "an earlier kernel's fault left the device unusable";
  const std::string absent = ladder.absent(row, type, current_device());
  if (!absent.empty()) {
    ++tally().skipped[absent];
    GTEST_SKIP() << absent;
  }
  Stream stream;
  for (size_t maker = 0; maker < ladder.makers.size(); ++maker) {
    if (!test_row(ladder, row, type, shape, maker, stream)) return;
  }
}

#ifndef __SIMT__
// All rows on a big shape: its inputs and their reference take the CPU seconds, and are made once.
void test_big_shape(const LadderInfo& ladder, size_t type, const Shape& shape) {
  ASSERT_FALSE(device_lost()) << "an earlier kernel's fault left the device unusable";
  Stream stream;
  for (size_t maker = 0; maker < ladder.makers.size(); ++maker) {
    for (const Row& row : ladder.rows) {
      if (row.exercise) continue;
      const std::string absent = ladder.absent(row, type, current_device());
      if (!absent.empty()) {
        ++tally().skipped[absent];
      } else if (!test_row(ladder, row, type, shape, maker, stream)) {
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
void test_by_rows(const LadderInfo& ladder, size_t type) {
  for (const Shape& shape : ladder.test_shapes) {
    const Report report = instances().get(ladder, type, shape, 0).run_by_rows();
    EXPECT_TRUE(report.ok()) << "reference by rows, " << shape.text() << ":\n" << report.text();
  }
}

// exercise.cu as it is shipped compiles, launches, and writes nothing.
void test_skeleton(const LadderInfo& ladder, const Row& row) {
  ASSERT_FALSE(device_lost()) << "an earlier kernel's fault left the device unusable";
  Stream stream;
  for (const Shape& shape : ladder.test_shapes) {
    Instance& instance = instances().get(ladder, 0, shape, 0);
    if (!instance.supports(row)) continue;
    ++tally().kernels;
    const Report report = instance.run(row, stream);
    EXPECT_TRUE(report.notes.empty()) << shape.text() << ": " << report.text();
    EXPECT_EQ(report.unwritten, report.compared) << shape.text() << ": the skeleton writes something";
  }
}

// Why the ladder's checks reject the row on this instance; "" where they do not, or where the launcher
// refuses the shape.
std::string rejection(Instance& instance, const Row& row, cudaStream_t stream) {
  try {
    instance.prepare(row);
    instance.launch(row, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    const Report report = instance.verify();
    return report.ok() ? "" : report.lines().front();
  } catch (const std::invalid_argument&) {
    return "";
  } catch (const CudaError& error) {
    return error.what();
  }
}

constexpr int kRejected = 42, kAccepted = 43;

// Ends the process: a wrong kernel may fault, after which its process is of no use.
[[noreturn]] void try_to_reject(const LadderInfo& ladder, const Row& row) {
  int code = kAccepted;
  {
    Stream stream;
    for (size_t shape = 0; shape < ladder.test_shapes.size() && code == kAccepted; ++shape) {
      for (size_t maker = 0; maker < ladder.makers.size() && code == kAccepted; ++maker) {
        Instance instance(ladder, 0, ladder.test_shapes[shape], maker);
        const std::string reason = rejection(instance, row, stream);
        if (reason.empty()) continue;
        std::fprintf(stderr, "rejected at %s%s: %s\n", ladder.test_shapes[shape].text().c_str(),
                     maker_text(ladder, maker).c_str(), reason.c_str());
        code = kRejected;
      }
    }
  }
  std::fflush(stderr);
  std::_Exit(code);
}

// Accepts any output of the child process, and keeps the line that says what it found.
class KeepReason {
 public:
  using is_gtest_matcher = void;
  explicit KeepReason(std::string* reason) : reason_(reason) {}
  bool MatchAndExplain(const std::string& output, std::ostream*) const {
    const size_t at = output.rfind("rejected at ");
    *reason_ = at == std::string::npos ? "" : output.substr(at, output.find('\n', at) - at);
    return true;
  }
  void DescribeTo(std::ostream* out) const { *out << "anything"; }
  void DescribeNegationTo(std::ostream* out) const { *out << "nothing"; }

 private:
  std::string* reason_;
};

// After all tests: the count, and a failure where nothing ran.
class LastLine : public ::testing::Environment {
 public:
  void TearDown() override {
    instances().clear();
    if (tally().ladders == 0) return;
    size_t skipped = 0;
    std::string reasons;
    for (const auto& [reason, count] : tally().skipped) {
      skipped += count;
      reasons += (reasons.empty() ? "" : "; ") + std::to_string(count) + ": " + reason;
    }
    std::printf("%zu kernels run, %zu skipped%s\n", tally().kernels, skipped,
                reasons.empty() ? "" : (" (" + reasons + ")").c_str());
    // A filter may leave only tests that are skipped here; a whole run may not.
    if (GTEST_FLAG_GET(filter) == "*" && tally().kernels == 0) ADD_FAILURE() << "no kernel ran";
  }
};

}  // namespace

bool register_ladder(const std::string& suite, const LadderInfo& ladder, const char* file, int line) {
  ++tally().ladders;
  const std::vector<Shape>& shapes = ladder.test_shapes;
  for (const Row& row : ladder.rows) {
    if (row.exercise) {
      add_test(suite, "skeleton_is_unsolved", file, line, [&ladder, &row] { test_skeleton(ladder, row); });
      continue;
    }
    for (size_t type = 0; type < ladder.types.size(); ++type) {
      const std::string stem = words(row.name) + "/" + ladder.types[type].name;
      if (row.baseline) {  // one test: whether the library is here is the same for all shapes
        add_test(suite, stem, file, line, [&ladder, &row, type, shapes] {
          for (const Shape& shape : shapes) {
            test_shape(ladder, row, type, shape);
            if (::testing::Test::IsSkipped() || ::testing::Test::HasFatalFailure()) return;
          }
        });
        continue;
      }
      for (const Shape& shape : shapes) {
        add_test(suite, stem + "_" + shape.text("x"), file, line,
                 [&ladder, &row, type, shape] { test_shape(ladder, row, type, shape); });
      }
      if (!row.needs[type] || !row.launch[type]) continue;
      add_test(suite, stem + "_takes_some_shape", file, line, [&ladder, &row, type, shapes] {
        for (const Shape& shape : shapes) {
          if (instances().get(ladder, type, shape, 0).supports(row)) return;
        }
        ADD_FAILURE() << row.name << " takes none of the ladder's test shapes: needs " << row.needs_text;
      });
    }
  }
  for (size_t type = 0; type < ladder.types.size(); ++type) {
    for (const Shape& shape : ladder.test_shapes) {
      if (!ladder.types[type].parallel) continue;
      add_test(suite, "CPU_parallel/" + ladder.types[type].name + "_" + shape.text("x"), file, line,
               [&ladder, type, shape] { test_parallel(ladder, type, shape); });
    }
    if (ladder.types[type].reference_by_rows) {
      add_test(suite, "CPU_by_rows/" + ladder.types[type].name, file, line,
               [&ladder, type] { test_by_rows(ladder, type); });
    }
#ifndef __SIMT__
    for (const Shape& shape : ladder.gpu_shapes) {
      add_test(suite, "all_rungs/" + ladder.types[type].name + "_" + shape.text("x"), file, line,
               [&ladder, type, shape] { test_big_shape(ladder, type, shape); });
    }
#endif
  }
  return true;
}

bool register_wrong(const std::string& suite, const LadderInfo& ladder, const std::string& name,
                    detail::Launch launcher, const char* file, int line) {
  Row row;
  row.name = name;
  row.launch.resize(ladder.types.size());
  row.needs.resize(ladder.types.size());
  row.workspace.resize(ladder.types.size());
  row.launch[0] = std::move(launcher);
  add_test(suite, "must_reject/" + words(name), file, line, [&ladder, row] {
    GTEST_FLAG_SET(death_test_style,
                   "threadsafe");  // the child starts afresh: a CUDA context does not survive a fork
    std::string reason;
    EXPECT_EXIT(try_to_reject(ladder, row), ::testing::ExitedWithCode(kRejected), KeepReason(&reason))
        << row.name << " is wrong, but no shape and no inputs of the ladder's tests show it";
    ++tally().kernels;
    if (!reason.empty()) std::printf("  %s\n", reason.c_str());
  });
  return true;
}

}  // namespace days::testing_detail

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
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
