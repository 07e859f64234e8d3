// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <typeinfo>
#include <vector>

#include "common/buffer.h"
#include "common/instance.h"
#include "common/random.h"
#include "common/stream.h"
#include "common/testing.h"
#include "day46_rope/frequencies.h"
#include "day46_rope/rope.h"
#include "day46_rope/rope_at.h"

namespace day46 {
namespace {

const char* const kLadders[] = {"rope_product", "rope", "rope_interleaved", "rope_backward"};

// A problem whose arrays nobody follows: launchers throw before.
Rope<float> problem() {
  const auto at = [](int64_t i) { return reinterpret_cast<float*>(i << 40); };
  return {at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), 0, 4, 2, 1, 16, 0, 4, {}};
}

TEST(Day46Refuses, WhatIsNoProblem) {
  for (const char* ladder : kLadders) {
    for (const auto& variant : days::variants<Rope<float>>(ladder)) {
      const auto refused = [&](const char* what, auto change) {
        Rope<float> p = problem();
        change(p);
        EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << ", " << what;
      };
      refused("half a pair", [](auto& p) { p.dim = 17; });
      refused("before the first position", [](auto& p) { p.start = p.table_start = -1; });
      refused("beyond 2^24", [](auto& p) { p.start = p.table_start = (1 << 24) - 3; });
      refused("a start whose sum with seq would overflow", [](auto& p) { p.start = INT64_MAX - 1; });
      refused("a head of too many elements", [](auto& p) { p.heads = 1 << 30; });
      refused("output over input, in part", [](auto& p) { p.rotated_q = const_cast<float*>(p.q) + 16; });
      refused("output over input of k, in part", [](auto& p) { p.rotated_k = const_cast<float*>(p.k) + 16; });
    }
  }
}

TEST(Day46Refuses, TokensThatAreNoProblem) {
  const auto at = [](int64_t i) { return reinterpret_cast<float*>(i << 40); };
  const RopeAt<float> right = {
      at(1), at(2), reinterpret_cast<int32_t*>(int64_t{3} << 40), at(4), at(5), at(6), 4, 32, 16, 2, 1,
      16,    {}};
  for (const auto& variant : days::variants<RopeAt<float>>("rope_at")) {
    const auto refused = [&](const char* what, auto change) {
      RopeAt<float> p = right;
      change(p);
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << ", " << what;
    };
    refused("no tokens", [](auto& p) { p.tokens = 0; });
    refused("no heads", [](auto& p) { p.heads = 0; });
    refused("no heads of k", [](auto& p) { p.kv_heads = -1; });
    refused("half a pair", [](auto& p) { p.dim = 17; });
    refused("a head of too many elements", [](auto& p) { p.heads = 1 << 30; });
    refused("tokens of q that overlap", [](auto& p) { p.q_pitch = 31; });
    refused("tokens of k that overlap", [](auto& p) { p.k_pitch = 15; });
    refused("more than memory", [](auto& p) { p.tokens = int64_t{1} << 60; });
    refused("output over input, in part", [](auto& p) { p.rotated_q = const_cast<float*>(p.q) + 96; });
    refused("output over input of k, in part", [](auto& p) { p.rotated_k = const_cast<float*>(p.k) - 16; });
  }
}

TEST(Day46Refuses, PositionsPastTheTable) {
  int tables = 0;
  for (const auto& variant : days::variants<Rope<float>>("rope")) {
    if (variant.name != "table") continue;
    ++tables;
    for (const auto& [start, seq, from, positions] : {std::array<int64_t, 4>{0, 5, 0, 4},
                                                      {1, 4, 0, 4},
                                                      {4, 1, 0, 4},
                                                      {9, 4, 10, 100},
                                                      {100000, 1, 0, 100000}}) {
      Rope<float> p = problem();
      p.start = start;
      p.seq = seq;
      p.table_start = from;
      p.positions = positions;
      try {
        variant.launch(p);
        ADD_FAILURE() << "positions " << start << " to " << start + seq << " of a table from " << from;
      } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("the table begins at position " + std::to_string(from)),
                  std::string::npos)
            << error.what();
      }
    }
  }
  EXPECT_EQ(tables, 1);
}

