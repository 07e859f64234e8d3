// SPDX-License-Identifier: MIT
//
// Tests of a ladder with GoogleTest, and the main() of a test program.
//
//   TEST_LADDER(day05, matmul);                 // every variant, type and shape, on the ladder's inputs and
//   each hostile one MUST_REJECT(day05, matmul, drops_tail);     // void day05::drops_tail(const
//   Matmul<float>&, cudaStream_t) is wrong: it has
//                                               // to fail the same checks on at least one shape
//
// Each test is one shape: outputs are poisoned, the launch is compared with the reference, then guard bands
// and inputs are looked at; a shape that .needs rules out must be refused with std::invalid_argument, and
// nothing touched.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/device.h"
#include "common/instance.h"
#include "common/ladder.h"
#include "common/timing.h"

#define TEST_LADDER(day, ladder)                                  \
  [[maybe_unused]] static const bool days_test_##day##_##ladder = \
      ::days::testing_detail::register_ladder(#day "_" #ladder, day::ladder, __FILE__, __LINE__)

// The wrong kernel works on the problem of the ladder's first type. It is declared here and defined in
// tests/dayNN_wrong.cu.
#define MUST_REJECT(day, ladder, wrong)                                                          \
  namespace day {                                                                                \
  void wrong(const std::remove_cv_t<decltype(ladder)>::First&, cudaStream_t);                    \
  }                                                                                              \
  [[maybe_unused]] static const bool days_reject_##day##_##ladder##_##wrong =                    \
      ::days::testing_detail::register_rejected<std::remove_cv_t<decltype(day::ladder)>::First>( \
          #day "_" #ladder, day::ladder, #wrong, day::wrong, __FILE__, __LINE__)

namespace days::testing_detail {

// What the whole program did, for its last line.
struct Tally {
  size_t ladders = 0, kernels = 0;
  std::map<std::string, size_t> skipped;  // by reason
};
inline Tally& tally() {
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
inline Instances& instances() {
  static Instances all;
  return all;
}

inline std::string words(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

inline std::string maker_text(const LadderInfo& ladder, size_t maker) {
  return ladder.makers[maker].name.empty() ? "" : ", " + ladder.makers[maker].name;
}

// After a kernel's fault every later call fails: say so once instead of a hundred times.
inline bool device_lost() {
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
inline void add_test(const std::string& suite, const std::string& name, const char* file, int line,
                     std::function<void()> body) {
  ::testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, file, line,
                          [body]() -> ::testing::Test* { return new FunctionTest(body); });
}

// Runs a row on an instance. A checked build for the CPU runs small shapes three times on the ladder's
// inputs, with the threads of a block and the blocks of a grid in different orders: what is right by luck in
// one is wrong in another. Hostile inputs, which test other things, run in one.
inline Report run_in_orders(const LadderInfo& ladder, const Row& row, size_t type, const Shape& shape,
                            size_t maker, cudaStream_t stream) {
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
inline bool test_row(const LadderInfo& ladder, const Row& row, size_t type, const Shape& shape, size_t maker,
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

inline void test_shape(const LadderInfo& ladder, const Row& row, size_t type, const Shape& shape) {
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

// All rows on a big shape: its inputs and their reference take the CPU seconds, and are made once.
inline void test_big_shape(const LadderInfo& ladder, size_t type, const Shape& shape) {
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

inline void test_parallel(const LadderInfo& ladder, size_t type, const Shape& shape) {
  for (size_t maker = 0; maker < ladder.makers.size(); ++maker) {
    const Report report = instances().get(ladder, type, shape, maker).run_parallel();
    EXPECT_TRUE(report.ok()) << "parallel CPU version, " << shape.text() << maker_text(ladder, maker) << ":\n"
                             << report.text();
  }
}
inline void test_by_rows(const LadderInfo& ladder, size_t type) {
  for (const Shape& shape : ladder.test_shapes) {
    const Report report = instances().get(ladder, type, shape, 0).run_by_rows();
    EXPECT_TRUE(report.ok()) << "reference by rows, " << shape.text() << ":\n" << report.text();
  }
}

// exercise.cu as it is shipped compiles, launches, and writes nothing.
inline void test_skeleton(const LadderInfo& ladder, const Row& row) {
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

inline bool register_ladder(const std::string& suite, const LadderInfo& ladder, const char* file, int line) {
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

// Why the ladder's checks reject the row on this instance; "" where they do not, or where the launcher
// refuses the shape.
inline std::string rejection(Instance& instance, const Row& row, cudaStream_t stream) {
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

inline constexpr int kRejected = 42, kAccepted = 43;

// Ends the process: a wrong kernel may fault, after which its process is of no use.
[[noreturn]] inline void try_to_reject(const LadderInfo& ladder, const Row& row) {
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

template <class First>
bool register_rejected(const std::string& suite, const LadderInfo& ladder, const std::string& name,
                       void (*launcher)(const First&, cudaStream_t), const char* file, int line) {
  Row row;
  row.name = name;
  row.launch.resize(ladder.types.size());
  row.needs.resize(ladder.types.size());
  row.workspace.resize(ladder.types.size());
  row.launch[0] = detail::erase_launcher<First>(launcher);
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

}  // namespace days::testing_detail

// The test program's main. Weak: several files of a program may include this one, and a program may have its
// own.
__attribute__((weak)) int main(int argc, char** argv) {
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
