// SPDX-License-Identifier: MIT
//
// Day 16: the two problems whose ladders climb to this device's two ceilings, and their launchers. A launcher
// takes device pointers, checks what it needs (std::invalid_argument names the value), launches and returns
// at once.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/needs.h"
#include "common/util.h"

namespace day16 {

// y[i] = x[i]: bytes and no arithmetic. 4-byte words rather than floats, so that the comparison sees every
// bit: as floats, one NaN is as good as another and -0 equals 0.
template <class T>
struct Copy {
  const T* x;  // (n)
  T* y;        // (n)
  int64_t n;
};

// y[i] = x[i] after `steps` times x = a * x + b, each rounded once (a fused multiply-add): arithmetic and
// hardly a byte. Every step needs the result of the step before, so an element is a chain that cannot be
// shortened.
template <class T>
struct Fma {
  const T* x;  // (n)
  T* y;        // (n)
  T a, b;      // the same for all elements
  int64_t n;
  int64_t steps;
};

// What all copies but element need besides.
inline constexpr auto kAligned =
    days::needs("16-byte aligned x, y", [](const auto& p) { return days::aligned16(p.x, p.y); });

void copy_element(const Copy<uint32_t>&, cudaStream_t);
void copy_vector(const Copy<uint32_t>&, cudaStream_t);
void copy_few(const Copy<uint32_t>&, cudaStream_t);
void copy_inflight(const Copy<uint32_t>&, cudaStream_t);
void exercise(const Copy<uint32_t>&, cudaStream_t);  // the learner's copy

void fma_ilp1(const Fma<float>&, cudaStream_t);
void fma_ilp2(const Fma<float>&, cudaStream_t);
void fma_ilp4(const Fma<float>&, cudaStream_t);
void fma_ilp8(const Fma<float>&, cudaStream_t);
void fma_ilp1_warps8(const Fma<float>&, cudaStream_t);
void fma_ilp4_warps2(const Fma<float>&, cudaStream_t);

// On the CPU, host pointers: obvious loops, and the same loops on all cores.
void copy_reference(const Copy<uint32_t>&);
void copy_parallel(const Copy<uint32_t>&);
void fma_reference(const Fma<float>&);
void fma_parallel(const Fma<float>&);

}  // namespace day16
