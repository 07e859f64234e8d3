// SPDX-License-Identifier: MIT
//
// Several numbers in one word: CUDA's SIMD intrinsics and DPX, against plain arithmetic on arrays of lanes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace simd_test {

using Word = unsigned int;

// The lanes of a word as wide integers, lowest first.
std::vector<long long> lanes(Word word, int count, bool is_signed) {
  const int bits = 32 / count;
  std::vector<long long> result;
  for (int i = 0; i < count; ++i) {
    long long lane =
        static_cast<long long>(static_cast<std::uint64_t>(word) >> (bits * i) & ((1ull << bits) - 1));
    if (is_signed && lane >> (bits - 1)) lane -= 1ll << bits;
    result.push_back(lane);
  }
  return result;
}

enum class Fit { wrap, saturate };
Word pack(const std::vector<long long>& values, bool is_signed, Fit fit) {
  const int bits = 32 / static_cast<int>(values.size());
  const long long most = (1ll << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
  Word word = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const long long v = fit == Fit::saturate ? std::clamp(values[i], least, most) : values[i];
    word |= static_cast<Word>(static_cast<std::uint64_t>(v) & ((1ull << bits) - 1))
            << (bits * static_cast<int>(i));
  }
  return word;
}

// Words of hostile and of random lanes.
std::vector<Word> words() {
  std::vector<Word> all = {0,           1,           ~0u,         0x80000000u, 0x7fffffffu, 0x80008000u,
                           0x7fff7fffu, 0x80808080u, 0x7f7f7f7fu, 0x80ff7f01u, 0x00018000u, 0xffff0001u};
  Word x = 12345;
  for (int i = 0; i < 90; ++i) all.push_back(x = x * 1664525u + 1013904223u);
  return all;
}

using Unary = std::function<long long(long long)>;
using Binary = std::function<long long(long long, long long)>;

