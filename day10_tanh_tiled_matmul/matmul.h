// SPDX-License-Identifier: MIT
// Day 10: the problems, and the launchers that solve them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/problems/matmul.h"
#include "common/workspace.h"

namespace day10 {

// y[i] = tanh(x[i]); x may be y.
template <class T>
struct TanhOf {
  const T* x;
  T* y;
  int64_t n;
};

// c = tanh(a * b), row-major.
template <class T>
struct TanhMatmul : days::Matmul<T> {
  days::Workspace workspace;  // of two_launches: the product, (m, n)
};

// c = tanh(a * b + bias) + residual: a layer of a network whose input is carried past it.
template <class T>
struct Layer : days::Matmul<T> {
  const T* bias;      // (n), added to each row
  const T* residual;  // (m, n)
};

// A block makes a tile of c of 32 x 32 (tile.cuh), and a grid's y has at most 65,535 of them.
inline constexpr auto kMAlongY = days::at_most("m", 32 * days::kMaxGridY, [](const auto& p) { return p.m; });

// A thread an element.
void tanh_alone(const TanhOf<float>&, cudaStream_t);
// Two kernels, with the product in the workspace or in c in between; one.
void tanh_two_launches(const TanhMatmul<float>&, cudaStream_t);
inline size_t tanh_two_launches_workspace(const TanhMatmul<float>& p) {
  return sizeof(float) * static_cast<size_t>(p.m) * static_cast<size_t>(p.n);
}
void tanh_in_place(const TanhMatmul<float>&, cudaStream_t);
void tanh_fused(const TanhMatmul<float>&, cudaStream_t);
// Four kernels, two, one.
void layer_separate(const Layer<float>&, cudaStream_t);
void layer_joined(const Layer<float>&, cudaStream_t);
void layer_composed(const Layer<float>&, cudaStream_t);

// What layer_joined does after its product, on c.
void finish_layer(const Layer<float>&, cudaStream_t);

// Yours: exercise.cu.
void exercise(const TanhMatmul<float>&, cudaStream_t);

}  // namespace day10
