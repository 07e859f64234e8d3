// SPDX-License-Identifier: MIT
//
// What a test of a day includes beside the day's own header. The tests of every registered ladder and of
// every wrong kernel (must_reject.h) need no line in it: tests/testing.cpp, which has the main() of a day's
// tests, makes them. Each of those is one variant, type and shape: outputs are poisoned, the launch is
// compared with the reference, then guard bands and inputs are looked at; a shape that .needs rules out must
// be refused with std::invalid_argument, and nothing touched; and so must, by their number, an extent of 0 and
// of -1, and one more than .needs has with days::at_most. What is left for the day are tests of its other
// functions, and of variants one by one:
//
//   for (const auto& variant : days::variants<Softmax<float>>("softmax"))
//     EXPECT_THROW(variant.launch({x, x + 1, 4, 4}), std::invalid_argument) << variant.name;
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <typeinfo>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/ladder.h"

namespace days {
namespace testing_detail {

// The ladder of this name of the file's day, and the place of the problem's type in it. Throws std::invalid_argument.
struct LadderAndType {
  const LadderInfo& ladder;
  size_t type;
};
LadderAndType find_ladder(const char* name, const std::type_info& problem,
                          const char* file = __builtin_FILE());

// What the process says that runs wrong kernels (must_reject.h) of the one of that name.
std::string output_of_wrong(const std::string& name);
// What is wrong with the rejection that it tells; "" where that contains the message.
std::string problem_of_rejection(const std::string& output, const std::string& message);
// What is wrong with the types of a program's wrong kernels, beside those of its ladders; "" where nothing is.
std::string missing_16_bits(const std::vector<std::string>& types, const std::vector<std::string>& of_wrong);

// Whether the row's code exists for the device that is here.
bool runs_here(const LadderInfo& ladder, const Row& row, size_t type);

}  // namespace testing_detail

// What exercise.cu writes at one shape before the learner has written anything: so many elements of the outputs, and whether that
// makes the whole result right.
struct Given {
  size_t written;
  bool right;
};
// Says it of the calling day's ladder, and what is given in words ("the last tile"). A skeleton of which nothing is said writes
// nothing, and is wrong on every shape. Returns true, for a constant of the day's tests.
bool skeleton_is_given(const char* ladder, const char* what, Given (*given)(const Shape&),
                       const char* file = __builtin_FILE());

// While it lives, kernels run in the order of threads that run number `turn` has: on the CPU backend in three in turn, on a GPU
// as they come. kRunsInOrder runs are each of the three twice, or enough to meet what a GPU's scheduler brings.
#ifdef __SIMT__
inline constexpr int kRunsInOrder = 6;
class InOrder {
 public:
  explicit InOrder(int turn);
  ~InOrder();
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
};
#else
inline constexpr int kRunsInOrder = 20;
struct InOrder {
  explicit InOrder(int) {}
};
#endif

// A variant of a registered ladder, for problems of one element type.
template <class Problem>
class Variant {
 public:
  Variant(const Row& row, size_t type, bool runs_here)
      : name(row.name), runs_here(runs_here), launch_(row.launch[type]), needs_(row.needs[type]) {}

  std::string name;
  bool runs_here;  // elsewhere it still refuses what it has to
  void launch(const Problem& p, cudaStream_t stream = nullptr) const { launch_(&p, stream); }
  // Whether its .needs are met: the launcher must refuse all else.
  bool takes(const Problem& p) const { return !needs_ || needs_(&p); }

 private:
  detail::Launch launch_;
  Function<bool(const void*)> needs_;
};

// All variants of the calling day's ladder that have the problem's type, in the order of the ladder, without the exercise
// and libraries.
template <class Problem>
std::vector<Variant<Problem>> variants(const char* ladder, const char* file = __builtin_FILE()) {
  const auto [info, type] = testing_detail::find_ladder(ladder, typeid(Problem), file);
  std::vector<Variant<Problem>> all;
  for (const Row& row : info.rows) {
    if (!row.baseline && !row.exercise && row.launch[type])
      all.emplace_back(row, type, testing_detail::runs_here(info, row, type));
  }
  return all;
}

}  // namespace days
