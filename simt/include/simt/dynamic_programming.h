// SPDX-License-Identifier: MIT
//
// CUDA's DPX intrinsics: minima and maxima of two or three numbers or of a sum, optionally not below 0
// (relu), on words (s32, u32) and on the two halves of a word (s16x2, u16x2). Sums wrap around. Included by
// device_functions.h.
#pragma once

namespace simt {

template <class T>
inline T lesser_of(T a, T b) noexcept {
  return b < a ? b : a;
}
template <class T>
inline T greater_of(T a, T b) noexcept {
  return a < b ? b : a;
}
template <class T>
inline T wrapping_sum(T a, T b) noexcept {
  return static_cast<T>(static_cast<unsigned int>(a) + static_cast<unsigned int>(b));
}
// f on the halves of three words.
template <class Lane, class F>
inline unsigned int each_half(unsigned int a, unsigned int b, unsigned int c, F f) noexcept {
  const auto half = [&](int i) {
    return static_cast<unsigned int>(
               static_cast<unsigned short>(f(lane_of<Lane>(a, i), lane_of<Lane>(b, i), lane_of<Lane>(c, i))))
           << (16 * i);
  };
  return half(0) | half(1);
}

}  // namespace simt

// The function for words of type T and, under `pair`, for halves of type Lane; the expression is over a, b, c
// and their type, Number.
#define SIMT_DPX_3(name, word, T, pair, Lane, expression)                                            \
  inline T name##_##word(const T a, const T b, const T c) noexcept {                                 \
    using Number = T;                                                                                \
    return expression;                                                                               \
  }                                                                                                  \
  inline unsigned int name##_##pair(unsigned int x, unsigned int y, unsigned int z) noexcept {       \
    using Number = Lane;                                                                             \
    return simt::each_half<Lane>(x, y, z,                                                            \
                                 [](Number a, Number b, Number c) -> Number { return expression; }); \
  }
#define SIMT_DPX_SIGNED_AND_UNSIGNED(name, expression) \
  SIMT_DPX_3(name, s32, int, s16x2, short, expression) \
  SIMT_DPX_3(name, u32, unsigned int, u16x2, unsigned short, expression)
#define SIMT_DPX_RELU_3(name, word, T, pair, Lane, expression)                                        \
  inline T name##_##word##_relu(const T a, const T b, const T c) noexcept {                           \
    using Number = T;                                                                                 \
    return simt::greater_of<Number>(expression, Number(0));                                           \
  }                                                                                                   \
  inline unsigned int name##_##pair##_relu(unsigned int x, unsigned int y, unsigned int z) noexcept { \
    using Number = Lane;                                                                              \
    return simt::each_half<Lane>(x, y, z, [](Number a, Number b, Number c) -> Number {                \
      return simt::greater_of<Number>(expression, Number(0));                                         \
    });                                                                                               \
  }
#define SIMT_DPX(name, expression)               \
  SIMT_DPX_SIGNED_AND_UNSIGNED(name, expression) \
  SIMT_DPX_RELU_3(name, s32, int, s16x2, short, expression)

SIMT_DPX(__vimax3, simt::greater_of<Number>(simt::greater_of<Number>(a, b), c))
SIMT_DPX(__vimin3, simt::lesser_of<Number>(simt::lesser_of<Number>(a, b), c))
SIMT_DPX(__viaddmax, simt::greater_of<Number>(simt::wrapping_sum<Number>(a, b), c))
SIMT_DPX(__viaddmin, simt::lesser_of<Number>(simt::wrapping_sum<Number>(a, b), c))
#undef SIMT_DPX
#undef SIMT_DPX_RELU_3
#undef SIMT_DPX_SIGNED_AND_UNSIGNED
#undef SIMT_DPX_3

#define SIMT_DPX_RELU_2(name, choice)                                                                       \
  inline int name##_s32_relu(int a, int b) noexcept {                                                       \
    return simt::greater_of(simt::choice(a, b), 0);                                                         \
  }                                                                                                         \
  inline unsigned int name##_s16x2_relu(unsigned int x, unsigned int y) noexcept {                          \
    return simt::each_half<short>(                                                                          \
        x, y, 0u, [](short a, short b, short zero) { return simt::greater_of(simt::choice(a, b), zero); }); \
  }
SIMT_DPX_RELU_2(__vimax, greater_of)
SIMT_DPX_RELU_2(__vimin, lesser_of)
#undef SIMT_DPX_RELU_2

// Also tell whether the first operand was chosen (a tie chooses it); of halves, the upper one's answer comes
// first.
#define SIMT_DPX_WITH_CHOICE(name, relation, word, T, pair, Lane)                     \
  inline T name##_##word(const T a, const T b, bool* const first) noexcept {          \
    *first = a relation b;                                                            \
    return *first ? a : b;                                                            \
  }                                                                                   \
  inline unsigned int name##_##pair(unsigned int x, unsigned int y, bool* const high, \
                                    bool* const low) noexcept {                       \
    *high = simt::lane_of<Lane>(x, 1) relation simt::lane_of<Lane>(y, 1);             \
    *low = simt::lane_of<Lane>(x, 0) relation simt::lane_of<Lane>(y, 0);              \
    return ((*high ? x : y) & 0xffff0000u) | ((*low ? x : y) & 0xffffu);              \
  }
SIMT_DPX_WITH_CHOICE(__vibmax, >=, s32, int, s16x2, short)
SIMT_DPX_WITH_CHOICE(__vibmax, >=, u32, unsigned int, u16x2, unsigned short)
SIMT_DPX_WITH_CHOICE(__vibmin, <=, s32, int, s16x2, short)
SIMT_DPX_WITH_CHOICE(__vibmin, <=, u32, unsigned int, u16x2, unsigned short)
#undef SIMT_DPX_WITH_CHOICE
