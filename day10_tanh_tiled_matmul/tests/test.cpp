// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and wrong kernels are in wrong.cu. Here is what is refused.
#include "common/testing.h"
#include "day10_tanh_tiled_matmul/matmul.h"

namespace day10 {
namespace {

template <class Problem>
void expect_refusals(const char* ladder) {
  float value = 0;
  const auto problem = [&](int m, int n, int k) {
    Problem p = {};
    p.a = p.b = &value;
    p.c = &value;
    p.m = m;
    p.n = n;
    p.k = k;
    return p;
  };
  for (const auto& variant : days::variants<Problem>(ladder)) {
    EXPECT_THROW(variant.launch(problem(0, 4, 4)), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch(problem(4, 0, 4)), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch(problem(4, 4, 0)), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch(problem(4, -4, 4)), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch(problem(65535 * 32 + 1, 4, 4)), std::invalid_argument) << variant.name;
  }
  EXPECT_EQ(value, 0);
}

TEST(Day10Refuses, SizesThatAreNotPositiveAndMoreBlocksThanAGridHas) {
  expect_refusals<TanhMatmul<float>>("tanh_matmul");
  expect_refusals<Layer<float>>("layer");
}

TEST(Day10Refuses, AWorkspaceThatIsTooSmall) {
  float value = 0;
  TanhMatmul<float> p = {{&value, &value, &value, 3, 5, 1}, {&value, 59}};
  try {
    tanh_two_launches(p, nullptr);
    FAIL() << "took 59 bytes for 15 floats";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "two_launches: needs a workspace of 60 bytes, not 59");
  }
}

TEST(Day10Refuses, NoElements) {
  float value = 0;
  EXPECT_THROW(tanh_alone({&value, &value, 0}, nullptr), std::invalid_argument);
  EXPECT_THROW(tanh_alone({&value, &value, -1}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace day10
