// SPDX-License-Identifier: MIT
// Day 74: the loss of a classifier and its gradient in one go. Launchers on device pointers; they throw
// std::invalid_argument that names the value where they do not support a problem.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/instantiate.h"
#include "common/needs.h"
#include "common/types.h"
#include "common/util.h"

namespace day74 {

// Of each row x of logits and its target y: loss = log(sum of e^x) - x[y], and in the row's place its gradient,
// dx = dloss * (softmax(x) - [1 at y]). With smoothing s the target is (1 - s) at y and s / classes everywhere.
//
// A row whose target is ignore_index has loss 0 and gradient 0, whatever it holds. One whose target is no class has loss NaN
// and gradient NaN, and so has one that holds NaN or +inf, or nothing but -inf. -inf beside numbers is probability 0; as the
// target its loss is +inf. Columns from `classes` on are padding: nobody reads them, and their gradient is 0.
template <class T>
struct CrossEntropy {
  T* logits;               // (rows, cols): x, and then dx
  const int32_t* targets;  // (rows)
  const float* dloss;  // (rows): what the caller multiplies each row's loss by; a mean is 1 / rows everywhere
  float* loss;         // (rows)
  int rows, cols;
  int classes;  // <= cols
  float smoothing;
  int ignore_index;
};

enum class Target { kClass, kIgnored, kNoClass };
DAYS_HOST_DEVICE inline Target kind_of(int32_t target, int classes, int ignore_index) {
  if (target == ignore_index) return Target::kIgnored;
  return target >= 0 && target < classes ? Target::kClass : Target::kNoClass;
}

// Loops step over a row in 32-bit numbers, which must not overflow past its end.
inline constexpr int kMaxCols = 1 << 30;

template <class T>
void require_problem(const CrossEntropy<T>& p, const char* variant) {
  days::require(p.rows > 0, variant, ": rows must be positive, not", p.rows);
  days::require(p.cols > 0, variant, ": cols must be positive, not", p.cols);
  days::require(p.cols <= kMaxCols, variant, ": a row has at most 2^30 elements; cols is", p.cols);
  days::require(p.classes > 0 && p.classes <= p.cols, variant, ": classes must be from 1 to cols; classes is",
                p.classes);
  days::require(p.smoothing >= 0 && p.smoothing <= 1, variant, ": smoothing must be from 0 to 1, not",
                p.smoothing);
}

// resident: a row's whole 16-byte vectors lie in shared memory, in stages of 8 KiB.
inline constexpr int kStages = 28, kStageBytes = 8192;
inline constexpr auto kRowFits = days::needs("rows of at most 229376 bytes", [](const auto& p) {
  static_assert(kStages * kStageBytes == 229376);
  return p.classes <= static_cast<int>(kStages * kStageBytes / sizeof(*p.logits));
});

template <class T>
void cross_entropy_three(const CrossEntropy<T>&, cudaStream_t);
template <class T>
void cross_entropy_online(const CrossEntropy<T>&, cudaStream_t);
template <class T>
void cross_entropy_vectors(const CrossEntropy<T>&, cudaStream_t);
template <class T>
void cross_entropy_resident(const CrossEntropy<T>&, cudaStream_t);
template <class T>
void exercise(const CrossEntropy<T>&, cudaStream_t);  // yours

// On the CPU, host pointers: loops in double, and all cores in fp32.
template <class T>
void cross_entropy_reference(const CrossEntropy<T>&);
template <class T>
void cross_entropy_parallel(const CrossEntropy<T>&);

// What the tolerances know, from host pointers once the reference has run: how far off, in fp32 epsilons, a sum of exponentials
// may be, relative to itself; and what that makes, absolute, of the gradients that are differences.
template <class T>
double sum_epsilons(const CrossEntropy<T>&);
template <class T>
double difference_epsilons(const CrossEntropy<T>&);

}  // namespace day74
