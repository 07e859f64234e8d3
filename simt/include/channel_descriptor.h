// SPDX-License-Identifier: MIT
//
// The format of an array's elements, from a type.
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#include <type_traits>

#include "cuda_runtime_api.h"

namespace simt {
// A number, or a vector type of CUDA: the type of one channel, and how many there are.
template <class T, bool = std::is_arithmetic_v<T>>
struct Channels {
  using Type = T;
  static constexpr int kCount = 1;
};
template <class T>
struct Channels<T, false> {
  using Type = std::remove_reference_t<decltype(T().x)>;
  static constexpr int kCount = sizeof(T) / sizeof(Type);
};
inline cudaChannelFormatDesc channels(int count, int bits, cudaChannelFormatKind kind) {
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};
}
}  // namespace simt

template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Channel = typename simt::Channels<T>::Type;
  static_assert(sizeof(Channel) <= 4 && simt::Channels<T>::kCount != 3,
                "a texel has 1, 2 or 4 channels of at most 32 bits");
  return simt::channels(simt::Channels<T>::kCount, sizeof(Channel) * 8,
                        std::is_floating_point_v<Channel> ? cudaChannelFormatKindFloat
                        : std::is_signed_v<Channel>       ? cudaChannelFormatKindSigned
                                                          : cudaChannelFormatKindUnsigned);
}
// The formats that are numbers between 0 and 1, or -1 and 1: cudaChannelFormatKindUnsignedNormalized8X4, ...
template <cudaChannelFormatKind kKind>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  static_assert(kKind >= cudaChannelFormatKindUnsignedNormalized8X1 &&
                    kKind <= cudaChannelFormatKindSignedNormalized16X4,
                "compressed and video formats are not supported on simt");
  constexpr int kIndex = kKind - cudaChannelFormatKindUnsignedNormalized8X1;
  return simt::channels(1 << kIndex % 3, kIndex / 3 % 2 ? 16 : 8, kKind);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return simt::channels(1, 16, cudaChannelFormatKindFloat);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() {
  return simt::channels(1, 16, cudaChannelFormatKindFloat);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return simt::channels(2, 16, cudaChannelFormatKindFloat);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return simt::channels(4, 16, cudaChannelFormatKindFloat);
}

#endif