// What the reference turns by is made of frequencies.h, so these are checked against numbers from elsewhere.
TEST(Day46Frequencies, ArePowersOfTheBase) {
  const Scaling plain;
  EXPECT_DOUBLE_EQ(frequency(plain, 0, 128), 1);
  EXPECT_NEAR(frequency(plain, 32, 128), 0.01, 1e-15);
  EXPECT_NEAR(frequency(plain, 63, 128), 1e-4 * std::pow(10, 4.0 / 64), 1e-16);
  EXPECT_DOUBLE_EQ(frequency({.base = 500000}, 1, 2 * 1), 1.0 / 500000);
}
TEST(Day46Frequencies, LinearDividesAllOfThem) {
  for (int64_t i = 0; i < 32; ++i)
    EXPECT_DOUBLE_EQ(frequency({.kind = Scaling::kLinear, .factor = 4}, i, 64), frequency({}, i, 64) / 4);
}
TEST(Day46Frequencies, NtkLeavesTheFastestAndDividesTheSlowest) {
  const Scaling ntk = {.kind = Scaling::kNtk, .factor = 8};
  EXPECT_DOUBLE_EQ(frequency(ntk, 0, 64), 1);
  EXPECT_NEAR(frequency(ntk, 31, 64) * 8 / frequency({}, 31, 64), 1, 1e-12);
  EXPECT_DOUBLE_EQ(frequency(ntk, 0, 2), 1);
}
// Llama 3.1: factor 8, trained on 8,192; a turn within 2,048 positions stays, one of more than 8,192 is divided.
TEST(Day46Frequencies, Llama3DividesWhatTurnsTooSlowly) {
  const Scaling llama = {.kind = Scaling::kLlama3, .base = 500000, .factor = 8};
  const Scaling plain = {.base = 500000};
  double before = INFINITY;
  int kept = 0, mixed = 0, divided = 0;
  for (int64_t i = 0; i < 64; ++i) {
    const double was = frequency(plain, i, 128), is = frequency(llama, i, 128), positions = 2 * kPi / was;
    if (positions < 8192.0 / 4) {
      EXPECT_DOUBLE_EQ(is, was) << i;
      ++kept;
    } else if (positions > 8192) {
      EXPECT_DOUBLE_EQ(is, was / 8) << i;
      ++divided;
    } else {
      EXPECT_GT(is, was / 8) << i;
      EXPECT_LT(is, was) << i;
      ++mixed;
    }
    EXPECT_LT(is, before) << i;  // still in order
    before = is;
  }
  EXPECT_EQ(kept, 29);
  EXPECT_EQ(mixed, 6);
  EXPECT_EQ(divided, 29);
  // Continuous where the mix begins and ends.
  const auto near = [&](double turns) {
    Scaling s = llama;
    s.trained = turns * 2 * kPi;  // the fastest pair makes so many turns in it
    return frequency(s, 0, 128);
  };
  EXPECT_NEAR(near(1 + 1e-9), 1.0 / 8, 1e-8);
  EXPECT_NEAR(near(4 - 1e-9), 1, 1e-8);
  EXPECT_NEAR(near(2.5), (1.0 / 8 + 1) / 2, 1e-12);
}
TEST(Day46Frequencies, TwoFloatsHold48Digits) {
  for (int64_t i = 0; i < 64; ++i) {
    const double of = frequency({}, i, 128) / (2 * kPi);
    const Turns turns = turns_of(frequency({}, i, 128));
    EXPECT_LE(std::abs(static_cast<double>(turns.high) + static_cast<double>(turns.low) - of), 0x1p-48 * of)
        << i;
  }
}

