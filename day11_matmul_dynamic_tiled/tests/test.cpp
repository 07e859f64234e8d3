// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and wrong kernels are in wrong.cu. Here is what a tile too
// large is told, and what the occupancy API picks.
#include <string>

#include "common/testing.h"
#include "day11_matmul_dynamic_tiled/matmul.h"

namespace day11 {
namespace {

std::string refusal(int tile) {
  float value = 0;
  try {
    matmul_by_hand({{&value, &value, &value, 1, 1, 1}, tile}, nullptr);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Day11Refuses, TilesThatDoNotFitWithTheNumbers) {
  const std::string most = std::to_string(days::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  EXPECT_EQ(
      refusal(256),
      "by_hand: a tile of 256 x 256 takes 327680 bytes of shared memory, and this device gives a block " +
          most);
  EXPECT_EQ(refusal(65536),
            "by_hand: a tile of 65536 x 65536 takes 17196646400 bytes of shared memory, and this device "
            "gives a block " +
                most);
  EXPECT_EQ(refusal(48), "by_hand: needs tile % 32 == 0; tile is 48");
  EXPECT_EQ(refusal(0), "by_hand: needs tile >= 32; tile is 0");
  EXPECT_EQ(refusal(-32), "by_hand: needs tile >= 32; tile is -32");
}

TEST(Day11Picks, NoBlockOfATileThatDoesNotFit) {
  EXPECT_EQ(resident_blocks(256), 0);
  EXPECT_GE(resident_blocks(32), 1);
}

TEST(Day11Picks, ALargerTileForALargerMatrixAndNeverOneAlone) {
  EXPECT_EQ(picked_tile(1, 1), 32);
  int before = 32;
  for (int side = 32; side <= 1 << 20; side *= 2) {
    const int tile = picked_tile(side, side);
    EXPECT_GE(tile, before) << side;
    EXPECT_TRUE(tile == 32 || resident_blocks(tile) >= 2) << tile;
    before = tile;
  }
  EXPECT_GT(before, 32);
}

TEST(Day11Picks, TheLargestOfWhichTwoFitWhereThereAreEnough) {
  for (int larger = picked_tile(1 << 20, 1 << 20) + 32; larger <= 256; larger += 32) {
    EXPECT_LT(resident_blocks(larger), 2) << larger;
  }
}

TEST(Day11Picks, OnlyWhatFillsEveryMultiprocessor) {
  // So few rows and columns that a tile of the largest size that is picked makes one block fewer than fit at once.
  const int tile = picked_tile(1 << 20, 1 << 20);
  const int at_once = resident_blocks(tile) * days::multiprocessors();
  EXPECT_EQ(picked_tile(1, tile * at_once), tile);
  EXPECT_LT(picked_tile(1, tile * (at_once - 1)), tile);
}

}  // namespace
}  // namespace day11