void check1(const char* name, Word (*f)(Word), int count, bool is_signed, Fit fit, const Unary& lane) {
  for (const Word a : words()) {
    std::vector<long long> x = lanes(a, count, is_signed);
    for (long long& v : x) v = lane(v);
    ASSERT_EQ(f(a), pack(x, is_signed, fit)) << name << std::hex << " " << a;
  }
}
void check2(const char* name, Word (*f)(Word, Word), int count, bool is_signed, Fit fit, const Binary& lane) {
  for (const Word a : words()) {
    for (const Word b : words()) {
      std::vector<long long> x = lanes(a, count, is_signed);
      const std::vector<long long> y = lanes(b, count, is_signed);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = lane(x[i], y[i]);
      ASSERT_EQ(f(a, b), pack(x, is_signed, fit)) << name << std::hex << " " << a << " " << b;
    }
  }
}
#define CHECK1(name, sign, fit, lane)             \
  check1(#name "2", name##2, 2, sign, fit, lane); \
  check1(#name "4", name##4, 4, sign, fit, lane)
#define CHECK2(name, sign, fit, lane)             \
  check2(#name "2", name##2, 2, sign, fit, lane); \
  check2(#name "4", name##4, 4, sign, fit, lane)

long long half_up(long long sum) {  // a mean, its halves away from zero as __vavgs rounds them
  return sum >= 0 ? (sum + 1) / 2 : -((1 - sum) / 2);
}

TEST(Simd, ArithmeticInEveryLane) {
  const Binary add = [](long long a, long long b) { return a + b; };
  const Binary subtract = [](long long a, long long b) { return a - b; };
  const Binary difference = [](long long a, long long b) { return a > b ? a - b : b - a; };
  CHECK2(__vadd, false, Fit::wrap, add);
  CHECK2(__vaddss, true, Fit::saturate, add);
  CHECK2(__vaddus, false, Fit::saturate, add);
  CHECK2(__vsub, false, Fit::wrap, subtract);
  CHECK2(__vsubss, true, Fit::saturate, subtract);
  CHECK2(__vsubus, false, Fit::saturate, subtract);
  CHECK2(__vabsdiffs, true, Fit::wrap, difference);
  CHECK2(__vabsdiffu, false, Fit::wrap, difference);
  CHECK2(__vavgs, true, Fit::wrap, [](long long a, long long b) { return half_up(a + b); });
  CHECK2(__vavgu, false, Fit::wrap, [](long long a, long long b) { return (a + b + 1) / 2; });
  CHECK2(__vhaddu, false, Fit::wrap, [](long long a, long long b) { return (a + b) / 2; });
  const Unary size = [](long long a) { return a < 0 ? -a : a; }, negative = [](long long a) { return -a; };
  CHECK1(__vabs, true, Fit::wrap, size);
  CHECK1(__vabsss, true, Fit::saturate, size);
  CHECK1(__vneg, true, Fit::wrap, negative);
  CHECK1(__vnegss, true, Fit::saturate, negative);
}

TEST(Simd, MinimaAndMaximaInEveryLane) {
  const Binary least = [](long long a, long long b) { return a < b ? a : b; };
  const Binary most = [](long long a, long long b) { return a > b ? a : b; };
  CHECK2(__vmaxs, true, Fit::wrap, most);
  CHECK2(__vmaxu, false, Fit::wrap, most);
  CHECK2(__vmins, true, Fit::wrap, least);
  CHECK2(__vminu, false, Fit::wrap, least);
}

#define CHECK_RELATION(name, sign, relation)                                                                 \
  CHECK2(__vcmp##name, sign, Fit::wrap, [](long long a, long long b) { return a relation b ? -1ll : 0ll; }); \
  CHECK2(__vset##name, sign, Fit::wrap, [](long long a, long long b) { return a relation b ? 1ll : 0ll; })

TEST(Simd, ComparisonsInEveryLane) {
  CHECK_RELATION(eq, false, ==);
  CHECK_RELATION(ne, false, !=);
  CHECK_RELATION(ges, true, >=);
  CHECK_RELATION(geu, false, >=);
  CHECK_RELATION(gts, true, >);
  CHECK_RELATION(gtu, false, >);
  CHECK_RELATION(les, true, <=);
  CHECK_RELATION(leu, false, <=);
  CHECK_RELATION(lts, true, <);
  CHECK_RELATION(ltu, false, <);
}

TEST(Simd, SumsOfDifferences) {
  for (const Word a : words()) {
    for (const Word b : words()) {
      for (const int count : {2, 4}) {
        for (const bool is_signed : {false, true}) {
          long long sum = 0;
          for (int i = 0; i < count; ++i) {
            const auto i_ = static_cast<std::size_t>(i);
            sum += std::abs(lanes(a, count, is_signed)[i_] - lanes(b, count, is_signed)[i_]);
          }
          const Word got = count == 2 ? (is_signed ? __vsads2(a, b) : __vsadu2(a, b))
                                      : (is_signed ? __vsads4(a, b) : __vsadu4(a, b));
          ASSERT_EQ(got, sum) << std::hex << a << " " << b;
        }
      }
    }
  }
}

// DPX: on words and on halves, signed and unsigned. Sums wrap around before they are compared.
using Ternary = std::function<long long(long long, long long, long long)>;
long long wrapped(long long v, int bits, bool is_signed) {
  const long long low = static_cast<long long>(static_cast<std::uint64_t>(v) & ((1ull << bits) - 1));
  return is_signed && low >> (bits - 1) ? low - (1ll << bits) : low;
}
void check3(const char* name, Word (*f)(Word, Word, Word), int count, bool is_signed, const Ternary& lane) {
  const std::vector<Word> all = words();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      const Word a = all[i], b = all[j], c = all[(3 * i + 7 * j) % all.size()];
      std::vector<long long> x = lanes(a, count, is_signed);
      const std::vector<long long> y = lanes(b, count, is_signed), z = lanes(c, count, is_signed);
      for (std::size_t k = 0; k < x.size(); ++k) x[k] = lane(x[k], y[k], z[k]);
      ASSERT_EQ(f(a, b, c), pack(x, is_signed, Fit::wrap))
          << name << std::hex << " " << a << " " << b << " " << c;
    }
  }
}
Ternary not_negative(const Ternary& f) {
  return [f](long long a, long long b, long long c) { return std::max(f(a, b, c), 0ll); };
}
// The same function on whole words takes int: by unsigned words, for check3().
template <int (*f)(int, int, int)>
Word as_words(Word a, Word b, Word c) {
  return static_cast<Word>(f(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)));
}
#define CHECK3(name, lane)                                                                     \
  check3(#name "_s32", as_words<name##_s32>, 1, true, lane(32, true));                         \
  check3(#name "_u32", name##_u32, 1, false, lane(32, false));                                 \
  check3(#name "_s16x2", name##_s16x2, 2, true, lane(16, true));                               \
  check3(#name "_u16x2", name##_u16x2, 2, false, lane(16, false));                             \
  check3(#name "_s32_relu", as_words<name##_s32_relu>, 1, true, not_negative(lane(32, true))); \
  check3(#name "_s16x2_relu", name##_s16x2_relu, 2, true, not_negative(lane(16, true)))

TEST(Dpx, ThreeOperands) {
  const auto max3 = [](int, bool) {
    return Ternary([](long long a, long long b, long long c) { return std::max({a, b, c}); });
  };
  const auto min3 = [](int, bool) {
    return Ternary([](long long a, long long b, long long c) { return std::min({a, b, c}); });
  };
  const auto add_max = [](int bits, bool is_signed) {
    return Ternary(
        [=](long long a, long long b, long long c) { return std::max(wrapped(a + b, bits, is_signed), c); });
  };
  const auto add_min = [](int bits, bool is_signed) {
    return Ternary(
        [=](long long a, long long b, long long c) { return std::min(wrapped(a + b, bits, is_signed), c); });
  };
  CHECK3(__vimax3, max3);
  CHECK3(__vimin3, min3);
  CHECK3(__viaddmax, add_max);
  CHECK3(__viaddmin, add_min);
}

TEST(Dpx, TwoOperandsAndWhichWasChosen) {
  for (const Word a : words()) {
    for (const Word b : words()) {
      const int x = static_cast<int>(a), y = static_cast<int>(b);
      bool first = false, high = false, low = false;
      ASSERT_EQ(__vimax_s32_relu(x, y), std::max({x, y, 0}));
      ASSERT_EQ(__vimin_s32_relu(x, y), std::max(std::min(x, y), 0));
      ASSERT_EQ(__vibmax_s32(x, y, &first), std::max(x, y));
      ASSERT_EQ(first, x >= y);
      ASSERT_EQ(__vibmin_u32(a, b, &first), std::min(a, b));
      ASSERT_EQ(first, a <= b);
      const auto s = lanes(a, 2, true), t = lanes(b, 2, true), u = lanes(a, 2, false), v = lanes(b, 2, false);
      ASSERT_EQ(__vibmin_s16x2(a, b, &high, &low),
                pack({std::min(s[0], t[0]), std::min(s[1], t[1])}, true, Fit::wrap));
      ASSERT_EQ(high, s[1] <= t[1]);
      ASSERT_EQ(low, s[0] <= t[0]);
      ASSERT_EQ(__vibmax_u16x2(a, b, &high, &low),
                pack({std::max(u[0], v[0]), std::max(u[1], v[1])}, false, Fit::wrap));
      ASSERT_EQ(high, u[1] >= v[1]);
      ASSERT_EQ(low, u[0] >= v[0]);
      ASSERT_EQ(__vimax_s16x2_relu(a, b),
                pack({std::max({s[0], t[0], 0ll}), std::max({s[1], t[1], 0ll})}, true, Fit::wrap));
    }
  }
}

}  // namespace simd_test