// Device memory with the numbers of a list.
template <class T>
struct Loaded {
  days::DeviceBuffer<T> buffer;
  explicit Loaded(const std::vector<T>& list) : buffer(list.size()) {
    CUDA_CHECK(cudaMemcpy(buffer.data(), list.data(), list.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> numbers() const {
    std::vector<T> list(buffer.size());
    CUDA_CHECK(cudaMemcpy(list.data(), buffer.data(), list.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return list;
  }
};

constexpr int kSeq = 3, kHeads = 2, kDim = 64;
std::vector<float> random_heads(uint64_t seed) {
  std::vector<float> list(kSeq * kHeads * kDim);
  for (size_t i = 0; i < list.size(); ++i) list[i] = days::normal(seed, i);
  return list;
}
std::vector<float> turned(const days::Variant<Rope<float>>& variant, const std::vector<float>& x,
                          int64_t start) {
  std::vector<float> frequencies, turns(kDim), cosines, sines;
  for (int64_t i = 0; i < kDim / 2; ++i) {
    frequencies.push_back(static_cast<float>(frequency({}, i, kDim)));
    const Turns of = turns_of(frequency({}, i, kDim));
    turns[static_cast<size_t>(i)] = of.high;
    turns[static_cast<size_t>(kDim / 2 + i)] = of.low;
  }
  for (int64_t row = 0; row < kSeq; ++row) {
    for (int64_t i = 0; i < kDim / 2; ++i) {
      const double angle = static_cast<double>(start + row) * frequency({}, i, kDim);
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  const Loaded<float> q(x), k(x), by_frequency(frequencies), by_turns(turns), c(cosines), s(sines);
  Loaded<float> rotated_q(x), rotated_k(x);
  variant.launch({q.buffer.data(),
                  k.buffer.data(),
                  by_frequency.buffer.data(),
                  by_turns.buffer.data(),
                  c.buffer.data(),
                  s.buffer.data(),
                  rotated_q.buffer.data(),
                  rotated_k.buffer.data(),
                  start,
                  kSeq,
                  kHeads,
                  kHeads,
                  kDim,
                  start,
                  kSeq,
                  {}});
  const std::vector<float> result = rotated_q.numbers();
  EXPECT_EQ(result, rotated_k.numbers()) << variant.name;  // q and k were the same
  return result;
}
days::Variant<Rope<float>> of_name(const char* ladder, const std::string& name) {
  for (const auto& variant : days::variants<Rope<float>>(ladder)) {
    if (variant.name == name) return variant;
  }
  throw std::invalid_argument("no " + name);
}

// One row of q, k and v a token, as a product makes it, turned where it is: the bits of `vectors`, whatever stands between, and v as it was.
TEST(Day46, PositionsTurnAsVectorsDo) {
  constexpr int64_t kStart = 4711;
  const std::vector<float> x = random_heads(5);
  const std::vector<float> want = turned(of_name("rope", "vectors"), x, kStart);
  constexpr size_t kRow = kHeads * kDim;
  std::vector<float> rows, turns(kDim);
  const size_t order[kSeq] = {2, 0, 1};
  std::vector<int32_t> positions;
  for (const size_t token : order) {
    for (int part = 0; part < 3; ++part)
      rows.insert(rows.end(), x.begin() + static_cast<std::ptrdiff_t>(token * kRow),
                  x.begin() + static_cast<std::ptrdiff_t>((token + 1) * kRow));
    positions.push_back(static_cast<int32_t>(kStart + static_cast<int64_t>(token)));
  }
  for (int64_t i = 0; i < kDim / 2; ++i) {
    const Turns of = turns_of(frequency({}, i, kDim));
    turns[static_cast<size_t>(i)] = of.high;
    turns[static_cast<size_t>(kDim / 2 + i)] = of.low;
  }
  for (const auto& variant : days::variants<RopeAt<float>>("rope_at")) {
    Loaded<float> qkv(rows);
    const Loaded<float> by_turns(turns);
    const Loaded<int32_t> at(positions);
    float *const q = qkv.buffer.data(), *const k = q + kRow;
    variant.launch({q,
                    k,
                    at.buffer.data(),
                    by_turns.buffer.data(),
                    q,
                    k,
                    kSeq,
                    3 * kRow,
                    3 * kRow,
                    kHeads,
                    kHeads,
                    kDim,
                    {}});
    const std::vector<float> got = qkv.numbers();
    for (size_t token = 0; token < kSeq; ++token) {
      for (size_t i = 0; i < kRow; ++i) {
        const size_t from = order[token] * kRow + i, first = 3 * kRow * token + i;
        EXPECT_EQ(got[first], want[from]) << variant.name << ", q of token " << token << " at " << i;
        EXPECT_EQ(got[first + kRow], want[from]) << variant.name << ", k of token " << token << " at " << i;
        EXPECT_EQ(got[first + 2 * kRow], x[from]) << variant.name << ", v of token " << token << " at " << i;
      }
    }
  }
}

// What attention sees of q and k is their product, and RoPE's point is that it depends on how far they are apart, and not on
// where they are. At 1,000,000 a product in fp32 has lost that.
TEST(Day46, ScoresDependOnTheDistanceAlone) {
  const std::vector<float> q = random_heads(1), k = random_heads(2);
  const auto worst = [&](const days::Variant<Rope<float>>& variant, int64_t far) {
    double most = 0;
    const auto scores = [&](int64_t start) {
      // token 2 of q against token 0 of k
      const std::vector<float> a = turned(variant, q, start), b = turned(variant, k, start);
      std::vector<double> all;
      for (size_t head = 0; head < kHeads; ++head) {
        double sum = 0;
        for (size_t i = 0; i < kDim; ++i)
          sum += static_cast<double>(a[(2 * kHeads + head) * kDim + i]) *
                 static_cast<double>(b[head * kDim + i]);
        all.push_back(sum);
      }
      return all;
    };
    const std::vector<double> near = scores(0), there = scores(far);
    for (size_t i = 0; i < near.size(); ++i) most = std::max(most, std::abs(near[i] - there[i]));
    return most;
  };
  for (const auto& variant : days::variants<Rope<float>>("rope"))
    EXPECT_LT(worst(variant, 1000003), 1e-5) << variant.name;
  EXPECT_LT(worst(of_name("rope_interleaved", "interleaved"), 1000003), 1e-5);
  EXPECT_GT(worst(of_name("rope_product", "product"), 1000003), 1e-2);
}

// The harness's case of special values, of any shape.
days::Report of_special_values(const char* name, const days::Shape& shape, const days::Row& row) {
  const auto [ladder, type] = days::testing_detail::find_ladder(name, typeid(Rope<float>));
  size_t maker = 0;
  while (ladder.makers.at(maker).name != "special values") ++maker;
  const days::Stream stream;
  return days::Instance(ladder, type, shape, maker).run(row, stream);
}

// 355 is nearly 113 pi, so that sin(1065) is -0.00009: an angle in fp32 may have its sign wrong, and infinity times it, too. At 1702 a
// pair is so near the largest number that the angle decides whether it is infinite. Inputs that ask for such digits are no test
// of a kernel. With 17 heads of q each pair of special values comes by at each angle.
TEST(Day46, SpecialValuesAskForNoMoreDigitsThanAnAngleHas) {
  for (const days::Row& row :
       days::testing_detail::find_ladder("rope_product", typeid(Rope<float>)).ladder.rows) {
    const days::Report report = of_special_values("rope_product", {1703, 1703, 17, 1, 64}, row);
    EXPECT_TRUE(report.ok()) << row.name << ":\n" << report.text();
  }
}
// What turns the wrong way is still rejected by them.
TEST(Day46, SpecialValuesShowAWrongSign) {
  for (const days::Row& row :
       days::testing_detail::find_ladder("rope_backward", typeid(Rope<float>)).ladder.rows)
    EXPECT_FALSE(of_special_values("rope", {33, 33, 17, 1, 16}, row).ok()) << row.name;
}

// Forward and then backward is where one began, at any position; a rotation is orthogonal, so that this is its gradient:
// the sum of dy * R x is that of (backward of dy) * x.
TEST(Day46, InverseIsTheTranspose) {
  const std::vector<float> x = random_heads(3), dy = random_heads(4);
  for (const int64_t start : {0, 1, 100000, (1 << 24) - kSeq}) {
    const std::vector<float> y = turned(of_name("rope", "vectors"), x, start);
    const std::vector<float> again = turned(of_name("rope_backward", "inverse"), y, start);
    const std::vector<float> dx = turned(of_name("rope_backward", "inverse"), dy, start);
    double forward = 0, backward = 0, size = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(again[i], x[i], 2e-6) << start;
      forward += static_cast<double>(dy[i]) * static_cast<double>(y[i]);
      backward += static_cast<double>(dx[i]) * static_cast<double>(x[i]);
      size += std::abs(static_cast<double>(dx[i]) * static_cast<double>(x[i]));
    }
    EXPECT_NEAR(forward, backward, 1e-6 * size) << start;
  }
}

}  // namespace
}  // namespace day46
