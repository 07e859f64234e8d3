// SPDX-License-Identifier: MIT
//
// CUDA's SIMD intrinsics: two halfwords or four bytes in one 32-bit word. A name is __v, the operation, its
// signedness or saturation where it matters (s, u, ss, us), and the number of lanes. Included by
// device_functions.h.
#pragma once

namespace simt {

// Applies f to each lane of one or two words. f computes in int, where nothing overflows; the lane keeps the
// low bits.
template <class Lane, class F>
inline unsigned int each_lane(unsigned int a, F f) noexcept {
  unsigned int result = 0;
  constexpr unsigned int kMask = sizeof(Lane) == 1 ? 0xffu : 0xffffu;
  for (int i = 0; i < static_cast<int>(4 / sizeof(Lane)); ++i) {
    const unsigned int lane = static_cast<unsigned int>(f(static_cast<int>(lane_of<Lane>(a, i)))) & kMask;
    result |= lane << (8 * sizeof(Lane) * i);
  }
  return result;
}
template <class Lane, class F>
inline unsigned int each_lane(unsigned int a, unsigned int b, F f) noexcept {
  unsigned int result = 0;
  constexpr unsigned int kMask = sizeof(Lane) == 1 ? 0xffu : 0xffffu;
  for (int i = 0; i < static_cast<int>(4 / sizeof(Lane)); ++i) {
    const int x = lane_of<Lane>(a, i), y = lane_of<Lane>(b, i);
    result |= (static_cast<unsigned int>(f(x, y)) & kMask) << (8 * sizeof(Lane) * i);
  }
  return result;
}
template <class Lane>
inline int saturate_to(int x) noexcept {
  constexpr bool kSigned = static_cast<Lane>(-1) < static_cast<Lane>(0);
  constexpr int kBits = 8 * static_cast<int>(sizeof(Lane));
  constexpr int kMost = (1 << (kSigned ? kBits - 1 : kBits)) - 1;
  constexpr int kLeast = kSigned ? -kMost - 1 : 0;
  return x < kLeast ? kLeast : x > kMost ? kMost : x;
}

}  // namespace simt

#define SIMT_LANES_1(name, Lane2, Lane4, expression)                   \
  inline unsigned int name##2(unsigned int a) noexcept {               \
    using Lane = Lane2;                                                \
    return simt::each_lane<Lane>(a, [](int x) { return expression; }); \
  }                                                                    \
  inline unsigned int name##4(unsigned int a) noexcept {               \
    using Lane = Lane4;                                                \
    return simt::each_lane<Lane>(a, [](int x) { return expression; }); \
  }
#define SIMT_LANES_2(name, Lane2, Lane4, expression)                                               \
  inline unsigned int name##2(unsigned int a, unsigned int b) noexcept {                           \
    using Lane = Lane2;                                                                            \
    return simt::each_lane<Lane>(a, b, [](int x, int y) { return static_cast<int>(expression); }); \
  }                                                                                                \
  inline unsigned int name##4(unsigned int a, unsigned int b) noexcept {                           \
    using Lane = Lane4;                                                                            \
    return simt::each_lane<Lane>(a, b, [](int x, int y) { return static_cast<int>(expression); }); \
  }
#define SIMT_LANES_SIGNED(name, expression) SIMT_LANES_2(name, short, signed char, expression)
#define SIMT_LANES_UNSIGNED(name, expression) SIMT_LANES_2(name, unsigned short, unsigned char, expression)

SIMT_LANES_UNSIGNED(__vadd, x + y)
SIMT_LANES_SIGNED(__vaddss, simt::saturate_to<Lane>(x + y))
SIMT_LANES_UNSIGNED(__vaddus, simt::saturate_to<Lane>(x + y))
SIMT_LANES_UNSIGNED(__vsub, x - y)
SIMT_LANES_SIGNED(__vsubss, simt::saturate_to<Lane>(x - y))
SIMT_LANES_UNSIGNED(__vsubus, simt::saturate_to<Lane>(x - y))
SIMT_LANES_SIGNED(__vavgs, (x + y + (x + y >= 0)) >> 1)
SIMT_LANES_UNSIGNED(__vavgu, (x + y + 1) >> 1)
SIMT_LANES_UNSIGNED(__vhaddu, (x + y) >> 1)
SIMT_LANES_SIGNED(__vmaxs, x > y ? x : y)
SIMT_LANES_UNSIGNED(__vmaxu, x > y ? x : y)
SIMT_LANES_SIGNED(__vmins, x < y ? x : y)
SIMT_LANES_UNSIGNED(__vminu, x < y ? x : y)
SIMT_LANES_SIGNED(__vabsdiffs, x > y ? x - y : y - x)
SIMT_LANES_UNSIGNED(__vabsdiffu, x > y ? x - y : y - x)

SIMT_LANES_1(__vabs, short, signed char, x < 0 ? -x : x)
SIMT_LANES_1(__vabsss, short, signed char, simt::saturate_to<Lane>(x < 0 ? -x : x))
SIMT_LANES_1(__vneg, short, signed char, -x)
SIMT_LANES_1(__vnegss, short, signed char, simt::saturate_to<Lane>(-x))

// Comparisons: __vcmp* gives all ones in a lane, __vset* gives 1.
#define SIMT_LANES_COMPARE(relation, name)                    \
  SIMT_LANES_SIGNED(__vcmp##name##s, x relation y ? -1 : 0)   \
  SIMT_LANES_UNSIGNED(__vcmp##name##u, x relation y ? -1 : 0) \
  SIMT_LANES_SIGNED(__vset##name##s, x relation y ? 1 : 0)    \
  SIMT_LANES_UNSIGNED(__vset##name##u, x relation y ? 1 : 0)
SIMT_LANES_COMPARE(>=, ge)
SIMT_LANES_COMPARE(>, gt)
SIMT_LANES_COMPARE(<=, le)
SIMT_LANES_COMPARE(<, lt)
SIMT_LANES_UNSIGNED(__vcmpeq, x == y ? -1 : 0)
SIMT_LANES_UNSIGNED(__vcmpne, x != y ? -1 : 0)
SIMT_LANES_UNSIGNED(__vseteq, x == y ? 1 : 0)
SIMT_LANES_UNSIGNED(__vsetne, x != y ? 1 : 0)
#undef SIMT_LANES_COMPARE

// Sums of absolute differences over the lanes.
#define SIMT_LANES_SAD(name, Lane)                                            \
  inline unsigned int name(unsigned int a, unsigned int b) noexcept {         \
    unsigned int sum = 0;                                                     \
    for (int i = 0; i < static_cast<int>(4 / sizeof(Lane)); ++i) {            \
      const int x = simt::lane_of<Lane>(a, i), y = simt::lane_of<Lane>(b, i); \
      sum += static_cast<unsigned int>(x > y ? x - y : y - x);                \
    }                                                                         \
    return sum;                                                               \
  }
SIMT_LANES_SAD(__vsads2, short)
SIMT_LANES_SAD(__vsadu2, unsigned short)
SIMT_LANES_SAD(__vsads4, signed char)
SIMT_LANES_SAD(__vsadu4, unsigned char)
#undef SIMT_LANES_SAD

#undef SIMT_LANES_UNSIGNED
#undef SIMT_LANES_SIGNED
#undef SIMT_LANES_2
#undef SIMT_LANES_1
