// SPDX-License-Identifier: MIT
// How many threads a row in registers gets, and how many vectors of 16 bytes each of them: what registers, exponent
// and grad_registers choose alike.
#pragma once

#include <type_traits>

#include "common/row.cuh"

namespace day37 {

// A block has one row, or 128 threads' worth of short ones.
template <int kThreads>
inline constexpr int kBlockOf = kThreads < 128 ? 128 : kThreads;
template <int kThreads>
inline constexpr int kLanesOf = kThreads < days::kWarpSize ? kThreads : days::kWarpSize;

// Whether some row begins or ends between two multiples of 16 bytes.
template <class T, class... Pointers>
bool edges(int cols, const Pointers*... pointers) {
  return cols % days::kVector<T> != 0 || !days::aligned16(pointers...);
}

// launch(threads, vectors, edge), std::integral_constants, with the least that holds a row of up to kMaxCols.
// Without `edge` only where no row has one; else a row has at least the 16 threads that its edge needs.
template <class T, int kMaxCols, class Launch>
void with_tier(int cols, bool edges, const Launch& launch) {
  const auto holds = [&](auto threads, auto vectors, auto edge) {
    constexpr int kCols = threads * vectors * days::kVector<T>;
    if constexpr (kCols <= kMaxCols) {
      if (cols > kCols) return false;
      launch(threads, vectors, edge);
      return true;
    }
    return false;
  };
  const auto with_edge = [&](auto threads, auto vectors) {
    return holds(threads, vectors, std::true_type{});
  };
  const std::integral_constant<int, 2> two;
  const std::integral_constant<int, 4> four;
  const std::integral_constant<int, 8> eight;
  const std::integral_constant<int, 16> half;
  const std::integral_constant<int, 32> warp;
  static_cast<void>(
      (!edges && (holds(two, two, std::false_type{}) || holds(eight, two, std::false_type{}))) ||
      with_edge(half, two) || with_edge(warp, two) || with_edge(warp, four) ||
      with_edge(std::integral_constant<int, 128>{}, two) ||
      with_edge(std::integral_constant<int, 256>{}, two) ||
      with_edge(std::integral_constant<int, 512>{}, two) ||
      with_edge(std::integral_constant<int, 512>{}, four) ||
      with_edge(std::integral_constant<int, 512>{}, eight));
}

}  // namespace day37
