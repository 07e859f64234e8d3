// SPDX-License-Identifier: MIT
//
// Tests of a ladder with GoogleTest. What is behind them, and the main() of the test program, is
// tests/testing.cpp.
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

#include <string>
#include <type_traits>

#include "common/buffer.h"
#include "common/check.h"
#include "common/ladder.h"

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

bool register_ladder(const std::string& suite, const LadderInfo& ladder, const char* file, int line);
bool register_wrong(const std::string& suite, const LadderInfo& ladder, const std::string& name,
                    detail::Launch launcher, const char* file, int line);

template <class First>
bool register_rejected(const char* suite, const LadderInfo& ladder, const char* name,
                       void (*launcher)(const First&, cudaStream_t), const char* file, int line) {
  return register_wrong(suite, ladder, name, detail::erase_launcher<First>(launcher), file, line);
}

}  // namespace days::testing_detail
