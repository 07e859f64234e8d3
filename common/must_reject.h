// SPDX-License-Identifier: MIT
//
// Wrong kernels: each has one bug, which the tests of its ladder have to find, and find for the right reason.
// dayNN_name/tests/wrong.cu says below each kernel
//
//   MUST_REJECT(matmul, drops_tail, "300 x 1 x 5: c[0,0] is");
//
// where drops_tail is a launcher, void drops_tail(const Matmul<T>&, cudaStream_t) for a type T of the ladder. The
// day's tests run it like a variant, on every test shape with the ladder's inputs and each hostile one, until a
// check fails. What is said then, "rejected at 300 x 1 x 5: c[0,0] is 1.5, expected 2.25; ...", must contain the
// text, or one of several with | between: what the bug does, in a word or two that are the same on every
// device; or the slug of the CPU backend's report, "simt-race-shared", which a checked build makes of some. A
// launch that fails is no rejection. tests/testing.cpp does all that.
//
// What a GPU makes right by itself, or by the luck that its lanes move in step, the CPU backend alone can reject:
//
//   MUST_REJECT_ON_CPU(sum, last_warp, "simt-race-shared|sum[0] is", "the lanes of a warp move in step");
//
// is skipped on a GPU, with the reason.
//
// Where a file launches its wrong kernels alike, by a template, the launcher may be launch<drops_tail> (or
// launch_...<drops_tail>); the test is called drops_tail then.
#pragma once

#include <cuda_runtime.h>

#include <typeinfo>

#include "common/function.h"

#define MUST_REJECT(ladder, wrong, message) DAYS_REJECT(#ladder, #wrong, wrong, message, nullptr)
#define MUST_REJECT_ON_CPU(ladder, wrong, message, right_on_gpu) \
  DAYS_REJECT(#ladder, #wrong, wrong, message, right_on_gpu)
#define DAYS_REJECT(ladder, name, wrong, message, right_on_gpu)                 \
  [[maybe_unused]] static const bool DAYS_REJECT_JOIN(days_reject_, __LINE__) = \
      ::days::testing_detail::register_wrong(ladder, name, wrong, message, __FILE__, __LINE__, right_on_gpu)
#define DAYS_REJECT_JOIN(a, b) DAYS_REJECT_JOIN_NOW(a, b)
#define DAYS_REJECT_JOIN_NOW(a, b) a##b

namespace days::testing_detail {

// A wrong kernel's launcher, and the problem that it takes.
struct Wrong {
  const char* ladder;
  const char* name;
  const std::type_info& problem;
  Function<void(const void* problem, cudaStream_t)> launch;
  const char* message;  // null: no test is made of it
  const char* file;
  int line;
  const char* right_on_gpu;  // why a GPU's results are right, or null
};
bool register_wrong(const Wrong& wrong);

template <class Problem>
bool register_wrong(const char* ladder, const char* name, void (*wrong)(const Problem&, cudaStream_t),
                    const char* message, const char* file, int line, const char* right_on_gpu = nullptr) {
  const auto launch = [wrong](const void* problem, cudaStream_t stream) {
    wrong(*static_cast<const Problem*>(problem), stream);
  };
  return register_wrong({ladder, name, typeid(Problem), launch, message, file, line, right_on_gpu});
}

}  // namespace days::testing_detail
