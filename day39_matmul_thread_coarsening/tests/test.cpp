// SPDX-License-Identifier: MIT
#include <vector>

#include "common/testing.h"
#include "day39_matmul_thread_coarsening/matmul.h"
#include "day39_matmul_thread_coarsening/tunings.h"

namespace day39 {
namespace {

// A pitch that is less than a row: of a as stored, (m, k) or (k, m), and so on.
TEST(Day39Refuses, PitchesBelowARow) {
  float value = 0;
  using days::Op;
  for (const auto& variant : days::variants<Gemm<float>>("gemm")) {
    for (const Gemm<float>& p : {Gemm<float>{&value, &value, &value, 2, 3, 5, 4, 3, 3, 1, 0, Op::kN, Op::kN},
                                 {&value, &value, &value, 2, 3, 5, 1, 3, 3, 1, 0, Op::kT, Op::kN},
                                 {&value, &value, &value, 2, 3, 5, 5, 2, 3, 1, 0, Op::kN, Op::kN},
                                 {&value, &value, &value, 2, 3, 5, 5, 4, 3, 1, 0, Op::kN, Op::kT},
                                 {&value, &value, &value, 2, 3, 5, 5, 3, 2, 1, 0, Op::kN, Op::kN}}) {
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
    }
  }
  EXPECT_EQ(value, 0);
}

// The pointers are never followed: the launchers must have thrown before.
TEST(Day39Refuses, MoreBlocksThanTheGridHas) {
  const auto in = reinterpret_cast<const float*>(uintptr_t{1} << 40);
  const auto out = reinterpret_cast<float*>(uintptr_t{1} << 50);
  constexpr int kMost = 2147483644;
  for (const auto& variant : days::variants<Matmul<float>>("matmul")) {
    const Matmul<float> tall{in, in, out, kMost, 4, 4}, large{in, in, out, kMost, kMost, 4};
    EXPECT_FALSE(variant.takes(large)) << variant.name;
    EXPECT_THROW(variant.launch(large), std::invalid_argument) << variant.name;
    if (variant.takes(tall)) {
      EXPECT_EQ(variant.name, "autotuned");
      continue;
    }
    EXPECT_THROW(variant.launch(tall), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : days::variants<Gemm<float>>("gemm")) {
    const Gemm<float> large{in, in, out, kMost, kMost, 4, 4, kMost, kMost, 1, 0, days::Op::kN, days::Op::kN};
    EXPECT_FALSE(variant.takes(large)) << variant.name;
    EXPECT_THROW(variant.launch(large), std::invalid_argument) << variant.name;
  }
}

// Every tiling of the table can be made, and the small ones run everywhere: 48 KiB of shared memory need no asking.
TEST(Day39Tunings, ArePossible) {
  EXPECT_EQ(kTunings[0].sm, 0);
  for (const Tunings& row : kTunings) {
    EXPECT_TRUE(possible(row.large) && possible(row.medium) && possible(row.small)) << row.sm;
    EXPECT_LE(row.small.shared_bytes(), 48u * 1024) << row.sm;
    EXPECT_GE(row.small.block_m, 64) << "kBlocksFit counts blocks of 64 x 64";
    EXPECT_GE(row.small.block_n, 64) << "kBlocksFit counts blocks of 64 x 64";
  }
}

TEST(Day39Tunings, KnowsWhatIsImpossible) {
  const Tiling good{128, 128, 8, 64, 64, 8, 16, 4};
  EXPECT_TRUE(possible(good));
  EXPECT_EQ(good.threads(), 128);
  EXPECT_EQ(good.shared_bytes(), 4u * 8 * (132 + 132) * sizeof(float));
  EXPECT_EQ(good.blocks(129, 128), 2);
  std::vector<Tiling> bad(9, good);
  bad[0].block_m = 120;                       // not a multiple of 32, nor of a warp's rows
  bad[1].block_k = 12;                        // a warp copies 8 floats of k
  bad[2].thread_n = 6;                        // no whole float4s
  bad[3].thread_m = 16;                       // 16 lanes
  bad[4].stages = 1;                          // nothing is ahead
  bad[5].warp_m = 48;                         // does not divide the block
  bad[6] = {32, 32, 8, 32, 32, 8, 4, 2};      // possible, in 32 threads
  bad[7] = {1024, 1024, 8, 32, 32, 8, 4, 2};  // 32,768 threads
  bad[8] = {32, 256, 8, 32, 32, 8, 4, 2};     // 256 threads for the 256 floats of a's tile: not a float4 each
  for (size_t i = 0; i < bad.size(); ++i) EXPECT_EQ(possible(bad[i]), i == 6) << i;
}

}  // namespace
}  // namespace day39
