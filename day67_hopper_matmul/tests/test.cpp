// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/testing.h"
#include "day67_hopper_matmul/matmul.h"

namespace day67 {
namespace {

// The pointers are never followed: the launchers must have thrown before.
TEST(Day67Refuses, MoreTilesThanAGridHasBlocks) {
  alignas(16) days::half h[64] = {};
  for (const auto& variant : days::variants<Product<days::half>>("half")) {
    Product<days::half> p;
    p.a = p.b = p.c = h;
    p.m = p.n = (1 << 30) + 8;
    p.k = 8;
    EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
  }
}

// Seventeen rows of tiles, and of pairs of tiles, are a whole group and one row more: each tile has one block, and only one.
TEST(Day67Walk, TakesEveryTileOfSeveralGroups) {
  const int m = 17 * 256 - 100, n = 264, k = 8;
  const auto rows = static_cast<size_t>(m), cols = static_cast<size_t>(n), depth = static_cast<size_t>(k);
  std::vector<days::half> a(rows * depth), b(depth * cols);
  const auto number = [](size_t i) { return static_cast<float>(i % 7) - 3; };
  for (size_t i = 0; i < a.size(); ++i) a[i] = days::from_float<days::half>(number(i * 5 / 3));
  for (size_t i = 0; i < b.size(); ++i) b[i] = days::from_float<days::half>(number(i * 11 / 2));
  const days::DeviceBuffer<days::half> device_a(a), device_b(b), device_c(rows * cols);
  for (const auto& variant : days::variants<Product<days::half>>("half")) {
    const std::string name = variant.name;
    if (!variant.runs_here || (name != "persistent" && name != "clusters")) continue;
    Product<days::half> p;
    static_cast<Matmul<days::half>&>(p) = {device_a.data(), device_b.data(), device_c.data(), m, n, k};
    variant.launch(p);
    const std::vector<days::half> c = device_c.download();
    size_t wrong = 0;
    for (size_t row = 0; row < rows; ++row) {
      for (size_t col = 0; col < cols; ++col) {
        float sum = 0;
        for (size_t i = 0; i < depth; ++i)
          sum += days::to_float(a[row * depth + i]) * days::to_float(b[i * cols + col]);
        wrong += days::to_float(c[row * cols + col]) == sum ? 0 : 1;
      }
    }
    EXPECT_EQ(wrong, 0u) << name;
  }
}

}  // namespace
}  // namespace day67
