// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <vector>

#include "common/buffer.h"
#include "common/random.h"
#include "common/testing.h"
#include "day75_weight_only_matmul/weight_only_matmul.h"

namespace day75 {
namespace {

const bool kProductsAreGiven =
    days::skeleton_is_given("int4", "all but the weights, so it stores zeros", [](const days::Shape& s) {
      return days::Given{static_cast<size_t>(s[0] * s[1]), false};
    });

// A problem of fp16 on the device, repacked.
struct Ready {
  const days::DeviceBuffer<days::half> x, scale, y;
  const days::DeviceBuffer<days::uint4x2> w;
  Int4Matmul<days::half> p;
  const days::DeviceBuffer<unsigned char> scratch;
  Repacked repacked;

  Ready(int m, int n, int k, const std::vector<days::half>& of_x, const std::vector<days::half>& of_scale,
        const std::vector<days::uint4x2>& of_w)
      : x(of_x),
        scale(of_scale),
        y(static_cast<size_t>(m) * static_cast<size_t>(n)),
        w(of_w),
        p{x.data(), w.data(), scale.data(), y.data(), m, n, k, {}, {}},
        scratch(repacked_workspace(p)) {
    p.workspace = {scratch.data(), scratch.size()};
    repacked = int4_repack(p, nullptr);
    p.setup = {&repacked, &days::detail::kStateTag<Repacked>};
  }
};

// One group, and a scale of 0.5: codes 9 8 6 15 are weights 0.5 0 -1 3.5.
TEST(Day75, TheExampleOfTheNote) {
  std::vector<days::half> x(kGroup, days::from_float<days::half>(0));
  for (int i = 0; i < 4; ++i)
    x[static_cast<size_t>(i)] = days::from_float<days::half>(static_cast<float>(i + 1));
  std::vector<days::uint4x2> w(kGroup / 2, days::uint4x2::of(3, 12));
  w[0] = days::uint4x2::of(9, 8);
  w[1] = days::uint4x2::of(6, 15);
  const Ready ready(1, 1, kGroup, x, {days::from_float<days::half>(0.5f)}, w);
  for (const auto& variant : days::variants<Int4Matmul<days::half>>("int4")) {
    if (!variant.runs_here) continue;
    variant.launch(ready.p);
    EXPECT_EQ(days::to_float(ready.y.download()[0]), 11.5f) << variant.name;
  }
}

// Whichever block comes last adds the same parts in the same order; and tickets are 0 again after each launch.
TEST(Day75, StripedGivesTheSameBitsEachTime) {
  constexpr int kM = 3, kN = 300, kK = 640;
  std::vector<days::half> x, scale;
  std::vector<days::uint4x2> w;
  for (size_t i = 0; i < kM * kK; ++i) x.push_back(days::from_float<days::half>(days::normal(1, i)));
  for (size_t i = 0; i < kN * kK / kGroup; ++i)
    scale.push_back(days::from_float<days::half>(0.01f + days::uniform(2, i)));
  for (size_t i = 0; i < kN * kK / 2; ++i)
    w.push_back({static_cast<uint8_t>(days::uniform_integer(3, i, 0, 256))});
  const Ready ready(kM, kN, kK, x, scale, w);
  EXPECT_GT(Stripes(ready.p).blocks, Stripes(ready.p).row_blocks) << "no rows are shared";
  for (const auto& variant : days::variants<Int4Matmul<days::half>>("int4")) {
    if (variant.name != "striped" || !variant.runs_here) continue;
    std::vector<float> first;
    for (int turn = 0; turn < days::kRunsInOrder; ++turn) {
      const days::InOrder order(turn);
      variant.launch(ready.p);
      std::vector<float> y;
      for (const days::half value : ready.y.download()) y.push_back(days::to_float(value));
      if (turn == 0) first = y;
      EXPECT_EQ(y, first) << "run " << turn;
    }
  }
}

}  // namespace
}  // namespace day75
